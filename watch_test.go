package retry_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// flow makes the call that do makes, driven by hand.
func (k *recKit) flow(ctx context.Context, errs []error, stop chan struct{}, opts ...retry.Option) error {
	fn := k.script(errs...)
	deadline, _ := ctx.Deadline()
	flow := retry.MustNew(k.options(opts...)...).Begin(time.Now(), deadline, nil)
	step := flow.Next(ctx, time.Now())
	for step.Action != retry.Done {
		switch step.Action {
		case retry.Go:
			inner := flow.Context(ctx)
			k.attempts = append(k.attempts, inner)
			_, err := fn(inner)
			step = flow.Fail(ctx, err, time.Now())
		case retry.Wait:
			if step.Delay > 0 {
				timer := time.NewTimer(step.Delay)
				select {
				case <-timer.C:
				case <-ctx.Done():
				case <-stop:
				}
				timer.Stop()
			}
			step = flow.Next(ctx, time.Now())
		}
	}
	return step.Err
}

// TestFlowIsSeenAsDo: observers, hooks and the logger are told the same of a Flow as of Do, in the same order, with the same
// times.
func TestFlowIsSeenAsDo(t *testing.T) {
	for name, tc := range map[string]struct {
		errs []error
		opts func(k *recKit) []retry.Option
		on   map[string]func(cancel func(), stop chan struct{})
	}{
		"success":       {},
		"recovered":     {errs: recTimes(2)},
		"exhausted":     {errs: recTimes(9)},
		"permanent":     {errs: []error{errRec, retry.Permanent(errRec)}},
		"told":          {errs: []error{retry.After(3*time.Second, errRec)}},
		"told too long": {errs: []error{retry.After(3*time.Hour, errRec)}},
		"elapsed": {errs: recTimes(9), opts: func(*recKit) []retry.Option {
			return []retry.Option{retry.WithMaxElapsed(2 * time.Second)}
		}},
		"initial delay": {errs: recTimes(1), opts: func(*recKit) []retry.Option {
			return []retry.Option{retry.WithInitialDelay(time.Second, nil)}
		}},
		"no wait": {errs: recTimes(1), opts: func(*recKit) []retry.Option { return []retry.Option{recAtOnce} }},
		"held back": {errs: recTimes(1), opts: func(k *recKit) []retry.Option {
			k.b.admit = func(asked int) (time.Duration, error) {
				return []time.Duration{time.Second, 0, 2 * time.Second, 0}[asked-1], nil
			}
			return nil
		}},
		"refused": {errs: recTimes(1), opts: func(k *recKit) []retry.Option {
			k.b.admit = func(asked int) (time.Duration, error) {
				if asked == 2 {
					return 0, errRecCause
				}
				return 0, nil
			}
			return nil
		}},
		"budget": {errs: recTimes(9), opts: func(k *recKit) []retry.Option {
			k.budget.charge = func(int, throttle.Class, bool) (int, bool) { return 0, false }
			return nil
		}},
		"hook ends it": {errs: recTimes(9), opts: func(k *recKit) []retry.Option {
			return []retry.Option{retry.WithBeforeRetry(func(_ context.Context, e retry.Event) error {
				if e.Number == 2 {
					return errRecCause
				}
				return nil
			})}
		}},
		"two observers": {errs: recTimes(1), opts: func(k *recKit) []retry.Option {
			return []retry.Option{retry.WithObserver(&recObserver{log: k.recLog, name: "second"})}
		}},
		"label": {errs: recTimes(1), opts: func(k *recKit) []retry.Option {
			return []retry.Option{retry.WithThrottle(recLabeler{&recThrottle{log: k.recLog, name: "c"}, "token 7"})}
		}},
		"cancelled in the wait": {errs: recTimes(9), on: map[string]func(func(), chan struct{}){
			"obs.Pause": func(cancel func(), _ chan struct{}) { time.AfterFunc(time.Millisecond, cancel) }}},
		"cancelled by a hook": {errs: recTimes(9), on: map[string]func(func(), chan struct{}){
			"onRetry": func(cancel func(), _ chan struct{}) { cancel() }}},
		"stopped by a hook": {errs: recTimes(9), on: map[string]func(func(), chan struct{}){
			"beforeRetry#1": func(_ func(), stop chan struct{}) { close(stop) }}},
		"stopped before the wait": {errs: recTimes(9), on: map[string]func(func(), chan struct{}){
			"onRetry": func(_ func(), stop chan struct{}) { close(stop) }}},
		"cancelled in the attempt": {errs: recTimes(9), on: map[string]func(func(), chan struct{}){
			"fn": func(cancel func(), _ chan struct{}) { cancel() }}},
		"stopped in the wait": {errs: recTimes(9), on: map[string]func(func(), chan struct{}){
			"obs.Pause": func(_ func(), stop chan struct{}) { close(stop) }}},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(byHand bool) (k *recKit, err error) {
				synctest.Test(t, func(t *testing.T) {
					k = newRecKit()
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					stop := make(chan struct{})
					for event, f := range tc.on {
						k.on[event] = func() { f(cancel, stop) }
					}
					opts := []retry.Option{retry.WithStop(stop)}
					if tc.opts != nil {
						opts = append(opts, tc.opts(k)...)
					}
					if byHand {
						err = k.flow(ctx, tc.errs, stop, opts...)
					} else {
						_, err = k.do(ctx, tc.errs, opts...)
					}
					require.Empty(t, k.wrong)
				})
				return k, err
			}
			do, errDo := run(false)
			flow, errFlow := run(true)
			require.Equal(t, do.lines, flow.lines)
			require.Equal(t, errDo, errFlow)
			require.Equal(t, do.observer.calls, flow.observer.calls)
			require.Equal(t, do.observer.starts, flow.observer.starts)
			require.Equal(t, do.observer.events, flow.observer.events)
			require.Equal(t, do.observer.pauses, flow.observer.pauses)
			require.Equal(t, do.observer.ends, flow.observer.ends)
		})
	}
}

