package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestStatedTimeReplacesTheDefaultOfFive: what a user writes first to wait for a database, in each form that a call has.
func TestStatedTimeReplacesTheDefaultOfFive(t *testing.T) {
	limits := map[string]retry.Option{
		"WithMaxElapsed": retry.WithMaxElapsed(2 * time.Minute), "WithMaxRetryElapsed": retry.WithMaxRetryElapsed(2 * time.Minute),
		"Config": retry.Config{MaxElapsed: 2 * time.Minute}, "a policy": retry.MustNew(retry.WithMaxElapsed(2 * time.Minute)),
	}
	for name, limit := range limits {
		for form, run := range map[string]func(ctx context.Context, up func() error, opts ...retry.Option) error{
			"Run": func(ctx context.Context, up func() error, opts ...retry.Option) error {
				return retry.Run(ctx, func(context.Context) error { return up() }, opts...)
			},
			"Do": func(ctx context.Context, up func() error, opts ...retry.Option) error {
				_, err := retry.Do(ctx, func(context.Context) (int, error) { return 0, up() }, opts...)
				return err
			},
			"Loop": func(ctx context.Context, up func() error, opts ...retry.Option) error {
				loop := retry.NewLoop(ctx, opts...)
				for try := range loop.Tries() {
					try.Fail(up())
				}
				return loop.Err()
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				up := func() error {
					if time.Since(began) < 100*time.Second {
						return errRec
					}
					return nil
				}
				require.NoError(t, run(t.Context(), up, limit), "%s, %s: the database is up after 100 s", name, form)
				began = time.Now().Add(time.Hour)
				err := run(t.Context(), up, limit)
				require.Equal(t, retry.ErrMaxElapsed, recError(t, err).Reason, "%s, %s", name, form)
				require.ErrorIs(t, err, errRec)
			})
		}
	}
}

// TestStatedTimeOfPoll: five failing looks in a row still end it.
func TestStatedTimeOfPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := retry.Poll(t.Context(), time.Second, func(context.Context) (int, bool, error) { return 0, false, errRec }, retry.WithMaxElapsed(time.Hour))
		require.Equal(t, retry.ErrExhausted, recError(t, err).Reason)
		require.Equal(t, 5, recError(t, err).Attempts)
	})
}

// TestStatedTimeAndRules: failures of a rule without a limit count like all others, which is to say against time alone.
func TestStatedTimeAndRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		err := retry.Run(t.Context(), func(context.Context) error { calls++; return errRec }, recEvery(time.Second), retry.WithMaxElapsed(time.Minute),
			retry.WithRule(condition.Is(errRec), retry.WithStrategy(strategy.Constant{Delay: 2 * time.Second})))
		require.Equal(t, retry.ErrMaxElapsed, recError(t, err).Reason)
		require.Equal(t, 30, calls)
	})
}

// TestClockSetBack: 24 hours back, on a clock without monotonic readings, every second. Elapsed time never shrinks, and the call
// ends after ten seconds that have passed, not after 86 410 attempts.
func TestClockSetBack(t *testing.T) {
	for name, opts := range map[string][]retry.Option{
		"elapsed":       {retry.WithMaxElapsed(10 * time.Second)},
		"retry elapsed": {retry.WithMaxRetryElapsed(10 * time.Second)},
		"of a rule":     {retry.WithRule(condition.Is(errRec), retry.WithMaxElapsed(10*time.Second))},
	} {
		flow := retry.MustNew(append(opts, recEvery(time.Second))...).Begin(recStart, time.Time{}, nil)
		now, attempts := recStart, 0
		for step := flow.Next(t.Context(), now); step.Action != retry.Done; step = flow.Next(t.Context(), now) {
			if attempts++; attempts == 5 {
				now = now.Add(-24 * time.Hour)
			}
			if step = flow.Report(t.Context(), now, throttle.Outcome{Err: errRec}); step.Action == retry.Done {
				require.Equal(t, retry.ErrMaxElapsed, step.Reason, name)
				require.Equal(t, 9*time.Second, recError(t, step.Err).Elapsed, name)
				break
			}
			now = now.Add(step.Delay)
		}
		require.Equal(t, 10, attempts, name)
	}
}

