package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/internal/carry"
	"github.com/seed-89b3229b/retry/internal/clock"
	"github.com/seed-89b3229b/retry/internal/saturate"
	"github.com/seed-89b3229b/retry/throttle"
)

// work is what the entry points hand to the driver: closures over the typed value, which never leave the stack.
type work struct {
	try      func(ctx context.Context) error
	classify func(err error) throttle.Outcome           // nil: err decides
	sequel   func() sequel                              // after an attempt that has not failed; nil: the call has succeeded
	discard  func()                                     // the value is thrown away; nil: nobody minds
	keep     func(release context.CancelFunc)           // the value is returned; nil: nobody minds
	rescue   func(ctx context.Context, err error) error // the fallback; nil: none
}

// call is one run of the driver, which does everything around the core that needs a clock, a context or an observer.
type call struct {
	flow
	sleeper     clock.Sleeper
	now         time.Time
	entered     time.Time // the call's start
	observation Observation
	paused      time.Duration   // spent in waits, if observed
	attemptCtx  context.Context // of the last attempt, with its values
	timeout     attemptTimer
	event       Event // of the last failure
	retrying    bool  // a retry was decided and its wait is not over
	done        bool
}

// drive runs a call to its end. If err is not nil, the first attempt was made already and failed with it: nothing had to be
// asked or told before it.
func drive(ctx context.Context, c *config, w *work, err error) error {
	demandContext(ctx)
	made := err != nil
	carried := carry.From(ctx)
	k := call{sleeper: clock.Sleeper{Clock: clockOf(carried, c)}}
	k.live, k.clock, k.noRetry = true, k.sleeper.Clock, carried.NoRetry
	if made || c.clocked {
		k.tick()
	}
	defer func() { k.close(ctx, c) }() // panic and Goexit pass through
	k.entered = k.now
	if c.observer != nil {
		ctx = k.observe(ctx, c)
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Time{}
	}
	k.begin(c, k.entered, deadline)
	k.start(c, k.now)

	if made {
		k.leave(ctx, ctx, c, w, err)
	} else {
		k.proceed(ctx, c)
	}
	for {
		switch k.step.Action {
		case Go:
			k.attempt(ctx, c, w)
		case Wait:
			k.pause(ctx, c)
		default:
			return k.finish(ctx, c, w)
		}
	}
}

func (k *call) tick() { k.now = clock.Now(k.sleeper.Clock) }

// pause: step 12.
func (k *call) pause(ctx context.Context, c *config) {
	rest := k.step.Delay
	if rest > 0 || c.throttles != nil {
		rest = k.remaining(rest)
	}
	if rest > 0 && ctx.Err() == nil && !closed(c.stop) {
		if k.observation != nil {
			k.observation.Pause(ctx, Pause{Before: k.attempts + 1, At: k.now, Delay: rest, Source: k.step.Source})
			rest = k.remaining(rest)
		}
		k.sleeper.Sleep(ctx, c.stop, rest)
		began := k.now
		k.tick()
		k.paused = saturate.Add(k.paused, max(k.now.Sub(began), 0))
	}
	if k.retrying {
		k.retrying = false
		for _, before := range c.beforeRetry {
			if ctx.Err() != nil || closed(c.stop) {
				break // next says so
			}
			if err := before(ctx, k.event); err != nil {
				k.tick()
				k.abort(ctx, c, k.now, throttle.Skipped, err, EndAborted)
				return
			}
		}
		if c.beforeRetry != nil {
			k.tick()
		}
	}
	k.proceed(ctx, c)
}

// proceed: steps 1 and 2.
func (k *call) proceed(ctx context.Context, c *config) {
	k.next(ctx, c, k.now)
	if c.throttles != nil {
		k.tick() // they may have blocked: whatever comes now, a wait or the attempt, begins after that
	}
}

// remaining is what is left of a wait that began at now: conditions and callbacks have taken time since. The wait still ends
// when it was planned to, within the limits that it was checked against.
func (k *call) remaining(wait time.Duration) time.Duration {
	began := k.now
	k.tick()
	return wait - max(k.now.Sub(began), 0)
}

// attempt: steps 3 to 11.
func (k *call) attempt(ctx context.Context, c *config, w *work) {
	if c.timeoutShare > 0 || c.resetAfter > 0 {
		k.tick() // without a wait nobody has looked since the last failure
	}
	k.launched = k.now
	k.attemptCtx = k.enter(ctx, c, w)
	err := w.try(k.attemptCtx)
	if err != nil || c.measured() {
		k.tick()
	}
	k.leave(ctx, k.attemptCtx, c, w, err)
}

// leave: steps 4 to 11, after an attempt.
func (k *call) leave(ctx, attemptCtx context.Context, c *config, w *work, err error) {
	k.timeout.stop()
	expired := k.timeout.expired(ctx)
	o := throttle.Outcome{Err: timedOut(err, expired)}
	if w.classify != nil {
		o = w.classify(o.Err)
		o.Err = timedOut(o.Err, expired)
	}
	next := finished
	if o.Err == nil && w.sequel != nil {
		next = w.sequel()
	}
	if err == nil && !c.measured() && (o.Err != nil || next != finished) {
		k.tick() // the call goes on after what had looked like its end
	}
	k.report(ctx, c, k.now, &o, next)
	k.retrying = k.step.Action == Wait && o.Err != nil
	if k.observation != nil || k.retrying && (c.onRetry != nil || c.beforeRetry != nil || c.logger != nil) {
		k.describe(c, k.now, &o, &k.event)
	}
	if k.observation != nil {
		k.observation.AttemptDone(attemptCtx, k.event)
	}
	if k.retrying {
		if c.logger != nil {
			logRetry(attemptCtx, c.logger, &k.event)
		}
		for _, f := range c.onRetry {
			f(ctx, k.event)
		}
	}
	k.part(ctx, w)
}

// part settles what becomes of the attempt's value, and then ends its context.
func (k *call) part(ctx context.Context, w *work) {
	switch {
	case k.step.Action == Wait || k.step.Err != nil && w.rescue != nil && ctx.Err() == nil:
		if w.discard != nil {
			w.discard()
		}
	case w.keep != nil:
		w.keep(k.timeout.release())
		k.timeout = attemptTimer{} // only now: had Keep panicked, the context would end here
	}
	k.timeout.end()
}

// finish ends a call that the core has ended: the last log line, the fallback, the observation.
func (k *call) finish(ctx context.Context, c *config, w *work) error {
	err := k.step.Err
	if c.logger != nil {
		at := ctx
		if k.attemptCtx != nil {
			at = k.attemptCtx
		}
		if err != nil {
			k.logEnd(at, c, k.now)
		} else {
			k.logSuccess(at, c)
		}
	}
	if err != nil && w.rescue != nil && ctx.Err() == nil {
		err = w.rescue(ctx, err)
	}
	k.done = true
	if k.observation != nil || c.summary != nil {
		k.tick()
		s := k.summary(k.entered, k.now, k.paused)
		s.Err = err
		k.tell(ctx, c, s)
	}
	return err
}
