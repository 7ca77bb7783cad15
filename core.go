package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/internal/clock"
	"github.com/seed-89b3229b/retry/internal/saturate"
	"github.com/seed-89b3229b/retry/throttle"
)

// flow is the one core: everything that is decided about a call is decided here, in the order that docs/design.md lists.
// The configuration is a parameter of every method and not a field, so that one made for a single call stays on the stack.
// Every method leaves its decision in step, which is not passed around by value because copying it costs more than taking it.
type flow struct {
	step     Step
	latest   time.Time // of the last step
	began    time.Time // from which MaxElapsed counts: the call's start, or the last reset
	deadline time.Time // zero: none
	launched time.Time // start of the running attempt, where attempts are timed
	failed   time.Time // end of the first failed attempt, if failing

	phase   phase
	noRetry bool // ContextWithoutRetry
	delayed bool // the initial delay was given
	failing bool
	retried bool // a failure was followed by another attempt, or by the wait for one
	owed    bool // the budget was started and must be settled
	ending  Ending

	attempts  int // made, the running one included
	forgotten int // of those, how many the limit does not count
	kind      int // the rule that the last failure matched, from 1; 0: none

	live  bool           // a driver's: time passes on clock while throttles are asked
	clock clock.Clock    // nil: the system's
	rand  func() float64 // nil: math/rand/v2
	told  time.Duration  // waits that throttles demanded before the coming attempt
	held  int            // what the call holds of the budget

	memory        // of failures without a rule
	kinds  []kind // of failures with one, by rule; nil: none yet

	tickets tickets
	last    error // of the last attempt
	limit   limit // that the next wait does not fit into, if that ends the call
	history *history
}

type phase uint8

const (
	fresh phase = iota // nothing has been asked or told yet
	between
	running
	over
)

func (f *flow) begin(c *config, now, deadline time.Time) {
	f.latest, f.began, f.deadline, f.rand = now, now, deadline, c.rand
}

// advance takes the time of a step. What a clock runs backwards counts as nothing: the times that are measured from go back
// with it, so that elapsed time never shrinks, and later time counts on.
func (f *flow) advance(now time.Time) {
	if now.Before(f.latest) {
		back := now.Sub(f.latest)
		f.began, f.failed = f.began.Add(back), f.failed.Add(back)
		for i := range f.kinds {
			f.kinds[i].failed = f.kinds[i].failed.Add(back)
		}
	}
	f.latest = now
}

func (f *flow) start(c *config, now time.Time) {
	f.phase = between
	if c.budget != nil {
		c.budget.Start(now)
		f.owed = true
	}
}

// refresh reads the clock anew after something that may have blocked. A Flow's time is its driver's.
func (f *flow) refresh(now time.Time) time.Time {
	if !f.live {
		return now
	}
	return clock.Now(f.clock)
}

func (f *flow) maxAttempts(c *config) int {
	if f.noRetry {
		return 1
	}
	return c.attempts()
}

// next: steps 1 and 2.
func (f *flow) next(ctx context.Context, c *config, now time.Time) {
	f.advance(now)
	if f.phase == over || f.phase == running {
		return // the step stands
	}
	f.step = Step{}
	if f.stopped(ctx, c, now) {
		return
	}
	if c.initialDelay > 0 && !f.delayed {
		f.delayed = true
		f.wait(ctx, c, now, f.initialDelay(c), SourcePolicy)
		return
	}
	for f.tickets.admitted < len(c.throttles) {
		t := c.throttles[f.tickets.admitted]
		if f.tickets.admitted > 0 {
			now = f.refresh(now) // those before it may have blocked
		}
		ticket, wait, err := t.Admit(ctx, now, f.tickets.current())
		if err != nil {
			f.refuse(ctx, c, f.refresh(now), err)
			return
		}
		f.tickets.keep(ticket, wait <= 0)
		if wait > 0 {
			f.hold(ctx, c, f.refresh(now), t, wait)
			return
		}
	}
	if len(c.throttles) > 0 && (ctx.Err() != nil || closed(c.stop)) { // one of them took its time
		f.stopped(ctx, c, f.refresh(now))
		return
	}
	f.phase, f.launched, f.told = running, now, 0
	f.attempts++
	f.step.Action = Go
}

// stopped is step 1: a context that is done, or a closed stop channel, ends the call before its next attempt.
func (f *flow) stopped(ctx context.Context, c *config, now time.Time) bool {
	switch {
	case ctx.Err() != nil:
		reason, ending := contextEnd(ctx)
		f.end(ctx, c, now, reason, ending)
	case closed(c.stop):
		f.end(ctx, c, now, ErrShutdown, EndCanceled)
	default:
		return false
	}
	return true
}

