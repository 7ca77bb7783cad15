package retry_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

var errSvEnd = errors.New("end of the script")

// svRan is one run of supervised work: how long it goes well, and how it ends.
type svRan struct {
	long time.Duration
	err  error
}

func svTimes(n int, r svRan) (all []svRan) {
	for range n {
		all = append(all, r)
	}
	return all
}

// svWaits supervises work that goes through runs and then ends the call, and returns the waits between them.
func svWaits(t *testing.T, runs []svRan, opts ...retry.Option) (waits []time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var ended time.Time
		n := 0
		err = retry.Supervise(t.Context(), func(context.Context) error {
			if n > 0 {
				waits = append(waits, time.Since(ended))
			}
			if n == len(runs) {
				return retry.Permanent(errSvEnd)
			}
			time.Sleep(runs[n].long)
			ended = time.Now()
			n++
			return runs[n-1].err
		}, opts...)
	})
	return waits, err
}

// TestSuperviseWaits holds the defaults, and what begins from the base.
func TestSuperviseWaits(t *testing.T) {
	hour, half := svRan{time.Hour, errRec}, svRan{30 * time.Second, errRec}
	failed, ended := svRan{0, errRec}, svRan{0, nil}
	most, least := retry.WithRand(recDraws(recMost)), retry.WithRand(recDraws(0))
	for _, tc := range []struct {
		name string
		runs []svRan
		opts []retry.Option
		want []time.Duration
	}{
		{"the curve, at most", svTimes(8, failed), []retry.Option{most}, kbSeconds(1, 2, 4, 8, 16, 32, 60, 60)},
		{"the curve, at least", svTimes(8, failed), []retry.Option{least}, []time.Duration{500e6, 1e9, 2e9, 4e9, 8e9, 16e9, 30e9, 30e9}},
		{"healthy for an hour", svTimes(5, hour), []retry.Option{most}, kbSeconds(1, 1, 1, 1, 1)},
		{"healthy after trouble", append(svTimes(3, failed), hour, failed, failed), []retry.Option{most}, kbSeconds(1, 2, 4, 1, 2, 4)},
		{"no saw-tooth: 30 s is not healthy", svTimes(9, half), []retry.Option{most}, kbSeconds(1, 2, 4, 8, 16, 32, 60, 60, 60)},
		{"just not healthy", svTimes(3, svRan{time.Minute - 1, errRec}), []retry.Option{most}, kbSeconds(1, 2, 4)},
		{"just healthy", svTimes(3, svRan{time.Minute, errRec}), []retry.Option{most}, kbSeconds(1, 1, 1)},
		{"healthy by choice", svTimes(3, half), []retry.Option{most, retry.WithResetAfter(30 * time.Second)}, kbSeconds(1, 1, 1)},
		{"never healthy", svTimes(3, hour), []retry.Option{most, retry.WithResetAfter(0)}, kbSeconds(1, 2, 4)},
		{"a policy's choice", svTimes(3, hour), []retry.Option{retry.MustNew(most, retry.WithResetAfter(2*time.Hour)), retry.WithName("x")}, kbSeconds(1, 2, 4)},
		{"nil, at most", svTimes(4, ended), []retry.Option{most}, kbSeconds(1, 1, 1, 1)},
		{"nil, at least", svTimes(4, ended), []retry.Option{least}, []time.Duration{500e6, 500e6, 500e6, 500e6}},
		{"nil after an hour", svTimes(2, svRan{time.Hour, nil}), []retry.Option{most}, kbSeconds(1, 1)},
		{"nil between failures", []svRan{failed, failed, ended, failed, failed}, []retry.Option{most}, kbSeconds(1, 2, 1, 1, 2)},
		{"progress", []svRan{failed, failed, {0, retry.Restart(errRec)}, failed}, []retry.Option{most}, kbSeconds(1, 2, 1, 2)},
		{"a jitter", svTimes(8, failed), []retry.Option{retry.WithJitter(strategy.Equal), most}, kbSeconds(1, 2, 4, 8, 16, 32, 60, 60)},
		{"a jitter, nil", svTimes(2, ended), []retry.Option{retry.WithJitter(strategy.Full), retry.WithRand(recDraws(0.25))}, []time.Duration{250e6, 250e6}},
		{"a strategy", svTimes(3, ended), []retry.Option{recEvery(7 * time.Second)}, kbSeconds(7, 7, 7)},
		{"a base", svTimes(7, failed), []retry.Option{retry.Config{BaseDelay: 3 * time.Second}, most}, kbSeconds(3, 6, 12, 24, 48, 60, 60)},
		{"a base, at least", []svRan{failed, failed, ended}, []retry.Option{retry.Config{BaseDelay: 4 * time.Second}, least}, kbSeconds(2, 4, 2)},
		{"a policy's base", svTimes(2, failed), []retry.Option{retry.MustNew(retry.Config{BaseDelay: 4 * time.Second}), least}, kbSeconds(2, 4)},
		{"a base and a jitter", svTimes(5, failed), []retry.Option{retry.Config{BaseDelay: 8 * time.Second}, retry.WithJitter(strategy.Full), most}, kbSeconds(8, 16, 32, 60, 60)},
		{"a base and a cap", svTimes(3, failed), []retry.Option{retry.Config{BaseDelay: 40 * time.Second, MaxDelay: 3 * time.Minute}, most}, kbSeconds(40, 80, 160)},
		{"a strategy after a base", svTimes(2, failed), []retry.Option{retry.Config{BaseDelay: 4 * time.Second}, recEvery(7 * time.Second)}, kbSeconds(7, 7)},
		{"a cap", append(svTimes(3, failed), ended), []retry.Option{retry.WithMaxDelay(700 * time.Millisecond), most}, []time.Duration{700e6, 700e6, 700e6, 700e6}},
		{"told", []svRan{{0, retry.After(40*time.Second, errRec)}, ended}, []retry.Option{most, retry.WithHint(recExact)}, kbSeconds(40, 1)},
	} {
		waits, err := svWaits(t, tc.runs, tc.opts...)
		require.Same(t, errSvEnd, err, tc.name)
		require.Equal(t, tc.want, waits, tc.name)
	}
}

