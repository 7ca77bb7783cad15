package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/internal/carry"
	"github.com/seed-89b3229b/retry/internal/clock"
	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Clock is the time that a call lives by. The clocks of github.com/benbjohnson/clock and
// github.com/jonboulle/clockwork, real and mock, fit as they are. It must be safe for concurrent use.
//
// A Clock may also have these methods:
//
//   - NewTimer(d time.Duration) (fired <-chan time.Time, stop func() bool), used in place of After, so that an
//     interrupted wait leaves no timer behind;
//   - AfterFunc(d time.Duration, f func()) (stop func() bool), used for WithAttemptTimeout with Results.Keep, where the
//     context outlives the timeout;
//   - Wait(ctx context.Context, stop <-chan struct{}, d time.Duration), used in place of After and NewTimer: it returns after d, or as
//     soon as ctx is done or stop is closed. For virtual clocks, which must know when a wait ends early;
//   - WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc), used for
//     WithAttemptTimeout; the cause is then the clock's own. Without it attempt timeouts run on the system's clock.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

var _ clock.Clock = Clock(nil)

// ContextWithClock returns a context in which every call, nested ones included, lives by c. It wins over WithClock. A nil c
// is the system's clock.
func ContextWithClock(ctx context.Context, c Clock) context.Context {
	values := carry.From(ctx)
	values.Clock = systemClock{}
	if !errtree.IsNil(c) {
		values.Clock = c
	}
	return carry.With(ctx, values)
}

// ContextWithoutRetry returns a context in which the first failure ends every call, nested ones included, as
// WithMaxAttempts(1) would. It is for callers that retry as a whole: nested retries multiply.
func ContextWithoutRetry(ctx context.Context) context.Context {
	values := carry.From(ctx)
	values.NoRetry = true
	return carry.With(ctx, values)
}

// systemClock is the explicit choice of the system's clock, against an outer one.
type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// clockOf resolves the clock of a call: the context's, then the policy's, then (nil) the system's.
func clockOf(carried carry.Values, c *config) clock.Clock {
	chosen := carried.Clock
	if chosen == nil && c.clock != nil {
		chosen = c.clock
	}
	if _, ok := chosen.(systemClock); ok {
		return nil
	}
	return chosen
}
