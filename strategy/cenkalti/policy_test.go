package cenkalti_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy/cenkalti"
)

func constant(d time.Duration) func() cenkalti.BackOff {
	return func() cenkalti.BackOff { return backoff.WithMaxRetries(backoff.NewConstantBackOff(d), 3) }
}

func TestPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := cenkalti.Policy(constant(time.Second))
		for range 2 { // each call has a policy of its own
			began, calls := time.Now(), 0
			_, err := retry.Do(t.Context(), func(context.Context) (int, error) { calls++; return 0, errDown }, policy)
			require.ErrorIs(t, err, retry.ErrNoDelay)
			require.ErrorIs(t, err, errDown)
			require.Equal(t, 4, calls)
			require.Equal(t, 3*time.Second, time.Since(began))
		}
	})
}

func TestPolicyTakesOptions(t *testing.T) {
	calls := 0
	err := retry.Run(t.Context(), func(context.Context) error { calls++; return errDown }, cenkalti.Policy(constant(0)), retry.WithMaxAttempts(2))
	require.ErrorIs(t, err, retry.ErrExhausted)
	require.Equal(t, 2, calls)

	synctest.Test(t, func(t *testing.T) {
		derived, err := retry.New(cenkalti.Policy(constant(0)), retry.WithName("orders"))
		require.NoError(t, err)
		require.EqualError(t, retry.Run(t.Context(), func(context.Context) error { return errDown }, derived),
			`down (retry "orders": gave up after 4 attempts: strategy ended)`)
	})
}

func TestPolicyOfNothing(t *testing.T) {
	require.Nil(t, cenkalti.Policy(nil))
	require.ErrorIs(t, retry.Run(t.Context(), func(context.Context) error { return nil }, cenkalti.Policy(nil)), retry.ErrConfig)
	err := retry.Run(t.Context(), func(context.Context) error { return errDown }, cenkalti.Policy(func() cenkalti.BackOff { return nil }))
	require.ErrorIs(t, err, retry.ErrNoDelay)
}

// P12, P13: the mark is found anywhere, and nothing is lost around it.
func TestConditionKeepsWhatIsAroundTheMark(t *testing.T) {
	marked := backoff.Permanent(io.EOF)
	for _, err := range []error{marked, fmt.Errorf("load user: %w", marked), errors.Join(errDown, marked), asPermanent{io.EOF}} {
		calls := 0
		end := retry.Run(t.Context(), func(context.Context) error { calls++; return err }, cenkalti.Policy(constant(0)))
		require.True(t, end == err, "%v", err)
		require.ErrorIs(t, end, io.EOF)
		require.Equal(t, 1, calls)
	}
	var nothing *backoff.PermanentError
	for _, err := range []error{nil, errDown, nothing, fmt.Errorf("x: %w", nothing), &retry.Error{Last: marked}} {
		require.Equal(t, condition.Unknown, cenkalti.Condition().Check(err))
	}
	require.Equal(t, condition.Stop, cenkalti.Condition().Check(marked))
}

// TestConcurrentSafePolicy is P22.
func TestConcurrentSafePolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := cenkalti.Policy(func() cenkalti.BackOff {
			return cenkalti.NewExponentialBackOff(cenkalti.WithRandomizationFactor(0), cenkalti.WithMultiplier(2), cenkalti.WithMaxElapsedTime(4*time.Second))
		})
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				began := time.Now()
				err := retry.Run(t.Context(), func(context.Context) error { return errDown }, policy)
				if !errors.Is(err, retry.ErrNoDelay) || time.Since(began) != 3500*ms {
					t.Error(err, time.Since(began))
				}
			})
		}
		all.Wait()
	})
}