// TestTotalDelaySaturates: a clock that jumps by centuries, twice.
func TestTotalDelaySaturates(t *testing.T) {
	clk := &recClock{now: recStart}
	o := &endsWith{}
	_ = retry.Run(t.Context(), func(context.Context) error { return errRec }, retry.WithClock(clk), retry.WithObserver(o),
		retry.WithMaxAttempts(4), retry.WithStrategy(strategy.Constant{Delay: 200 * 365 * 24 * time.Hour}))
	require.Equal(t, recForever, o.summary.TotalDelay)
}

type endsWith struct{ summary retry.Summary }

func (o *endsWith) Start(ctx context.Context, _ retry.Call) (context.Context, retry.Observation) {
	return ctx, o
}
func (o *endsWith) Attempt(ctx context.Context, _ retry.AttemptStart) context.Context { return ctx }
func (o *endsWith) AttemptDone(context.Context, retry.Event)                          {}
func (o *endsWith) Pause(context.Context, retry.Pause)                                {}
func (o *endsWith) Done(_ context.Context, s retry.Summary)                           { o.summary = s }

// TestSuperviseWaitsWhereABudgetRefuses: the work goes on after the wait that was planned, as a new beginning to the budget.
func TestSuperviseWaitsWhereABudgetRefuses(t *testing.T) {
	waits, err := svWaits(t, svTimes(4, svRan{0, errRec}), retry.WithBudget(recRefusing{}), retry.WithRand(recDraws(recMost)))
	require.Same(t, errSvEnd, err)
	require.Equal(t, kbSeconds(1, 2, 4, 8), waits)
}

// TestPollWaitsWhereABudgetRefuses (the rule of the AWS SDKs for long polls, github.com/aws/aws-sdk-go-v2/issues/3413).
func TestPollWaitsWhereABudgetRefuses(t *testing.T) {
	for name, budget := range map[string]throttle.Budget{
		"refuses all": recRefusing{}, "tokens": &throttle.TokenBudget{Capacity: 20}, "in flight": &throttle.InFlightBudget{MinRetries: -1, Ratio: 1e-9},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, looks := time.Now(), 0
			_, err := retry.Poll(t.Context(), time.Second, func(context.Context) (int, bool, error) {
				if looks++; looks < 4 {
					return 0, false, errRec
				}
				return 0, true, nil
			}, retry.WithBudget(budget), retry.WithStrategy(strategy.Constant{Delay: 5 * time.Second}))
			require.NoError(t, err, name)
			require.Equal(t, 15*time.Second, time.Since(began), name)
		})
	}
}

// TestOuterLoopWaitsWhereABudgetRefuses: an empty budget makes no loop around calls spin, if it heeds Error.Delay.
func TestOuterLoopWaitsWhereABudgetRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, began := 0, time.Now()
		for time.Since(began) < time.Minute {
			err := retry.Run(t.Context(), func(context.Context) error { calls++; return errRec }, retry.WithBudget(recRefusing{}), recEvery(time.Second))
			require.ErrorIs(t, err, retry.ErrBudget)
			time.Sleep(recError(t, err).Delay)
		}
		require.Equal(t, 60, calls)
	})
}

var errOpen = errors.New("circuit breaker is open")

// fuse is a breaker that opens at the first failure.
type fuse struct {
	lasts time.Duration // how long it stays open
	knows bool          // it says so
	until time.Time
	asked int
}

func (f *fuse) allow() (func(error), error) {
	if f.asked++; time.Now().Before(f.until) {
		return nil, errOpen
	}
	return func(err error) {
		if err != nil {
			f.until = time.Now().Add(f.lasts)
		}
	}, nil
}

func (f *fuse) peek() (rest time.Duration, err error) {
	if rest = time.Until(f.until); rest <= 0 {
		return 0, nil
	}
	if !f.knows {
		rest = 0
	}
	return rest, errOpen
}

