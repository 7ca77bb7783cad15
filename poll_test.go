package retry_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// plLook is what one look sees, and how long it takes.
type plLook struct {
	v    int
	done bool
	err  error
	long time.Duration
}

// plNot are n looks that see nothing done, from value v on.
func plNot(v, n int) (looks []plLook) {
	for i := range n {
		looks = append(looks, plLook{v: v + i})
	}
	return looks
}

// plBad are n looks that fail.
func plBad(n int) (looks []plLook) {
	for range n {
		looks = append(looks, plLook{v: -1, err: errRec})
	}
	return looks
}

func plJoin(parts ...[]plLook) (looks []plLook) {
	for _, p := range parts {
		looks = append(looks, p...)
	}
	return looks
}

// plResult is what came of a poll, and at which times it looked.
type plResult struct {
	v   int
	err error
	at  []time.Duration
}

// plPoll polls every 10 s through looks, the last of which repeats.
func plPoll(t *testing.T, looks []plLook, opts ...retry.Option) (r plResult) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r.v, r.err = retry.Poll(t.Context(), 10*time.Second, func(context.Context) (int, bool, error) {
			look := looks[min(len(r.at), len(looks)-1)]
			r.at = append(r.at, time.Since(began))
			require.LessOrEqual(t, len(r.at), 100, "no end")
			time.Sleep(look.long)
			return look.v, look.done, look.err
		}, opts...)
	})
	return r
}

