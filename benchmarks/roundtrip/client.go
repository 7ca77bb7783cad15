// Package roundtrip compares libraries that retry HTTP requests: what each does with connections, bodies, methods that must
// not be repeated and waits that servers ask for, and what a first success costs. Each is used as an http.RoundTripper over
// the same base; each file beside this one sets one library up, in the way that its documentation shows.
package roundtrip

import (
	"errors"
	"net/http"
	"time"

	"github.com/seed-89b3229b/retry/benchmarks"
)

// ErrAbsent says that a library does not have what the Settings ask for.
var ErrAbsent = errors.New("not a feature of this library")

// Settings is what a question asks for. Everything else is left at its default.
type Settings struct {
	// Base makes the attempts.
	Base http.RoundTripper
	// Attempts is the limit, the first attempt included.
	Attempts int
	// Delay is every wait that is not told by a server.
	Delay time.Duration
	// AttemptTimeout limits the time of each attempt. 0: no limit.
	AttemptTimeout time.Duration
	// Patient lifts a limit on the time for reading a body that is thrown away, so that a slow machine does not count.
	Patient bool
}

// Client is one library.
type Client struct {
	// Name is the package's. Module is the path of its Go module.
	Name, Module string
	// Hints says that waits told by servers are read without a function of the user's own.
	Hints bool
	// New sets the library up; ErrAbsent says that it has no such setting.
	New func(s Settings) (http.RoundTripper, error)
	// KeepLast is a setting that returns the last answer, where that is not the default. Nil: none.
	KeepLast *Option
	// Ways are the settings that a first success is measured with.
	Ways []Way
}

// Option is a setting by name.
type Option struct {
	Name string
	New  func(s Settings) (http.RoundTripper, error)
}

// Way is a setting whose cost is measured.
type Way struct {
	Name string
	New  func(base http.RoundTripper) (http.RoundTripper, error)
}

// Version is the version that is compared.
func (c *Client) Version() string { return benchmarks.Version(c.Module) }

// Clients are all libraries, this repository's first.
func Clients() []*Client {
	return []*Client{ours(), retryableHTTP(), rehttpClient(), httpretryClient(), failsafeHTTP()}
}

// plain and timed are the two ways that most libraries have.
func plain(c *Client) Way {
	return Way{"attempts", func(base http.RoundTripper) (http.RoundTripper, error) {
		return c.New(Settings{Base: base, Attempts: 5, Delay: time.Second})
	}}
}

func timed(c *Client) Way {
	return Way{"attempts, attempt timeout", func(base http.RoundTripper) (http.RoundTripper, error) {
		return c.New(Settings{Base: base, Attempts: 5, Delay: time.Second, AttemptTimeout: time.Minute})
	}}
}
