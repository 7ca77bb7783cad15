package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
)

// One value for all who poll the same queue. The executor tells it failures and successes.
func ExampleLIMD() {
	pace := &strategy.LIMD{Initial: 2 * time.Second, IncrementOnFailure: 4 * time.Second, MultipleOnSuccess: 0.2, Min: time.Second}
	for _, failed := range []bool{true, true, true, false, false, true} {
		if failed {
			pace.Failed(strategy.State{})
		} else {
			pace.Succeed()
		}
		fmt.Print(pace.Level(), " ")
	}
	// Output: 2s 6s 10s 2s 1s 5s
}

// The executor waits after failures, and tells the level about successes too.
func ExampleLIMD_retry() {
	pace := &strategy.LIMD{Initial: 2 * time.Second, IncrementOnFailure: 4 * time.Second, MultipleOnSuccess: 0.2, Min: time.Second}
	failures := 3
	receive := func(context.Context) (string, error) {
		if failures--; failures >= 0 {
			return "", errors.New("too many requests")
		}
		return "a message", nil
	}
	clock := retrytest.NewClock() // no need to wait in an example
	msg, err := retry.Do(context.Background(), receive, retry.WithStrategy(pace), retry.WithClock(clock))
	fmt.Println(msg, err, clock.Waits(), "level", pace.Level())
	// Output: a message <nil> [2s 6s 10s] level 2s
}

// Two hundred callers fail together. Each is asked to wait, and the level moves one step.
func ExampleLIMD_burst() {
	pace := &strategy.LIMD{Initial: time.Second}
	began := time.Now()
	for range 200 {
		pace.Failed(strategy.State{Began: began, Now: began.Add(time.Millisecond)})
	}
	fmt.Println(pace.Level())
	// Output: 1s
}

// A loop that polls, and waits after successes too.
func ExamplePacer() {
	pacer := &strategy.Pacer{
		Strategy:    &strategy.LIMD{Initial: 2 * time.Second, IncrementOnFailure: 4 * time.Second, MultipleOnSuccess: 0.2, Min: time.Second},
		MaxAttempts: 4,
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, result := range []string{"failed", "failed", "failed", "worked", "worked", "failed", "failed", "failed", "failed"} {
		wait, ok := time.Duration(0), true
		if result == "worked" {
			wait = pacer.Success(at)
		} else if wait, ok = pacer.Failure(at); !ok {
			fmt.Println(result, "for the fourth time in a row: give up")
			break
		}
		fmt.Println(at.Format(time.TimeOnly), result, "- wait", wait)
		at = at.Add(wait)
	}
	// Output:
	// 12:00:00 failed - wait 2s
	// 12:00:02 failed - wait 6s
	// 12:00:08 failed - wait 10s
	// 12:00:18 worked - wait 2s
	// 12:00:20 worked - wait 1s
	// 12:00:21 failed - wait 5s
	// 12:00:26 failed - wait 9s
	// 12:00:35 failed - wait 13s
	// failed for the fourth time in a row: give up
}

// RetryTimeouts: half of the time that is left for each attempt. The attempts here take all they are given.
func ExamplePacer_Timeout() {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pacer := &strategy.Pacer{
		Strategy:            strategy.Exponential{Base: 1414213562, Factor: math.Sqrt2},
		ConsiderActualDelay: true,
		MaxAttempts:         8,
		MaxDuration:         50 * time.Second,
		TimeoutShare:        0.5,
		MinTimeout:          5 * time.Second,
		Start:               start,
	}
	for at, ok := start, true; ok; {
		timeout := pacer.Timeout()
		fmt.Println(at.Sub(start), "attempt of at most", timeout)
		at = at.Add(timeout)
		var wait time.Duration
		wait, ok = pacer.Failure(at)
		at = at.Add(wait)
	}
	// Output:
	// 0s attempt of at most 25s
	// 25s attempt of at most 12.5s
	// 37.5s attempt of at most 6.25s
	// 43.75s attempt of at most 5s
	// 48.75s attempt of at most 5s
}
