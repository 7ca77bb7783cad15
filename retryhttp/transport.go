package retryhttp

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// Values of a Transport's zero fields.
const (
	DefaultDrainBytes = 64 << 10
	DefaultDrainTime  = 100 * time.Millisecond
)

// Transport is an http.RoundTripper that sends a request again where that is safe and promises something. It keeps to
// the contract of http.RoundTripper: the caller's request is not changed and its body is closed once, in every case (by
// Base, where that was given it); a nil error comes with a response whose body is open.
//
// If the last attempt was answered, that answer is returned with a nil error, whatever its status, unless
// ErrorOnExhausted is set. A call that was already waiting for the next attempt has nothing left to return but an error,
// if it ends there: by the request's context, retry.WithStop, retry.WithBeforeRetry or a throttle.
//
// The zero Transport is ready for use. Set the fields before the first request, and do not change or copy it after
// that. It is then safe for concurrent use. A field that cannot be used makes every request fail with a
// *retry.ConfigError.
type Transport struct {
	// Base makes the attempts. Nil: a copy of http.DefaultTransport that all nil Bases share, and that sends a ping on a
	// connection of HTTP/2 which was silent for 30 s and closes it if there is no answer in 15 s (its HTTP2 settings, if
	// there are any, count). Whether an attempt was sent Base tells through net/http/httptrace; of a Base that does not,
	// all that is known is what condition.NotSent sees in its error. A Base that wraps a *http.Transport should show that
	// by a method Unwrap() http.RoundTripper: see Connections in the package's documentation.
	Base http.RoundTripper
	// Policy says how often and how long: attempts, waits, attempt timeout, told waits, throttles, observers. Nil: the
	// default policy. Its conditions see a *Failure for every failed attempt and for every answer from 400 on; what
	// they leave open is decided by Statuses and its defaults. What is not safe to repeat is not put to them; what is
	// hopeless, such as a certificate that has expired, they may allow. Results
	// of the policy are not used, and a fallback cannot be.
	Policy *retry.Policy
	// Parser reads what answers from 400 on say about trying again. Nil: hint.Standard(). Times of the day in
	// header fields count from the answer's Date; without one, from the clock that the request's context carries, else
	// the system's.
	Parser hint.Parser
	// Gate remembers the waits that servers ask for, and holds all requests with the same keys back until they are
	// over: first attempts too, and those of every Transport with the same Gate. It is asked after the throttles of the
	// Policy. Nil: none.
	Gate *throttle.Gate
	// Keys appends the keys in Gate of a request. It must be safe for concurrent use, and keep no secret in a key. Nil:
	// HostKey.
	Keys func(r *http.Request, keys []throttle.Key) []throttle.Key
	// Budget makes the budget of a host, which the requests to it share. It gets the host's name, in lower case and with
	// the port unless that is the scheme's own, and is called once for each scheme and name, and again only if there were
	// a thousand others since the last request, or if it panicked; the host's requests wait for it. A nil Budget of a host
	// is none. Nil: that of the Policy.
	Budget func(host string) throttle.Budget
	// Idempotent reports whether a request that the server may have seen can be sent again. Nil: IsIdempotent. A request
	// with a generated key always can.
	Idempotent func(r *http.Request) bool
	// IdempotencyKey makes a key for a request that is not idempotent, sent as Idempotency-Key with each of its
	// attempts; the server must know what to do with it. A redirect is another request, with a key of its own. "": none
	// for this request. Nil: off. NewKey makes random ones.
	IdempotencyKey func(r *http.Request) string
	// Jar gets the cookies of every answer, and each attempt is sent with the cookies that it then has, in place of those of
	// the request that have the same names. Without it cookies of an answer that leads to another attempt are lost (RFC
	// 6265, section 3, has them obeyed, whatever the status). Give it the Jar of the http.Client, if that has one. Nil: none.
	Jar http.CookieJar
	// Statuses says which answers are failures worth another attempt, beside or instead of the defaults (Repeat). Codes
	// below 400 are possible.
	Statuses map[int]Repeat
	// BufferBody is how many bytes of a request body without GetBody are kept in memory to be sent again. They are
	// copied as they are sent, and attempts then have a GetBody, for net/http; a longer body cannot be repeated once more of
	// it was read. 0 or less: a body without GetBody cannot be repeated once anything of it was read.
	BufferBody int64
	// DrainBytes and DrainTime limit what is read of the body of a response that is thrown away, so that its connection
	// can be used again. A longer body, and one that takes longer, is closed, and its connection with it. 0:
	// DefaultDrainBytes, DefaultDrainTime; negative: no reading. DrainTime is real time, and part of the wait that
	// follows. It limits closing the body too, which may block; where DrainTime is negative, that has
	// DefaultDrainTime.
	DrainBytes int64
	DrainTime  time.Duration
	// AttemptHeaders sets header fields that tell the server which attempt this is: AWSHeaders, GRPCHeaders, or your
	// own. It is called before every attempt with the fields of that attempt's own copy of the request. Nil: off.
	AttemptHeaders func(h http.Header, a Attempt)
	// Sign is called last before every attempt with that attempt's own copy of the request, such as to sign it anew. An
	// error of it ends the call; the failure of the attempt before is kept beside it. Nil: none.
	Sign func(r *http.Request) error
	// ErrorOnExhausted returns an error in place of the response where a call gives up on an answer that was worth
	// another attempt. It is a *retry.Error with a *Failure, whose Response has a body of up to DrainBytes in memory.
	// Answers that are not worth another attempt are returned as ever. Default: off.
	ErrorOnExhausted bool

	err      error // of NewTransport's options
	policies recent[policyKey, derived]
	budgets  recent[host, throttle.Budget]
}

