package docs_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// This file is code of recipes.md too: of breakers, and of what is not up yet.

var ErrOpen = errors.New("circuit breaker is open")

// circuit opens after three failures, for good.
type circuit struct{ failures int }

func (c *circuit) Peek() (time.Duration, error) {
	if c.failures >= 3 {
		return 0, ErrOpen
	}
	return 0, nil
}

func (c *circuit) Allow() (func(error), error) {
	if _, err := c.Peek(); err != nil {
		return nil, err
	}
	return func(err error) {
		if err != nil {
			c.failures++
		}
	}, nil
}

func (c *circuit) Execute(f func() (Order, error)) (Order, error) {
	done, err := c.Allow()
	if err != nil {
		return Order{}, err
	}
	order, err := f()
	done(err)
	return order, err
}

func lastOrder(context.Context) (Order, error) { return Order{Last: true}, nil }

func recipeUp(ctx context.Context, db interface{ PingContext(context.Context) error }, log *slog.Logger) error {
	err := retry.Run(ctx, db.PingContext,
		retry.WithMaxElapsed(2*time.Minute),
		retry.WithAttemptTimeout(5*time.Second), // a server that does not answer is asked again
		retry.WithLogger(log),
	)
	if err == nil {
		log.InfoContext(ctx, "database is up")
	}
	return err
}

func recipeBreakerInside(ctx context.Context, place func(context.Context) (Order, error), breaker *circuit) (Order, error) {
	order, err := retry.Do(ctx, place, policy,
		retry.WithThrottle(throttle.Breaker{Allow: breaker.Allow, Peek: breaker.Peek}),
		retry.WithFallback(func(ctx context.Context, err error) (Order, error) { return lastOrder(ctx) }),
	)
	return order, err
}

func recipeBreakerOutside(ctx context.Context, place func(context.Context) (Order, error), breaker *circuit) (Order, error) {
	order, err := breaker.Execute(func() (Order, error) {
		return retry.Do(ctx, place, policy)
	})
	if errors.Is(err, ErrOpen) {
		order, err = lastOrder(ctx)
	}
	return order, err
}

type pings func() error

func (p pings) PingContext(context.Context) error { return p() }

var _ interface{ PingContext(context.Context) error } = (*sql.DB)(nil)

func TestRecipeUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		require.NoError(t, recipeUp(t.Context(), pings(func() error {
			if time.Since(began) < 90*time.Second {
				return errFlaky
			}
			return nil
		}), slog.New(slog.DiscardHandler)))
	})
}

func TestRecipeBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		down := func(context.Context) (Order, error) { calls++; return Order{}, errFlaky }
		inside := new(circuit)
		order, err := recipeBreakerInside(t.Context(), down, inside)
		require.NoError(t, err)
		require.True(t, order.Last)
		require.Equal(t, 3, calls, "no wait, and no fourth attempt")

		outside := new(circuit)
		for range 3 {
			_, err = recipeBreakerOutside(t.Context(), down, outside)
			require.ErrorIs(t, err, errFlaky)
		}
		order, err = recipeBreakerOutside(t.Context(), down, outside)
		require.NoError(t, err)
		require.True(t, order.Last)
	})
}
