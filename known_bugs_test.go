package retry_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// The cases P01 and on are defects that retry libraries have had. Each test runs the input of one of them through the
// public policy. This file holds those about waits, counting, callbacks and policies; known_bugs_errors_test.go those
// about errors, and known_bugs_time_test.go those about time.

const kbForever = time.Duration(math.MaxInt64)

var errKnown = errors.New("known")

// kbWaits returns the first n waits of a call that keeps failing, in step form: nothing is waited for.
func kbWaits(t *testing.T, n int, rnd func() float64, opts ...retry.Option) []time.Duration {
	t.Helper()
	policy, err := retry.New(append(opts, retry.WithMaxAttempts(n+1))...)
	require.NoError(t, err)
	now := time.Unix(0, 0)
	flow := policy.Begin(now, time.Time{}, rnd)
	waits := make([]time.Duration, 0, n)
	for range n {
		if flow.Next(t.Context(), now).Action != retry.Go {
			t.Fatalf("no attempt after %d waits", len(waits))
		}
		s := flow.Report(t.Context(), now, throttle.Outcome{Err: errKnown})
		if s.Action != retry.Wait {
			t.Fatalf("wait %d: %v, %v", len(waits)+1, s.Action, s.Err)
		}
		waits = append(waits, s.Delay)
	}
	flow.Abort(t.Context(), now, throttle.Skipped)
	return waits
}

func kbAlways(r float64) func() float64 { return func() float64 { return r } }

// kbGrid is a source of evenly spread numbers from [0, 1).
func kbGrid(n int) func() float64 {
	i := 0
	return func() float64 { i++; return float64(i%n) / float64(n) }
}

var kbDraws = []float64{0, 0.5, math.Nextafter(1, 0), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1)}

func kbSeconds(n ...int) []time.Duration {
	all := make([]time.Duration, len(n))
	for i := range n {
		all[i] = time.Duration(n[i]) * time.Second
	}
	return all
}

func TestP01ExponentialSaturates(t *testing.T) {
	doubling := retry.WithStrategy(strategy.Exponential{Base: time.Second, Factor: 2})
	waits := kbWaits(t, 200, nil, doubling)
	last := time.Duration(1)
	for i, d := range waits {
		require.GreaterOrEqual(t, d, last, "wait %d", i+1)
		last = d
	}
	require.Equal(t, time.Second<<32, waits[32])
	require.Equal(t, kbForever, waits[34], "the first that does not fit")
	require.Equal(t, kbForever, waits[199])

	for name, capped := range map[string][]retry.Option{
		"policy":   {doubling, retry.WithMaxDelay(30 * time.Second)},
		"strategy": {retry.WithStrategy(strategy.Exponential{Base: time.Second, Max: 30 * time.Second})},
	} {
		waits = kbWaits(t, 200, nil, capped...)
		require.Equal(t, kbSeconds(1, 2, 4, 8, 16), waits[:5], name)
		for _, d := range waits[5:] {
			require.Equal(t, 30*time.Second, d, name)
		}
	}
}

func TestP02FullJitterWithoutCap(t *testing.T) {
	for _, factor := range []float64{2, 2.5} { // Pow is +Inf for the second
		for name, opts := range map[string][]retry.Option{
			"strategy": {retry.WithStrategy(strategy.FullJitter{Base: time.Second})},
			"equal":    {retry.WithStrategy(strategy.EqualJitter{Base: time.Second})},
			"jitter":   {retry.WithStrategy(strategy.Exponential{Base: time.Second, Factor: factor}), retry.WithJitter(strategy.Full)},
		} {
			for _, r := range kbDraws {
				for n, d := range kbWaits(t, 1100, kbAlways(r), opts...) {
					if d < 0 {
						t.Fatalf("%s, factor %v, r %v, wait %d: %v", name, factor, r, n+1, d)
					}
				}
			}
			waits := kbWaits(t, 1100, kbAlways(math.Nextafter(1, 0)), opts...)
			for _, n := range []int{64, 1100} {
				require.Greater(t, waits[n-1], kbForever-kbForever/1000, "%s, attempt %d", name, n)
			}
		}
	}
}