// TestSuperviseIsNeverDone: the failures in a row that it takes have no limit.
func TestSuperviseIsNeverDone(t *testing.T) {
	waits, err := svWaits(t, svTimes(1000, svRan{0, errRec}))
	require.Same(t, errSvEnd, err)
	require.Len(t, waits, 1000)
	for _, d := range waits {
		require.GreaterOrEqual(t, d, 500*time.Millisecond)
		require.LessOrEqual(t, d, time.Minute)
	}
}

// TestSuperviseLimits are about failures in a row.
func TestSuperviseLimits(t *testing.T) {
	failed, ended, hour := svRan{0, errRec}, svRan{0, nil}, svRan{time.Hour, errRec}
	restarted := svRan{0, retry.Restart(errRec)}
	for _, tc := range []struct {
		name string
		runs []svRan
		opts []retry.Option
		made int
		want error
	}{
		{"three in a row", svTimes(9, failed), []retry.Option{retry.WithMaxAttempts(3)}, 3, retry.ErrExhausted},
		{"nil begins anew", []svRan{failed, failed, ended, failed, failed, ended, ended, failed, failed, failed, failed}, []retry.Option{retry.WithMaxAttempts(3)}, 10, retry.ErrExhausted},
		{"health begins anew", []svRan{failed, failed, hour, failed, hour, failed, failed, failed}, []retry.Option{retry.WithMaxAttempts(3)}, 7, retry.ErrExhausted},
		{"progress begins anew", []svRan{failed, failed, restarted, failed, failed}, []retry.Option{retry.WithMaxAttempts(3)}, 5, retry.ErrExhausted},
		{"one failure", []svRan{ended, ended, hour}, []retry.Option{retry.WithMaxAttempts(1)}, 3, retry.ErrExhausted},
		{"time of trouble", append(svTimes(4, hour), svTimes(20, failed)...), []retry.Option{retry.WithMaxElapsed(10 * time.Second), recEvery(3 * time.Second)}, 7, retry.ErrMaxElapsed},
		{"time since a nil", []svRan{failed, ended, failed, failed, failed, failed, failed}, []retry.Option{retry.WithMaxElapsed(10 * time.Second), recEvery(3 * time.Second)}, 5, retry.ErrMaxElapsed},
		{"time since the first failure", append(svTimes(4, hour), svTimes(20, failed)...), []retry.Option{retry.WithMaxRetryElapsed(10 * time.Second), recEvery(3 * time.Second)}, 7, retry.ErrMaxElapsed},
		{"a strategy that ends", []svRan{failed, ended, failed, failed}, []retry.Option{retry.WithStrategy(strategy.Sequence{Delays: kbSeconds(1)})}, 4, retry.ErrNoDelay},
		{"a strategy that never begins", []svRan{ended}, []retry.Option{retry.WithStrategy(strategy.Func(func(strategy.State) (time.Duration, bool) { return 0, false }))}, 1, retry.ErrNoDelay},
		{"a limit below a first wait", []svRan{ended}, []retry.Option{retry.WithMaxElapsed(time.Second), recEvery(time.Second)}, 1, retry.ErrMaxElapsed},
		{"a told wait", []svRan{ended, {0, retry.After(time.Hour, errRec)}}, nil, 2, retry.ErrHintTooLong},
	} {
		_, err := svWaits(t, tc.runs, tc.opts...)
		e := recError(t, err)
		require.Equal(t, tc.want, e.Reason, tc.name)
		require.Equal(t, tc.made, e.Attempts, "%s: all runs are attempts", tc.name)
		require.Equal(t, tc.runs[tc.made-1].err == nil, e.Last == nil, tc.name)
	}
}