func TestPoll(t *testing.T) {
	yes := []plLook{{v: 99, done: true}}
	slow := plLook{v: 1, long: 4 * time.Second}
	for _, tc := range []struct {
		name  string
		looks []plLook
		opts  []retry.Option
		at    []time.Duration
		v     int
		want  error // the reason, or a bare error; nil: none
	}{
		{"at once", yes, nil, kbSeconds(0), 99, nil},
		{"at the third look", plJoin(plNot(1, 2), yes), nil, kbSeconds(0, 10, 20), 99, nil},
		{"the interval begins when a look ends", plJoin([]plLook{slow, slow}, yes), nil, kbSeconds(0, 14, 28), 99, nil},
		{"after an initial delay", plJoin(plNot(1, 1), yes), []retry.Option{retry.WithInitialDelay(3*time.Second, nil)}, kbSeconds(3, 13), 99, nil},
		{"the interval is neither jittered nor capped", plJoin(plNot(1, 2), yes), []retry.Option{retry.WithJitter(strategy.Full), retry.WithMaxDelay(time.Second), retry.WithRand(recDraws(0))}, kbSeconds(0, 10, 20), 99, nil},
		{"many looks count no attempts", plJoin(plNot(1, 50), yes), []retry.Option{retry.WithMaxAttempts(1)}, kbSeconds(seq(0, 10, 51)...), 99, nil},
		{"done beside an error", []plLook{{v: 1, done: true, err: errRec}, {v: 2, done: true}}, nil, kbSeconds(0, 10), 2, nil},

		{"an error waits no less than the interval", plJoin(plBad(1), yes), []retry.Option{recEvery(time.Second)}, kbSeconds(0, 10), 99, nil},
		{"an error waits longer", plJoin(plBad(2), plNot(1, 1), plBad(1), yes), []retry.Option{retry.WithStrategy(recCurveOf(15))}, kbSeconds(0, 15, 45, 55, 70), 99, nil},
		{"a told wait", plJoin([]plLook{{err: retry.After(45*time.Second, errRec)}}, yes), []retry.Option{retry.WithHint(recExact)}, kbSeconds(0, 45), 99, nil},
		{"a shorter told wait", plJoin([]plLook{{err: retry.After(time.Second, errRec)}}, yes), []retry.Option{retry.WithRand(recDraws(0))}, kbSeconds(0, 10), 99, nil},
		{"a shorter told wait, exactly", plJoin([]plLook{{err: retry.After(time.Second, errRec)}}, yes), []retry.Option{retry.WithHint(recExact)}, kbSeconds(0, 1), 99, nil},

		{"five failures in a row", plJoin(plNot(1, 2), plBad(9)), nil, kbSeconds(0, 10, 20, 30, 40, 50, 60), -1, retry.ErrExhausted},
		{"never five in a row", plJoin(plBad(4), plNot(1, 1), plBad(4), plNot(1, 1), plBad(4), yes), nil, kbSeconds(seq(0, 10, 15)...), 99, nil},
		{"a limit in a row", plJoin(plBad(1), plNot(1, 1), plBad(2)), []retry.Option{retry.WithMaxAttempts(2)}, kbSeconds(0, 10, 20, 30), -1, retry.ErrExhausted},
		{"no limit in a row", plJoin(plBad(20), yes), []retry.Option{retry.WithUnlimitedAttempts(), recAtOnce}, kbSeconds(seq(0, 10, 21)...), 99, nil},
		{"a rule in a row", plJoin(plBad(2), plNot(1, 1), plBad(3)), []retry.Option{retry.WithRule(condition.Is(errRec), retry.WithMaxAttempts(3), recEvery(20*time.Second))}, kbSeconds(0, 20, 40, 50, 70, 90), -1, retry.ErrExhausted},
		{"time of a run of failures", plJoin(plBad(2), plNot(1, 1), plBad(9)), []retry.Option{retry.WithMaxRetryElapsed(25 * time.Second)}, kbSeconds(0, 10, 20, 30, 40, 50), -1, retry.ErrMaxElapsed},
		{"permanent", plJoin(plNot(1, 1), []plLook{{v: 7, err: retry.Permanent(errRec)}}), nil, kbSeconds(0, 10), 7, errRec},
		{"a condition", plJoin(plNot(1, 1), plBad(1)), []retry.Option{retry.WithCondition(condition.Only())}, kbSeconds(0, 10), -1, errRec},

		{"the time of all looks", plNot(1, 100), []retry.Option{retry.WithMaxElapsed(25 * time.Second)}, kbSeconds(0, 10, 20), 3, retry.ErrMaxElapsed},
		{"equal to the limit", plNot(1, 100), []retry.Option{retry.WithMaxElapsed(20 * time.Second)}, kbSeconds(0, 10), 2, retry.ErrMaxElapsed},
		{"a failure does not begin the time anew", plJoin(plNot(1, 1), plBad(1), plNot(5, 9)), []retry.Option{retry.WithMaxElapsed(35 * time.Second)}, kbSeconds(0, 10, 20, 30), 6, retry.ErrMaxElapsed},
		{"progress does", plJoin(plNot(1, 1), []plLook{{err: retry.Restart(errRec)}}, plNot(5, 9)), []retry.Option{retry.WithMaxElapsed(35 * time.Second)}, kbSeconds(0, 10, 20, 30, 40), 7, retry.ErrMaxElapsed},
		{"refused", plNot(1, 1), []retry.Option{retry.WithThrottle(throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, errRecCause }))}, nil, 0, retry.ErrRefused},
	} {
		r := plPoll(t, tc.looks, tc.opts...)
		require.Equal(t, tc.at, r.at, tc.name)
		require.Equal(t, tc.v, r.v, "%s: the value", tc.name)
		switch {
		case tc.want == nil:
			require.NoError(t, r.err, tc.name)
		case tc.want == errRec:
			require.Same(t, errRec, r.err, tc.name)
		default:
			require.ErrorIs(t, recError(t, r.err).Reason, tc.want, tc.name)
			require.Equal(t, len(tc.at), recError(t, r.err).Attempts, "%s: each look is one", tc.name)
			last := tc.looks[min(max(len(tc.at)-1, 0), len(tc.looks)-1)].err
			require.Equal(t, last, recError(t, r.err).Last, "%s: the last look's", tc.name)
		}
	}
}

// seq is n numbers from first on, step apart.
func seq(first, step, n int) (all []int) {
	for i := range n {
		all = append(all, first+i*step)
	}
	return all
}

