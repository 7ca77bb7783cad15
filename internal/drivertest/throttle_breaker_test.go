package drivertest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

var errDown = errors.New("503")

// newBreaker opens after three failures in a row, for ten seconds, and then wants two successes from at most two probes.
func newBreaker() *gobreaker.TwoStepCircuitBreaker[any] {
	return gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		MaxRequests: 2,
		Timeout:     10 * time.Second,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 3 },
		IsExcluded:  func(err error) bool { return errors.Is(err, throttle.ErrNeutral) },
	})
}

func breakerPolicy(b *gobreaker.TwoStepCircuitBreaker[any], before ...throttle.Throttle) *retry.Policy {
	return retry.MustNew(
		retry.WithThrottle(before...), retry.WithThrottle(throttle.Breaker{Allow: b.Allow}),
		retry.WithStrategy(strategy.Constant{Delay: time.Second}), retry.WithMaxAttempts(5),
	)
}

func down(context.Context) error { return errDown }
func up(context.Context) error   { return nil }

// TestBreakerOpensProbesAndCloses through retry.Run with the real breaker.
func TestBreakerOpensProbesAndCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker()
		p, ctx, began := breakerPolicy(b), t.Context(), time.Now()

		made := 0
		err := retry.Run(ctx, func(ctx context.Context) error { made++; return down(ctx) }, p)
		require.Equal(t, 3, made, "the fourth attempt was refused")
		require.ErrorIs(t, err, errDown)
		require.ErrorIs(t, err, retry.ErrRefused)
		require.ErrorIs(t, err, gobreaker.ErrOpenState)
		require.Equal(t, gobreaker.StateOpen, b.State())
		require.Equal(t, 3*time.Second, time.Since(began))

		require.ErrorIs(t, retry.Run(ctx, up, p), gobreaker.ErrOpenState, "another call makes no attempt")

		time.Sleep(10*time.Second + 1)
		require.Equal(t, gobreaker.StateHalfOpen, b.State())
		require.ErrorIs(t, retry.Run(ctx, down, p), gobreaker.ErrOpenState, "a failing probe opens it again, its retry is refused")
		require.Equal(t, gobreaker.StateOpen, b.State())

		time.Sleep(10*time.Second + 1)
		require.NoError(t, retry.Run(ctx, up, p))
		require.Equal(t, gobreaker.StateHalfOpen, b.State(), "one success of two")
		require.NoError(t, retry.Run(ctx, up, p))
		require.Equal(t, gobreaker.StateClosed, b.State())
	})
}

// TestBreakerCountsAnswers: a 404 is the answer of a dependency that works.
func TestBreakerCountsAnswers(t *testing.T) {
	b := newBreaker()
	for range 10 {
		require.Error(t, retry.Run(t.Context(), func(context.Context) error { return retry.Permanent(errors.New("404")) }, breakerPolicy(b)))
	}
	require.Equal(t, gobreaker.StateClosed, b.State())
	require.EqualValues(t, 10, b.Counts().TotalSuccesses)
}

// TestBreakerIsNotWedgedByProbesThatAreNotMade: each of these takes a place among the probes and gives it back.
func TestBreakerIsNotWedgedByProbesThatAreNotMade(t *testing.T) {
	refuse := throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, errors.New("closed") })
	hold := throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return time.Second, nil })
	for name, c := range map[string]struct {
		after []throttle.Throttle // asked after the breaker
		try   func(ctx context.Context, p *retry.Policy) error
		opens bool
	}{
		"refused by a later throttle": {[]throttle.Throttle{refuse}, func(ctx context.Context, p *retry.Policy) error { return retry.Run(ctx, up, p) }, false},
		"canceled while a later throttle lets it wait": {[]throttle.Throttle{hold}, func(ctx context.Context, p *retry.Policy) error {
			ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
			defer cancel()
			return retry.Run(ctx, up, p)
		}, false},
		"too long a wait": {[]throttle.Throttle{hold}, func(ctx context.Context, p *retry.Policy) error {
			return retry.Run(ctx, up, p, retry.WithMaxHint(0))
		}, false},
		"the caller gives up": {nil, func(ctx context.Context, p *retry.Policy) error {
			ctx, cancel := context.WithCancel(ctx)
			return retry.Run(ctx, func(context.Context) error { cancel(); return ctx.Err() }, p)
		}, false},
		"panic": {nil, func(ctx context.Context, p *retry.Policy) (err error) {
			defer func() { err = errors.New(recover().(string)) }()
			return retry.Run(ctx, func(context.Context) error { panic("x") }, p)
		}, true}, // a panic is a failure, as it is to gobreaker
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker()
				require.Error(t, retry.Run(t.Context(), down, breakerPolicy(b)))
				for range 5 {
					time.Sleep(10*time.Second + 1)
					require.Equal(t, gobreaker.StateHalfOpen, b.State())
					p := retry.MustNew(breakerPolicy(b), retry.WithThrottle(c.after...))
					require.Error(t, c.try(t.Context(), p))
					if c.opens {
						require.Equal(t, gobreaker.StateOpen, b.State())
						continue
					}
					require.Equal(t, gobreaker.StateHalfOpen, b.State())
					require.Equal(t, b.Counts().Requests, b.Counts().TotalExclusions)
				}
				if c.opens {
					time.Sleep(10*time.Second + 1)
				}
				for range 2 {
					require.NoError(t, retry.Run(t.Context(), up, breakerPolicy(b)))
				}
				require.Equal(t, gobreaker.StateClosed, b.State())
			})
		})
	}
}

// TestBreakerSlowAttemptOfEarlierDays: an attempt that began before the breaker opened ends while it is half-open. It must not take
// the place of the probe that is under way.
func TestBreakerSlowAttemptOfEarlierDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker()
		p := breakerPolicy(b)
		slow := make(chan error, 1)
		go func() {
			slow <- retry.Run(t.Context(), func(context.Context) error { time.Sleep(15 * time.Second); return errDown }, p, retry.WithMaxAttempts(1))
		}()
		synctest.Wait()
		require.Error(t, retry.Run(t.Context(), down, p)) // opens after 3 s
		time.Sleep(11 * time.Second)
		probe := make(chan error, 1)
		go func() {
			probe <- retry.Run(t.Context(), func(context.Context) error { time.Sleep(3 * time.Second); return nil }, p)
		}()
		time.Sleep(2 * time.Second)
		require.ErrorIs(t, <-slow, errDown)
		require.Equal(t, gobreaker.StateHalfOpen, b.State())
		require.NoError(t, <-probe)
		require.NoError(t, retry.Run(t.Context(), up, p))
		require.Equal(t, gobreaker.StateClosed, b.State())
	})
}

// TestBreakerAfterAGate: what a gate holds back is not a probe.
func TestBreakerAfterAGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, gate := newBreaker(), new(throttle.Gate)
		require.Error(t, retry.Run(t.Context(), down, breakerPolicy(b)))
		time.Sleep(10*time.Second + 1)
		gate.Block(time.Now(), 30*time.Second, "acme")
		began, done := time.Now(), make(chan error, 2)
		for range 2 {
			go func() { done <- retry.Run(t.Context(), up, breakerPolicy(b, gate.For("acme"))) }()
		}
		synctest.Wait()
		require.Equal(t, gobreaker.Counts{}, b.Counts())
		require.NoError(t, <-done)
		require.NoError(t, <-done)
		require.GreaterOrEqual(t, time.Since(began), 30*time.Second)
		require.Equal(t, gobreaker.StateClosed, b.State())
	})
}
