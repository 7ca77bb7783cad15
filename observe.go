package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

// observe starts the observation of a call, if anybody is interested.
func (k *call) observe(ctx context.Context, c *config) context.Context {
	next, observation := c.observer.Start(ctx, Call{Name: c.name, MaxAttempts: k.shownLimit(c), Start: k.now})
	k.observation = observation
	if next != nil {
		ctx = next
	}
	k.tick()
	return ctx
}

// shownLimit is the limit of attempts as observers know it: 0 for none.
func (f *flow) shownLimit(c *config) int {
	if n := f.maxAttempts(c); n != Unlimited {
		return n
	}
	return 0
}

// summary is the end of a call as the core has decided it.
func (f *flow) summary(entered, now time.Time, paused time.Duration) Summary {
	return Summary{
		Attempts: f.attempts, At: now, Ending: f.ending, Err: f.step.Err, Last: f.last, Reason: f.step.Reason,
		Elapsed: max(now.Sub(entered), 0), TotalDelay: paused,
	}
}

// describe makes the event of an attempt that was reported, from the step that followed.
func (f *flow) describe(c *config, now time.Time, o *throttle.Outcome, e *Event) {
	s := &f.step
	*e = Event{
		Name: c.name, Number: f.attempts, Max: f.shownLimit(c), At: now, Duration: o.Duration, Err: o.Err, Class: o.Class, Signal: o.Signal,
		Retrying: s.Action == Wait, Delay: s.Delay, Source: s.Source, Reason: s.Reason,
	}
	if f.failing {
		e.Elapsed = max(now.Sub(f.failed), 0)
	}
}

// close ends a call that a panic or runtime.Goexit leaves, wherever it happened. It does not recover. Each thing is ended
// even if ending the one before panics too.
func (k *call) close(ctx context.Context, c *config) {
	if k.done {
		return
	}
	k.done = true
	defer func() {
		s := k.summary(k.entered, k.now, k.paused)
		s.Ending, s.Err, s.Reason = EndPanicked, nil, nil
		k.tell(ctx, c, s)
	}()
	defer k.timeout.end()
	k.tick()
	k.abort(ctx, c, k.now, throttle.Panicked, ErrShutdown, EndPanicked)
}