// TestFlowContext is the driver's own, with what observers, throttles and the options have for the attempt.
func TestFlowContext(t *testing.T) {
	type key struct{}
	for _, name := range []string{"plain", "observed"} {
		t.Run(name, func(t *testing.T) {
			log := newRecLog()
			opts := []retry.Option{retry.WithThrottle(recAttacher{&recThrottle{log: log, name: "a"}}), retry.WithAttemptInfo(), recAtOnce}
			if name == "observed" {
				opts = append(opts, retry.WithObserver(&recObserver{log: log, name: "o"}))
			}
			flow := retry.MustNew(opts...).Begin(recStart, time.Time{}, nil)
			first := context.WithValue(t.Context(), key{}, "first")
			require.Equal(t, t.Context(), flow.Context(t.Context()), "before the first attempt")
			for number := 1; number <= 2; number++ { // each step has a context of its own
				step, done := context.WithCancelCause(context.WithValue(first, key{}, number))
				require.Equal(t, retry.Go, flow.Next(step, recStart).Action)
				ctx, end := context.WithTimeout(flow.Context(step), time.Hour)
				require.Equal(t, number, must(retry.AttemptFrom(ctx)).Number)
				require.Equal(t, "a"+string(rune('0'+number)), ctx.Value(recKey("a"))) // the ticket
				if name == "observed" {
					require.Equal(t, number, ctx.Value(recKey("o")))
				} else {
					require.Equal(t, number, ctx.Value(key{}))
				}
				cause := fmt.Errorf("cause %d", number)
				done(cause)
				require.Equal(t, cause, context.Cause(flow.Context(step)))
				<-ctx.Done()
				require.Equal(t, cause, context.Cause(ctx))
				end()
				flow.Fail(first, errRec, recStart)
				require.Equal(t, first, flow.Context(first), "in the wait")
			}
			flow.Abort(first, recStart, throttle.Unset)
			require.Empty(t, log.wrong)
		})
	}
}

func must[T any](v T, ok bool) T {
	if !ok {
		panic("not there")
	}
	return v
}