// hold lets a throttle's wait pass, if all that were demanded before this attempt are not too long together.
func (f *flow) hold(ctx context.Context, c *config, now time.Time, t throttle.Throttle, wait time.Duration) {
	f.told = saturate.Add(f.told, wait)
	if most := c.hintLimit(); f.told > most {
		f.step.Delay, f.step.Source = wait, SourceThrottle
		f.limit = limit{wait, most, ofHint}
		if wait < f.told {
			f.limit = limit{wait, most - (f.told - wait), ofHintLeft}
		}
		f.end(ctx, c, now, tooLong(ctx, now, t), EndThrottled)
		return
	}
	f.wait(ctx, c, now, wait, SourceThrottle)
}

// wait decides for a wait before an attempt if it fits, else for the end.
func (f *flow) wait(ctx context.Context, c *config, now time.Time, d time.Duration, source Source) {
	f.step.Action, f.step.Delay, f.step.Source = Wait, d, source
	if reason := f.fits(c, now, d); reason != nil {
		f.end(ctx, c, now, reason, EndDeadline)
	}
}

// fits is steps 8 and 9: the one place where a wait meets the limits on time, whoever asked for it.
func (f *flow) fits(c *config, now time.Time, wait time.Duration) error {
	switch {
	case c.maxElapsed > 0 && saturate.Add(now.Sub(f.began), wait) >= c.maxElapsed:
		f.limit = limit{wait, c.maxElapsed, ofElapsed}
		return ErrMaxElapsed
	case c.maxRetryElapsed > 0 && f.failing && saturate.Add(now.Sub(f.failed), wait) >= c.maxRetryElapsed:
		f.limit = limit{wait, c.maxRetryElapsed, ofRetryElapsed}
		return ErrMaxElapsed
	case f.kind > 0 && f.late(c, now, wait):
		f.limit = limit{wait, c.rules[f.kind-1].maxElapsed, ofRule}
		return ErrMaxElapsed
	case !f.deadline.IsZero() && wait >= f.deadline.Sub(now):
		f.limit = limit{wait, f.deadline.Sub(now), ofDeadline}
		return ErrDeadline
	}
	return nil
}

func (f *flow) refuse(ctx context.Context, c *config, now time.Time, err error) {
	if ctx.Err() != nil { // a throttle that blocked until the context ended
		reason, ending := contextEnd(ctx)
		f.end(ctx, c, now, reason, ending)
		return
	}
	f.step.Delay, f.step.Source = refusedFor(err), SourceThrottle
	f.end(ctx, c, now, explain(ErrRefused, err), EndThrottled)
}

// report: steps 4 to 10. s is what follows if the attempt has not failed.
func (f *flow) report(ctx context.Context, c *config, now time.Time, o *throttle.Outcome, s sequel) {
	switch f.phase {
	case over:
		return
	case between: // made unasked, as the first attempt of Do
		f.phase, f.launched, f.told = running, time.Time{}, 0
		f.attempts++
	}
	f.advance(now)
	o.Number = f.attempts
	if c.timed && o.Duration == 0 && !f.launched.IsZero() {
		o.Duration = max(now.Sub(f.launched), 0)
	}
	var v verdict
	classify(ctx, c, o, &v)
	f.release(ctx, c, now, o)
	f.phase = between
	f.step = Step{Class: o.Class, Err: o.Err}
	f.last = o.Err
	if o.Err == nil {
		if s == finished {
			f.succeed(c, now)
		} else {
			f.again(ctx, c, now, s)
		}
		return
	}
	if c.history > 0 {
		f.history = f.history.add(o.Err, c.history)
	}
	if v.restart || c.resetAfter > 0 && o.Duration >= c.resetAfter {
		f.began = now
		f.forget(f.attempts - 1)
	}
	if !f.failing {
		f.failing, f.failed = true, now
	}
	if f.kind = v.rule; v.rule == 0 {
		f.number++
	} else {
		f.count(c, now)
	}
	switch {
	case v.bare && c.history == 0:
		f.punish(c, now, o, &v)
		f.phase, f.ending = over, v.ending
		f.step.Action, f.step.Reason = Done, v.reason
		f.settle(c, now, false)
	case v.reason != nil:
		f.punish(c, now, o, &v)
		f.end(ctx, c, now, v.reason, v.ending)
	case closed(c.stop):
		f.end(ctx, c, now, ErrShutdown, EndCanceled)
	default:
		f.plan(ctx, c, now, o, v.throttled)
	}
}

// punish charges for a failure after which the server itself forbade a retry.
func (f *flow) punish(c *config, now time.Time, o *throttle.Outcome, v *verdict) {
	if v.pushback && c.budget != nil {
		f.held, _ = c.budget.Charge(now, o.Class, f.held, true)
	}
}