// TestBreakerThatIsOpen: no wait is begun at the end of which the breaker refuses.
func TestBreakerThatIsOpen(t *testing.T) {
	for _, tc := range []struct {
		name    string
		fuse    fuse
		peek    bool
		poll    time.Duration
		opts    []retry.Option
		took    time.Duration
		calls   int
		reason  error
		delay   time.Duration
		refused bool
	}{
		{name: "asked after the wait", fuse: fuse{lasts: 10 * time.Second}, took: 2 * time.Second, calls: 1, reason: retry.ErrRefused, refused: true},
		{name: "for a time not known", fuse: fuse{lasts: 10 * time.Second}, peek: true, calls: 1, reason: retry.ErrRefused, delay: 2 * time.Second, refused: true},
		{name: "for longer than the wait", fuse: fuse{lasts: 10 * time.Second, knows: true}, peek: true, calls: 1, reason: retry.ErrRefused, delay: 10 * time.Second, refused: true},
		{name: "for as long as the wait", fuse: fuse{lasts: 2 * time.Second, knows: true}, peek: true, took: 4 * time.Second, calls: 3, reason: retry.ErrExhausted},
		{name: "waits for it", fuse: fuse{lasts: 10 * time.Second, knows: true}, peek: true, poll: time.Second, took: 20 * time.Second, calls: 3, reason: retry.ErrExhausted},
		{name: "waits for it, and looks", fuse: fuse{lasts: 10 * time.Second}, peek: true, poll: 3 * time.Second, took: 22 * time.Second, calls: 3, reason: retry.ErrExhausted},
		{name: "waits for it, without a Peek", fuse: fuse{lasts: 10 * time.Second}, poll: 3 * time.Second, took: 22 * time.Second, calls: 3, reason: retry.ErrExhausted},
		{name: "within MaxHint", fuse: fuse{lasts: time.Hour}, peek: true, poll: 25 * time.Second, took: 52 * time.Second, calls: 1, reason: retry.ErrHintTooLong, delay: 25 * time.Second, refused: true},
		{name: "within the deadline", fuse: fuse{lasts: time.Hour, knows: true}, peek: true, poll: time.Second, opts: []retry.Option{retry.WithMaxElapsed(time.Minute), retry.WithMaxHint(2 * time.Hour)},
			took: 2 * time.Second, calls: 1, reason: retry.ErrMaxElapsed, delay: time.Hour - 2*time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := tc.fuse
				b := throttle.Breaker{Allow: f.allow, Poll: tc.poll}
				if tc.peek {
					b.Peek = f.peek
				}
				calls, began := 0, time.Now()
				err := retry.Run(t.Context(), func(context.Context) error { calls++; return errRec },
					append([]retry.Option{retry.WithMaxAttempts(3), recEvery(2 * time.Second), retry.WithThrottle(b)}, tc.opts...)...)
				e := recError(t, err)
				require.ErrorIs(t, e.Reason, tc.reason)
				require.ErrorIs(t, err, errRec)
				require.Equal(t, tc.refused, errors.Is(err, errOpen))
				require.Equal(t, tc.calls, calls)
				require.Equal(t, tc.took, time.Since(began))
				require.Equal(t, tc.delay, e.Delay)
			})
		})
	}
}

// TestBreakerOpensForTheWholeCall: what is planned beforehand costs a breaker no permission, and a Flow goes the same way.
func TestBreakerForecastTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fuse{lasts: 10 * time.Second}
		flow := retry.MustNew(recEvery(time.Second), retry.WithThrottle(throttle.Breaker{Allow: f.allow, Peek: f.peek})).Begin(time.Now(), time.Time{}, nil)
		require.Equal(t, retry.Go, flow.Next(t.Context(), time.Now()).Action)
		step := flow.Report(t.Context(), time.Now(), throttle.Outcome{Err: errRec})
		require.Equal(t, retry.Done, step.Action)
		require.ErrorIs(t, step.Err, errOpen)
		require.Equal(t, 1, f.asked)
	})
}

// TestBreakerConfig: bad fields are named before anything runs.
func TestBreakerConfig(t *testing.T) {
	for want, b := range map[string]throttle.Breaker{
		"throttle: Breaker.Allow = <nil>: must not be nil":    {Poll: 1},
		"throttle: Breaker.Poll = -1ns: must not be negative": {Allow: new(fuse).allow, Poll: -1},
	} {
		_, err := retry.New(retry.WithThrottle(b))
		require.ErrorIs(t, err, retry.ErrConfig)
		require.ErrorContains(t, err, want)
	}
}