// TestFlowIsSeenAborted: what is told of a call that its driver ends, by state and class.
func TestFlowIsSeenAborted(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		steps  int
		ctx    context.Context
		class  throttle.Class
		ending retry.Ending
		starts int
	}{
		"in an attempt":        {1, t.Context(), throttle.Unset, retry.EndCanceled, 1},
		"a panic":              {1, t.Context(), throttle.Panicked, retry.EndPanicked, 1},
		"in a wait":            {2, t.Context(), throttle.Unset, retry.EndCanceled, 1},
		"in a wait, cancelled": {2, canceled, throttle.Unset, retry.EndCanceled, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := &recObserver{log: newRecLog(), name: "o"}
			policy := retry.MustNew(retry.WithObserver(o), recEvery(time.Second), retry.WithLogger(slog.New(recHandler{o.log})))
			flow := policy.Begin(recStart, time.Time{}, nil)
			now := recStart
			flow.Next(t.Context(), now)
			if tc.steps == 2 {
				flow.Fail(t.Context(), errRec, now)
			}
			now = now.Add(100 * time.Millisecond)
			end := flow.Abort(tc.ctx, now, tc.class)
			require.Equal(t, end, flow.Abort(tc.ctx, now, tc.class))
			require.Equal(t, end, flow.Next(tc.ctx, now))
			require.Equal(t, end, flow.Fail(tc.ctx, errRec, now))
			require.Len(t, o.ends, 1, "once")
			require.Equal(t, tc.steps, o.log.seen["logger"], "a line for the retry, one for the end")
			s := o.ends[0]
			require.Equal(t, tc.ending, s.Ending)
			require.Equal(t, end.Err, s.Err)
			require.Equal(t, end.Reason, s.Reason)
			require.Equal(t, 100*time.Millisecond, s.Elapsed)
			require.Equal(t, time.Duration(tc.steps-1)*100*time.Millisecond, s.TotalDelay, "what passed of the wait")
			require.Len(t, o.starts, tc.starts)
			require.Len(t, o.events, tc.steps-1, "an attempt that did not return has no end of its own")
			require.Empty(t, o.log.wrong)
		})
	}
	t.Run("without a step", func(t *testing.T) {
		log := newRecLog()
		policy := retry.MustNew(retry.WithObserver(&recObserver{log: log, name: "o"}), retry.WithLogger(slog.New(recHandler{log})))
		flow := policy.Begin(recStart, time.Time{}, nil)
		end := flow.Abort(t.Context(), recStart, throttle.Unset)
		require.ErrorIs(t, end.Err, retry.ErrShutdown)
		require.Equal(t, end, flow.Next(t.Context(), recStart))
		require.Equal(t, end, flow.Fail(t.Context(), errRec, recStart))
		require.Empty(t, log.lines)
	})
}

// TestFlowIsSeenUnasked: an attempt that was made without a Go began before it ended, by the time it took.
func TestFlowIsSeenUnasked(t *testing.T) {
	log := newRecLog()
	log.began = recStart
	o := &recObserver{log: log, name: "o"}
	flow := retry.MustNew(retry.WithObserver(o), recEvery(time.Second)).Begin(recStart, time.Time{}, nil)
	flow.Report(t.Context(), recStart.Add(time.Second), throttle.Outcome{Err: errRec, Duration: 300 * time.Millisecond})
	flow.Again(t.Context(), recStart.Add(3*time.Second))
	flow.Report(t.Context(), recStart.Add(5*time.Second), throttle.Outcome{Duration: math.MinInt64})
	log.require(t, `
		o.Start @0s  5
		o.Attempt @700ms 1
		o.AttemptDone @1s 1 transient
		o.Pause @1s 2 1s policy
		o.Attempt @3s 2
		o.AttemptDone @3s 2 success
		o.Pause @3s 3 1s policy
		o.Attempt @5s 3
		o.AttemptDone @5s 3 success
		o.Done @5s 3 success`)
	require.Equal(t, 4*time.Second, o.ends[0].TotalDelay)
}

