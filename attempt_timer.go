package retry

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-89b3229b/retry/internal/clock"
)

// attemptTimer is the timeout of one attempt. The zero attemptTimer is none.
type attemptTimer struct {
	ctx    context.Context
	cancel context.CancelFunc
	kept   *keptContext // ctx, with Results.Keep
	theirs bool         // ctx is the clock's
}

// begin starts the timeout. With kept, the context can be freed of it and live on.
func (a *attemptTimer) begin(parent context.Context, c clock.Clock, d time.Duration, kept bool) context.Context {
	timeouts, _ := c.(clock.Timeouts)
	switch {
	case kept:
		a.kept = newKeptContext(parent, c, d)
		a.ctx, a.cancel = a.kept, a.kept.cancel
	case timeouts != nil:
		a.ctx, a.cancel = timeouts.WithTimeout(parent, d)
		a.theirs = true
	default:
		a.ctx, a.cancel = context.WithTimeoutCause(parent, d, ErrAttemptTimeout)
	}
	return a.ctx
}

// stop keeps the timeout from passing now that the operation has returned, where its context may live on.
func (a *attemptTimer) stop() {
	if a.kept != nil {
		a.kept.free()
	}
}

// expired reports whether the attempt's own deadline has passed, and not the parent's.
func (a *attemptTimer) expired(parent context.Context) bool {
	if a.ctx == nil {
		return false
	}
	if a.theirs {
		return closed(a.ctx.Done()) && parent.Err() == nil // the mock of benbjohnson/clock does not synchronise Err
	}
	return a.ctx.Err() != nil && parent.Err() == nil
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

// keptContext is the context of an attempt whose value outlives it: it has a deadline until it is freed of it.
type keptContext struct {
	context.Context
	end      context.CancelCauseFunc
	deadline time.Time
	state    atomic.Int32
	timer    *time.Timer // the system's, if that is the clock
	disarm   func() bool // else
}

// The states of a keptContext: the timeout may still pass, has been taken away, or has passed.
const (
	armed = iota
	freed
	passed
)

func newKeptContext(parent context.Context, c clock.Clock, d time.Duration) *keptContext {
	k := &keptContext{deadline: clock.Now(c).Add(d)}
	k.Context, k.end = context.WithCancelCause(parent)
	if c == nil {
		k.timer = time.AfterFunc(d, k.pass)
	} else {
		k.disarm = afterFunc(parent, c, d, k.pass)
	}
	return k
}

func (k *keptContext) pass() {
	if k.state.CompareAndSwap(armed, passed) {
		k.end(ErrAttemptTimeout)
	}
}

// free takes the timeout away. One that is just passing is over when free returns: the context does not end later.
func (k *keptContext) free() {
	if k.timer != nil {
		k.timer.Stop()
	} else {
		k.disarm()
	}
	if !k.state.CompareAndSwap(armed, freed) && k.state.Load() == passed {
		<-k.Context.Done()
	}
}

func (k *keptContext) cancel() { k.end(nil) }

// Deadline is the attempt's own while it counts, else the parent's.
func (k *keptContext) Deadline() (time.Time, bool) {
	deadline, ok := k.Context.Deadline()
	if k.state.Load() != freed && (!ok || k.deadline.Before(deadline)) {
		return k.deadline, true
	}
	return deadline, ok
}

// Err is that of a deadline once the timeout has passed.
func (k *keptContext) Err() error {
	err := k.Context.Err()
	if err != nil && context.Cause(k.Context) == ErrAttemptTimeout {
		return context.DeadlineExceeded
	}
	return err
}

// afterFunc calls f after d on the clock, as well as it can.
func afterFunc(ctx context.Context, c clock.Clock, d time.Duration, f func()) (stop func() bool) {
	switch c := c.(type) {
	case clock.Funcs:
		return c.AfterFunc(d, f)
	case clock.Timeouts: // f is then called a moment late, in a goroutine of its own
		limit, release := c.WithTimeout(ctx, d)
		unhook := context.AfterFunc(limit, func() {
			if ctx.Err() == nil { // else it was the parent's end
				f()
			}
		})
		return func() bool { defer release(); return unhook() }
	}
	return time.AfterFunc(d, f).Stop
}
