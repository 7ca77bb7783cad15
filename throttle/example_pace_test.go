package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// One worker polls: the pace follows its successes too. Two would share it.
func ExamplePace() {
	pacer := &strategy.Pacer{Strategy: &strategy.LIMD{
		Initial: 2 * time.Second, IncrementOnFailure: 4 * time.Second, MultipleOnSuccess: 0.2, Min: time.Second, Max: 30 * time.Second,
	}}
	clock := retrytest.NewClock() // no need to wait in an example
	policy := retry.MustNew(retry.WithThrottle(throttle.Pace(pacer)), retry.WithStrategy(strategy.Constant{}), retry.WithClock(clock))
	busy := errors.New("too many requests")
	results := []error{busy, busy, busy, nil, nil, busy, nil}
	poll := func(context.Context) error {
		fmt.Println(clock.Elapsed(), results[0])
		err := results[0]
		results = results[1:]
		return err
	}
	for len(results) > 0 {
		if err := retry.Run(context.Background(), poll, policy); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 0s too many requests
	// 2s too many requests
	// 8s too many requests
	// 18s <nil>
	// 20s <nil>
	// 21s too many requests
	// 26s <nil>
}
