package docs_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	mockclock "github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// TestCallSites holds how the API is meant to read, all of its packages in one place: what is written here must go on
// compiling and working.
func TestCallSites(t *testing.T) {
	ctx := t.Context()
	type user struct{ name string }
	type job struct{ done bool }
	ping := func(context.Context) error { return nil }
	find := func(_ context.Context, name string) (*user, error) { return &user{name}, nil }
	fetch := func(ctx context.Context) (*user, error) { return find(ctx, "ann") }

	err := retry.Run(ctx, func(ctx context.Context) error { return ping(ctx) })
	require.NoError(t, err)
	ann, err := retry.Do(ctx, func(ctx context.Context) (*user, error) { return find(ctx, "ann") })
	require.NoError(t, err)
	require.Equal(t, "ann", ann.name)
	_, err = retry.Do(ctx, fetch, retry.WithStrategy(strategy.Fibonacci{First: 50 * time.Millisecond}), retry.WithMaxAttempts(6), retry.WithMaxElapsed(30*time.Second))
	require.NoError(t, err)

	policy := retry.MustNew(retry.WithName("orders"), retry.WithStrategy(strategy.Exponential{Base: 50 * time.Millisecond}), retry.WithJitter(strategy.Equal),
		retry.WithCondition(condition.Only(condition.Network(), condition.HTTPStatus(429, 503))))
	_, err = retry.Do(ctx, fetch, policy, retry.WithMaxAttempts(1))
	require.NoError(t, err)

	pace := &strategy.LIMD{Initial: 2 * time.Second, IncrementOnFailure: 4 * time.Second, MultipleOnSuccess: 0.2, Min: time.Second}
	_, err = retry.Do(ctx, fetch, retry.WithStrategy(pace))
	require.NoError(t, err)

	done, err := retry.Poll(ctx, time.Second, func(context.Context) (job, bool, error) { j := job{true}; return j, j.done, nil })
	require.NoError(t, err)
	require.True(t, done.done)

	ended := errors.New("unsubscribed")
	err = retry.Supervise(ctx, func(context.Context) error { return retry.Permanent(ended) }, retry.WithLogger(slog.New(slog.DiscardHandler)))
	require.Equal(t, ended, err)

	gate := new(throttle.Gate)
	_, err = retry.Do(ctx, fetch, retry.WithThrottle(gate.For("acme", "acme/PlaceOrder")), retry.WithBudget(throttle.NewTokenBudget()), retry.WithObserver(observe.New()))
	require.NoError(t, err)

	tokens := pool.New("token a", "token b")
	_, err = retry.Do(ctx, func(ctx context.Context) (*user, error) { return find(ctx, tokens.Key(ctx)) }, retry.WithThrottle(tokens), retry.WithHint(throttle.Ignore()))
	require.NoError(t, err)

	client := &http.Client{Transport: retryhttp.NewTransport(http.DefaultTransport, policy)}
	require.NotNil(t, client)

	flow := policy.Begin(time.Now(), time.Time{}, nil)
	require.Equal(t, retry.Go, flow.Next(ctx, time.Now()).Action)
	require.NoError(t, flow.Report(ctx, time.Now(), throttle.Outcome{}).Err)

	loop := retry.NewLoop(ctx, policy)
	for try := range loop.Tries() {
		try.Fail(ping(try.Context()))
	}
	require.NoError(t, loop.Err())

	synctest.Test(t, func(t *testing.T) {
		require.NoError(t, retry.Run(t.Context(), flaky(4)))
	})

	mock, finished := mockclock.NewMock(), make(chan error)
	go func() { finished <- retry.Run(ctx, flaky(0), retry.WithClock(mock)) }()
	require.NoError(t, <-finished)

	clk := retrytest.NewClock()
	require.NoError(t, retry.Run(ctx, flaky(1), retry.WithClock(clk), retry.WithStrategy(strategy.Constant{Delay: time.Second})))
	require.Equal(t, []time.Duration{time.Second}, clk.Waits())
}
