package cenkalti

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/internal/errtree"
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
	begun  bool
}

func newCall(b BackOff, t Timer) *call {
	if errtree.IsNil(b) {
		b = nil
	}
	ctx := contextOf(b)
	c := &call{ctx: ctx, policy: b, wait: newWaiter(ctx, t)}
	if b != nil {
		b.Reset()
	}
	return c
}

// next is the Strategy that asks v4's policy.
func (c *call) next(strategy.State) (delay time.Duration, ok bool) {
	if c.policy == nil {
		return 0, false
	}
	delay = c.policy.NextBackOff()
	// A policy that stopped because of its context has not run out: the engine, which looks at the context next, says so.
	return delay, delay >= 0 || c.ctx.Err() != nil
}

// report tells the engine a failed attempt.
func (c *call) report(err error) retry.Step {
	now := c.wait.now()
	if !c.begun {
		c.begun = true
		policy := retry.MustNew(retry.WithStrategy(strategy.Func(c.next)), retry.WithUnlimitedAttempts(), retry.WithHint(throttle.Ignore()))
		c.flow = policy.Begin(now, c.wait.deadline(c.ctx), nil)
	}
	return c.flow.Report(c.ctx, now, throttle.Outcome{Err: err, Decided: throttle.Yes})
}

// failed says whether a failed attempt was the last, and with which error the call then ends. If not, the wait is over.
func (c *call) failed(err error, notify Notify) (end bool, result error) {
	if p := permanent(err); p != nil {
		return true, p.Err
	}
	step := c.report(err)
	if step.Action == retry.Done {
		if step.Reason == retry.ErrNoDelay || step.Reason == retry.ErrExhausted {
			return true, step.Err.(*retry.Error).Last // bare, as from v4
		}
		return true, step.Err
	}
	if notify != nil && c.ctx.Err() == nil {
		notify(err, step.Delay)
	}
	if c.ctx.Err() == nil {
		c.wait.start(step.Delay)
		c.wait.done(c.ctx, nil)
	}
	return c.proceed()
}

// ticked says whether another tick follows one that was received, and begins the wait for it.
func (c *call) ticked() bool {
	step := c.report(errTick)
	if step.Action == retry.Done {
		return false
	}
	c.wait.start(step.Delay)
	return true
}

// proceed says whether the call ends after a wait, and with which error.
func (c *call) proceed() (end bool, result error) {
	step := c.flow.Next(c.ctx, c.wait.now())
	return step.Action == retry.Done, step.Err
}
