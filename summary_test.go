package retry_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrytest"
)

func ExampleWithSummary() {
	clock, calls := retrytest.NewClock(), 0
	var took retry.Summary
	err := retry.Run(context.Background(), func(context.Context) error {
		if calls++; calls < 3 {
			return errUnavailable
		}
		return nil
	}, retry.WithSummary(&took), recEvery(time.Second), retry.WithClock(clock))
	fmt.Println(err, took.Attempts, "attempts,", took.TotalDelay, "of waits,", took.Ending)
	// Output: <nil> 3 attempts, 2s of waits, success
}

// TestSummaryOfEveryEnd is what an observer is told at the end.
func TestSummaryOfEveryEnd(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx  context.Context
		errs []error
		opts []retry.Option
		want retry.Summary
	}{
		"first try":     {nil, nil, nil, retry.Summary{Attempts: 1, Elapsed: time.Minute}},
		"after retries": {nil, recTimes(2), nil, retry.Summary{Attempts: 3, Elapsed: 3*time.Minute + 2*time.Second, TotalDelay: 2 * time.Second}},
		"gave up":       {nil, recTimes(9), []retry.Option{retry.WithMaxAttempts(2)}, retry.Summary{Attempts: 2, Ending: retry.EndExhausted, Last: errRec, Reason: retry.ErrExhausted, Elapsed: 2*time.Minute + time.Second, TotalDelay: time.Second}},
		"not retried":   {nil, []error{retry.Permanent(errRec)}, nil, retry.Summary{Attempts: 1, Ending: retry.EndAborted, Last: errRec, Reason: retry.ErrNotRetryable, Elapsed: time.Minute}},
		"not begun":     {canceled, nil, nil, retry.Summary{Ending: retry.EndCanceled, Reason: context.Canceled}},
		"fallback": {nil, recTimes(9), []retry.Option{retry.WithMaxAttempts(1), retry.WithFallback(func(context.Context, error) (int, error) { return 7, nil })},
			retry.Summary{Attempts: 1, Ending: retry.EndExhausted, Last: errRec, Reason: retry.ErrExhausted, Elapsed: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := tc.ctx
				if ctx == nil {
					ctx = t.Context()
				}
				script := newRecLog().script(tc.errs...)
				fn := func(ctx context.Context) (int, error) { time.Sleep(time.Minute); return script(ctx) }
				var alone, beside retry.Summary
				opts := append([]retry.Option{recEvery(time.Second)}, tc.opts...)
				_, err := retry.Do(ctx, fn, append(opts, retry.WithSummary(&alone))...)
				want := tc.want
				want.Err, want.At = err, time.Now()
				require.Equal(t, want, alone)

				script = newRecLog().script(tc.errs...)
				o := &recObserver{log: newRecLog(), name: "o"}
				_, _ = retry.Do(ctx, fn, append(opts, retry.WithSummary(&beside), retry.WithObserver(o))...)
				require.Equal(t, o.ends[0], beside)
			})
		})
	}
}

// TestSummaryOfEveryShape, and of a panic.
func TestSummaryOfEveryShape(t *testing.T) {
	var s retry.Summary
	option := retry.WithSummary(&s)
	require.NoError(t, retry.Run(t.Context(), func(context.Context) error { return nil }, option))
	require.Equal(t, 1, s.Attempts)

	looks := 0
	_, err := retry.Poll(t.Context(), 1, func(context.Context) (int, bool, error) { looks++; return 0, looks == 4, nil }, option)
	require.NoError(t, err)
	require.Equal(t, 4, s.Attempts)

	err = retry.Supervise(t.Context(), func(context.Context) error { return retry.Permanent(errRec) }, option)
	require.Equal(t, errRec, err)
	require.Equal(t, retry.EndAborted, s.Ending)

	loop := retry.NewLoop(t.Context(), recAtOnce, option)
	for try := range loop.Tries() {
		if try.Number() == 2 {
			break
		}
		try.Fail(errRec)
	}
	require.Equal(t, []any{2, retry.EndSucceeded}, []any{s.Attempts, s.Ending})

	require.Panics(t, func() { _ = retry.Run(t.Context(), func(context.Context) error { panic("x") }, option) })
	require.Equal(t, []any{1, retry.EndPanicked}, []any{s.Attempts, s.Ending})

	before := s
	require.ErrorIs(t, retry.Run(t.Context(), func(context.Context) error { return nil }, option, retry.WithMaxAttempts(0)), retry.ErrConfig)
	require.Equal(t, before, s, "a call that is not begun leaves it alone")
}

// TestSummaryIsForOneCall: calls that share a policy would write to it at the same time.
func TestSummaryIsForOneCall(t *testing.T) {
	var s retry.Summary
	_, err := retry.New(retry.WithSummary(&s))
	recRequireConfig(t, err, "WithSummary", &s, "is for one call, and calls share a policy: give it to Do and its kin")
	_, err = retry.New(retry.WithRule(condition.Is(errRec), retry.WithSummary(&s)))
	recRequireConfig(t, err, "WithRule", "WithSummary", ruOnly)
	recRequireConfig(t, recRun(retry.WithSummary(nil)), "WithSummary", nil, recNotNil)
	require.NoError(t, retry.Run(t.Context(), func(context.Context) error { return nil }, retry.MustNew(), retry.WithSummary(&s)))
}

// TestSummaryAllocations: a call that is asked for one allocates no more than its option.
func TestSummaryAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	ctx := t.Context()
	require.LessOrEqual(t, testing.AllocsPerRun(200, func() {
		var s retry.Summary
		sink, _ = retry.Do(ctx, succeed, retry.WithSummary(&s))
	}), 1.0)
}