func TestP03NoJitter(t *testing.T) {
	doubling := retry.WithStrategy(strategy.Exponential{Base: time.Second})
	for _, factor := range []float64{0, -5e9, math.Inf(-1), math.NaN()} {
		for _, r := range kbDraws {
			waits := kbWaits(t, 3, kbAlways(r), doubling, retry.WithJitter(strategy.Proportional(factor)))
			require.Equal(t, kbSeconds(1, 2, 4), waits, "factor %v, r %v", factor, r)
		}
	}
	for _, j := range []strategy.Jitter{strategy.Full, strategy.Equal, strategy.Proportional(0), strategy.Proportional(0.5)} {
		require.Equal(t, kbSeconds(0, 0), kbWaits(t, 2, nil, retry.WithStrategy(strategy.Constant{}), retry.WithJitter(j)))

		calls := 0
		err := retry.Run(t.Context(), func(context.Context) error { calls++; return errKnown },
			retry.WithStrategy(strategy.Sequence{Delays: []time.Duration{0}}), retry.WithJitter(j))
		require.ErrorIs(t, err, retry.ErrNoDelay, "a strategy's end passes through the jitter")
		require.Equal(t, 2, calls)
	}
}

func TestP04JitterStaysBelowTheCap(t *testing.T) {
	for name, opts := range map[string][]retry.Option{
		"proportional": {retry.WithStrategy(strategy.Exponential{Base: time.Second}), retry.WithJitter(strategy.Proportional(0.5))},
		"custom": {retry.WithStrategy(strategy.Constant{Delay: time.Second}),
			retry.WithJitter(func(d, _ time.Duration, r float64) time.Duration { return time.Duration(float64(d) * (0.5 + r)) })},
		"full":        {retry.WithStrategy(strategy.FullJitter{Base: time.Second})},
		"decorrelate": {retry.WithStrategy(strategy.Decorrelated{Base: time.Second})},
	} {
		spread := map[time.Duration]bool{}
		for _, d := range kbWaits(t, 10_000, kbGrid(9973), append(opts, retry.WithMaxDelay(time.Second))...) {
			if d < 0 || d > time.Second {
				t.Fatalf("%s: %v", name, d)
			}
			spread[d] = true
		}
		if name == "proportional" {
			require.Greater(t, len(spread), 9000, "waits at the cap are spread, not piled up at it")
		}
	}
}

// A strategy's own Max is as hard a cap as WithMaxDelay: a jitter on top spreads within it.
func TestP04JitterStaysBelowTheStrategysMax(t *testing.T) {
	second := time.Second
	for _, s := range []strategy.Strategy{
		strategy.Exponential{Base: second, Max: second},
		strategy.Linear{Initial: second, Max: second},
		strategy.Fibonacci{First: second, Max: second},
		strategy.ByThrottled{Normal: &strategy.Exponential{Base: second, Max: second}, Throttled: strategy.Constant{}},
	} {
		spread := map[time.Duration]bool{}
		for _, d := range kbWaits(t, 10_000, kbGrid(9973), retry.WithStrategy(s), retry.WithJitter(strategy.Proportional(0.5))) {
			require.LessOrEqual(t, d, second, s)
			spread[d] = true
		}
		require.Greater(t, len(spread), 9000, s)
	}
	for _, d := range kbWaits(t, 100, func() float64 { return 0.999 }, retry.WithJitter(strategy.Proportional(0.5))) {
		require.LessOrEqual(t, d, 20*second, "the default's Max holds for a jitter alone")
	}
}

func TestP05JitterOfTheLargestInterval(t *testing.T) {
	for _, base := range []time.Duration{kbForever, kbForever - 1, kbForever/3*2 + 1} {
		for _, j := range []strategy.Jitter{strategy.Proportional(0.5), strategy.Proportional(5), strategy.Full, strategy.Equal} {
			// Every one of the 1000 is a wait, or kbWaits fails: none ends the call.
			for _, d := range kbWaits(t, 1000, kbGrid(997), retry.WithStrategy(strategy.Constant{Delay: base}), retry.WithJitter(j)) {
				require.GreaterOrEqual(t, d, time.Duration(0))
			}
		}
	}
}

