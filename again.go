package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/strategy"
)

// sequel is what follows an attempt that did not fail.
type sequel uint8

const (
	finished sequel = iota // nothing: the call has succeeded
	rerun                  // another attempt, after this success
)

// again goes on after an attempt that did not fail: a new run of failures may begin, and the wait is that of a first one.
func (f *flow) again(ctx context.Context, c *config, now time.Time, s sequel) {
	f.forget(f.attempts)
	if s == rerun {
		f.began = now
		f.credit(c, now)
		f.held = 0
	}
	if f.stopped(ctx, c, now) {
		return
	}
	if reason, ending := f.interval(ctx, c, now); reason != nil {
		f.end(ctx, c, now, reason, ending)
		return
	}
	if s == rerun {
		f.start(c, now)
	}
	f.step.Action = Wait
}

// interval finds the wait after an attempt that did not fail, or the reason why there is none.
func (f *flow) interval(ctx context.Context, c *config, now time.Time) (error, Ending) {
	state := strategy.State{Number: 1, Limit: c.maxDelay, Now: now, Rand: f.rand}
	if c.timed {
		state.Began = f.launched
	}
	ok := f.planned(c, &c.terms, &f.memory, &state)
	f.memory = memory{} // nothing has failed
	if !ok {
		return ErrNoDelay, EndExhausted
	}
	return f.foreseen(ctx, c, now)
}
