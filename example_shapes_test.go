package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
)

// A stream is kept up. It cannot connect twice, then delivers for an hour and breaks, ends by itself, and is refused in the
// end.
func ExampleSupervise() {
	clock, refused := retrytest.NewClock(), errors.New("connection refused")
	runs := 0
	stream := func(context.Context) error {
		switch runs++; runs {
		case 1, 2:
			return refused
		case 3:
			clock.Advance(time.Hour)
			return errors.New("connection reset by peer")
		case 4:
			return nil
		}
		return retry.Permanent(errors.New("401 Unauthorized"))
	}
	err := retry.Supervise(context.Background(), stream, retry.WithClock(clock), retry.WithRand(func() float64 { return 0 }))
	fmt.Println(err)
	fmt.Println(clock.Waits())
	// Output:
	// 401 Unauthorized
	// [500ms 1s 500ms 500ms]
}

// What a batch got done is progress: the attempts begin again, and only what is left is sent again.
func ExampleRestart() {
	left, sent := []string{"a", "b", "c", "d", "e", "f"}, 0
	send := func(context.Context) error {
		sent++
		left = left[1:] // the server takes one at a time
		if len(left) > 0 {
			return retry.Restart(fmt.Errorf("%d items are left", len(left)))
		}
		return nil
	}
	err := retry.Run(context.Background(), send, retry.WithMaxAttempts(2), retry.WithStrategy(strategy.Constant{}))
	fmt.Println(err, sent)
	// Output: <nil> 6
}

func ExampleWithResetAfter() {
	clock, runs := retrytest.NewClock(), 0
	watch := func(context.Context) error {
		if runs++; runs == 3 {
			clock.Advance(10 * time.Minute) // it goes well for a while
		}
		return errors.New("watch ended")
	}
	err := retry.Run(context.Background(), watch, retry.WithMaxAttempts(4), retry.WithMaxElapsed(time.Minute), retry.WithResetAfter(time.Minute),
		retry.WithStrategy(strategy.Exponential{Base: time.Second}), retry.WithClock(clock))
	fmt.Println(err)
	fmt.Println(clock.Waits())
	// Output:
	// watch ended (retry: gave up after 6 attempts, 7s after the first failure: attempts exhausted)
	// [1s 2s 1s 2s 4s]
}

// Three kinds of failure with limits of their own: a token is refreshed once, and then at once; what is not yet visible is
// asked for up to 20 times; the server's own trouble may last a minute.
func ExampleWithRule() {
	clock := retrytest.NewClock()
	unauthorized, notFound, internal := errors.New("unauthorized"), errors.New("not found"), errors.New("internal")
	policy := retry.MustNew(
		retry.WithRule(condition.Is(unauthorized), retry.WithMaxAttempts(2), retry.WithStrategy(strategy.Constant{})),
		retry.WithRule(condition.Is(notFound), retry.WithMaxAttempts(20), retry.WithStrategy(strategy.Constant{Delay: time.Second})),
		retry.WithRule(condition.Is(internal), retry.WithMaxElapsed(time.Minute), retry.WithStrategy(strategy.Exponential{Base: 10 * time.Second})),
		retry.WithClock(clock),
	)
	answers := []error{unauthorized, notFound, notFound, notFound, internal, internal, internal}
	calls := 0
	err := retry.Run(context.Background(), func(context.Context) error { calls++; return answers[calls-1] }, policy)
	fmt.Println(err)
	fmt.Println(clock.Waits())
	// Output:
	// internal (retry: gave up after 7 attempts, 33s after the first failure: the next wait of 40s would not end within 1m0s of its kind's first failure (WithRule))
	// [1s 1s 1s 10s 20s]
}

// A job is looked at every ten seconds. One look fails, which is no end.
func ExamplePoll() {
	clock, looks := retrytest.NewClock(), 0
	status := func(context.Context) (string, error) {
		switch looks++; looks {
		case 1, 2:
			return "running", nil
		case 3:
			return "", errors.New("502 Bad Gateway")
		}
		return "finished", nil
	}
	state, err := retry.Poll(context.Background(), 10*time.Second, func(ctx context.Context) (string, bool, error) {
		s, err := status(ctx)
		return s, s == "finished", err
	}, retry.WithClock(clock))
	fmt.Println(state, err, clock.Waits())
	// Output: finished <nil> [10s 10s 10s]
}

// The last value comes back with the error: how far the job had come.
func ExamplePoll_lastValue() {
	percent := 0
	done, err := retry.Poll(context.Background(), 10*time.Second, func(context.Context) (int, bool, error) {
		percent += 12
		return percent, percent >= 100, nil
	}, retry.WithName("export"), retry.WithMaxElapsed(time.Minute), retry.WithClock(retrytest.NewClock()))
	fmt.Println(done, err)
	// Output: 72 retry "export": gave up after 6 attempts: the next wait of 10s would not end within 1m0s of the start (WithMaxElapsed)
}

// A queue is read until it is closed. An empty one is no failure, and not the end.
func ExampleTry_Again() {
	clock := retrytest.NewClock()
	queue, next := []string{"a", "", "b", "closed"}, 0
	loop := retry.NewLoop(context.Background(), retry.WithStrategy(strategy.Exponential{Base: time.Second}), retry.WithClock(clock))
	for try := range loop.Tries() {
		item := queue[next]
		next++
		if item == "closed" {
			break
		}
		fmt.Printf("%q ", item)
		try.Again()
	}
	fmt.Println(loop.Err(), clock.Waits())
	// Output: "a" "" "b" <nil> [1s 1s 1s]
}

// A poll in step form, for whoever waits elsewhere.
func ExampleFlow_Again() {
	policy := retry.MustNew(retry.WithStrategy(strategy.Constant{Delay: 10 * time.Second}), retry.WithMaxElapsed(time.Minute))
	now, looks := time.Now(), 0
	flow := policy.Begin(now, time.Time{}, nil)
	step := flow.Next(context.Background(), now)
	for step.Action != retry.Done {
		switch step.Action {
		case retry.Go:
			if looks++; looks < 3 {
				step = flow.Again(context.Background(), now)
			} else {
				step = flow.Fail(context.Background(), nil, now)
			}
		case retry.Wait:
			now = now.Add(step.Delay)
			step = flow.Next(context.Background(), now)
		}
	}
	fmt.Println(looks, "looks,", step.Err)
	// Output: 3 looks, <nil>
}
