package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
)

func recSum(waits []time.Duration) (sum time.Duration) {
	for _, d := range waits {
		sum += d
	}
	return sum
}

// TestDefaultPolicyWaits holds the numbers of the option table: 1.5 s on average, 3.0 s at most.
func TestDefaultPolicyWaits(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		name string
		r    float64
		want []time.Duration
		sum  time.Duration
	}{
		{"least", 0, []time.Duration{0, 0, 0, 0}, 0},
		{"mean", 0.5, []time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms}, 1500 * ms},
		{"most", recMost, []time.Duration{200 * ms, 400 * ms, 800 * ms, 1600 * ms}, 3000 * ms},
	} {
		waits, end := recWaits(t, retry.WithRand(recDraws(tc.r)))
		require.Equal(t, tc.want, waits, tc.name)
		require.Equal(t, tc.sum, recSum(waits), tc.name)
		require.Equal(t, retry.ErrExhausted, end.Reason, tc.name)
	}
}

func TestDefaultPolicyCapsAtTwentySeconds(t *testing.T) {
	waits, _ := recWaits(t, retry.WithRand(recDraws(recMost)), retry.WithMaxAttempts(10))
	require.Equal(t, 12800*time.Millisecond, waits[6])
	require.Equal(t, []time.Duration{20 * time.Second, 20 * time.Second}, waits[7:])
}

// TestZeroPolicyIsTheDefaultPolicy: no options, the zero Policy, New() and a nil Policy's flow are all the same.
func TestZeroPolicyIsTheDefaultPolicy(t *testing.T) {
	empty, err := retry.New()
	require.NoError(t, err)
	for name, opts := range map[string][]retry.Option{
		"none": nil, "zero": {&retry.Policy{}}, "new": {empty}, "derived": {empty, retry.WithName("")},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, calls := time.Now(), 0
			_, err := retry.Do(t.Context(), func(context.Context) (int, error) { calls++; return 0, errRec }, opts...)
			require.ErrorIs(t, err, retry.ErrExhausted, name)
			require.Equal(t, 5, calls, name)
			require.LessOrEqual(t, time.Since(began), 3*time.Second, name) // in the bubble's time
			require.Equal(t, 5, recError(t, retry.Run(t.Context(), func(context.Context) error { return errRec }, opts...)).Attempts, name)
			loop := retry.NewLoop(t.Context(), opts...)
			recLoop(loop, func(try *retry.Try) bool { try.Fail(errRec); return true })
			require.Equal(t, 5, recError(t, loop.Err()).Attempts, name)
		})
	}
	var none *retry.Policy
	flow := none.Begin(recStart, time.Time{}, recDraws(0.5))
	require.Equal(t, retry.Go, flow.Next(t.Context(), recStart).Action)
}

// TestJitterWithoutStrategy works on Exponential with the default's Base and Max.
func TestJitterWithoutStrategy(t *testing.T) {
	waits, _ := recWaits(t, retry.WithMaxAttempts(10), retry.WithJitter(strategy.Equal), retry.WithRand(recDraws(recMost)))
	want := strategy.Delays(strategy.Exponential{Base: 200 * time.Millisecond, Max: 20 * time.Second}, 9, nil)
	require.Equal(t, want, waits)
	require.Equal(t, 20*time.Second, waits[8])

	waits, _ = recWaits(t, retry.WithJitter(strategy.Equal), retry.WithRand(recDraws(0)))
	require.Equal(t, []time.Duration{100e6, 200e6, 400e6, 800e6}, waits)
}

func TestDefaultMaxHint(t *testing.T) {
	step := newRecSteps(t, retry.WithHint(recExact)).fails(retry.After(time.Minute, errRec))
	require.Equal(t, retry.Wait, step.Action)
	require.Equal(t, time.Minute, step.Delay)

	step = newRecSteps(t).fails(retry.After(time.Minute+1, errRec))
	require.Equal(t, retry.ErrHintTooLong, step.Reason)
}

// TestDefaultHasNoLimitOnTime: an hour of waits is fine.
func TestDefaultHasNoLimitOnTime(t *testing.T) {
	waits, end := recWaits(t, retry.WithStrategy(strategy.Constant{Delay: 1000 * time.Hour}))
	require.Equal(t, []time.Duration{1000 * time.Hour, 1000 * time.Hour, 1000 * time.Hour, 1000 * time.Hour}, waits)
	require.Equal(t, retry.ErrExhausted, end.Reason)
}
