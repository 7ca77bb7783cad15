package drivertest_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	backoff4 "github.com/cenkalti/backoff/v4"
	backoff5 "github.com/cenkalti/backoff/v5"
	backoff7 "github.com/cenkalti/backoff/v7"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
)

// The interface is the same in every major version, so values fit in both directions without an import.
var (
	_ backoff4.BackOff = strategy.BackOff(nil)
	_ backoff5.BackOff = strategy.BackOff(nil)
	_ backoff7.BackOff = strategy.BackOff(nil)
	_ strategy.BackOff = backoff4.BackOff(nil)
	_ strategy.BackOff = backoff5.BackOff(nil)
	_ strategy.BackOff = backoff7.BackOff(nil)
	_ strategy.BackOff = (*backoff4.ExponentialBackOff)(nil)
	_ strategy.BackOff = (*backoff5.ExponentialBackOff)(nil)
	_ strategy.BackOff = (*backoff7.ExponentialBackOff)(nil)
	_ backoff4.BackOff = (*strategy.BackOffAdapter)(nil)
	_ backoff5.BackOff = (*strategy.BackOffAdapter)(nil)
	_ backoff7.BackOff = (*strategy.BackOffAdapter)(nil)
)

// exponential is the same curve in each version, without jitter and without a limit of time.
func exponential(base time.Duration, factor float64, most time.Duration) map[string]func() strategy.BackOff {
	return map[string]func() strategy.BackOff{
		"v4": func() strategy.BackOff {
			return backoff4.NewExponentialBackOff(backoff4.WithInitialInterval(base), backoff4.WithMultiplier(factor), backoff4.WithMaxInterval(most),
				backoff4.WithRandomizationFactor(0), backoff4.WithMaxElapsedTime(0))
		},
		"v5": func() strategy.BackOff {
			return &backoff5.ExponentialBackOff{InitialInterval: base, Multiplier: factor, MaxInterval: most}
		},
		"v7": func() strategy.BackOff {
			return &backoff7.ExponentialBackOff{InitialInterval: base, Multiplier: factor, MaxInterval: most}
		},
	}
}

// Our curve is theirs: to the nanosecond for a factor of 2. Theirs cut a fraction of a nanosecond off at every other step,
// and go on from there.
func TestCenkaltiSameWaits(t *testing.T) {
	for _, x := range []struct {
		base   time.Duration
		factor float64
		most   time.Duration
	}{
		{1, 2, math.MaxInt64},
		{500 * time.Millisecond, 2, time.Minute},
		{time.Second, 2, time.Second},
		{time.Hour, 1.1, 100 * time.Hour},
		{time.Hour, 1.5, 1000 * time.Hour},
		{time.Minute, math.Pi, math.MaxInt64},
	} {
		ours := strategy.Delays(strategy.Exponential{Base: x.base, Factor: x.factor, Max: x.most}, 200, nil)
		for version, policy := range exponential(x.base, x.factor, x.most) {
			theirs := strategy.Delays(strategy.FromBackOff(policy), 200, nil)
			if x.factor == 2 {
				require.Equal(t, theirs, ours, "%s %+v", version, x)
				continue
			}
			require.Len(t, theirs, 200)
			for i := range theirs {
				require.InEpsilon(t, theirs[i], ours[i], 1e-9, "%s %+v, wait %d", version, x, i)
			}
		}
	}
}

// Their policies, our engine.
func TestCenkaltiDrivenByDo(t *testing.T) {
	for version, policy := range exponential(time.Second, 2, 3*time.Second) {
		synctest.Test(t, func(t *testing.T) {
			policy := retry.MustNew(retry.WithStrategy(strategy.FromBackOff(policy)), retry.WithMaxAttempts(5))
			for range 2 {
				began := time.Now()
				err := retry.Run(t.Context(), func(context.Context) error { return errCenkalti }, policy)
				require.ErrorIs(t, err, retry.ErrExhausted, version)
				require.ErrorIs(t, err, errCenkalti)
				require.Equal(t, 9*time.Second, time.Since(began), version)
			}
		})
	}
	for version, stop := range map[string]strategy.BackOff{"v4": &backoff4.StopBackOff{}, "v5": &backoff5.StopBackOff{}, "v7": &backoff7.StopBackOff{}} {
		calls := 0
		err := retry.Run(t.Context(), func(context.Context) error { calls++; return errCenkalti },
			retry.WithStrategy(strategy.FromBackOff(func() strategy.BackOff { return stop })))
		require.ErrorIs(t, err, retry.ErrNoDelay, version)
		require.Equal(t, 1, calls, version)
	}
}

var errCenkalti = errors.New("down")

// drivenBy are the Retry functions of each version.
var drivenBy = map[string]func(ctx context.Context, op func() (int, error), b strategy.BackOff) (int, error){
	"v4": func(ctx context.Context, op func() (int, error), b strategy.BackOff) (int, error) {
		return backoff4.RetryWithData(op, backoff4.WithContext(b, ctx))
	},
	"v5": func(ctx context.Context, op func() (int, error), b strategy.BackOff) (int, error) {
		return backoff5.Retry(ctx, op, backoff5.WithBackOff(b))
	},
	"v7": func(ctx context.Context, op func() (int, error), b strategy.BackOff) (int, error) {
		return backoff7.Retry(ctx, op, backoff7.WithBackOff(b))
	},
}

// Our strategies, their engines.
func TestCenkaltiDrivesStrategies(t *testing.T) {
	for version, call := range drivenBy {
		synctest.Test(t, func(t *testing.T) {
			b := strategy.ToBackOff(strategy.Fibonacci{First: time.Second}, strategy.WithMaxDelay(4*time.Second))
			for range 2 { // one after the other: each call Resets it
				began, calls := time.Now(), 0
				v, err := call(t.Context(), func() (int, error) {
					if calls++; calls < 7 {
						return 1, errCenkalti
					}
					return 42, nil
				}, b)
				require.NoError(t, err, version)
				require.Equal(t, 42, v)
				require.Equal(t, 15*time.Second, time.Since(began), "%s: 1, 1, 2, 3, 4 and 4 s", version)
			}

			calls := 0
			_, err := call(t.Context(), func() (int, error) { calls++; return 0, errCenkalti }, strategy.ToBackOff(strategy.Sequence{Delays: []time.Duration{0, time.Second}}))
			require.ErrorIs(t, err, errCenkalti, version)
			require.Equal(t, 3, calls, "%s: the strategy ends the call", version)
		})
	}
}

func TestCenkaltiTickersDriveStrategies(t *testing.T) {
	for version, start := range map[string]func(strategy.BackOff) (<-chan time.Time, func()){
		"v4": func(b strategy.BackOff) (<-chan time.Time, func()) { t := backoff4.NewTicker(b); return t.C, t.Stop },
		"v5": func(b strategy.BackOff) (<-chan time.Time, func()) { t := backoff5.NewTicker(b); return t.C, t.Stop },
		"v7": func(b strategy.BackOff) (<-chan time.Time, func()) { t := backoff7.NewTicker(b); return t.C, t.Stop },
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			ticks, stop := start(strategy.ToBackOff(strategy.Sequence{Delays: []time.Duration{time.Second, 0, time.Minute}}))
			defer stop()
			var at []time.Duration
			for range ticks {
				at = append(at, time.Since(began))
			}
			require.Equal(t, []time.Duration{0, time.Second, time.Second, 61 * time.Second}, at, version)
		})
	}
}
