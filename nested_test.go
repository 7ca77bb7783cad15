package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestContextWithoutRetry: the first failure ends every call below, whatever its own limit.
func TestContextWithoutRetry(t *testing.T) {
	ctx := retry.ContextWithoutRetry(t.Context())
	for name, opts := range map[string][]retry.Option{
		"default": nil, "limit": {retry.WithMaxAttempts(7)}, "unlimited": {retry.WithUnlimitedAttempts()}, "observed": {retry.WithObserver(&recObserver{log: newRecLog(), name: "o"})},
	} {
		calls := 0
		_, err := retry.Do(ctx, func(context.Context) (int, error) { calls++; return 0, errRec }, opts...)
		e := recError(t, err)
		require.Equal(t, &retry.Error{Attempts: 1, Reason: retry.ErrExhausted, Last: errRec}, e, name)
		require.Equal(t, e, retry.Run(ctx, func(context.Context) error { calls++; return errRec }, opts...), name)
		loop := retry.NewLoop(ctx, opts...)
		recLoop(loop, func(try *retry.Try) bool { calls++; try.Fail(errRec); return true })
		require.Equal(t, e, loop.Err(), name)
		require.Equal(t, 3, calls, name)
	}
	// What else ends a call does so as ever.
	require.Same(t, errRec, retry.Run(ctx, func(context.Context) error { return retry.Permanent(errRec) }))
	require.NoError(t, retry.Run(ctx, func(context.Context) error { return nil }))
}

// TestContextWithoutRetryIsSeen: the limit that everybody is told is 1.
func TestContextWithoutRetryIsSeen(t *testing.T) {
	o := &recObserver{log: newRecLog(), name: "o"}
	var attempt retry.Attempt
	err := retry.Run(retry.ContextWithoutRetry(t.Context()), func(ctx context.Context) error {
		attempt, _ = retry.AttemptFrom(ctx)
		return errRec
	}, retry.WithUnlimitedAttempts(), retry.WithObserver(o), retry.WithAttemptInfo())
	require.Error(t, err)
	require.Equal(t, retry.Attempt{Number: 1, Max: 1}, attempt)
	require.Equal(t, 1, o.calls[0].MaxAttempts)
	require.Equal(t, 1, o.events[0].Max)
}

// TestContextWithoutRetryOfAFlow: its first step's context counts.
func TestContextWithoutRetryOfAFlow(t *testing.T) {
	flow := retry.MustNew().Begin(recStart, time.Time{}, nil)
	flow.Next(retry.ContextWithoutRetry(t.Context()), recStart)
	require.Equal(t, retry.ErrExhausted, flow.Report(t.Context(), recStart, throttle.Outcome{Err: errRec}).Reason)
}

// TestContextWithoutRetryBelow: the caller retries as a whole, the calls below do not.
func TestContextWithoutRetryBelow(t *testing.T) {
	outer, inner := 0, 0
	err := retry.Run(t.Context(), func(ctx context.Context) error {
		outer++
		return retry.Run(retry.ContextWithoutRetry(ctx), func(ctx context.Context) error {
			return retry.Run(ctx, func(context.Context) error { inner++; return errRec }, recAtOnce)
		}, recAtOnce)
	}, recAtOnce, retry.WithMaxAttempts(3))
	require.ErrorIs(t, err, errRec)
	require.Equal(t, []int{3, 3}, []int{outer, inner})
}

func TestAttemptInfo(t *testing.T) {
	for _, tc := range []struct {
		opts []retry.Option
		want retry.Attempt
	}{
		{nil, retry.Attempt{Number: 2, Max: 5}},
		{[]retry.Option{retry.WithName("job"), retry.WithMaxAttempts(3)}, retry.Attempt{Number: 2, Max: 3, Name: "job"}},
		{[]retry.Option{retry.WithUnlimitedAttempts()}, retry.Attempt{Number: 2}},
	} {
		var got []retry.Attempt
		err := retry.Run(t.Context(), func(ctx context.Context) error {
			attempt, ok := retry.AttemptFrom(ctx)
			require.True(t, ok)
			if got = append(got, attempt); len(got) == 2 {
				return nil
			}
			return errRec
		}, append(tc.opts, retry.WithAttemptInfo(), recAtOnce)...)
		require.NoError(t, err)
		require.Equal(t, tc.want, got[1])
		require.Equal(t, 1, got[0].Number)
	}
	_, ok := retry.AttemptFrom(t.Context())
	require.False(t, ok)
	require.NoError(t, retry.Run(t.Context(), func(ctx context.Context) error {
		attempt, ok := retry.AttemptFrom(ctx)
		require.False(t, ok, "off by default")
		require.Zero(t, attempt)
		return nil
	}))
}

