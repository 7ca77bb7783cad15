package cenkalti

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/internal/carry"
	"github.com/seed-89b3229b/retry/internal/clock"
)

// waiter does the waits of one call, on a Timer of v4 or on the engine's clock.
type waiter struct {
	timer   Timer // nil: sleeper
	fired   <-chan time.Time
	sleeper clock.Sleeper
	delay   time.Duration
}

func newWaiter(ctx context.Context, t Timer) waiter {
	if t != nil {
		return waiter{timer: t}
	}
	return waiter{sleeper: clock.Sleeper{Clock: carry.From(ctx).Clock}}
}

func (w *waiter) now() time.Time { return clock.Now(w.sleeper.Clock) }

// start begins a wait, and done ends it. Only start calls methods of the Timer.
func (w *waiter) start(d time.Duration) {
	if w.timer == nil {
		w.delay = d
		return
	}
	w.timer.Start(d)
	w.fired = w.timer.C()
}

// done returns the time when the wait is over, or as soon as ctx is done or stop is closed.
func (w *waiter) done(ctx context.Context, stop <-chan struct{}) time.Time {
	if w.timer == nil {
		w.sleeper.Sleep(ctx, stop, w.delay)
		return w.now()
	}
	select {
	case at := <-w.fired:
		return at
	case <-ctx.Done():
	case <-stop:
	}
	return w.now()
}

// stop is called when no more waits follow.
func (w *waiter) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
