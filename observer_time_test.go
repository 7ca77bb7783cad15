package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestClockIsReadWhereWanted: a first success reads the clock only for those who want times.
func TestClockIsReadWhereWanted(t *testing.T) {
	for _, tc := range []struct {
		name string
		opts []retry.Option
		read bool
	}{
		{"nothing", nil, false},
		{"limits of attempts", []retry.Option{retry.WithMaxAttempts(3), retry.WithUnlimitedAttempts()}, false},
		{"strategy", []retry.Option{retry.WithStrategy(strategy.Exponential{}), retry.WithJitter(strategy.Full)}, false},
		{"retry elapsed", []retry.Option{retry.WithMaxRetryElapsed(time.Minute)}, false},
		{"attempt info", []retry.Option{retry.WithAttemptInfo()}, false},
		{"history", []retry.Option{retry.WithErrorHistory(3)}, false},
		{"stop", []retry.Option{retry.WithStop(make(chan struct{}))}, false},
		{"onRetry", []retry.Option{retry.WithOnRetry(func(context.Context, retry.Event) {})}, false},
		{"elapsed", []retry.Option{retry.WithMaxElapsed(time.Minute)}, true},
		{"throttle", []retry.Option{retry.WithThrottle(recOpen)}, true},
		{"budget", []retry.Option{retry.WithBudget(recRefusing{})}, true},
		{"observer", []retry.Option{retry.WithObserver(&recObserver{log: newRecLog(), name: "o"})}, true},
		{"initial delay", []retry.Option{retry.WithInitialDelay(1, nil)}, true},
	} {
		clock := &recClock{now: recStart}
		require.NoError(t, retry.Run(t.Context(), func(context.Context) error { return nil }, append(tc.opts, retry.WithClock(clock))...))
		require.Equal(t, tc.read, clock.reads > 0, tc.name)
		ctx := retry.ContextWithClock(t.Context(), &recClock{now: recStart})
		require.NoError(t, retry.Run(ctx, func(context.Context) error { return nil }, tc.opts...))
	}
	// The default policy in use with a clock of the context.
	clock := &recClock{now: recStart}
	_, err := retry.Do(retry.ContextWithClock(t.Context(), clock), succeed)
	require.NoError(t, err)
	require.Zero(t, clock.reads)
}

// recAsked is a context that counts what it is asked.
type recAsked struct {
	context.Context
	values, deadlines int
}

func (c *recAsked) Value(key any) any           { c.values++; return c.Context.Value(key) }
func (c *recAsked) Deadline() (time.Time, bool) { c.deadlines++; return c.Context.Deadline() }

// TestContextIsAskedWhereWanted: a first success looks nothing up.
func TestContextIsAskedWhereWanted(t *testing.T) {
	ctx := &recAsked{Context: t.Context()}
	for _, opts := range [][]retry.Option{nil, {retry.MustNew()}, {retry.WithMaxAttempts(3), retry.WithName("x")}} {
		_, err := retry.Do(ctx, succeed, opts...)
		require.NoError(t, err)
		require.NoError(t, retry.Run(ctx, func(context.Context) error { return nil }, opts...))
	}
	require.Zero(t, ctx.values)
	require.Zero(t, ctx.deadlines)
}

// TestElapsedBeginsWithTheCall: the limit counts from the same start as observers do.
func TestElapsedBeginsWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		k.on["obs.Start"] = func() { time.Sleep(time.Second) }
		_, err := k.do(t.Context(), recTimes(1), retry.WithMaxElapsed(2*time.Second))
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
		require.Equal(t, time.Second, k.observer.ends[0].Elapsed)
	})
}

// TestDurationIsMeasuredWhereWanted: by an observation, a throttle or a learning strategy.
func TestDurationIsMeasuredWhereWanted(t *testing.T) {
	learner := retry.WithStrategy(recLearner{recCurve{log: newRecLog()}})
	for _, tc := range []struct {
		name string
		opt  retry.Option
		want time.Duration
	}{
		{"nobody", retry.WithName("x"), 0},
		{"budget", retry.WithBudget(&recBudget{log: newRecLog()}), 0},
		{"elapsed", retry.WithMaxElapsed(time.Hour), 0},
		{"observer", retry.WithObserver(&recObserver{log: newRecLog(), name: "o"}), time.Second},
		{"throttle", retry.WithThrottle(recOpen), time.Second},
		{"learner", learner, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			var got []time.Duration
			_ = retry.Run(t.Context(), func(context.Context) error { time.Sleep(time.Second); return errRec }, tc.opt, retry.WithMaxAttempts(3),
				retry.WithOnRetry(func(_ context.Context, e retry.Event) { got = append(got, e.Duration) }))
			require.Equal(t, []time.Duration{tc.want, tc.want}, got, tc.name)
		})
	}
}

