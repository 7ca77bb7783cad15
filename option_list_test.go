package retry_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

func recRun(opts ...retry.Option) error {
	return retry.Run(context.Background(), func(context.Context) error { return errRec }, append(opts, retry.WithMaxAttempts(2), recAtOnce)...)
}

// TestOptionsThatAdd: those of a policy come before those of the call.
func TestOptionsThatAdd(t *testing.T) {
	log := newRecLog()
	on := func(name string) retry.Option {
		return retry.WithOnRetry(func(context.Context, retry.Event) { log.add("on." + name) })
	}
	before := func(name string) retry.Option {
		return retry.WithBeforeRetry(func(context.Context, retry.Event) error { log.add("before." + name); return nil })
	}
	gate := func(name string) throttle.Throttle { return &recThrottle{log: log, name: name} }
	policy := retry.MustNew(
		retry.WithThrottle(gate("a"), gate("b")), on("a"), before("a"), retry.WithObserver(&recObserver{log: log, name: "a"}),
		retry.WithThrottle(), retry.WithThrottle(gate("c")), on("b"), before("b"), retry.WithObserver(&recObserver{log: log, name: "b"}),
	)
	require.Error(t, recRun(policy, retry.WithThrottle(gate("d")), on("c"), before("c"), retry.WithObserver(&recObserver{log: log, name: "c"})))
	var got []string
	for _, line := range log.lines {
		got = append(got, strings.Fields(line)[0])
	}
	require.Equal(t, strings.Fields(`
		a.Start b.Start c.Start
		a.Admit b.Admit c.Admit d.Admit a.Attempt b.Attempt c.Attempt
		a.Done b.Done c.Done d.Done c.AttemptDone b.AttemptDone a.AttemptDone
		on.a on.b on.c before.a before.b before.c
		a.Admit b.Admit c.Admit d.Admit a.Attempt b.Attempt c.Attempt
		a.Done b.Done c.Done d.Done c.AttemptDone b.AttemptDone a.AttemptDone
		c.Done b.Done a.Done`), got)
	require.Empty(t, log.wrong)
}

// TestOptionsOfWhichTheLaterWins: the earlier ones are not used at all.
func TestOptionsOfWhichTheLaterWins(t *testing.T) {
	used, unused := newRecLog(), newRecLog()
	var lines, none bytes.Buffer
	require.Error(t, recRun(
		retry.WithBudget(&recBudget{log: unused}), retry.WithBudget(&recBudget{log: used}),
		retry.WithLogger(slog.New(slog.NewTextHandler(&none, nil))), retry.WithLogger(slog.New(slog.NewTextHandler(&lines, nil))),
		retry.WithRand(func() float64 { unused.add("rand"); return 0 }), retry.WithRand(func() float64 { used.add("rand"); return 0 }),
		retry.WithJitter(func(time.Duration, time.Duration, float64) time.Duration { return 0 }),
		retry.WithRetryIf(func(error) bool { unused.add("if"); return false }), retry.WithRetryIf(func(error) bool { used.add("if"); return true }),
	))
	require.Empty(t, unused.lines)
	require.Empty(t, none.String())
	require.NotEmpty(t, lines.String())
	require.Equal(t, map[string]int{"budget.Start": 1, "if": 2, "rand": 1, "budget.Charge": 2, "budget.Settle": 1}, used.seen)
}

func TestTypedOptionsLaterWins(t *testing.T) {
	// WithRetryResult takes the place of WithResults, and the other way round.
	keep := retry.WithResults(retry.Results[int]{Keep: func(v int, _ context.CancelFunc) int { return v + 1 }})
	odd := retry.WithRetryResult(func(v int) bool { return v%2 == 1 })
	one := func(context.Context) (int, error) { return 1, nil }

	v, err := retry.Do(t.Context(), one, keep, odd, recAtOnce)
	require.ErrorIs(t, err, retry.ErrUnacceptable)
	require.Equal(t, 1, v)
	v, err = retry.Do(t.Context(), one, odd, keep, recAtOnce)
	require.NoError(t, err)
	require.Equal(t, 2, v)

	fall := func(n int) retry.Option {
		return retry.WithFallback(func(context.Context, error) (int, error) { return n, nil })
	}
	v, err = retry.Do(t.Context(), func(context.Context) (int, error) { return 1, errRec }, fall(7), fall(8), recAtOnce)
	require.NoError(t, err)
	require.Equal(t, 8, v)
}

func TestOptionName(t *testing.T) {
	for _, tc := range []struct {
		opts []retry.Option
		want string
	}{
		{nil, ""},
		{[]retry.Option{retry.WithName("a")}, "a"},
		{[]retry.Option{retry.WithName("a"), retry.WithName("b")}, "b"},
		{[]retry.Option{retry.WithName("a"), retry.WithName("")}, ""},
		{[]retry.Option{retry.MustNew(retry.WithName("a"))}, "a"},
	} {
		log := newRecLog()
		o := &recObserver{log: log, name: "o"}
		var attempt retry.Attempt
		err := retry.Run(t.Context(), func(ctx context.Context) error { attempt, _ = retry.AttemptFrom(ctx); return errRec },
			append(tc.opts, retry.WithObserver(o), retry.WithAttemptInfo(), retry.WithMaxAttempts(1))...)
		require.Equal(t, tc.want, recError(t, err).Name)
		require.Equal(t, tc.want, o.calls[0].Name)
		require.Equal(t, tc.want, o.events[0].Name)
		require.Equal(t, tc.want, attempt.Name)
	}
}

