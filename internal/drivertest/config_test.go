package drivertest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
)

var errUnavailable = errors.New("unavailable")

// filled has every field that can be set beside the others, and tuned has a strategy.
var (
	filled = retry.Config{
		MaxAttempts: 4, BaseDelay: 500 * time.Millisecond, MaxDelay: 8 * time.Second,
		MaxElapsed: time.Hour + time.Second, AttemptTimeout: 1500 * time.Millisecond,
	}
	tuned = retry.Config{MaxAttempts: retry.Unlimited, MaxElapsed: 10 * time.Second, Strategy: "linear(initial=1s, increment=2s)"}
)

// badAttempts are values of MAX_ATTEMPTS that nobody may take for a number of attempts.
var badAttempts = []string{"0", "-1", "abc", "3.5", "3x", "99999999999999999999"}

// badDurations are values that are no durations. A number alone has no unit.
var badDurations = []string{"1", "abc", "1 s", "9999999h", "-"}

// requireBadAttempts wants an error that names the field, the value and what is allowed.
func requireBadAttempts(t *testing.T, err error, value string) {
	t.Helper()
	require.ErrorIs(t, err, retry.ErrConfig)
	var e *retry.ConfigError
	require.ErrorAs(t, err, &e)
	require.Equal(t, "Config.MaxAttempts", e.Option)
	require.Equal(t, value, fmt.Sprint(e.Value))
	require.ErrorContains(t, err, e.Error())
	require.Contains(t, e.Error(), `must be a whole number of at least 1, or "unlimited" (MAX_ATTEMPTS)`)
}

// requireEffect makes calls with the settings in virtual time, where every attempt takes as long as it may.
func requireEffect(t *testing.T, isFilled, isTuned retry.Config) {
	t.Helper()
	half := retry.WithRand(func() float64 { return 0.5 })
	// With filled: four attempts of 1.5 s, and waits of half of 500 ms, 1 s and 2 s.
	calls, took, reason := call(t, retry.WithMaxAttempts(9), isFilled, half)
	require.Equal(t, 4, calls)
	require.Equal(t, 4*1500*time.Millisecond+1750*time.Millisecond, took)
	require.Equal(t, retry.ErrExhausted, reason)
	// With tuned: waits of 1 s, 3 s and 5 s, and the next would end after 10 s.
	calls, took, reason = call(t, retry.MustNew(isTuned))
	require.Equal(t, 4, calls)
	require.Equal(t, 9*time.Second, took)
	require.Equal(t, retry.ErrMaxElapsed, reason)
}

func call(t *testing.T, opts ...retry.Option) (calls int, took time.Duration, reason error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := retry.Do(t.Context(), func(ctx context.Context) (string, error) {
			calls++
			if _, limited := ctx.Deadline(); !limited {
				return "", errUnavailable
			}
			<-ctx.Done()
			return "", ctx.Err()
		}, opts...)
		var gaveUp *retry.Error
		require.ErrorAs(t, err, &gaveUp)
		took, reason = time.Since(began), gaveUp.Reason
	})
	return calls, took, reason
}
