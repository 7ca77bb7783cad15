package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/internal/carry"
	"github.com/seed-89b3229b/retry/internal/clock"
	"github.com/seed-89b3229b/retry/throttle"
)

// Attempt is an attempt's place in its call, for headers, logs and spans.
type Attempt struct {
	// Number counts from 1.
	Number int
	// Max is how many attempts there may be; 0: no limit.
	Max int
	// Name is the policy's (WithName).
	Name string
}

// AttemptFrom returns the facts of the attempt that ctx belongs to: those of the nearest call with WithAttemptInfo. ok is
// false if there is none.
func AttemptFrom(ctx context.Context) (a Attempt, ok bool) {
	v := carry.From(ctx)
	return Attempt{v.Number, v.Max, v.Name}, v.Number != 0
}

// enter makes the context of an attempt: timeout, facts, what throttles attach, what the observer adds.
func (k *call) enter(ctx context.Context, c *config, w *work) context.Context {
	if c.attemptTimeout > 0 {
		ctx = k.timeout.begin(ctx, k.sleeper.Clock, c.attemptTimeout, w.keep != nil)
	}
	if c.attemptInfo {
		v := carry.From(ctx)
		v.Number, v.Max, v.Name = k.attempts, k.limit(c), c.name
		ctx = carry.With(ctx, v)
	}
	label := ""
	for i, t := range c.throttles {
		if a, ok := t.(throttle.Attacher); ok {
			if next := a.Attach(ctx, *k.tickets.at(i)); next != nil {
				ctx = next
			}
		}
		if l, ok := t.(throttle.Labeler); ok && label == "" && k.observation != nil {
			label = l.Label(*k.tickets.at(i))
		}
	}
	if k.observation != nil {
		if next := k.observation.Attempt(ctx, AttemptStart{Number: k.attempts, At: k.now, Label: label}); next != nil {
			ctx = next
		}
	}
	return ctx
}

// attemptTimer is the deadline of one attempt.
type attemptTimer struct {
	ctx    context.Context // nil: no timeout
	cancel context.CancelFunc
	disarm func() bool // with Keep: the context outlives the timeout
}

// begin starts the timeout. With kept, the context can be freed of it and live on.
func (a *attemptTimer) begin(parent context.Context, c clock.Clock, d time.Duration, kept bool) context.Context {
	timeouts, _ := c.(clock.Timeouts)
	switch {
	case kept:
		ctx, cancel := context.WithCancelCause(parent)
		a.ctx, a.cancel = ctx, func() { cancel(nil) }
		a.disarm = afterFunc(parent, c, d, func() { cancel(ErrAttemptTimeout) })
	case timeouts != nil:
		a.ctx, a.cancel = timeouts.WithTimeout(parent, d)
	default:
		a.ctx, a.cancel = context.WithTimeoutCause(parent, d, ErrAttemptTimeout)
	}
	return a.ctx
}

// afterFunc calls f after d on the clock, as well as it can.
func afterFunc(ctx context.Context, c clock.Clock, d time.Duration, f func()) (stop func() bool) {
	switch c := c.(type) {
	case clock.Funcs:
		return c.AfterFunc(d, f)
	case clock.Timeouts: // f is then called a moment late, in a goroutine of its own
		limit, release := c.WithTimeout(ctx, d)
		unhook := context.AfterFunc(limit, f)
		return func() bool { defer release(); return unhook() }
	}
	return time.AfterFunc(d, f).Stop
}

// stop keeps the timeout from passing now that the operation has returned, where its context may live on.
func (a *attemptTimer) stop() {
	if a.disarm != nil {
		a.disarm()
		a.disarm = nil
	}
}

// expired reports whether the attempt's own deadline has passed, and not the parent's.
func (a *attemptTimer) expired(parent context.Context) bool {
	if a.ctx == nil {
		return false
	}
	select {
	case <-a.ctx.Done(): // not Err: the mock of benbjohnson/clock does not synchronise it
		return parent.Err() == nil
	default:
		return false
	}
}

// release returns what ends the attempt's context.
func (a *attemptTimer) release() context.CancelFunc {
	if a.cancel == nil {
		return func() {}
	}
	return a.cancel
}

// end ends the attempt's context, unless it was released.
func (a *attemptTimer) end() {
	a.stop()
	if a.cancel != nil {
		a.cancel()
	}
	*a = attemptTimer{}
}
