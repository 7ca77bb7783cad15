package drivertest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// limiters are the two ways in which a rate.Limiter becomes a throttle.
var limiters = map[string]func(*rate.Limiter) throttle.Throttle{
	"Limit":   func(l *rate.Limiter) throttle.Throttle { return throttle.Limit(l) },
	"Reserve": func(l *rate.Limiter) throttle.Throttle { return throttle.Reserve(l.ReserveN) },
}

var atOnce = retry.WithStrategy(strategy.Constant{})

// TestRateLimit: every attempt of every call takes its turn, retries included.
func TestRateLimit(t *testing.T) {
	for name, throttled := range limiters {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := retry.MustNew(retry.WithThrottle(throttled(rate.NewLimiter(1, 1))), atOnce, retry.WithMaxAttempts(3))
				var mu sync.Mutex
				var at []time.Duration
				var wg sync.WaitGroup
				began := time.Now()
				for range 4 {
					wg.Go(func() {
						_ = retry.Run(t.Context(), func(context.Context) error {
							mu.Lock()
							defer mu.Unlock()
							at = append(at, time.Since(began))
							return errDown
						}, p)
					})
				}
				wg.Wait()
				var want []time.Duration
				for i := range 12 {
					want = append(want, time.Duration(i)*time.Second)
				}
				require.Equal(t, want, at)
			})
		})
	}
}

// TestRateLimitDeadline: a turn that comes after the deadline is not waited for, and is not used up.
func TestRateLimitDeadline(t *testing.T) {
	for name, want := range map[string]error{"Limit": retry.ErrRefused, "Reserve": retry.ErrDeadline} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := rate.NewLimiter(rate.Every(10*time.Second), 1)
				p := retry.MustNew(retry.WithThrottle(limiters[name](l)), atOnce)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				began, made := time.Now(), 0
				err := retry.Run(ctx, func(context.Context) error { made++; return errDown }, p)
				require.Zero(t, time.Since(began))
				require.Equal(t, 1, made)
				require.ErrorIs(t, err, want)
				require.ErrorIs(t, err, errDown)
				require.Zero(t, l.Tokens())
			})
		})
	}
}

// TestRateReserveHeedsEveryLimit of the call, and its clock, as Limit cannot.
func TestRateReserveHeedsEveryLimit(t *testing.T) {
	for want, opt := range map[error]retry.Option{
		retry.ErrMaxElapsed:  retry.WithMaxElapsed(10 * time.Second),
		retry.ErrHintTooLong: retry.WithMaxHint(10*time.Second - 1),
	} {
		synctest.Test(t, func(t *testing.T) {
			l := rate.NewLimiter(rate.Every(10*time.Second), 1)
			began := time.Now()
			err := retry.Run(t.Context(), down, retry.WithThrottle(throttle.Reserve(l.ReserveN)), atOnce, opt)
			require.ErrorIs(t, err, want)
			require.Zero(t, time.Since(began))
			require.Zero(t, l.Tokens(), "given back")
		})
	}

	clk := retrytest.NewClock()
	l := rate.NewLimiter(rate.Every(10*time.Second), 2)
	err := retry.Run(t.Context(), down, retry.WithThrottle(throttle.Reserve(l.ReserveN)), atOnce, retry.WithClock(clk), retry.WithMaxAttempts(4))
	require.ErrorIs(t, err, retry.ErrExhausted)
	require.Equal(t, []time.Duration{10 * time.Second, 10 * time.Second}, clk.Waits())
}

// TestRateCanceled: who gives up while it waits gives its turn back.
func TestRateCanceled(t *testing.T) {
	for name, throttled := range limiters {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := rate.NewLimiter(rate.Every(10*time.Second), 1)
				p := retry.MustNew(retry.WithThrottle(throttled(l)), atOnce)
				require.NoError(t, retry.Run(t.Context(), up, p))
				ctx, cancel := context.WithCancelCause(t.Context())
				done := make(chan error)
				go func() { done <- retry.Run(ctx, up, p) }()
				time.Sleep(4 * time.Second)
				cancel(errors.New("user left"))
				err := <-done
				require.ErrorIs(t, err, context.Canceled)
				require.NotErrorIs(t, err, retry.ErrRefused)
				require.InDelta(t, 0.4, l.Tokens(), 1e-6)
				began := time.Now()
				require.NoError(t, retry.Run(t.Context(), up, p))
				require.InDelta(t, 6, time.Since(began).Seconds(), 1e-6, "the next has the turn")
			})
		})
	}
}

// TestRateNoBurst: a limiter that never lets anything pass refuses.
func TestRateNoBurst(t *testing.T) {
	for name, throttled := range limiters {
		made := 0
		err := retry.Run(t.Context(), func(context.Context) error { made++; return nil }, retry.WithThrottle(throttled(rate.NewLimiter(1, 0))))
		require.ErrorIs(t, err, retry.ErrRefused, name)
		require.Zero(t, made)
	}
	var refusal *throttle.Error
	require.ErrorAs(t, retry.Run(t.Context(), up, retry.WithThrottle(throttle.Reserve(rate.NewLimiter(1, 0).ReserveN))), &refusal)
}
