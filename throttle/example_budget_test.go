package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// One budget for all calls to a dependency. When it is down, 35 calls are retried, and then none.
func ExampleNewTokenBudget() {
	budget := throttle.NewTokenBudget()
	policy := retry.MustNew(retry.WithBudget(budget), retry.WithStrategy(strategy.Constant{}), retry.WithMaxAttempts(2))

	attempts := 0
	down := func(context.Context) error { attempts++; return errors.New("unavailable") }
	var err error
	for range 1000 {
		err = retry.Run(context.Background(), down, policy)
	}
	fmt.Println(attempts, "attempts,", budget.Tokens(), "tokens left")
	fmt.Println(errors.Is(err, retry.ErrBudget))
	// Output:
	// 1035 attempts, 10 tokens left
	// true
}

func ExampleTokenBudget() {
	legacy := &throttle.TokenBudget{RetryCost: 5, TimeoutCost: 10} // AWS's numbers before 2026
	small := &throttle.TokenBudget{Capacity: 100}                  // one of many clients
	fmt.Println(legacy.Tokens(), small.Tokens())
	// Output: 500 100
}

// 10 % of the calls that succeed, and one retry every 20 s in each of many clients.
func ExampleRatioBudget() {
	budget := &throttle.RatioBudget{Ratio: 0.1, MinPerSecond: 0.05, TTL: time.Minute}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	fmt.Println(budget.Balance(now))
	for range 200 { // what the executor does for calls that succeed
		budget.Start(now)
		budget.Settle(now, true, 0)
	}
	fmt.Println(budget.Balance(now))
	fmt.Println(budget.Balance(now.Add(time.Minute)))
	// Output:
	// 3
	// 23
	// 3
}

// The settings of a gRPC service: "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}.
func ExampleFailureBudget() {
	budget := &throttle.FailureBudget{MaxTokens: 10, TokenRatio: 0.1}
	policy := retry.MustNew(retry.WithBudget(budget), retry.WithStrategy(strategy.Constant{}), retry.WithMaxAttempts(10))

	attempts := 0
	_ = retry.Run(context.Background(), func(context.Context) error { attempts++; return errors.New("unavailable") }, policy)
	fmt.Println(attempts, "attempts,", budget.Tokens(), "tokens left")
	// Output: 5 attempts, 5 tokens left
}

func ExampleInFlightBudget() {
	budget := &throttle.InFlightBudget{Ratio: 0.2, MinRetries: 3}
	now := time.Now()
	for range 10 { // calls that run at the same time
		budget.Start(now)
	}
	for range 10 { // and all fail
		budget.Charge(now, throttle.Transient, 0, false)
	}
	fmt.Println(budget.Retrying(), "of", budget.Active())
	// Output: 3 of 10
}

// A dependency that accepts a tenth of what it could before is not asked ten times as much as it can do.
func ExampleAdaptive() {
	adaptive := &throttle.Adaptive{Key: "shop", Rand: func() float64 { return 0.5 }}
	policy := retry.MustNew(retry.WithThrottle(adaptive), retry.WithMaxAttempts(1))

	attempts := 0
	down := func(context.Context) error { attempts++; return errors.New("unavailable") }
	var err error
	for range 100 {
		err = retry.Run(context.Background(), down, policy)
	}
	fmt.Println(attempts, err)
	// Output: 2 retry: not attempted: refused by a throttle: throttle: "shop" refused (adaptive)
}

// turnstile lets one attempt in at a time. It stands for a circuit breaker's two-step form, such as the method Allow of
// *gobreaker.TwoStepCircuitBreaker.
type turnstile struct{ taken bool }

func (s *turnstile) Allow() (done func(error), err error) {
	if s.taken {
		return nil, errors.New("somebody is in")
	}
	s.taken = true
	return func(err error) {
		s.taken = false
		fmt.Println("out:", err, errors.Is(err, throttle.ErrNeutral))
	}, nil
}

func ExampleBreaker() {
	breaker := new(turnstile)
	policy := retry.MustNew(retry.WithThrottle(throttle.Breaker{Allow: breaker.Allow}), retry.WithMaxAttempts(1))
	ctx, cancel := context.WithCancel(context.Background())

	_ = retry.Run(ctx, func(context.Context) error { return nil }, policy)
	_ = retry.Run(ctx, func(context.Context) error { return errors.New("unavailable") }, policy)
	_ = retry.Run(ctx, func(context.Context) error { return retry.Permanent(errors.New("not found")) }, policy)
	_ = retry.Run(ctx, func(context.Context) error { cancel(); return ctx.Err() }, policy)
	// Output:
	// out: <nil> false
	// out: unavailable false
	// out: <nil> false
	// out: throttle: neither a success nor a failure true
}