// NewTransport returns a Transport with a base and a policy; a nil base is as in Transport.Base. Options that cannot
// be used are the *retry.ConfigError of every request, and of Validate. For more than that set the fields of the
// result, or write a Transport.
func NewTransport(base http.RoundTripper, opts ...retry.Option) *Transport {
	t := &Transport{Base: base}
	if len(opts) == 1 {
		if p, ok := opts[0].(*retry.Policy); ok && p != nil {
			t.Policy = p
			return t
		}
	}
	t.Policy, t.err = retry.New(opts...)
	return t
}

// NewClient returns a client with a NewTransport on a nil Base: http.DefaultTransport with HTTP/2 pings. It has no Timeout:
// set one only with all attempts and waits in mind, and use retry.WithAttemptTimeout for the single attempt.
func NewClient(opts ...retry.Option) *http.Client {
	return &http.Client{Transport: NewTransport(nil, opts...)}
}

// RoundTrip sends the request, and sends it again where its answer or failure is worth that.
//
// With a nil error the response's body is open, and must be closed: only that ends the attempt's context. Otherwise the
// error is the Base's own, where it was not worth another attempt, or a *retry.Error, whose Last is the last attempt's
// *Failure.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r == nil {
		return nil, errors.New("retryhttp: nil Request")
	}
	override, part := overrideOf(r.Context())
	if part != nil && part.sending && part.whole.t == t {
		return part.roundTrip(r)
	}
	f := &flight{Context: r.Context(), t: t, request: r}
	defer f.end()
	policy, err := t.policyFor(r, override)
	if err != nil {
		return nil, err
	}
	f.begin()
	_, err = retry.Do(f, f.try, policy)
	return f.result(err)
}

// CloseIdleConnections passes the call on to Base, as http.Client.CloseIdleConnections does.
func (t *Transport) CloseIdleConnections() {
	if t == nil {
		return
	}
	if c, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Validate returns a *retry.ConfigError that names the first field which cannot be used; nil if there is none. Every
// request fails with the same error. Only the type of a fallback in the Policy is not looked at before a request.
func (t *Transport) Validate() error {
	switch {
	case t == nil:
		return &retry.ConfigError{Option: "Transport", Problem: "must not be nil"}
	case t.err != nil:
		return t.err
	case t.Base != nil && errtree.IsNil(t.Base):
		return &retry.ConfigError{Option: "Transport.Base", Value: t.Base, Problem: "must not be a nil pointer or function"}
	case t.Jar != nil && errtree.IsNil(t.Jar):
		return &retry.ConfigError{Option: "Transport.Jar", Value: t.Jar, Problem: "must not be a nil pointer or function"}
	}
	for _, code := range slices.Sorted(maps.Keys(t.Statuses)) {
		repeat := t.Statuses[code]
		switch {
		case code < 200 || code > 999:
			return &retry.ConfigError{Option: "Transport.Statuses", Value: code, Problem: "must be from 200 to 999"}
		case repeat > RepeatAlways:
			return &retry.ConfigError{Option: "Transport.Statuses", Value: repeat, Problem: "is no Repeat"}
		}
	}
	if err := validPart("Transport.Gate", t.Gate); err != nil {
		return err
	}
	return validPart("Transport.Parser", t.Parser)
}

// validPart asks a field's value for what is wrong with it, if it can tell.
func validPart(field string, part any) error {
	v, ok := part.(interface{ Validate() error })
	if !ok {
		return nil
	}
	err := v.Validate()
	if err == nil {
		return nil
	}
	return &retry.ConfigError{Option: field, Value: part, Problem: err.Error()}
}

func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return defaultBase()
	}
	return t.Base
}

func (t *Transport) parser() hint.Parser {
	if t.Parser == nil {
		return standard
	}
	return t.Parser
}

var standard = hint.Standard()