// TestDurationOfTheOutcome: a driver that measured by itself is believed, and the throttles are told.
func TestDurationOfTheOutcome(t *testing.T) {
	var told []throttle.Outcome
	s := newRecSteps(t, retry.WithThrottle(recKeeps{&told}), recAtOnce)
	s.next().reports(time.Second, throttle.Outcome{Err: errRec, Duration: 5, Number: 77})
	s.next().reports(time.Second, throttle.Outcome{Err: errRec})
	require.Equal(t, []throttle.Outcome{
		{Err: errRec, Class: throttle.Transient, Number: 1, Duration: 5},
		{Err: errRec, Class: throttle.Transient, Number: 2, Duration: time.Second},
	}, told)
}

type recKeeps struct{ outcomes *[]throttle.Outcome }

func (recKeeps) Admit(context.Context, time.Time, throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	return nil, 0, nil
}
func (r recKeeps) Done(_ context.Context, _ time.Time, _ throttle.Ticket, o throttle.Outcome) {
	*r.outcomes = append(*r.outcomes, o)
}

// TestCallbacksTakeTimeFromTheWait: it ends when it was planned to, whoever took time meanwhile.
func TestCallbacksTakeTimeFromTheWait(t *testing.T) {
	for _, event := range []string{"obs.AttemptDone", "onRetry", "Discard", "obs.Pause"} {
		for _, took := range []time.Duration{300 * time.Millisecond, time.Second, 1300 * time.Millisecond} {
			t.Run(event+" "+took.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					k := newRecKit()
					k.on[event+"#1"] = func() { time.Sleep(took) }
					_, err := k.do(t.Context(), recTimes(1), k.results())
					require.NoError(t, err)
					require.Equal(t, max(time.Second, took), k.observer.starts[1].At.Sub(k.began))
					if event != "obs.Pause" && took < time.Second {
						require.Equal(t, time.Second-took, k.observer.pauses[0].Delay)
						require.Equal(t, k.began.Add(took), k.observer.pauses[0].At)
						require.Equal(t, time.Second-took, k.observer.ends[0].TotalDelay)
					}
				})
			})
		}
	}
}

// TestCallbacksTakeTimeFromTheWaitUnobserved: as before, with nothing but the callback.
func TestCallbacksTakeTimeFromTheWaitUnobserved(t *testing.T) {
	slow := func() { time.Sleep(300 * time.Millisecond) }
	for name, opt := range map[string]retry.Option{
		"onRetry":   retry.WithOnRetry(func(context.Context, retry.Event) { slow() }),
		"Discard":   retry.WithResults(retry.Results[int]{Discard: func(int) { slow() }}),
		"undecided": retry.WithName(""),
	} {
		synctest.Test(t, func(t *testing.T) {
			log := newRecLog()
			_, err := retry.Do(t.Context(), log.script(recTimes(2)...), recEvery(time.Second), opt)
			require.NoError(t, err)
			require.Equal(t, []string{"fn @0s 1", "fn @1s 2", "fn @2s 3"}, log.lines, name)
		})
	}
}

// TestAttemptsAreMeasuredFromTheirStart: what a throttle that blocks takes is not part of the attempt.
func TestAttemptsAreMeasuredFromTheirStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		blocks := throttle.Func(func(context.Context, time.Time) (time.Duration, error) { time.Sleep(time.Second); return 0, nil })
		o, err := recObserved(t, t.Context(), nil, retry.WithThrottle(blocks))
		require.NoError(t, err)
		require.Equal(t, began.Add(time.Second), o.starts[0].At)
		require.Equal(t, 100*time.Millisecond, o.events[0].Duration)
		require.Equal(t, 1100*time.Millisecond, o.ends[0].Elapsed)
		require.Zero(t, o.ends[0].TotalDelay)
	})
}

// TestBeforeRetryTakesItsOwnTime: it comes after the wait.
func TestBeforeRetryTakesItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		k.on["beforeRetry"] = func() { time.Sleep(300 * time.Millisecond) }
		_, err := k.do(t.Context(), recTimes(1))
		require.NoError(t, err)
		require.Equal(t, 1300*time.Millisecond, k.observer.starts[1].At.Sub(k.began))
		require.Equal(t, time.Second, k.observer.ends[0].TotalDelay)
	})
}