func TestP16ZeroAttempts(t *testing.T) {
	for _, n := range []int{0, -1, math.MinInt} {
		calls := 0
		fn := func(context.Context) error { calls++; return nil }
		_, policyErr := retry.New(retry.WithMaxAttempts(n))
		_, doErr := retry.Do(t.Context(), func(ctx context.Context) (int, error) { return 0, fn(ctx) }, retry.WithMaxAttempts(n))
		loop := retry.NewLoop(t.Context(), retry.WithMaxAttempts(n))
		for try := range loop.Tries() {
			try.Fail(fn(try.Context()))
		}
		for _, err := range []error{policyErr, doErr, retry.Run(t.Context(), fn, retry.WithMaxAttempts(n)), loop.Err()} {
			var config *retry.ConfigError
			require.ErrorAs(t, err, &config)
			require.ErrorIs(t, err, retry.ErrConfig)
			require.Equal(t, "WithMaxAttempts", config.Option)
			require.Equal(t, n, config.Value)
			require.NotEmpty(t, config.Problem)
		}
		require.Zero(t, calls)
	}
}

func TestP17AttemptsAreCounted(t *testing.T) {
	for n := 1; n <= 3; n++ {
		synctest.Test(t, func(t *testing.T) {
			policy := retry.MustNew(retry.WithMaxAttempts(n), retry.WithStrategy(strategy.Constant{Delay: time.Second}))
			start, calls := time.Now(), 0
			err := retry.Run(t.Context(), func(context.Context) error { calls++; return errKnown }, policy)
			require.ErrorIs(t, err, retry.ErrExhausted)
			require.Equal(t, n, calls)
			require.Equal(t, time.Duration(n-1)*time.Second, time.Since(start), "n-1 waits")

			start, calls = time.Now(), 0
			loop := retry.NewLoop(t.Context(), policy)
			for try := range loop.Tries() {
				calls++
				require.Equal(t, calls, try.Number())
				try.Fail(errKnown)
			}
			require.ErrorIs(t, loop.Err(), retry.ErrExhausted)
			require.Equal(t, n, calls)
			require.Equal(t, time.Duration(n-1)*time.Second, time.Since(start))
		})
	}
}

// kbStarter doubles from a second by private memory.
type kbStarter struct{}

func (kbStarter) Next(strategy.State) (time.Duration, bool) { return time.Second, true }

func (kbStarter) Start() strategy.Strategy {
	level := time.Second / 2
	return strategy.Func(func(strategy.State) (time.Duration, bool) { level *= 2; return level, true })
}

func TestP22SharedPolicy(t *testing.T) {
	for name, s := range map[string]strategy.Strategy{"plain": strategy.Exponential{Base: time.Second}, "starter": kbStarter{}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				policy := retry.MustNew(retry.WithMaxAttempts(4), retry.WithStrategy(s))
				var group sync.WaitGroup
				for i := range 100 {
					group.Go(func() {
						time.Sleep(time.Duration(i%7) * 300 * time.Millisecond)
						start := time.Now()
						var at []time.Duration
						err := retry.Run(t.Context(), func(context.Context) error {
							at = append(at, time.Since(start))
							return errKnown
						}, policy)
						assert.ErrorIs(t, err, retry.ErrExhausted)
						assert.Equal(t, kbSeconds(0, 1, 3, 7), at)
					})
				}
				group.Wait()
			})
		})
	}
}

// kbEndings is an Observer that keeps how calls ended.
type kbEndings struct{ summaries []retry.Summary }

func (k *kbEndings) Start(ctx context.Context, _ retry.Call) (context.Context, retry.Observation) {
	return ctx, k
}
func (k *kbEndings) Attempt(ctx context.Context, _ retry.AttemptStart) context.Context { return ctx }
func (k *kbEndings) AttemptDone(context.Context, retry.Event)                          {}
func (k *kbEndings) Pause(context.Context, retry.Pause)                                {}
func (k *kbEndings) Done(_ context.Context, s retry.Summary)                           { k.summaries = append(k.summaries, s) }

