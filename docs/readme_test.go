package docs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// This file is the README's code, word for word: TestReadme finds every block of it here or in examples/hello.

var policy = retry.MustNew(
	retry.WithName("orders"),
	retry.WithMaxElapsed(30*time.Second),
	retry.WithAttemptTimeout(2*time.Second),
	retry.WithCondition(condition.Only(condition.Network(), condition.Timeout(), condition.HTTPStatus(429, 503))),
	retry.WithLogger(slog.Default()),
)

type (
	Order struct{}
	Job   struct{ Done bool }
)

var (
	errFlaky      = io.ErrUnexpectedEOF // condition.Network knows it
	ErrSoldOut    = errors.New("sold out")
	ErrNoSuchUser = errors.New("no such user")
	ErrBusy       = errors.New("busy")

	shop      interface{ Place(context.Context, string) (Order, error) }
	call      func(context.Context) error
	work      = call
	step      = call
	fetchJob  func(context.Context) (Job, error)
	reconnect chan struct{}
)

func readmePolicy(ctx context.Context, basket string) (Order, error) {
	order, err := retry.Do(ctx, func(ctx context.Context) (Order, error) {
		return shop.Place(ctx, basket)
	}, policy)
	return order, err
}

func readmeErrors(err error) {
	var gaveUp *retry.Error
	switch {
	case err == nil:
		fmt.Println("done")
	case errors.Is(err, ErrSoldOut): // the operation's own error is always there
		fmt.Println("sold out")
	case errors.Is(err, context.Canceled): // so is the reason: here somebody gave up waiting
		fmt.Println("cancelled")
	case errors.As(err, &gaveUp):
		fmt.Println(gaveUp.Attempts, gaveUp.Reason, gaveUp.Last)
	}
}

func load(ctx context.Context) error {
	switch err := call(ctx); {
	case errors.Is(err, ErrNoSuchUser):
		return retry.Permanent(err) // do not try again
	case errors.Is(err, ErrBusy):
		return retry.After(2*time.Second, err) // not before two seconds have passed
	default:
		return err
	}
}

func readmeLoop(ctx context.Context) error {
	loop := retry.NewLoop(ctx, policy)
	for try := range loop.Tries() {
		if err := step(try.Context()); err != nil {
			try.Fail(err)
		}
	}
	return loop.Err()
}

func readmeFlow(ctx context.Context) error {
	flow := policy.Begin(time.Now(), time.Time{}, nil)
	step := flow.Next(ctx, time.Now())
	for step.Action != retry.Done {
		switch step.Action {
		case retry.Go:
			step = flow.Report(ctx, time.Now(), throttle.Outcome{Err: work(ctx)})
		case retry.Wait:
			select {
			case <-time.After(step.Delay):
			case <-reconnect:
			}
			step = flow.Next(ctx, time.Now())
		}
	}
	return step.Err
}

func readmeResult(ctx context.Context) (Job, error) {
	job, err := retry.Do(ctx, fetchJob, retry.WithRetryResult(func(j Job) bool { return !j.Done }))
	return job, err
}

// flaky fails n times, then succeeds.
func flaky(n int) func(context.Context) error {
	return func(context.Context) error {
		if n--; n >= 0 {
			return errFlaky
		}
		return nil
	}
}

func TestReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		err := retry.Run(t.Context(), flaky(3), retry.WithStrategy(strategy.Exponential{Base: time.Second}))
		require.NoError(t, err)
		require.Equal(t, 7*time.Second, time.Since(start)) // 1 s + 2 s + 4 s
	})
}

func TestWaits(t *testing.T) {
	clock := retrytest.NewClock()
	err := retry.Run(t.Context(), flaky(3), retry.WithClock(clock), retry.WithStrategy(strategy.Exponential{Base: time.Second}))
	require.NoError(t, err)
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, clock.Waits())
}

func TestReadmeCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call = func(context.Context) error { return ErrNoSuchUser }
		require.Equal(t, ErrNoSuchUser, retry.Run(t.Context(), load))
		start := time.Now()
		calls := 0
		call = func(context.Context) error {
			if calls++; calls == 1 {
				return ErrBusy
			}
			return nil
		}
		require.NoError(t, retry.Run(t.Context(), load, retry.WithRand(func() float64 { return 0 })))
		require.Equal(t, 2*time.Second, time.Since(start))

		step, work = flaky(1), flaky(1)
		require.NoError(t, readmeLoop(t.Context()))
		require.NoError(t, readmeFlow(t.Context()))
	})
	_, _, _ = readmePolicy, readmeErrors, readmeResult
}
