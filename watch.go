package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/internal/saturate"
	"github.com/seed-89b3229b/retry/throttle"
)

// watch tells observers, the logger and the hooks of a policy what a Flow does, in the driver's order. It has no clock: all
// times are those that the steps are given.
type watch struct {
	observation Observation     // nil: none, or it has ended
	values      context.Context // the first step's, with what observers put there
	attempt     context.Context // of the last attempt, with its values; nil: none yet
	entered     time.Time
	held        time.Time // when the wait began that goes on
	holding     bool
	paused      time.Duration // spent in waits
	event       Event         // of the last attempt
	retrying    bool          // a retry was decided, and its attempt has not begun
	ended       bool
}

// watched reports whether a call has anything to tell.
func (c *config) watched() bool {
	return c.observer != nil || c.logger != nil || c.onRetry != nil || c.beforeRetry != nil
}

// start begins the observation, with the first step.
func (w *watch) start(ctx context.Context, f *flow, c *config) {
	w.values = ctx
	if c.observer == nil {
		return
	}
	next, observation := c.observer.Start(ctx, Call{Name: c.name, MaxAttempts: f.shownLimit(c), Start: w.entered})
	w.observation = observation
	if next != nil {
		w.values = next
	}
}

// resume is the context of a step. It counts the wait that the step has ended.
func (w *watch) resume(ctx context.Context, now time.Time) context.Context {
	if w.holding {
		w.holding = false
		w.paused = saturate.Add(w.paused, max(now.Sub(w.held), 0))
	}
	return withValues(ctx, w.values)
}

// next: steps 1 and 2, after the hooks that come between a wait and its attempt.
func (w *watch) next(ctx context.Context, f *flow, c *config, now time.Time) {
	if f.phase == over || f.phase == running {
		return // the step stands
	}
	ctx = w.resume(ctx, now)
	if w.retrying {
		w.retrying = false
		for _, before := range c.beforeRetry {
			if ctx.Err() != nil || closed(c.stop) {
				break // next says so
			}
			if err := before(ctx, w.event); err != nil {
				w.abort(ctx, f, c, now, throttle.Skipped, err, EndAborted)
				return
			}
		}
	}
	f.next(ctx, c, now)
	if f.step.Action == Go {
		w.begin(f.furnish(ctx, c), AttemptStart{Number: f.attempts, At: now, Label: f.label(c)})
		return
	}
	w.settle(ctx, f, c, now)
}

// begin tells the start of an attempt.
func (w *watch) begin(ctx context.Context, s AttemptStart) {
	w.attempt = ctx
	if w.observation == nil {
		return
	}
	if next := w.observation.Attempt(ctx, s); next != nil {
		w.attempt = next
	}
}

// report: steps 4 to 11. An attempt that was made unasked is told as if it had begun in time to end now.
func (w *watch) report(ctx context.Context, f *flow, c *config, now time.Time, o *throttle.Outcome, s sequel) {
	if f.phase == over {
		return
	}
	ctx = w.resume(ctx, now)
	if f.phase == between {
		w.begin(ctx, AttemptStart{Number: f.attempts + 1, At: now.Add(-max(o.Duration, 0))})
	}
	f.report(ctx, c, now, o, s)
	w.retrying = f.step.Action == Wait && o.Err != nil
	f.describe(c, now, o, &w.event)
	if w.observation != nil {
		w.observation.AttemptDone(w.attempt, w.event)
	}
	if w.retrying {
		if c.logger != nil {
			logRetry(w.attempt, c.logger, &w.event)
		}
		for _, hook := range c.onRetry {
			hook(ctx, w.event)
		}
	}
	w.settle(ctx, f, c, now)
}

// settle tells the wait or the end that was decided.
func (w *watch) settle(ctx context.Context, f *flow, c *config, now time.Time) {
	if f.step.Action == Done {
		w.end(ctx, f, c, now)
		return
	}
	w.held, w.holding = now, true
	if w.observation != nil && f.step.Delay > 0 && ctx.Err() == nil && !closed(c.stop) {
		w.observation.Pause(ctx, Pause{Before: f.attempts + 1, At: now, Delay: f.step.Delay, Source: f.step.Source})
	}
}

// abort ends the call from outside. A call without a step was never begun, and nobody is told of its end.
func (w *watch) abort(ctx context.Context, f *flow, c *config, now time.Time, class throttle.Class, reason error, ending Ending) {
	if w.values == nil {
		w.ended = true
		f.abort(ctx, c, now, class, reason, ending)
		return
	}
	ctx = w.resume(ctx, now)
	defer w.end(ctx, f, c, now) // even if a throttle panics
	f.abort(ctx, c, now, class, reason, ending)
}

// end tells the end, once.
func (w *watch) end(ctx context.Context, f *flow, c *config, now time.Time) {
	if w.ended {
		return
	}
	w.ended = true
	observation := w.observation
	w.observation = nil
	if observation != nil {
		defer func() { observation.Done(ctx, f.summary(w.entered, now, w.paused)) }()
	}
	if c.logger == nil {
		return
	}
	at := ctx
	if w.attempt != nil {
		at = w.attempt
	}
	if f.step.Err != nil {
		f.logEnd(at, c, now)
	} else {
		f.logSuccess(at, c)
	}
}

// valued is a context that ends as one does, and has the values of another before its own.
type valued struct {
	context.Context
	values context.Context // without its end: context.Cause must not find the other's
}

func (v *valued) Value(key any) any {
	if found := v.values.Value(key); found != nil {
		return found
	}
	return v.Context.Value(key)
}

// withValues puts the values of one context before those of ctx.
func withValues(ctx, values context.Context) context.Context {
	return &valued{ctx, context.WithoutCancel(values)}
}