// TestSuperviseEnds: each way out, and that none of them is nil.
func TestSuperviseEnds(t *testing.T) {
	stop := func(long time.Duration) retry.Option {
		c := make(chan struct{})
		time.AfterFunc(long, func() { close(c) })
		return retry.WithStop(c)
	}
	const never = time.Duration(0)
	for _, tc := range []struct {
		name   string
		ran    svRan
		cancel time.Duration
		opts   func() []retry.Option
		runs   int
		at     time.Duration
		reason error // nil: the error itself
	}{
		{"canceled in a run that fails", svRan{2 * time.Second, errRec}, time.Second, nil, 1, 2 * time.Second, context.Canceled},
		{"canceled in a run that ends well", svRan{2 * time.Second, nil}, time.Second, nil, 1, 2 * time.Second, context.Canceled},
		{"canceled in the wait after a failure", svRan{2 * time.Second, errRec}, 3 * time.Second, nil, 1, 3 * time.Second, context.Canceled},
		{"canceled in the wait after nil", svRan{2 * time.Second, nil}, 3 * time.Second, nil, 1, 3 * time.Second, context.Canceled},
		{"stopped in a run that fails", svRan{2 * time.Second, errRec}, never, func() []retry.Option { return []retry.Option{stop(time.Second)} }, 1, 2 * time.Second, retry.ErrShutdown},
		{"stopped in a run that ends well", svRan{2 * time.Second, nil}, never, func() []retry.Option { return []retry.Option{stop(time.Second)} }, 1, 2 * time.Second, retry.ErrShutdown},
		{"stopped in a wait", svRan{2 * time.Second, nil}, never, func() []retry.Option { return []retry.Option{stop(3 * time.Second)} }, 1, 3 * time.Second, retry.ErrShutdown},
		{"permanent", svRan{time.Second, retry.Permanent(errRec)}, never, nil, 1, time.Second, nil},
		{"permanent progress", svRan{time.Second, retry.Restart(retry.Permanent(errRec))}, never, nil, 1, time.Second, nil},
		{"a condition", svRan{time.Second, errRec}, never, func() []retry.Option { return []retry.Option{retry.WithCondition(condition.Only())} }, 1, time.Second, nil},
		{"somebody else's cancellation", svRan{time.Second, context.Canceled}, never, nil, 1, time.Second, nil},
		{"refused", svRan{time.Second, nil}, never, func() []retry.Option {
			return []retry.Option{retry.WithThrottle(throttle.Func(func(_ context.Context, now time.Time) (time.Duration, error) { return 0, errRecCause }))}
		}, 0, 0, retry.ErrRefused},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, runs := time.Now(), 0
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.cancel > 0 {
				time.AfterFunc(tc.cancel, cancel)
			}
			opts := []retry.Option{recEvery(5 * time.Second)}
			if tc.opts != nil {
				opts = append(opts, tc.opts()...)
			}
			err := retry.Supervise(ctx, func(context.Context) error {
				runs++
				time.Sleep(tc.ran.long)
				return tc.ran.err
			}, opts...)
			require.Error(t, err, tc.name)
			require.Equal(t, tc.runs, runs, tc.name)
			require.Equal(t, tc.at, time.Since(began), tc.name)
			if tc.reason == nil {
				require.Equal(t, err, errors.Unwrap(retry.Permanent(err)))
				require.True(t, err == errRec || err == context.Canceled, tc.name)
				return
			}
			require.ErrorIs(t, recError(t, err).Reason, tc.reason, tc.name)
			require.Equal(t, tc.ran.err, recError(t, err).Last, tc.name)
		})
	}
}