func TestP23NoRetryCallbackAfterTheLastAttempt(t *testing.T) {
	for _, tc := range []struct {
		name                      string
		failures, retries, giveUp int
		ending                    retry.Ending
	}{
		{"exhausted", 3, 2, 1, retry.EndExhausted},
		{"succeeds", 1, 1, 0, retry.EndSucceeded},
		{"first try", 0, 0, 0, retry.EndSucceeded},
	} {
		calls, retries := 0, 0
		var log strings.Builder
		endings := new(kbEndings)
		_ = retry.Run(t.Context(), func(context.Context) error {
			if calls++; calls <= tc.failures {
				return errKnown
			}
			return nil
		}, retry.WithMaxAttempts(3), retry.WithStrategy(strategy.Constant{}), retry.WithObserver(endings),
			retry.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
			retry.WithOnRetry(func(_ context.Context, e retry.Event) {
				retries++
				require.True(t, e.Retrying)
				require.NoError(t, e.Reason)
			}))
		require.Equal(t, tc.retries, retries, tc.name)
		require.Equal(t, tc.retries, strings.Count(log.String(), "retry scheduled"), tc.name)
		require.Equal(t, tc.giveUp, strings.Count(log.String(), "retry gave up"), tc.name)
		require.Len(t, endings.summaries, 1, tc.name)
		require.Equal(t, tc.ending, endings.summaries[0].Ending, tc.name)
	}
}

func TestP24CallbackNumbers(t *testing.T) {
	for limit, mode := range map[int]retry.Option{0: retry.WithUnlimitedAttempts(), 4: retry.WithMaxAttempts(4)} {
		var calls int
		var told, seen, before []int
		err := retry.Run(t.Context(), func(ctx context.Context) error {
			a, ok := retry.AttemptFrom(ctx)
			require.True(t, ok)
			require.Equal(t, limit, a.Max)
			seen = append(seen, a.Number)
			if calls++; calls == 4 {
				return nil
			}
			return errKnown
		}, mode, retry.WithAttemptInfo(), retry.WithStrategy(strategy.Constant{}),
			retry.WithOnRetry(func(_ context.Context, e retry.Event) {
				told = append(told, e.Number)
				require.Equal(t, limit, e.Max)
				require.Equal(t, seen[len(seen)-1], e.Number, "as the attempt's own context says")
			}),
			retry.WithBeforeRetry(func(_ context.Context, e retry.Event) error { before = append(before, e.Number); return nil }))
		require.NoError(t, err)
		require.Equal(t, []int{1, 2, 3, 4}, seen)
		require.Equal(t, []int{1, 2, 3}, told)
		require.Equal(t, []int{1, 2, 3}, before)
	}
}

type kbNumbered struct {
	n int
	_ [64]byte // big enough to be seen if kept
}

func (e *kbNumbered) Error() string { return fmt.Sprint("failure ", e.n) }

func TestP25HistoryIsBounded(t *testing.T) {
	many := 1_000_000
	if raceEnabled {
		many /= 10 // slow, and no race to be found
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	run := func(opts ...retry.Option) *retry.Error {
		var early, late uint64
		n := 0
		err := retry.Run(t.Context(), func(context.Context) error {
			switch n++; n {
			case 1000:
				early = heap()
			case many:
				late = heap()
			}
			return &kbNumbered{n: n}
		}, append(opts, retry.WithMaxAttempts(many), retry.WithStrategy(strategy.Constant{}))...)
		require.Equal(t, many, n)
		require.Less(t, late, early+1<<20, "the errors alone would take 80 B each")
		var e *retry.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, many, e.Attempts)
		require.Equal(t, many, e.Last.(*kbNumbered).n)
		return e
	}
	require.Empty(t, run().History)

	joined := run(retry.WithErrorHistory(5))
	require.Equal(t, many-5, joined.Dropped)
	require.Len(t, joined.History, 5)
	for i, n := range []int{1, 2, many - 2, many - 1, many} {
		require.Equal(t, n, joined.History[i].(*kbNumbered).n)
	}
}

