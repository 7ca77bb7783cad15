package throttle

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Limit returns a Throttle for a rate limiter that waits by itself, such as golang.org/x/time/rate's:
//
//	limiter := rate.NewLimiter(rate.Every(100*time.Millisecond), 1)
//	policy := retry.MustNew(retry.WithThrottle(throttle.Limit(limiter)))
//
// It is the one Throttle whose Admit blocks, until l.Wait returns. What l.Wait returns when the context is done ends the call as
// the context's end does; every other error is a refusal. The executor cannot foresee such a wait: l.Wait itself must see to the
// context's deadline (x/time/rate's refuses at once what would end after it), while WithMaxElapsed, WithMaxHint and WithStop
// are heeded only after it. It waits on its own clock, and an attempt that is called off afterwards has used up its place. Where
// the limiter can tell how long to wait, Reserve has none of that.
//
// Put it after throttles that only refuse. Safe for concurrent use if l is. Validate, which a policy calls, returns a *ConfigError
// for a nil l, which lets everything pass where it was not validated.
func Limit(l interface{ Wait(context.Context) error }) Throttle {
	if errtree.IsNil(l) {
		return limit{}
	}
	return limit{l}
}

type limit struct {
	limiter interface{ Wait(context.Context) error }
}

func (l limit) Validate() error {
	if l.limiter == nil {
		return &ConfigError{"Limit", nil, "must not be nil"}
	}
	return nil
}

func (l limit) Admit(ctx context.Context, _ time.Time, ticket Ticket) (Ticket, time.Duration, error) {
	if l.limiter == nil {
		return ticket, 0, nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	return ticket, 0, l.limiter.Wait(ctx)
}

func (limit) Done(context.Context, time.Time, Ticket, Outcome) {}
