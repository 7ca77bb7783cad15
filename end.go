package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

func (f *flow) succeed(c *config, now time.Time) {
	f.phase, f.step.Action = over, Done
	f.credit(c, now)
}

// credit tells those who learn and pay of a success.
func (f *flow) credit(c *config, now time.Time) {
	c.succeed()
	f.settle(c, now, true)
}

// end ends the call with an *Error.
func (f *flow) end(ctx context.Context, c *config, now time.Time, reason error, ending Ending) {
	f.conclude(c, now, reason, ending)
	f.release(ctx, c, now, &throttle.Outcome{Class: throttle.Skipped, Number: f.attempts + 1})
	f.settle(c, now, false)
}

func (f *flow) conclude(c *config, now time.Time, reason error, ending Ending) {
	f.phase, f.ending = over, ending
	f.step.Action, f.step.Reason = Done, reason
	f.step.Err = f.failure(c, now)
}

func (f *flow) failure(c *config, now time.Time) error {
	e := &Error{Name: c.name, Attempts: f.attempts, Delay: f.step.Delay, Reason: f.step.Reason, Last: f.last, limit: f.limit}
	if f.failing {
		e.Elapsed = max(now.Sub(f.failed), 0)
	}
	if f.history != nil {
		e.History, e.Dropped = f.history.errors(), f.history.dropped
	}
	return e
}

// abort ends the call from outside, and completes an end that a panic interrupted.
func (f *flow) abort(ctx context.Context, c *config, now time.Time, class throttle.Class, reason error, ending Ending) {
	o := throttle.Outcome{Class: throttle.Skipped, Number: f.attempts + 1}
	if f.phase == running {
		o.Class, o.Number = class, f.attempts
	}
	if f.phase != over {
		f.advance(now)
		f.step = Step{}
		f.conclude(c, now, reason, ending)
	}
	defer f.settle(c, now, false) // even if a throttle panics
	f.release(ctx, c, now, &o)
}

// release tells every throttle that holds a ticket out how the attempt ended. Each is forgotten before it is told, and the
// rest are told even if one panics.
func (f *flow) release(ctx context.Context, c *config, now time.Time, o *throttle.Outcome) {
	i, ticket, ok := f.tickets.take()
	if !ok {
		return
	}
	defer f.release(ctx, c, now, o)
	c.throttles[i].Done(ctx, now, ticket, *o)
}

func (f *flow) settle(c *config, now time.Time, success bool) {
	if f.owed {
		f.owed = false
		c.budget.Settle(now, success, f.held)
	}
}

// contextEnd is the reason and the ending that a done context makes.
func contextEnd(ctx context.Context) (error, Ending) {
	if ctx.Err() == context.DeadlineExceeded {
		return contextReason(ctx), EndDeadline
	}
	return contextReason(ctx), EndCanceled
}

func closed(stop <-chan struct{}) bool {
	if stop == nil {
		return false
	}
	select {
	case <-stop:
		return true
	default:
		return false
	}
}