// TestSuperviseDeadline: no run under a context that is done, no wait that a deadline would cut.
func TestSuperviseDeadline(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := retry.Supervise(ctx, func(context.Context) error { t.Error("called"); return nil })
	require.Equal(t, &retry.Error{Reason: context.Canceled}, recError(t, err))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		err := retry.Supervise(ctx, func(context.Context) error { return nil }, recEvery(2*time.Second))
		require.Equal(t, 4*time.Second, time.Since(began), "no wait that cannot end in time")
		require.Equal(t, &retry.Error{Attempts: 3, Delay: 2 * time.Second, Reason: retry.ErrDeadline}, recBare(t, err))
		require.EqualError(t, err, "retry: gave up after 3 attempts: the next wait of 2s would end after the deadline in 1s")
	})
}

// TestSuperviseOrder: a nil is a success for all who count, no retry for anybody, and not the end.
func TestSuperviseOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		runs := []error{nil, errRec, retry.Permanent(errSvEnd)}
		n := 0
		err := retry.Supervise(t.Context(), func(context.Context) error {
			n++
			k.add("fn", time.Now(), n)
			time.Sleep(time.Minute)
			return runs[n-1]
		}, k.options()...)
		require.Same(t, errSvEnd, err)
		k.require(t, `
			obs.Start @0s job 3
			budget.Start @0s
			a.Admit @0s go
			b.Admit @0s go
			a.Attach a1
			obs.Attempt @0s 1
			fn @0s 1
			a.Done @1m0s a1 success 1
			b.Done @1m0s b1 success 1
			curve.Succeed
			budget.Settle @1m0s success 0
			curve.Next 1 0s 0s
			rand
			jitter 1s 0.5
			budget.Start @1m0s
			obs.AttemptDone @1m0s 1 success
			obs.Pause @1m0s 2 1s policy
			a.Admit @1m1s go
			b.Admit @1m1s go
			a.Attach a2
			obs.Attempt @1m1s 2
			fn @1m1s 2
			condition boom
			a.Done @2m1s a2 transient 2
			b.Done @2m1s b2 transient 2
			curve.Next 1 0s 0s
			rand
			jitter 1s 0.5
			budget.Charge @2m1s transient 0 more
			curve.Failed 1 0s 0s
			obs.AttemptDone @2m1s 2 transient
			logger INFO retry scheduled
			onRetry @2m1s 2
			obs.Pause @2m1s 3 1s policy
			beforeRetry 2
			a.Admit @2m2s go
			b.Admit @2m2s go
			a.Attach a3
			obs.Attempt @2m2s 3
			fn @2m2s 3
			a.Done @3m2s a3 permanent 3
			b.Done @3m2s b3 permanent 3
			budget.Settle @3m2s failure 10
			obs.AttemptDone @3m2s 3 permanent
			logger DEBUG not retried
			obs.Done @3m2s 3 aborted`)
		want := retry.Event{
			Name: "job", Number: 1, Max: 3, At: k.began.Add(time.Minute), Duration: time.Minute, Class: throttle.Success,
			Retrying: true, Delay: time.Second,
		}
		require.Equal(t, want, k.observer.events[0])
		require.Equal(t, retry.Summary{
			Attempts: 3, At: k.began.Add(3*time.Minute + 2*time.Second), Ending: retry.EndAborted, Err: errSvEnd, Last: errSvEnd,
			Reason: retry.ErrNotRetryable, Elapsed: 3*time.Minute + 2*time.Second, TotalDelay: 2 * time.Second,
		}, k.observer.ends[0], "times count from the call's start, whatever was reset")
	})
}