// recCurveOf waits n, 2n, 3n seconds and so on.
func recCurveOf(n int) strategy.Strategy {
	d := time.Duration(n) * time.Second
	return strategy.Linear{Initial: d, Increment: d}
}

// TestPollEnds: a context and a stop channel end it, between looks and after one, and the last value comes back.
func TestPollEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		at   time.Duration // of the end
		long time.Duration // of a look
		stop bool
		want error
		v    int
		took time.Duration
	}{
		"canceled in a wait": {at: 25 * time.Second, want: context.Canceled, v: 3, took: 25 * time.Second},
		"canceled in a look": {at: 25 * time.Second, long: 6 * time.Second, want: context.Canceled, v: 2, took: 25 * time.Second},
		"stopped in a wait":  {at: 25 * time.Second, stop: true, want: retry.ErrShutdown, v: 3, took: 25 * time.Second},
		"stopped in a look":  {at: 20 * time.Second, long: 6 * time.Second, stop: true, want: retry.ErrShutdown, v: 2, took: 22 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, n := time.Now(), 0
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stop := make(chan struct{})
			time.AfterFunc(tc.at, func() {
				if tc.stop {
					close(stop)
				} else {
					cancel()
				}
			})
			v, err := retry.Poll(ctx, 10*time.Second, func(context.Context) (int, bool, error) {
				n++
				time.Sleep(tc.long)
				return n, false, nil
			}, retry.WithStop(stop))
			require.Equal(t, &retry.Error{Attempts: n, Reason: tc.want}, recError(t, err), name)
			require.Equal(t, tc.v, v, name)
			require.Equal(t, tc.took, time.Since(began), name)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	v, err := retry.Poll(ctx, time.Second, func(context.Context) (int, bool, error) { cancel(); return 7, true, nil })
	require.NoError(t, err, "what is done is done")
	require.Equal(t, 7, v)
	_, err = retry.Poll(ctx, time.Second, func(context.Context) (int, bool, error) { t.Error("called"); return 0, true, nil })
	require.Equal(t, &retry.Error{Reason: context.Canceled}, recError(t, err))
}

// TestPollDeadline: no look at the deadline, and no wait for it.
func TestPollDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		began, n := time.Now(), 0
		v, err := retry.Poll(ctx, 10*time.Second, func(context.Context) (int, bool, error) { n++; return n, false, nil })
		require.Equal(t, 3, v)
		require.Equal(t, 20*time.Second, time.Since(began))
		require.Equal(t, &retry.Error{Attempts: 3, Delay: 10 * time.Second, Reason: retry.ErrDeadline}, recBare(t, err))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "retry: gave up after 3 attempts: the next wait of 10s would end at the deadline")
	})
}

// TestPollOrder: a look that is not done is told as the success that it is, and not the end.
func TestPollOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		looks := []plLook{{v: 1}, {v: 2, err: errRec}, {v: 3, done: true}}
		n := 0
		v, err := retry.Poll(t.Context(), 10*time.Second, func(ctx context.Context) (int, bool, error) {
			n++
			k.attempts = append(k.attempts, ctx)
			k.add("fn", time.Now(), n)
			time.Sleep(time.Second)
			return looks[n-1].v, looks[n-1].done, looks[n-1].err
		}, k.options(k.results(), k.fallback(), retry.WithAttemptTimeout(time.Minute))...)
		require.NoError(t, err)
		require.Equal(t, 3, v)
		k.require(t, `
			obs.Start @0s job 3
			budget.Start @0s
			a.Admit @0s go
			b.Admit @0s go
			a.Attach a1
			obs.Attempt @0s 1
			fn @0s 1
			Classify 1
			a.Done @1s a1 success 1
			b.Done @1s b1 success 1
			obs.AttemptDone @1s 1 success
			Discard 1 alive
			obs.Pause @1s 2 10s policy
			a.Admit @11s go
			b.Admit @11s go
			a.Attach a2
			obs.Attempt @11s 2
			fn @11s 2
			Classify 2
			condition boom
			a.Done @12s a2 transient 2
			b.Done @12s b2 transient 2
			curve.Next 1 0s 0s
			rand
			jitter 1s 0.5
			budget.Charge @12s transient 0 more
			curve.Failed 1 0s 0s
			obs.AttemptDone @12s 2 transient
			logger INFO retry scheduled
			onRetry @12s 2
			Discard 2 alive
			obs.Pause @12s 3 10s policy
			beforeRetry 2
			a.Admit @22s go
			b.Admit @22s go
			a.Attach a3
			obs.Attempt @22s 3
			fn @22s 3
			Classify 3
			a.Done @23s a3 success 3
			b.Done @23s b3 success 3
			curve.Succeed
			budget.Settle @23s success 10
			obs.AttemptDone @23s 3 success
			Keep 3 alive
			logger INFO succeeded after 3 attempts
			obs.Done @23s 3 success`)
		require.Equal(t, retry.Event{
			Name: "job", Number: 1, Max: 3, At: k.began.Add(time.Second), Duration: time.Second, Class: throttle.Success, Retrying: true, Delay: 10 * time.Second,
		}, k.observer.events[0], "no error")
		require.Equal(t, retry.Summary{
			Attempts: 3, At: k.began.Add(23 * time.Second), Elapsed: 23 * time.Second, TotalDelay: 20 * time.Second,
		}, k.observer.ends[0])
	})
}