func TestOptionOnRetry(t *testing.T) {
	for _, limit := range []retry.Option{retry.WithMaxAttempts(3), retry.WithUnlimitedAttempts()} { // P23, P24
		var got []int
		calls := 0
		err := retry.Run(t.Context(), func(ctx context.Context) error {
			if calls++; calls == 3 {
				return retry.Permanent(errRec)
			}
			return errRec
		}, limit, recAtOnce, retry.WithOnRetry(func(_ context.Context, e retry.Event) {
			require.True(t, e.Retrying)
			require.NoError(t, e.Reason)
			got = append(got, e.Number)
		}))
		require.Equal(t, errRec, err)
		require.Equal(t, []int{1, 2}, got, "not for the last failure")
	}
}

// TestHooksGetTheCallsContext: OnRetry, BeforeRetry and the fallback, and not an attempt's.
func TestHooksGetTheCallsContext(t *testing.T) {
	ctx, asked := context.WithValue(t.Context(), recKey("caller"), "yes"), 0
	check := func(ctx context.Context) {
		asked++
		_, ok := retry.AttemptFrom(ctx)
		require.False(t, ok)
		_, ok = ctx.Deadline()
		require.False(t, ok)
		require.Equal(t, "yes", ctx.Value(recKey("caller")))
		require.Equal(t, "call", ctx.Value(recKey("o")))
	}
	_, err := retry.Do(ctx, func(context.Context) (int, error) { return 0, errRec },
		recAtOnce, retry.WithMaxAttempts(2), retry.WithAttemptInfo(), retry.WithAttemptTimeout(time.Minute),
		retry.WithObserver(&recObserver{log: newRecLog(), name: "o"}),
		retry.WithOnRetry(func(ctx context.Context, _ retry.Event) { check(ctx) }),
		retry.WithBeforeRetry(func(ctx context.Context, _ retry.Event) error { check(ctx); return nil }),
		retry.WithFallback(func(ctx context.Context, _ error) (int, error) { check(ctx); return 0, nil }),
	)
	require.NoError(t, err)
	require.Equal(t, 3, asked)
}

func TestOptionStop(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	calls := 0
	fn := func(context.Context) error { calls++; return nil }
	require.NoError(t, retry.Run(t.Context(), fn, retry.WithStop(nil)))
	require.NoError(t, retry.Run(t.Context(), fn, retry.WithStop(make(chan struct{}))))
	require.NoError(t, retry.Run(t.Context(), fn, retry.WithStop(closed), retry.WithStop(nil)), "later wins")
	require.Equal(t, 3, calls)
	err := retry.Run(t.Context(), fn, retry.WithStop(nil), retry.WithStop(closed))
	require.Equal(t, &retry.Error{Reason: retry.ErrShutdown}, recError(t, err))
	require.Equal(t, 3, calls)
}

// TestOptionClock: the later wins, over the system's.
func TestOptionClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &recClock{now: recStart}, &recClock{now: recStart}
		began := time.Now()
		require.Error(t, retry.Run(t.Context(), func(context.Context) error { return errRec },
			retry.WithMaxAttempts(5), retry.WithMaxElapsed(time.Hour), retry.WithClock(a), retry.WithClock(b), recEvery(time.Second)))
		require.Zero(t, a.reads)
		require.NotZero(t, b.reads)
		require.Equal(t, recStart.Add(4*time.Second), b.now)
		require.Zero(t, time.Since(began))
	})
}

// recClock goes on by itself where somebody waits, and counts how often it is read.
type recClock struct {
	now          time.Time
	reads, waits int
}

func (c *recClock) Now() time.Time { c.reads++; return c.now }
func (c *recClock) After(d time.Duration) <-chan time.Time {
	c.waits++
	c.now = c.now.Add(d)
	fired := make(chan time.Time, 1)
	fired <- c.now
	return fired
}

func TestOptionRand(t *testing.T) {
	waits, _ := recWaits(t, retry.WithStrategy(strategy.FullJitter{Base: 100}), retry.WithRand(recDraws(0)), retry.WithRand(recDraws(0.5)))
	require.Equal(t, []time.Duration{50, 100, 200, 400}, waits)
	policy := retry.MustNew(retry.WithStrategy(strategy.FullJitter{Base: 100}), retry.WithRand(recDraws(0)))
	flow := policy.Begin(recStart, time.Time{}, recDraws(0.5)) // Begin's wins over the policy's
	require.Equal(t, time.Duration(50), flow.Report(t.Context(), recStart, throttle.Outcome{Err: errRec}).Delay)
}

// TestOptionRandOutOfRange: whatever the source gives, waits stay within their bounds.
func TestOptionRandOutOfRange(t *testing.T) {
	for _, r := range recFloats {
		waits, _ := recWaits(t, retry.WithStrategy(strategy.FullJitter{Base: 100}), retry.WithRand(recDraws(r)), retry.WithMaxDelay(150))
		for _, d := range waits {
			require.GreaterOrEqual(t, d, time.Duration(0))
			require.LessOrEqual(t, d, time.Duration(150))
		}
		step := newRecSteps(t, recEvery(0), retry.WithRand(recDraws(r))).fails(retry.After(100, errRec))
		require.GreaterOrEqual(t, step.Delay, time.Duration(100))
		require.Less(t, step.Delay, time.Duration(110))
	}
}