// TestFlowIsSeenWhenTimeGoesBack, or leaps: no elapsed time is negative, none overflows.
func TestFlowIsSeenWhenTimeGoesBack(t *testing.T) {
	o := &recObserver{log: newRecLog(), name: "o"}
	flow := retry.MustNew(retry.WithObserver(o), recEvery(time.Second), retry.WithUnlimitedAttempts()).Begin(recStart, time.Time{}, nil)
	flow.Next(t.Context(), recStart)
	for range 3 {
		flow.Fail(t.Context(), errRec, recStart.AddDate(-280, 0, 0))
		flow.Next(t.Context(), recStart.AddDate(280, 0, 0))
	}
	flow.Fail(t.Context(), nil, recStart.AddDate(-1, 0, 0))
	require.Equal(t, time.Duration(math.MaxInt64), o.ends[0].TotalDelay)
	require.Zero(t, o.ends[0].Elapsed)

	flow = retry.MustNew(retry.WithObserver(o), recEvery(time.Second)).Begin(recStart, time.Time{}, nil)
	flow.Next(t.Context(), recStart)
	flow.Fail(t.Context(), errRec, recStart)
	flow.Next(t.Context(), recStart.Add(time.Second))
	flow.Fail(t.Context(), errRec, recStart.Add(time.Second))
	flow.Next(t.Context(), recStart.Add(500*time.Millisecond)) // before the wait began
	flow.Fail(t.Context(), nil, recStart.Add(time.Second))
	require.Equal(t, time.Second, o.ends[1].TotalDelay)
}

// TestFlowHookPanics: the call can still be aborted, and its end is told once.
func TestFlowHookPanics(t *testing.T) {
	o := &recObserver{log: newRecLog(), name: "o"}
	a := &recThrottle{log: o.log, name: "a"}
	flow := retry.MustNew(retry.WithObserver(o), retry.WithThrottle(a), recAtOnce,
		retry.WithOnRetry(func(context.Context, retry.Event) { panic(errRecCause) })).Begin(recStart, time.Time{}, nil)
	flow.Next(t.Context(), recStart)
	require.PanicsWithError(t, errRecCause.Error(), func() { flow.Fail(t.Context(), errRec, recStart) })
	end := flow.Abort(t.Context(), recStart, throttle.Panicked)
	require.ErrorIs(t, end.Err, errRec)
	require.ErrorIs(t, end.Err, retry.ErrShutdown)
	require.Len(t, o.ends, 1)
	require.Equal(t, retry.EndPanicked, o.ends[0].Ending)
	require.Equal(t, a.given, a.returned)
}

// TestFlowFail judges as Do does, and nil is a success.
func TestFlowFail(t *testing.T) {
	flow := retry.MustNew(recAtOnce).Begin(recStart, time.Time{}, nil)
	flow.Next(t.Context(), recStart)
	require.Equal(t, retry.Wait, flow.Fail(t.Context(), errRec, recStart).Action)
	flow.Next(t.Context(), recStart)
	require.Equal(t, retry.Step{Action: retry.Done, Class: throttle.Success}, flow.Fail(t.Context(), nil, recStart))

	flow = retry.MustNew(recAtOnce).Begin(recStart, time.Time{}, nil)
	step := flow.Fail(t.Context(), retry.Permanent(errRec), recStart)
	require.Equal(t, retry.Done, step.Action)
	require.True(t, errors.Is(step.Err, errRec))
}

// TestFlowUnwatchedAllocations: a Flow that nobody watches allocates nothing, a first step included.
func TestFlowUnwatchedAllocations(t *testing.T) {
	policy := retry.MustNew(recAtOnce)
	ctx := t.Context()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		flow := policy.Begin(recStart, time.Time{}, nil)
		flow.Next(ctx, recStart)
		flow.Fail(flow.Context(ctx), errRec, recStart)
		flow.Next(ctx, recStart)
		flow.Fail(ctx, nil, recStart)
	}))
}

// TestFlowCopyIsFound: go vet reports a copy of what has a field that is a sync.Locker by its pointer.
func TestFlowCopyIsFound(t *testing.T) {
	flow := reflect.TypeFor[retry.Flow]()
	locker := false
	for i := range flow.NumField() {
		locker = locker || reflect.PointerTo(flow.Field(i).Type).Implements(reflect.TypeFor[sync.Locker]())
	}
	require.True(t, locker)
}