// TestAttemptInfoNested: the facts of the nearest call that gives them.
func TestAttemptInfoNested(t *testing.T) {
	number := func(ctx context.Context) string {
		attempt, _ := retry.AttemptFrom(ctx)
		return attempt.Name
	}
	info := retry.WithAttemptInfo()
	err := retry.Run(t.Context(), func(ctx context.Context) error {
		require.Equal(t, "outer", number(ctx))
		err := retry.Run(ctx, func(ctx context.Context) error {
			require.Equal(t, "outer", number(ctx), "the inner call gives none")
			return nil
		}, retry.WithName("inner"))
		require.NoError(t, err)
		err = retry.Run(ctx, func(ctx context.Context) error {
			require.Equal(t, "inner", number(ctx))
			ctx = retry.ContextWithoutRetry(retry.ContextWithClock(ctx, &recClock{now: recStart}))
			require.Equal(t, "inner", number(ctx), "other values leave them")
			return nil
		}, retry.WithName("inner"), info)
		require.NoError(t, err)
		require.Equal(t, "outer", number(ctx))
		return nil
	}, retry.WithName("outer"), info)
	require.NoError(t, err)
}

// TestContextWithClock wins over WithClock, for every call below; nil is the system's clock.
func TestContextWithClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := func(context.Context) error { return errRec }
		second := recEvery(time.Second)
		began := time.Now()

		outer, own := &recClock{now: recStart}, &recClock{now: recStart}
		ctx := retry.ContextWithClock(t.Context(), outer)
		_ = retry.Run(ctx, fails, second, retry.WithClock(own))
		require.Equal(t, recStart.Add(4*time.Second), outer.now)
		require.Zero(t, own.reads)
		_ = retry.Run(ctx, func(ctx context.Context) error {
			return retry.Run(ctx, fails, second)
		}, second, retry.WithMaxAttempts(1))
		require.Equal(t, recStart.Add(8*time.Second), outer.now, "nested calls included")
		require.Zero(t, time.Since(began))

		inner := &recClock{now: recStart}
		_ = retry.Run(retry.ContextWithClock(ctx, inner), fails, second)
		require.Equal(t, recStart.Add(4*time.Second), inner.now)
		require.Equal(t, recStart.Add(8*time.Second), outer.now)

		for _, none := range []retry.Clock{nil, (*recClock)(nil)} {
			began = time.Now()
			_ = retry.Run(retry.ContextWithClock(ctx, none), fails, second, retry.WithClock(own))
			require.Equal(t, 4*time.Second, time.Since(began))
			require.Zero(t, own.reads)
		}
	})
}

// TestContextValuesKeepEachOther: a clock and no-retry, in both orders.
func TestContextValuesKeepEachOther(t *testing.T) {
	clock := &recClock{now: recStart}
	for _, ctx := range []context.Context{
		retry.ContextWithoutRetry(retry.ContextWithClock(t.Context(), clock)),
		retry.ContextWithClock(retry.ContextWithoutRetry(t.Context()), clock),
	} {
		reads := clock.reads
		err := retry.Run(ctx, func(context.Context) error { return errRec })
		require.Equal(t, 1, recError(t, err).Attempts)
		require.Greater(t, clock.reads, reads)
	}
}

// TestThrottlesAndBudgetsGetTheCallsTime.
func TestThrottlesAndBudgetsGetTheCallsTime(t *testing.T) {
	log := newRecLog()
	log.began = recStart
	ctx := retry.ContextWithClock(t.Context(), &recClock{now: recStart})
	_ = retry.Run(ctx, func(context.Context) error { return errRec }, retry.WithThrottle(&recThrottle{log: log, name: "a"}),
		retry.WithBudget(&recBudget{log: log}), recEvery(time.Second), retry.WithMaxAttempts(2))
	log.require(t, `
		budget.Start @0s
		a.Admit @0s go
		a.Done @0s a1 transient 1
		budget.Charge @0s transient 0 more
		a.Admit @1s go
		a.Done @1s a2 transient 2
		budget.Charge @1s transient 10 last
		budget.Settle @1s failure 20`)
}
