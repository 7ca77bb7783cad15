package drivertest_test

import (
	"errors"
	"testing"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/throttle"
)

// This is a block of docs/budgets.md, word for word.
var (
	adaptive = &throttle.Adaptive{Key: "shop"}
	breaker  = gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		IsExcluded: func(err error) bool { return errors.Is(err, throttle.ErrNeutral) },
	})
	limiter = rate.NewLimiter(100, 10) // 100 per second, 10 at once
	gate    = new(throttle.Gate)

	careful = retry.MustNew(
		retry.WithThrottle(gate.For("shop"), adaptive, throttle.Reserve(limiter.ReserveN), throttle.Breaker{Allow: breaker.Allow}),
		retry.WithBudget(throttle.NewTokenBudget()),
	)
)

// TestBudgetsPage: the policy of the page lets calls through, and all of its throttles have heard of them.
func TestBudgetsPage(t *testing.T) {
	clk, before := retrytest.NewClock(), breaker.Counts().TotalSuccesses
	ctx := retry.ContextWithClock(t.Context(), clk) // in which no token comes back meanwhile
	for range 10 {
		require.NoError(t, retry.Run(ctx, up, careful))
	}
	require.EqualValues(t, 10, breaker.Counts().TotalSuccesses-before)
	require.Zero(t, limiter.TokensAt(clk.Now()))
}
