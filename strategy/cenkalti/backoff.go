package cenkalti

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// The types of v4.
type (
	// BackOff is v4's policy: the next wait, or Stop. It has memory, and serves one call at a time.
	BackOff = backoff.BackOff
	// BackOffContext is a BackOff with the context of the call. WithContext makes one.
	BackOffContext = backoff.BackOffContext
	// ExponentialBackOff is v4's exponential policy. NewExponentialBackOff makes one; a literal lacks a Clock, and a Stop.
	ExponentialBackOff = backoff.ExponentialBackOff
	// ExponentialBackOffOpts is an option of NewExponentialBackOff.
	ExponentialBackOffOpts = backoff.ExponentialBackOffOpts
	// ConstantBackOff always waits its Interval.
	ConstantBackOff = backoff.ConstantBackOff
	// ZeroBackOff repeats at once, for ever.
	ZeroBackOff = backoff.ZeroBackOff
	// StopBackOff never repeats.
	StopBackOff = backoff.StopBackOff
	// Clock is the time that an ExponentialBackOff measures MaxElapsedTime by. It has no part in waits.
	Clock = backoff.Clock
	// Timer does the waits of the functions that take one. One Timer serves one call at a time.
	Timer = backoff.Timer
	// Notify is told each failure that will be followed by a wait and a retry, before the wait.
	Notify = backoff.Notify
	// Operation is what Retry calls.
	Operation = backoff.Operation
	// OperationWithData is what RetryWithData calls.
	OperationWithData[T any] = backoff.OperationWithData[T]
	// PermanentError marks the error in it as not worth another attempt. Permanent makes one.
	PermanentError = backoff.PermanentError
)

// Stop is what NextBackOff returns to end a call.
const Stop = backoff.Stop

// The values that NewExponentialBackOff begins with.
const (
	DefaultInitialInterval     = backoff.DefaultInitialInterval
	DefaultRandomizationFactor = backoff.DefaultRandomizationFactor
	DefaultMultiplier          = backoff.DefaultMultiplier
	DefaultMaxInterval         = backoff.DefaultMaxInterval
	DefaultMaxElapsedTime      = backoff.DefaultMaxElapsedTime
)

// SystemClock is the Clock of the system.
var SystemClock = backoff.SystemClock

// NewExponentialBackOff makes an ExponentialBackOff: 500 ms, times 1.5 each time up to 60 s, each drawn from half of it to
// one and a half of it, and Stop after 15 minutes.
func NewExponentialBackOff(opts ...ExponentialBackOffOpts) *ExponentialBackOff {
	return backoff.NewExponentialBackOff(opts...)
}

// WithInitialInterval sets the first interval.
func WithInitialInterval(d time.Duration) ExponentialBackOffOpts {
	return backoff.WithInitialInterval(d)
}

// WithRandomizationFactor sets the jitter: a factor f draws from interval·(1−f) to interval·(1+f), also above MaxInterval.
func WithRandomizationFactor(f float64) ExponentialBackOffOpts {
	return backoff.WithRandomizationFactor(f)
}

// WithMultiplier sets by what the interval grows.
func WithMultiplier(f float64) ExponentialBackOffOpts { return backoff.WithMultiplier(f) }

// WithMaxInterval caps the interval, before the jitter.
func WithMaxInterval(d time.Duration) ExponentialBackOffOpts { return backoff.WithMaxInterval(d) }

// WithMaxElapsedTime limits the time since Reset that a wait may end in. 0: no limit.
func WithMaxElapsedTime(d time.Duration) ExponentialBackOffOpts {
	return backoff.WithMaxElapsedTime(d)
}

// WithRetryStopDuration sets what NextBackOff returns after MaxElapsedTime. All but a negative value is a wait like any
// other, and the call goes on.
func WithRetryStopDuration(d time.Duration) ExponentialBackOffOpts {
	return backoff.WithRetryStopDuration(d)
}

// WithClockProvider sets the Clock.
func WithClockProvider(c Clock) ExponentialBackOffOpts { return backoff.WithClockProvider(c) }

// NewConstantBackOff makes a ConstantBackOff.
func NewConstantBackOff(d time.Duration) *ConstantBackOff { return backoff.NewConstantBackOff(d) }

// WithMaxRetries limits b to a number of waits, so to one attempt more. 0: no retry.
func WithMaxRetries(b BackOff, retries uint64) BackOff { return backoff.WithMaxRetries(b, retries) }

// WithContext adds the context of a call to b: it ends the waits and the call. A nil ctx panics.
func WithContext(b BackOff, ctx context.Context) BackOffContext { return backoff.WithContext(b, ctx) }

// Permanent marks err as not worth another attempt; nil stays nil. Found anywhere below other errors it ends the call, but
// not from within the *retry.Error of another call.
func Permanent(err error) error { return backoff.Permanent(err) }
