package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// sequel is what follows an attempt that did not fail.
type sequel uint8

const (
	finished   sequel = iota // nothing: the call has succeeded
	rerun                    // another attempt, after this success
	unfinished               // another attempt, which this one was not enough for
)

// again goes on after an attempt that did not fail: it ended a run of failures. A rerun is the begin of something new to
// everybody, while the unfinished goes on as what it was.
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
	state := strategy.State{Number: 1, Limit: c.maxDelay, Now: now, Rand: f.rand}
	if c.timed {
		state.Began = f.launched
	}
	reason, ending := f.delay(ctx, c, &c.terms, &f.memory, now, &throttle.Signal{}, &state)
	f.memory = memory{} // nothing has failed
	if reason != nil {
		f.end(ctx, c, now, reason, ending)
		return
	}
	if s == rerun {
		f.start(c, now)
	}
	f.step.Action = Wait
}