// TestPollThrottles: what a throttle foresees is added to the interval, and its own waits before a look are within the limits.
func TestPollThrottles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, began := newRecLog(), time.Now()
		opens := began.Add(15 * time.Second)
		gate := recPlanner{&recThrottle{log: log, name: "a"}, func(at time.Time) time.Duration { return max(opens.Sub(at), 0) }}
		var looked []time.Duration
		_, err := retry.Poll(t.Context(), 10*time.Second, func(context.Context) (int, bool, error) {
			looked = append(looked, time.Since(began))
			return 0, len(looked) == 3, nil
		}, retry.WithThrottle(gate))
		require.NoError(t, err)
		require.Equal(t, kbSeconds(0, 15, 25), looked)

		opens = time.Now().Add(time.Hour)
		v, err := retry.Poll(t.Context(), 10*time.Second, func(context.Context) (int, bool, error) { return 7, false, nil }, retry.WithThrottle(gate))
		require.ErrorIs(t, err, retry.ErrHintTooLong)
		require.Equal(t, 7, v)
		require.Equal(t, time.Hour, recError(t, err).Delay)
	})
}

// TestPollResults: Classify may accept an error, whose look is done if it says so, and may turn a value down.
func TestPollResults(t *testing.T) {
	accept := retry.WithResults(retry.Results[int]{Classify: func(v int, err error) throttle.Outcome {
		if err == errRec {
			err = nil
		}
		return throttle.Outcome{Err: err}
	}})
	r := plPoll(t, []plLook{{v: 1, err: errRec}, {v: 2, err: errRec, done: true}}, accept, retry.WithMaxAttempts(1))
	require.NoError(t, r.err)
	require.Equal(t, 2, r.v)
	r = plPoll(t, []plLook{{v: 1}, {v: 2, done: true}, {v: 3, done: true}}, retry.WithRetryResult(func(v int) bool { return v == 2 }))
	require.NoError(t, r.err)
	require.Equal(t, 3, r.v)
	discard := retry.WithResults(retry.Results[int]{Discard: func(int) {}})
	r = plPoll(t, plNot(1, 9), discard, retry.WithMaxElapsed(25*time.Second))
	require.ErrorIs(t, r.err, retry.ErrMaxElapsed)
	require.Equal(t, 3, r.v, "no look followed the last")
	r = plPoll(t, plNot(1, 9), retry.WithFallback(func(_ context.Context, err error) (int, error) { return 50, nil }), retry.WithMaxElapsed(25*time.Second))
	require.NoError(t, r.err)
	require.Equal(t, 50, r.v)
}

