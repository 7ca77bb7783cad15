package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestRestartMark is found where Permanent is, and comes off where Permanent does.
func TestRestartMark(t *testing.T) {
	require.NoError(t, retry.Restart(nil))
	require.EqualError(t, retry.Restart(&recTyped{7}), "code 7")
	for _, tc := range []struct {
		name  string
		err   error
		reset bool
		err2  error // as it is seen; nil: err
	}{
		{"at the top", retry.Restart(errRec), true, errRec},
		{"twice", retry.Restart(retry.Restart(errRec)), true, errRec},
		{"over a told wait", retry.Restart(retry.After(0, errRec)), true, errRec},
		{"under a told wait", retry.After(0, retry.Restart(errRec)), true, errRec},
		{"below", fmt.Errorf("x: %w", retry.Restart(errRec)), true, nil},
		{"beside", errors.Join(errRecCause, retry.Restart(errRec)), true, nil},
		{"within another call's", &retry.Error{Reason: retry.ErrExhausted, Last: retry.Restart(errRec)}, false, nil},
		{"none", errRec, false, nil},
	} {
		log := newRecLog()
		s := newRecSteps(t, retry.WithUnlimitedAttempts(), retry.WithStrategy(recCurve{log: log}))
		s.fails(errRec)
		s.fails(errRec)
		step := s.fails(tc.err)
		want := tc.err2
		if want == nil {
			want = tc.err
		}
		require.Equal(t, want, step.Err, tc.name)
		require.Equal(t, map[bool]time.Duration{true: time.Second, false: 3 * time.Second}[tc.reset], step.Delay, tc.name)
		require.Equal(t, map[bool]string{true: "curve.Next 1 0s 0s", false: "curve.Next 3 2s 3s"}[tc.reset], log.lines[2], tc.name)
		require.Equal(t, step.Delay+time.Second, s.fails(errRec).Delay, tc.name)
	}
}

// TestRestartOfATimeout: the marks come off below the note that the attempt's own deadline passed.
func TestRestartOfATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		err := retry.Run(t.Context(), func(ctx context.Context) error {
			if n++; n == 4 {
				return nil
			}
			<-ctx.Done()
			return retry.Restart(ctx.Err())
		}, retry.WithAttemptTimeout(time.Second), retry.WithMaxAttempts(2), recEvery(time.Second), retry.WithOnRetry(func(_ context.Context, e retry.Event) {
			require.ErrorIs(t, e.Err, retry.ErrAttemptTimeout)
			require.Equal(t, context.DeadlineExceeded, errors.Unwrap(e.Err), "without marks")
		}))
		require.NoError(t, err)
	})
}

// TestResetStartsAnew: what is set back, and what is not.
func TestResetStartsAnew(t *testing.T) {
	for name, third := range map[string]throttle.Outcome{
		"restart": {Err: retry.Restart(errRec), Duration: time.Second},
		"health":  {Err: errRec, Duration: time.Minute},
		"both":    {Err: retry.Restart(errRec), Duration: time.Hour},
	} {
		log := newRecLog()
		started := 0
		budget, gate := &recBudget{log: log}, &recThrottle{log: log, name: "a"}
		s := newRecSteps(t, retry.WithResetAfter(time.Minute), retry.WithMaxAttempts(4), retry.WithMaxElapsed(20*time.Second), retry.WithMaxRetryElapsed(15*time.Second),
			retry.WithStrategy(recStarter{log, &started}), retry.WithBudget(budget), retry.WithThrottle(gate), retry.WithErrorHistory(9))
		s.fails(errRec) // wait 1 s
		s.fails(errRec) // wait 2 s
		step := s.next().reports(time.Hour, third)
		require.Equal(t, retry.Wait, step.Action, "%s: the time of health does not count", name)
		require.Equal(t, time.Second, step.Delay, name)
		s.now = s.now.Add(step.Delay)
		require.Equal(t, 2*time.Second, s.fails(errRec).Delay, name)
		require.Equal(t, 3*time.Second, s.fails(errRec).Delay, name)
		end := s.fails(errRec)
		require.Equal(t, retry.ErrExhausted, end.Reason, name)
		e := recError(t, end.Err)
		require.Equal(t, 6, e.Attempts, name)
		require.Equal(t, 6*time.Second, e.Elapsed, "%s: from the first failure since the reset", name)
		require.Len(t, e.History, 6, name)
		require.Equal(t, 2, started, name)
		require.Equal(t, []int{1, 6, 1}, []int{budget.started, budget.charged, budget.settled}, name)
		require.Contains(t, log.lines, "a.Done @"+log.at(s.now)+" a6 transient 6", "attempts are numbered on")
		require.Empty(t, log.wrong)
	}
}

