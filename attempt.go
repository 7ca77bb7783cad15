package retry

import (
	"context"
	"math"
	"time"

	"github.com/seed-89b3229b/retry/internal/carry"
	"github.com/seed-89b3229b/retry/throttle"
)

// Attempt is an attempt's place in its call, for headers, logs and spans.
type Attempt struct {
	// Number counts from 1, and goes on through resets.
	Number int
	// Max is the limit of attempts, as WithMaxAttempts or the default has it: resets, looks of a Poll and rules with limits of
	// their own may let Number go beyond. 0: no limit.
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
	if d := k.attemptTimeout(c); d > 0 {
		ctx = k.timeout.begin(ctx, k.clock, d, w.keep != nil)
	}
	ctx = k.furnish(ctx, c)
	if k.observation != nil {
		start := AttemptStart{Number: k.attempts, At: k.now, Label: k.label(c)}
		if next := k.observation.Attempt(ctx, start); next != nil {
			ctx = next
		}
	}
	return ctx
}

// furnish puts the facts of the attempt that starts into its context, and what throttles attach.
func (f *flow) furnish(ctx context.Context, c *config) context.Context {
	if c.attemptInfo {
		v := carry.From(ctx)
		v.Number, v.Max, v.Name = f.attempts, f.shownLimit(c), c.name
		ctx = carry.With(ctx, v)
	}
	for i, t := range c.throttles[:min(f.tickets.admitted, len(c.throttles))] {
		if a, ok := t.(throttle.Attacher); ok {
			if next := a.Attach(ctx, *f.tickets.at(i)); next != nil {
				ctx = next
			}
		}
	}
	return ctx
}

// label is the first that a throttle has for what it gave the attempt.
func (f *flow) label(c *config) string {
	for i, t := range c.throttles[:min(f.tickets.admitted, len(c.throttles))] {
		if l, ok := t.(throttle.Labeler); ok {
			if label := l.Label(*f.tickets.at(i)); label != "" {
				return label
			}
		}
	}
	return ""
}

// attemptTimeout is the timeout of the attempt that starts now; 0: none.
func (k *call) attemptTimeout(c *config) time.Duration {
	if c.timeoutShare == 0 {
		return c.attemptTimeout
	}
	var left time.Duration = math.MaxInt64
	if c.maxElapsed > 0 {
		left = c.maxElapsed - max(k.now.Sub(k.began), 0)
	}
	if !k.deadline.IsZero() {
		left = min(left, k.deadline.Sub(k.now))
	}
	if left == math.MaxInt64 {
		return 0
	}
	share := left
	if c.timeoutShare < 1 { // of 1, float64 could round the largest Duration up
		share = time.Duration(c.timeoutShare * float64(left))
	}
	return max(share, c.minTimeout, 1) // a share of no time at all is a timeout that has passed, not none
}
