package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// exampleAPI fails as often as told, then answers.
type exampleAPI struct {
	failures int
	err      error
}

func (a *exampleAPI) User(context.Context, int) (string, error) {
	if a.failures--; a.failures >= 0 {
		return "", a.err
	}
	return "ada", nil
}

var errUnavailable = errors.New("unavailable")

func ExampleDo() {
	api := &exampleAPI{failures: 2, err: errUnavailable}
	user, err := retry.Do(context.Background(), func(ctx context.Context) (string, error) { return api.User(ctx, 7) })
	fmt.Println(user, err)
	// Output: ada <nil>
}

func ExampleDo_options() {
	api := &exampleAPI{failures: 2, err: errUnavailable}
	fetch := func(ctx context.Context) (string, error) { return api.User(ctx, 7) }
	user, err := retry.Do(context.Background(), fetch,
		retry.WithStrategy(strategy.Fibonacci{First: time.Millisecond}),
		retry.WithMaxAttempts(6),
		retry.WithMaxElapsed(30*time.Second),
	)
	fmt.Println(user, err)
	// Output: ada <nil>
}

func ExampleRun() {
	ping := func(context.Context) error { return errUnavailable }
	err := retry.Run(context.Background(), ping, retry.WithName("ping"), retry.WithStrategy(strategy.Constant{}))
	var gaveUp *retry.Error
	fmt.Println(errors.As(err, &gaveUp), gaveUp.Attempts, gaveUp.Reason)
	fmt.Println(errors.Is(err, errUnavailable), errors.Is(err, retry.ErrExhausted))
	// Output:
	// true 5 retry: attempts exhausted
	// true true
}

func ExampleNew() {
	policy, err := retry.New(
		retry.WithName("orders"),
		retry.WithStrategy(strategy.Exponential{Base: 50 * time.Millisecond}),
		retry.WithJitter(strategy.Equal),
		retry.WithCondition(condition.Only(condition.Network(), condition.HTTPStatus(429, 503))),
	)
	fmt.Println(policy != nil, err)

	_, err = retry.New(policy, retry.WithMaxAttempts(0))
	fmt.Println(err)
	// Output:
	// true <nil>
	// retry: WithMaxAttempts(0): must be at least 1; WithUnlimitedAttempts takes the limit away
}

// A policy is an option too: what follows it counts for this call only.
func ExamplePolicy() {
	policy := retry.MustNew(retry.WithName("invoices"), retry.WithStrategy(strategy.Constant{}))
	calls := 0
	load := func(context.Context) (int, error) { calls++; return 0, errUnavailable }

	_, _ = retry.Do(context.Background(), load, policy)
	fmt.Println(calls, "calls")
	_, err := retry.Do(context.Background(), load, policy, retry.WithMaxAttempts(1))
	fmt.Println(err)
	// Output:
	// 5 calls
	// unavailable (retry "invoices": gave up after 1 attempt: attempts exhausted)
}

func ExamplePermanent() {
	errNoSuchUser := errors.New("no such user")
	calls := 0
	err := retry.Run(context.Background(), func(context.Context) error {
		calls++
		return retry.Permanent(errNoSuchUser)
	})
	fmt.Println(err == errNoSuchUser, calls)
	// Output: true 1
}

func ExampleAfter() {
	err := retry.Run(context.Background(), func(context.Context) error {
		return retry.After(time.Hour, errors.New("503 Service Unavailable"))
	})
	var gaveUp *retry.Error
	fmt.Println(errors.As(err, &gaveUp), gaveUp.Delay, gaveUp.Reason)
	// Output: true 1h0m0s retry: asked to wait too long
}

func ExampleNewLoop() {
	loop := retry.NewLoop(context.Background(), retry.WithStrategy(strategy.Constant{}))
	for try := range loop.Tries() {
		if try.Number() < 3 {
			try.Fail(errUnavailable)
			continue // after a wait, the next try
		}
		fmt.Println("attempt", try.Number())
		break // done: a try that says nothing is an error
	}
	fmt.Println(loop.Err())
	// Output:
	// attempt 3
	// <nil>
}

func ExampleWithRetryResult() {
	percent := 0
	progress := func(context.Context) (int, error) { percent += 40; return percent, nil }
	done, err := retry.Do(context.Background(), progress,
		retry.WithStrategy(strategy.Constant{Delay: time.Millisecond}),
		retry.WithRetryResult(func(percent int) bool { return percent < 100 }),
	)
	fmt.Println(done, err)
	// Output: 120 <nil>
}

func ExampleWithFallback() {
	price := func(context.Context) (int, error) { return 0, errUnavailable }
	cents, err := retry.Do(context.Background(), price,
		retry.WithStrategy(strategy.Constant{}),
		retry.WithFallback(func(_ context.Context, err error) (int, error) {
			fmt.Println("last week's price:", errors.Is(err, retry.ErrExhausted))
			return 1999, nil
		}),
	)
	fmt.Println(cents, err)
	// Output:
	// last week's price: true
	// 1999 <nil>
}

// A gate holds every call of an account back once one of them was told to wait.
func ExampleWithThrottle() {
	gate := new(throttle.Gate)
	policy := retry.MustNew(retry.WithName("place order"), retry.WithThrottle(gate.For("acme")), retry.WithMaxHint(time.Minute))
	place := func(context.Context) error { return retry.After(time.Hour, errors.New("quota used up")) }

	err := retry.Run(context.Background(), place, policy)
	fmt.Println(err)

	var held *throttle.Error
	err = retry.Run(context.Background(), place, policy)
	fmt.Println(errors.Is(err, retry.ErrHintTooLong), errors.As(err, &held), held.Key)
	// Output:
	// quota used up (retry "place order": gave up after 1 attempt: asked to wait 1h0m0s, more than 1m0s (WithMaxHint))
	// true true acme
}

// Decisions without waiting: here for a queue that puts work back.
func ExamplePolicy_Begin() {
	ctx, now := context.Background(), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	policy := retry.MustNew(retry.WithStrategy(strategy.Exponential{Base: time.Minute}), retry.WithMaxAttempts(3))
	flow := policy.Begin(now, time.Time{}, nil)
	step := flow.Next(ctx, now)
	for step.Action != retry.Done {
		switch step.Action {
		case retry.Go:
			fmt.Println(now.Format("15:04"), "work")
			step = flow.Fail(ctx, errUnavailable, now)
		case retry.Wait:
			now = now.Add(step.Delay)
			step = flow.Next(ctx, now)
		}
	}
	fmt.Println(step.Err)
	// Output:
	// 12:00 work
	// 12:01 work
	// 12:03 work
	// unavailable (retry: gave up after 3 attempts, 3m0s after the first failure: attempts exhausted)
}