// TestResetLimits: the windows begin at the end of the attempt, and the failure is the first of its run.
func TestResetLimits(t *testing.T) {
	restart := retry.Restart(errRec)
	for _, tc := range []struct {
		name string
		opts []retry.Option
		errs []error
		want error
	}{
		{"attempts", []retry.Option{retry.WithMaxAttempts(2)}, []error{errRec, restart, restart, restart, errRec}, retry.ErrExhausted},
		{"one attempt", []retry.Option{retry.WithMaxAttempts(1)}, []error{restart}, retry.ErrExhausted},
		{"elapsed", []retry.Option{retry.WithMaxElapsed(2 * time.Second)}, []error{errRec, restart, restart, errRec}, retry.ErrMaxElapsed},
		{"retry elapsed", []retry.Option{retry.WithMaxRetryElapsed(2 * time.Second)}, []error{errRec, restart, restart, errRec}, retry.ErrMaxElapsed},
	} {
		s := newRecSteps(t, append(tc.opts, recEvery(time.Second))...)
		for i, err := range tc.errs {
			step := s.fails(err)
			require.Equal(t, i == len(tc.errs)-1, step.Action == retry.Done, "%s: failure %d", tc.name, i+1)
			if step.Action == retry.Done {
				require.Equal(t, tc.want, step.Reason, tc.name)
			}
		}
	}
}

// TestResetAfter counts how long an attempt ran, where that is known, and only if it failed.
func TestResetAfter(t *testing.T) {
	log := newRecLog()
	s := newRecSteps(t, retry.WithResetAfter(time.Minute), retry.WithUnlimitedAttempts(), retry.WithStrategy(recCurve{log: log}))
	step := s.fails(errRec)
	s.now = s.now.Add(2 * time.Hour) // whatever the driver did then
	require.Equal(t, 2*time.Second, s.next().reports(time.Minute-1, throttle.Outcome{Err: errRec}).Delay, "not quite")
	require.Equal(t, time.Second, s.next().reports(time.Minute, throttle.Outcome{Err: errRec}).Delay, "exactly")
	require.Equal(t, 2*time.Second, s.next().reports(-time.Hour, throttle.Outcome{Err: errRec}).Delay, "a clock that was set back")
	step = s.reports(time.Hour, throttle.Outcome{Err: errRec})
	require.Equal(t, 3*time.Second, step.Delay, "made unasked: nobody knows when it began")
	step = s.reports(0, throttle.Outcome{Err: errRec, Duration: time.Hour})
	require.Equal(t, time.Second, step.Delay, "but for who says so")

	s = newRecSteps(t, retry.WithMaxAttempts(2), recAtOnce)
	s.fails(errRec)
	require.Equal(t, retry.ErrExhausted, s.next().reports(time.Hour, throttle.Outcome{Err: errRec}).Reason, "never by default")
	s = newRecSteps(t, retry.WithMaxAttempts(2), recAtOnce, retry.WithResetAfter(time.Minute), retry.WithResetAfter(0))
	s.fails(errRec)
	require.Equal(t, retry.ErrExhausted, s.next().reports(time.Hour, throttle.Outcome{Err: errRec}).Reason, "taken away")
}

// TestResetAfterInEveryCall: Do, Run and Loop time the first attempt too, and P18's long attempt costs no time budget.
func TestResetAfterInEveryCall(t *testing.T) {
	policy := retry.MustNew(retry.WithResetAfter(time.Second), retry.WithMaxAttempts(2), retry.WithMaxElapsed(time.Second), recEvery(time.Second/2))
	for name, call := range map[string]func(ctx context.Context, fn func(context.Context) error) error{
		"Do": func(ctx context.Context, fn func(context.Context) error) error {
			_, err := retry.Do(ctx, func(ctx context.Context) (int, error) { return 0, fn(ctx) }, policy)
			return err
		},
		"Run": func(ctx context.Context, fn func(context.Context) error) error { return retry.Run(ctx, fn, policy) },
		"Loop": func(ctx context.Context, fn func(context.Context) error) error {
			loop := retry.NewLoop(ctx, policy)
			for try := range loop.Tries() {
				try.Fail(fn(try.Context()))
			}
			return loop.Err()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			err := call(t.Context(), func(context.Context) error {
				if n++; n <= 3 {
					time.Sleep(time.Hour)
				}
				return errRec
			})
			require.Equal(t, 4, n, name)
			require.Equal(t, retry.ErrExhausted, recError(t, err).Reason, name)
			require.Equal(t, time.Second/2, recError(t, err).Elapsed, name)
		})
	}
}

// TestResetTimesTheAttemptOnly: what hooks and observers take between attempts without a wait is no health.
func TestResetTimesTheAttemptOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := retry.Run(t.Context(), func(context.Context) error { return errRec }, recAtOnce, retry.WithMaxAttempts(3), retry.WithResetAfter(time.Minute),
			retry.WithOnRetry(func(context.Context, retry.Event) { time.Sleep(time.Hour) }))
		require.Equal(t, 3, recError(t, err).Attempts)
	})
}

// TestResetForgetsTheLastDraw: Decorrelated begins from its Base again.
func TestResetForgetsTheLastDraw(t *testing.T) {
	s := newRecSteps(t, retry.WithStrategy(strategy.Decorrelated{Base: 100}), retry.WithRand(recDraws(recMost)))
	require.Equal(t, time.Duration(300), s.fails(errRec).Delay)
	require.Equal(t, time.Duration(900), s.fails(errRec).Delay)
	require.Equal(t, time.Duration(300), s.fails(retry.Restart(errRec)).Delay)
	require.Equal(t, time.Duration(900), s.fails(errRec).Delay)
}