// TestSuperviseOrderOfAnEnd after a nil: the success is settled, and no further run is paid for.
func TestSuperviseOrderOfAnEnd(t *testing.T) {
	k := newRecKit()
	ctx, cancel := context.WithCancel(t.Context())
	err := retry.Supervise(ctx, func(context.Context) error { cancel(); return nil }, retry.WithBudget(k.budget),
		retry.WithLogger(slog.New(recHandler{k.recLog})), retry.WithStrategy(recLearner{recCurve{log: k.recLog}}))
	require.Equal(t, context.Canceled, recError(t, err).Reason)
	require.EqualError(t, err, "retry: gave up after 1 attempt: context canceled")
	require.Equal(t, map[string]int{"budget.Start": 1, "curve.Succeed": 1, "budget.Settle": 1, "logger": 1}, k.seen)
	require.Empty(t, k.wrong)
}

// TestSuperviseBudget: each success is settled with what was charged since the last one, which recBudget minds.
func TestSuperviseBudget(t *testing.T) {
	k := newRecKit()
	_, err := svWaits(t, []svRan{{0, errRec}, {0, errRec}, {0, nil}, {0, nil}, {0, errRec}}, retry.WithBudget(k.budget))
	require.Same(t, errSvEnd, err)
	var got []string
	for _, line := range k.lines {
		if f := strings.Fields(line); f[0] == "budget.Settle" {
			got = append(got, f[2]+" "+f[3])
		}
	}
	require.Equal(t, []string{"success 20", "success 0", "failure 10"}, got)
	require.Equal(t, []int{3, 3}, []int{k.budget.started, k.budget.charged})
	require.Empty(t, k.wrong)
}

// TestSuperviseContextWithoutRetry: the first failure ends it, a nil does not.
func TestSuperviseContextWithoutRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		err := retry.Supervise(retry.ContextWithoutRetry(t.Context()), func(context.Context) error {
			if runs++; runs < 4 {
				return nil
			}
			return retry.Restart(errRec)
		})
		require.Equal(t, retry.ErrExhausted, recError(t, err).Reason)
		require.Equal(t, 4, runs)
	})
}

func TestSuperviseConfigErrors(t *testing.T) {
	fn := func(context.Context) error { t.Error("called"); return nil }
	recRequireConfig(t, retry.Supervise(t.Context(), nil), "fn", nil, recNotNil)
	recRequireConfig(t, retry.Supervise(t.Context(), fn, retry.WithResetAfter(-1)), "WithResetAfter", time.Duration(-1), "must not be negative")
	for _, o := range []retry.Option{
		retry.WithResults(retry.Results[int]{}), retry.WithRetryResult(func(int) bool { return false }),
		retry.WithFallback(func(context.Context, error) (int, error) { return 0, nil }),
	} {
		err := retry.Supervise(t.Context(), fn, o)
		require.ErrorIs(t, err, retry.ErrConfig)
		require.ErrorContains(t, err, "cannot serve Supervise, which has no result")
	}
	var none context.Context
	require.Panics(t, func() { _ = retry.Supervise(none, fn) })
}

