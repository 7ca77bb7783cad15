package throttle

import (
	"context"
	"errors"
	"time"
)

// ErrNeutral is what a circuit breaker is told of an attempt that says nothing about the dependency. See Breaker.
var ErrNeutral = errors.New("throttle: neither a success nor a failure")

// What a circuit breaker is told where the outcome has no error.
var (
	errFailed   = errors.New("throttle: attempt failed")
	errPanicked = errors.New("throttle: attempt panicked")
)

// Breaker is a Throttle for a circuit breaker that is asked before an attempt and told its outcome afterwards, such as the
// two-step form of github.com/sony/gobreaker/v2:
//
//	breaker := gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
//		IsExcluded: func(err error) bool { return errors.Is(err, throttle.ErrNeutral) },
//	})
//	policy := retry.MustNew(retry.WithThrottle(throttle.Breaker{
//		Allow: breaker.Allow,
//		Peek: func() (time.Duration, error) {
//			if breaker.State() == gobreaker.StateOpen {
//				return 0, gobreaker.ErrOpenState
//			}
//			return 0, nil
//		},
//	}))
//
// An error of Allow refuses the attempt and ends the call, unless Poll is set. Else done is called exactly once, whatever becomes
// of the attempt:
//
//	nil         Success, Permanent: the dependency works
//	Outcome.Err Transient, Timeout, Throttled; an error of this package if that is nil
//	an error    Panicked, which gobreaker counts as a failure too
//	ErrNeutral  Canceled, and Skipped, for an attempt that a later throttle refused or the context's end prevented; Unset
//
// So a probe that was admitted and never made does not keep the breaker half-open for ever. A breaker whose settings do not
// exclude ErrNeutral takes it for a failure. One whose done takes a bool, as gobreaker's did up to v2.1, knows nothing in between;
// this counts it as a success:
//
//	throttle.Breaker{Allow: func() (func(error), error) {
//		done, err := old.Allow()
//		return func(err error) { done(err == nil || errors.Is(err, throttle.ErrNeutral)) }, err
//	}}
//
// Put it last, so that it is not asked for an attempt that another throttle turns away or lets wait. Safe for concurrent use if
// its functions are. Validate, which a policy calls, returns a *ConfigError for a nil Allow, which lets everything pass where it
// was not validated, and for a negative Poll, which is read as 0.
type Breaker struct {
	// Allow asks for permission to make an attempt. It must be set.
	Allow func() (done func(error), err error)
	// Peek returns the error that Allow would return now, nil if it would let an attempt pass, and takes no permission. rest is how
	// long the breaker will stay open, 0 or less where that is not known. With it, the executor begins no wait at the end of which
	// the breaker would refuse: a retry whose wait ends within rest, or that is decided while the breaker is open for a time that is
	// not known, ends the call at once. Nil: the breaker is asked only after the wait.
	Peek func() (rest time.Duration, err error)
	// Poll lets calls wait for the breaker instead of ending them: for rest, where Peek knows it, else for Poll, and then ask again,
	// until it lets an attempt through. The limits on time and WithMaxHint hold for these waits together. 0: what the breaker
	// refuses ends the call, the default.
	Poll time.Duration
}

// Validate returns a *ConfigError for what cannot be used.
func (b Breaker) Validate() error {
	switch {
	case b.Allow == nil:
		return &ConfigError{"Breaker.Allow", nil, "must not be nil"}
	case b.Poll < 0:
		return &ConfigError{"Breaker.Poll", b.Poll, notNegative}
	}
	return nil
}

// Admit asks Allow.
func (b Breaker) Admit(_ context.Context, now time.Time, ticket Ticket) (Ticket, time.Duration, error) {
	if _, asked := ticket.(func(error)); asked || b.Allow == nil {
		return ticket, 0, nil
	}
	done, err := b.Allow()
	switch {
	case err != nil && b.Poll > 0:
		return nil, b.wait(), nil
	case err != nil && b.Peek != nil:
		rest, _ := b.Peek()
		return nil, 0, open(now, rest, err)
	case err != nil || done == nil:
		return nil, 0, err
	}
	return done, 0, nil
}

// wait is how long a call waits before it asks again.
func (b Breaker) wait() time.Duration {
	if b.Peek != nil {
		if rest, err := b.Peek(); err != nil && rest > 0 {
			return rest
		}
	}
	return b.Poll
}

// Forecast returns the error of a breaker that is open, unless it says that it will no longer be after the wait, or calls wait for it.
func (b Breaker) Forecast(_ context.Context, now time.Time, wait time.Duration) error {
	if b.Peek == nil || b.Poll > 0 {
		return nil
	}
	rest, err := b.Peek()
	if err == nil || rest > 0 && rest <= wait {
		return nil
	}
	return open(now, rest, err)
}

// Explain says what a call waited for.
func (b Breaker) Explain(_ context.Context, now time.Time) *Error {
	if b.Peek == nil {
		return nil
	}
	rest, err := b.Peek()
	if err == nil {
		return nil
	}
	return open(now, rest, err)
}

// open is a refusal that says, where the breaker does, until when.
func open(now time.Time, rest time.Duration, err error) *Error {
	rest = max(rest, 0)
	return &Error{Key: "breaker", Until: now.Add(rest), Remaining: rest, Source: "open", Err: err}
}

// Done tells the breaker what the attempt came to.
func (Breaker) Done(_ context.Context, _ time.Time, ticket Ticket, o Outcome) {
	done, ok := ticket.(func(error))
	if !ok {
		return
	}
	switch o.Class {
	case Success, Permanent:
		done(nil)
	case Transient, Timeout, Throttled:
		if o.Err == nil {
			o.Err = errFailed
		}
		done(o.Err)
	case Panicked:
		done(errPanicked)
	default:
		done(ErrNeutral)
	}
}
