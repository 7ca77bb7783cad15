package cenkalti

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// call is one call: v4's policy says how long, the engine's Flow decides. It begins with the first failure, because the
// first attempt is made whatever the context says.
type call struct {
	ctx    context.Context
	policy BackOff // nil: stops
	wait   waiter
	flow   retry.Flow
	undone context.Context // ctx without its end; nil: nothing has failed yet
	delay  time.Duration   // what the policy answered last
}

func newCall(b BackOff, t Timer) *call {
	ctx := contextOf(b)
	return &call{ctx: ctx, policy: b, wait: newWaiter(ctx, t)}
}

// reset is v4's first act.
func (c *call) reset() {
	if c.policy != nil {
		c.policy.Reset()
	}
}

// next is the Strategy that asks v4's policy. Any answer but Stop means that a retry follows: one below 0 is a wait that is
// over at once.
func (c *call) next(strategy.State) (delay time.Duration, ok bool) {
	if c.policy == nil {
		return 0, false
	}
	c.delay = c.policy.NextBackOff()
	return max(c.delay, 0), c.delay != Stop
}

// report tells the engine a failed attempt. v4 asks its policy, calls Notify and starts the Timer whatever the context says,
// and looks at it in the wait only: that is proceed.
func (c *call) report(err error) retry.Step {
	now := c.wait.now()
	if c.undone == nil {
		c.undone = context.WithoutCancel(c.ctx)
		policy := retry.MustNew(retry.WithStrategy(strategy.Func(c.next)), retry.WithUnlimitedAttempts(), retry.WithHint(throttle.Ignore()))
		c.flow = policy.Begin(now, time.Time{}, nil) // v4 does not look ahead to a deadline
	}
	return c.flow.Report(c.undone, now, throttle.Outcome{Err: err, Decided: throttle.Yes})
}

// failed says whether a failed attempt was the last, and with which error the call then ends: as from v4 the context's, where
// that is done, or the operation's. If not, the wait is over.
func (c *call) failed(err error, notify Notify) (end bool, result error) {
	if p := permanent(err); p != nil {
		return true, p.Err
	}
	if step := c.report(err); step.Action == retry.Done {
		switch ctxErr := c.ctx.Err(); {
		case step.Reason != retry.ErrNoDelay && step.Reason != retry.ErrExhausted:
			return true, step.Err // a mark of this module
		case ctxErr != nil:
			return true, ctxErr
		}
		return true, step.Err.(*retry.Error).Last
	}
	if notify != nil {
		notify(err, c.delay)
	}
	c.wait.start(c.delay)
	c.wait.done(c.ctx, nil)
	return c.proceed(), c.ctx.Err()
}

// ticked says whether another tick follows one that was received, and begins the wait for it.
func (c *call) ticked() bool {
	if c.report(errTick).Action == retry.Done {
		return false
	}
	c.wait.start(c.delay)
	return true
}

// proceed says whether the call ends after a wait, because its context is done.
func (c *call) proceed() (end bool) { return c.flow.Next(c.ctx, c.wait.now()).Action == retry.Done }