func TestP32GrowthReadsItsOwnOptions(t *testing.T) {
	for name, opts := range map[string][]retry.Option{
		"strategy": {retry.WithStrategy(strategy.Exponential{Base: 100 * time.Millisecond, Factor: 2, Max: time.Second})},
		"policy":   {retry.WithMaxDelay(time.Second), retry.WithStrategy(strategy.Exponential{Base: 100 * time.Millisecond, Factor: 2})},
	} {
		synctest.Test(t, func(t *testing.T) {
			var waits []time.Duration
			last := time.Now()
			_ = retry.Run(t.Context(), func(context.Context) error {
				waits = append(waits, time.Since(last)/time.Millisecond)
				last = time.Now()
				return errKnown
			}, append(opts, retry.WithMaxAttempts(6))...)
			require.Equal(t, []time.Duration{0, 100, 200, 400, 800, 1000}, waits, name)
		})
	}
}

func TestP41ZeroPolicy(t *testing.T) {
	for name, policy := range map[string]*retry.Policy{"literal": {}, "new": new(retry.Policy), "made": retry.MustNew()} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			err := retry.Run(t.Context(), func(context.Context) error { calls++; return errKnown }, policy)
			require.ErrorIs(t, err, retry.ErrExhausted, name)
			require.Equal(t, 5, calls, name)
		})
	}
	var none *retry.Policy
	require.ErrorIs(t, retry.Run(t.Context(), func(context.Context) error { return nil }, none), retry.ErrConfig)
	flow := none.Begin(time.Time{}, time.Time{}, nil)
	require.Equal(t, retry.Go, flow.Next(t.Context(), time.Time{}).Action, "a nil policy in step form is the default one")
	flow.Abort(t.Context(), time.Time{}, throttle.Canceled)
	var zero retry.Flow
	require.Equal(t, retry.Go, zero.Next(t.Context(), time.Time{}).Action)
	zero.Abort(t.Context(), time.Time{}, throttle.Canceled)
}

func TestP42ZeroInterval(t *testing.T) {
	ms := time.Millisecond
	for _, tc := range []struct {
		s    strategy.Strategy
		want []time.Duration
	}{
		{strategy.Exponential{}, []time.Duration{100 * ms, 200 * ms, 400 * ms}},
		{strategy.Linear{}, []time.Duration{100 * ms, 200 * ms, 300 * ms}},
		{strategy.Fibonacci{}, []time.Duration{100 * ms, 100 * ms, 200 * ms}},
		{strategy.Constant{}, []time.Duration{0, 0, 0}}, // documented: at once
	} {
		require.Equal(t, tc.want, kbWaits(t, 3, nil, retry.WithStrategy(tc.s)), "%v", tc.s)
	}
	for _, r := range kbDraws {
		for _, d := range kbWaits(t, 20, kbAlways(r), retry.WithJitter(strategy.Proportional(1)), retry.WithMaxDelay(150*ms)) {
			require.LessOrEqual(t, d, 150*ms, "r %v", r)
		}
	}
	_, err := retry.New(retry.WithStrategy(strategy.Exponential{Base: -1}))
	require.ErrorIs(t, err, retry.ErrConfig)
}

func TestP46LinearSaturates(t *testing.T) {
	// A policy that has failed 2^40 times already.
	late := func(s strategy.Strategy) retry.Option {
		return retry.WithStrategy(strategy.Func(func(state strategy.State) (time.Duration, bool) {
			state.Number += min(1<<40, math.MaxInt)
			return s.Next(state)
		}))
	}
	hourly := strategy.Linear{Initial: time.Hour, Increment: time.Hour}
	capped := hourly
	capped.Max = time.Hour
	for _, j := range []strategy.Jitter{strategy.Proportional(0), strategy.Proportional(0.5), strategy.Full} {
		for _, r := range kbDraws {
			for _, d := range kbWaits(t, 3, kbAlways(r), late(hourly), retry.WithJitter(j)) {
				require.GreaterOrEqual(t, d, time.Duration(0), "r %v", r)
			}
		}
	}
	require.Equal(t, []time.Duration{kbForever, kbForever}, kbWaits(t, 2, nil, late(hourly)))
	require.Equal(t, []time.Duration{time.Hour, time.Hour}, kbWaits(t, 2, nil, late(capped)))
	require.Equal(t, []time.Duration{time.Hour, time.Hour}, kbWaits(t, 2, nil, late(hourly), retry.WithMaxDelay(time.Hour)))
}
