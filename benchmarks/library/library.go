// Package library shows retry libraries through one small window, so that the same question can be put to all of them. Each
// file beside this one translates Settings into the options of one library, in the way that its documentation shows. Where
// there are two ways, it takes the one that serves the library better.
package library

import (
	"context"
	"errors"
	"time"

	"github.com/seed-89b3229b/retry/benchmarks"
)

// Op is the operation that is retried.
type Op func(ctx context.Context) (int, error)

// Call is one call of a library, with the settings that it was made with.
type Call func(ctx context.Context, op Op) (int, error)

// ErrAbsent says that a library does not have what the Settings ask for.
var ErrAbsent = errors.New("not a feature of this library")

// Settings is what a question asks for, in words that are no library's own.
type Settings struct {
	// Attempts is the limit, the first attempt included. 0: no limit.
	Attempts int
	// ZeroAttempts gives the option that limits attempts (or retries, where those are counted) a zero.
	ZeroAttempts bool
	// Delay is every wait, or the first where they grow. 0: no wait.
	Delay time.Duration
	// Doubling makes each wait twice the one before.
	Doubling bool
	// Cap limits each wait. 0: none.
	Cap time.Duration
	// Full draws each wait from zero to what it would be.
	Full bool
	// Spread, if Spreads, randomises each wait by that share of it: upward only in libraries that only add.
	Spread  float64
	Spreads bool
	// MaxElapsed limits the time of the call. 0: no limit.
	MaxElapsed time.Duration
	// AttemptTimeout limits the time of each attempt. 0: no limit.
	AttemptTimeout time.Duration
	// OnRetry is told of each retry.
	OnRetry func()
	// Timers takes the place of the system's timers.
	Timers *Timers
}

// Library is one library.
type Library struct {
	// Name is short, for the heads of columns.
	Name string
	// Module is the path of its Go module.
	Module string
	// PassesContext says that the operation gets a context from the library.
	PassesContext bool
	// Zero is what the documentation says that zero attempts, or zero retries, mean: NoLimit, OneCall, or nothing.
	Zero Zero

	// New makes a policy. All calls share what may be made once; ErrAbsent says that the library has no such policy, any
	// other error that it refuses the settings.
	New func(s Settings) (Call, error)
	// Delays returns the first n waits without waiting. It is nil, or says ErrAbsent, where a library gives no such view.
	Delays func(s Settings, n int) ([]time.Duration, error)
	// Permanent marks an error as not worth another attempt.
	Permanent func(err error) error
	// After marks an error with the wait that a server told. Nil: no such thing.
	After func(d time.Duration, err error) error
	// AttemptTimeout is matched by the error of an attempt that ran out of its own time. Nil: no such thing.
	AttemptTimeout error
	// Leave begins the library's loop form, and leaves it after the first attempt, as documented. Nil: no such form.
	Leave func(ctx context.Context)
}

// Zero is a documented meaning of zero.
type Zero string

// The meanings of zero.
const (
	NoLimit Zero = "no limit"
	OneCall Zero = "one call"
)

// Ours is the library that this module belongs to.
func Ours() *Library { return ours() }

// Peers are the libraries that it is compared with.
func Peers() []*Library {
	return []*Library{cenkalti4(), cenkalti5(), cenkalti7(), avast4(), avast5(), sethvargo(), failsafeGo(), codegroove(), eapache()}
}

// All is Ours followed by Peers.
func All() []*Library { return append([]*Library{Ours()}, Peers()...) }

// Version is the version that is compared.
func (l *Library) Version() string { return benchmarks.Version(l.Module) }

// permanent is what an operation returns in libraries that have no mark of their own, but can be told which errors to stop
// at. Their policies are told of errPermanent.
type permanent struct{ error }

var errPermanent = errors.New("permanent")

func (p permanent) Unwrap() error        { return p.error }
func (p permanent) Is(target error) bool { return target == errPermanent }

func markPermanent(err error) error { return permanent{err} }

// hint is a told wait in libraries that have no mark of their own, but let a function of the error choose the delay.
type hint struct {
	error
	delay time.Duration
}

func (h *hint) Unwrap() error { return h.error }

func markHint(d time.Duration, err error) error { return &hint{err, d} }

func hinted(err error) (time.Duration, bool) {
	if h, ok := errors.AsType[*hint](err); ok {
		return h.delay, true
	}
	return 0, false
}