// TestPollContextWithoutRetry: the first failure ends it, what is not done does not.
func TestPollContextWithoutRetry(t *testing.T) {
	n := 0
	v, err := retry.Poll(retry.ContextWithoutRetry(t.Context()), 1, func(context.Context) (int, bool, error) {
		if n++; n < 4 {
			return n, false, nil
		}
		return n, false, errRec
	})
	require.Equal(t, retry.ErrExhausted, recError(t, err).Reason)
	require.Equal(t, 4, v)
}

func TestPollConfigErrors(t *testing.T) {
	fn := func(context.Context) (int, bool, error) { t.Error("called"); return 1, true, nil }
	_, err := retry.Poll[int](t.Context(), time.Second, nil)
	recRequireConfig(t, err, "fn", nil, recNotNil)
	for _, d := range []time.Duration{0, -1, math.MinInt64} {
		v, err := retry.Poll(t.Context(), d, fn)
		recRequireConfig(t, err, "interval", d, "must be above 0")
		require.Zero(t, v)
	}
	_, err = retry.Poll(t.Context(), time.Second, fn, retry.WithMaxAttempts(0))
	require.ErrorIs(t, err, retry.ErrConfig)
	_, err = retry.Poll(t.Context(), time.Second, fn, retry.WithRetryResult(func(string) bool { return false }))
	require.ErrorContains(t, err, "is for results of type string, and cannot serve a call that returns int")
	var none context.Context
	require.Panics(t, func() { _, _ = retry.Poll(none, time.Second, fn) })
}

// TestPollLongestInterval: nothing overflows, and it can be interrupted.
func TestPollLongestInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Hour, cancel)
		v, err := retry.Poll(ctx, recForever, func(context.Context) (int, bool, error) { return 7, false, nil })
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 7, v)
		_, err = retry.Poll(t.Context(), recForever, func(context.Context) (int, bool, error) { return 7, false, nil }, retry.WithMaxElapsed(recForever))
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
	})
}

// TestPollForADay: a 502 now and then is no end, and the counts that are charged are those of failures.
func TestPollForADay(t *testing.T) {
	errBadGateway := errors.New("502 Bad Gateway")
	clk, log, n := &recJumpClock{now: recStart}, newRecLog(), 0
	budget := &recBudget{log: log}
	const looks = 24 * 60 * 60 / 10
	v, err := retry.Poll(t.Context(), 10*time.Second, func(context.Context) (int, bool, error) {
		if n++; n%100 < 4 && n < looks {
			return 0, false, errBadGateway
		}
		return n, n == looks, nil
	}, retry.WithClock(clk), retry.WithBudget(budget), retry.WithStrategy(recLearner{recCurve{log: log}}), retry.WithErrorHistory(2))
	require.NoError(t, err)
	require.Equal(t, looks, v)
	require.Equal(t, (looks-1)*10*time.Second, clk.now.Sub(recStart))
	failed := looks/100*4 + 3
	require.Equal(t, map[string]int{
		"budget.Start": 1, "budget.Charge": failed, "budget.Settle": 1, "curve.Next": failed, "curve.Failed": failed, "curve.Succeed": 1,
	}, log.seen)
	require.Equal(t, failed*10, budget.held)
}

// TestPollAMillionTimes needs no more memory than ten times.
func TestPollAMillionTimes(t *testing.T) {
	poll := func(looks int) (took time.Duration, mallocs uint64) {
		clk, n := &recJumpClock{now: recStart}, 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, err := retry.Poll(t.Context(), time.Second, func(context.Context) (int, bool, error) { n++; return n, n == looks, nil }, retry.WithClock(clk))
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Equal(t, looks, v)
		return clk.now.Sub(recStart), after.Mallocs - before.Mallocs
	}
	looks := 1_000_000
	if raceEnabled {
		looks /= 10 // it is ten times slower, and there is nothing to race
	}
	took, mallocs := poll(looks)
	require.Equal(t, time.Duration(looks-1)*time.Second, took)
	if !raceEnabled {
		_, few := poll(10)
		require.InDelta(t, float64(few), float64(mallocs), 50)
	}
}
