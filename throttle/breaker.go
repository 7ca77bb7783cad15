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

// Breaker returns a Throttle for a circuit breaker that is asked before an attempt and told its outcome afterwards, such as the
// two-step form of github.com/sony/gobreaker/v2:
//
//	breaker := gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
//		IsExcluded: func(err error) bool { return errors.Is(err, throttle.ErrNeutral) },
//	})
//	policy := retry.MustNew(retry.WithThrottle(throttle.Breaker(breaker.Allow)))
//
// An error of allow refuses the attempt and ends the call. Else done is called exactly once, whatever becomes of the attempt:
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
//	throttle.Breaker(func() (func(error), error) {
//		done, err := old.Allow()
//		return func(err error) { done(err == nil || errors.Is(err, throttle.ErrNeutral)) }, err
//	})
//
// Put it last, so that it is not asked for an attempt that another throttle turns away or lets wait. Safe for concurrent use if
// allow is. Validate, which a policy calls, returns a *ConfigError for a nil allow, which lets everything pass where it was not
// validated.
func Breaker(allow func() (done func(error), err error)) Throttle { return breaker{allow} }

type breaker struct {
	allow func() (done func(error), err error)
}

func (b breaker) Validate() error {
	if b.allow == nil {
		return &ConfigError{"Breaker", nil, "must not be nil"}
	}
	return nil
}

func (b breaker) Admit(_ context.Context, _ time.Time, ticket Ticket) (Ticket, time.Duration, error) {
	if _, asked := ticket.(func(error)); asked || b.allow == nil {
		return ticket, 0, nil
	}
	done, err := b.allow()
	if err != nil || done == nil {
		return nil, 0, err
	}
	return done, 0, nil
}

func (breaker) Done(_ context.Context, _ time.Time, ticket Ticket, o Outcome) {
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
