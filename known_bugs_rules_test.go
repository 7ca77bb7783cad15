package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
)

// TestP27NoWaitAfterTheLastOfAKind: the limit of a kind ends the call at once, not after one more wait.
func TestP27NoWaitAfterTheLastOfAKind(t *testing.T) {
	for name, opts := range map[string][]retry.Option{
		"alone":                {},
		"below an outer limit": {retry.WithMaxAttempts(10)},
		"without one":          {retry.WithUnlimitedAttempts()},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			calls, err := kbRun(t.Context(), errKnown, append(opts, kbConstant(2*time.Second), retry.WithRule(condition.Is(errKnown), retry.WithMaxAttempts(2)))...)
			require.Equal(t, 2*time.Second, time.Since(start), name)
			require.Equal(t, 2, calls, name)
			require.ErrorIs(t, err, retry.ErrExhausted, name)
			require.ErrorIs(t, err, errKnown, name)
			require.Zero(t, kbError(t, err).Delay, name)
		})
	}
}

// TestP43LimitOfZeroForAKind: no count wraps. A limit of 0 is a mistake that is told, and that of 1 permits one call.
func TestP43LimitOfZeroForAKind(t *testing.T) {
	for _, n := range []int{0, -1} {
		calls, err := kbRun(t.Context(), errKnown, retry.WithRule(condition.Is(errKnown), retry.WithMaxAttempts(n)))
		require.Zero(t, calls)
		require.ErrorIs(t, err, retry.ErrConfig)
		require.ErrorContains(t, err, "WithMaxAttempts")
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		calls, err := kbRun(t.Context(), errKnown, retry.WithRule(condition.Is(errKnown), retry.WithMaxAttempts(1)))
		require.Equal(t, 1, calls)
		require.Zero(t, time.Since(start))
		require.ErrorIs(t, err, retry.ErrExhausted)
	})
}

// TestP18TimeBudgetOfASupervision: the time in which the work went well is not the time of its failures.
func TestP18TimeBudgetOfASupervision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, runs := time.Now(), 0
		err := retry.Supervise(t.Context(), func(context.Context) error {
			if runs++; runs <= 3 {
				time.Sleep(24 * time.Hour)
			}
			return errKnown
		}, kbConstant(time.Second), retry.WithMaxElapsed(5*time.Second))
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
		require.Equal(t, 7, runs)
		require.Equal(t, 72*time.Hour+6*time.Second, time.Since(start))
		require.Equal(t, 4*time.Second, kbError(t, err).Elapsed)
	})
}
