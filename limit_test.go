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
	"github.com/seed-89b3229b/retry/throttle"
)

// TestErrorNamesTheLimit: the wait that was not taken, and what it did not fit into.
func TestErrorNamesTheLimit(t *testing.T) {
	const ms = time.Millisecond
	held := func(waits ...time.Duration) retry.Option {
		return retry.WithThrottle(throttle.Func(func(context.Context, time.Time) (wait time.Duration, err error) {
			wait, waits = waits[0], waits[1:]
			return wait, nil
		}))
	}
	for _, tc := range []struct {
		name     string
		deadline time.Duration
		err      error
		opts     []retry.Option
		reason   error
		want     string
	}{
		{"told", 0, retry.After(2*time.Minute, errRec), nil, retry.ErrHintTooLong,
			"boom (retry: gave up after 1 attempt: asked to wait 2m0s, more than 1m0s (WithMaxHint))"},
		{"told, by a nanosecond", 0, retry.After(time.Minute+1, errRec), nil, retry.ErrHintTooLong,
			"boom (retry: gave up after 1 attempt: asked to wait 1m0.000000001s, more than 1m0s (WithMaxHint))"},
		{"no told wait is accepted", 0, retry.After(1, errRec), []retry.Option{retry.WithMaxHint(0)}, retry.ErrHintTooLong,
			"boom (retry: gave up after 1 attempt: asked to wait 1ns, more than 0s (WithMaxHint))"},
		{"held", 0, nil, []retry.Option{held(90 * time.Second)}, retry.ErrHintTooLong,
			"retry: not attempted: asked to wait 1m30s, more than 1m0s (WithMaxHint)"},
		{"held twice", 0, nil, []retry.Option{held(40*time.Second, 30*time.Second)}, retry.ErrHintTooLong,
			"retry: not attempted: asked to wait 30s, more than 20s (what is left of WithMaxHint)"},
		{"foreseen", 0, errRec, []retry.Option{retry.WithThrottle(recReady(newRecLog(), "a", 61*time.Second))}, retry.ErrHintTooLong,
			"boom (retry: gave up after 1 attempt: asked to wait 1m1s, more than 1m0s (WithMaxHint))"},
		{"deadline", 800 * ms, errRec, nil, retry.ErrDeadline,
			"boom (retry: gave up after 1 attempt: the next wait of 1.2s would end after the deadline in 800ms)"},
		{"at the deadline", 1200 * ms, errRec, nil, retry.ErrDeadline,
			"boom (retry: gave up after 1 attempt: the next wait of 1.2s would end at the deadline)"},
		{"a nanosecond after the deadline", 1200*ms - 1, errRec, nil, retry.ErrDeadline,
			"boom (retry: gave up after 1 attempt: the next wait of 1.2s would end after the deadline in 1.199999999s)"},
		{"elapsed", 0, errRec, []retry.Option{retry.WithMaxElapsed(2 * time.Second)}, retry.ErrMaxElapsed,
			"boom (retry: gave up after 2 attempts, 1.2s after the first failure: the next wait of 1.2s would not end within 2s of the start (WithMaxElapsed))"},
		{"elapsed, from the environment", 0, errRec, []retry.Option{retry.Config{MaxElapsed: time.Second}}, retry.ErrMaxElapsed,
			"boom (retry: gave up after 1 attempt: the next wait of 1.2s would not end within 1s of the start (WithMaxElapsed))"},
		{"retries", 0, errRec, []retry.Option{retry.WithMaxRetryElapsed(time.Second)}, retry.ErrMaxElapsed,
			"boom (retry: gave up after 1 attempt: the next wait of 1.2s would not end within 1s of the first failure (WithMaxRetryElapsed))"},
		{"a rule", 0, errRec, []retry.Option{retry.WithRule(condition.Is(errRec), retry.WithMaxElapsed(time.Second))}, retry.ErrMaxElapsed,
			"boom (retry: gave up after 1 attempt: the next wait of 1.2s would not end within 1s of its kind's first failure (WithRule))"},
		{"initial delay", 0, errRec, []retry.Option{retry.WithInitialDelay(5, nil), retry.WithMaxElapsed(5)}, retry.ErrMaxElapsed,
			"retry: not attempted: the next wait of 5ns would not end within 5ns of the start (WithMaxElapsed)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tc.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.deadline)
					defer cancel()
				}
				err := retry.Run(ctx, func(context.Context) error { return tc.err }, append([]retry.Option{recEvery(1200 * ms)}, tc.opts...)...)
				require.EqualError(t, err, tc.want)
				require.Equal(t, tc.reason, recError(t, err).Reason, "the reason itself stays one word, for groups and comparisons")
				require.NotZero(t, recError(t, err).Delay)
			})
		})
	}
}

// TestErrorOfAPassedDeadline: a wait of nothing does not fit either.
func TestErrorOfAPassedDeadline(t *testing.T) {
	flow := retry.MustNew(recAtOnce).Begin(recStart, recStart, nil)
	flow.Next(t.Context(), recStart)
	step := flow.Report(t.Context(), recStart, throttle.Outcome{Err: errRec})
	require.EqualError(t, step.Err, "boom (retry: gave up after 1 attempt: the deadline has passed)")
}

// TestErrorWithAnotherReason: who changes the reason of an Error gets the text of that.
func TestErrorWithAnotherReason(t *testing.T) {
	e := recError(t, recRun(retry.WithMaxElapsed(1)))
	e.Reason = errors.New("closed")
	require.EqualError(t, e, "boom (retry: gave up after 1 attempt: closed)")
	e.Reason = nil
	require.EqualError(t, e, "boom (retry: gave up after 1 attempt)")
}