// TestSupervisePanic passes through, also from what is told of a success.
func TestSupervisePanic(t *testing.T) {
	for _, event := range []string{"fn#2", "curve.Succeed", "budget.Settle", "budget.Start#2", "a.Done", "curve.Next", "rand", "jitter", "obs.AttemptDone", "obs.Pause"} {
		synctest.Test(t, func(t *testing.T) {
			k := newRecKit()
			k.on[event] = recBlowUp
			require.Same(t, errRecPanic, recPanics(t, func() {
				_ = retry.Supervise(t.Context(), func(context.Context) error { k.add("fn"); return nil }, k.options()...)
			}), event)
			require.False(t, k.a.out || k.b.out, event)
			if event != "budget.Settle" && event != "budget.Start#2" {
				require.Equal(t, k.budget.started, k.budget.settled, event)
			}
			require.Equal(t, retry.EndPanicked, k.observer.ends[0].Ending, event)
			require.Len(t, k.observer.ends, 1, event)
		})
	}
}

// TestSuperviseForLong: exact over 10 000 restarts, and no bigger for them.
func TestSuperviseForLong(t *testing.T) {
	const restarts = 10_000
	supervise := func(runs int) (took time.Duration, mallocs uint64) {
		clk, n := &recJumpClock{now: recStart}, 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := retry.Supervise(t.Context(), func(context.Context) error {
			switch n++; {
			case n > runs:
				return retry.Permanent(errSvEnd)
			case n%4 == 0:
				return nil
			case n%4 == 3:
				clk.now = clk.now.Add(time.Minute)
			}
			return errRec
		}, retry.WithClock(clk), retry.WithRand(recDraws(0)), retry.WithErrorHistory(4))
		runtime.ReadMemStats(&after)
		require.Equal(t, runs+1, recError(t, err).Attempts)
		require.Equal(t, runs-runs/4+1-4, recError(t, err).Dropped)
		return clk.now.Sub(recStart), after.Mallocs - before.Mallocs
	}
	// Of four runs the first two are failures in a row, the third a first one after a minute of health, the fourth ends well.
	took, mallocs := supervise(restarts)
	require.Equal(t, restarts/4*(500*time.Millisecond+time.Second+time.Minute+500*time.Millisecond+500*time.Millisecond), took)
	if !raceEnabled {
		_, few := supervise(40)
		require.InDelta(t, float64(few), float64(mallocs), 50, "nothing is left of a restart")
	}
}

// recJumpClock is a clock on which waits take no time and no memory.
type recJumpClock struct{ now time.Time }

func (c *recJumpClock) Now() time.Time                       { return c.now }
func (c *recJumpClock) After(time.Duration) <-chan time.Time { panic("Wait is there") }
func (c *recJumpClock) Wait(_ context.Context, _ <-chan struct{}, d time.Duration) {
	c.now = c.now.Add(d)
}

// TestConcurrentSafeShapes: a policy serves calls of every shape at once, each with its own defaults.
func TestConcurrentSafeShapes(t *testing.T) {
	policy := retry.MustNew(recAtOnce, retry.WithRule(condition.Is(errKnown), retry.WithMaxAttempts(3)))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			n := 0
			err := retry.Supervise(t.Context(), func(context.Context) error {
				if n++; n < 20 {
					return errRec
				}
				return errKnown
			}, policy)
			if n != 22 || !errors.Is(err, retry.ErrExhausted) {
				t.Errorf("%d runs: %v", n, err)
			}
		})
		wg.Go(func() {
			n := 0
			_, err := retry.Poll(t.Context(), 1, func(context.Context) (int, bool, error) { n++; return n, false, errRec }, policy)
			if n != 5 || !errors.Is(err, retry.ErrExhausted) {
				t.Errorf("%d looks: %v", n, err)
			}
		})
	}
	wg.Wait()
}
