package retrytest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
)

var (
	errRefused = errors.New("connection refused")
	policy     = retry.MustNew(retry.WithName("orders"), retry.WithStrategy(strategy.Exponential{Base: time.Second}))
)

// In a test, t stands where nil does here, and clk.RequireWaits(t, time.Second, 2*time.Second) replaces the last line.
func Example() {
	clk := retrytest.NewClock()
	op := retrytest.NewScript(nil, clk, retrytest.Steps[int]{{Err: errRefused, Times: 2}, {Value: 42}})
	got, err := retry.Do(context.Background(), op.Do, policy, retry.WithClock(clk))
	fmt.Println(got, err)
	fmt.Println(clk.Waits())
	// Output:
	// 42 <nil>
	// [1s 2s]
}

func ExampleClock() {
	flaky := func(context.Context) error { return errRefused }
	clk := retrytest.NewClock()
	err := retry.Run(context.Background(), flaky, policy, retry.WithClock(clk))
	fmt.Println(err)
	fmt.Println(clk.Waits(), clk.Elapsed(), clk.Pending())
	// Output:
	// connection refused (retry "orders": gave up after 5 attempts, 15s after the first failure: attempts exhausted)
	// [1s 2s 4s 8s] 15s 0
}

// A cancellation in the middle of a wait ends the call at that moment.
func ExampleClock_AfterFunc() {
	ctx, cancel := context.WithCancelCause(context.Background())
	clk := retrytest.NewClock()
	clk.AfterFunc(1500*time.Millisecond, func() { cancel(errors.New("shutting down")) })
	err := retry.Run(ctx, func(context.Context) error { return errRefused }, policy, retry.WithClock(clk))
	fmt.Println(err)
	fmt.Println(clk.Elapsed())
	// Output:
	// connection refused (retry "orders": gave up after 2 attempts, 1.5s after the first failure: context canceled: shutting down)
	// 1.5s
}

// A deadline on the virtual clock: the wait of 2 s does not fit any more, so it is not begun.
func ExampleClock_WithTimeout() {
	clk := retrytest.NewClock()
	ctx, cancel := clk.WithTimeout(context.Background(), 2500*time.Millisecond)
	defer cancel()
	err := retry.Run(ctx, func(context.Context) error { return errRefused }, policy, retry.WithClock(clk))
	fmt.Println(errors.Is(err, retry.ErrDeadline), clk.Waits())
	// Output:
	// true [1s]
}

// What an operation takes: by Advance it is deaf to its context, by Sleep it heeds it, by Block it hangs.
func ExampleClock_Sleep() {
	clk := retrytest.NewClock()
	slow := func(ctx context.Context) error { return clk.Sleep(ctx, time.Minute) }
	err := retry.Run(context.Background(), slow, policy, retry.WithClock(clk),
		retry.WithMaxAttempts(3), retry.WithAttemptTimeout(10*time.Second))
	fmt.Println(errors.Is(err, retry.ErrAttemptTimeout), clk.Waits(), clk.Elapsed())
	// Output:
	// true [1s 2s] 33s
}

func ExampleScript() {
	clk := retrytest.NewClock()
	op := retrytest.NewScript(nil, clk, retrytest.Steps[string]{
		{Err: errRefused, Takes: 300 * time.Millisecond},
		{Blocks: true}, // until the attempt times out
		{Value: "order 7", Times: retrytest.Forever},
	})
	got, err := retry.Do(context.Background(), op.Do, policy, retry.WithClock(clk), retry.WithAttemptTimeout(5*time.Second))
	fmt.Println(got, err)
	fmt.Println(op.Starts())
	for _, call := range op.Calls() {
		fmt.Println(call.Number, call.Took, call.Err)
	}
	// Output:
	// order 7 <nil>
	// [0s 1.3s 8.3s]
	// 1 300ms connection refused
	// 2 5s context deadline exceeded
	// 3 0s <nil>
}

func ExampleRecorder() {
	clk, rec := retrytest.NewClock(), new(retrytest.Recorder)
	op := retrytest.NewScript(nil, clk, retrytest.Steps[int]{
		{Err: errRefused},
		{Err: retry.Permanent(errors.New("no such order")), Takes: 200 * time.Millisecond},
	})
	_ = retry.Run(context.Background(), op.Run, policy, retry.WithClock(clk), retry.WithObserver(rec))
	fmt.Print(rec)
	fmt.Println(rec.Attempts(), rec.Delays(), rec.Endings())
	// Output:
	// call "orders"
	//   0s: attempt 1: connection refused
	//   0s: wait 1s (policy)
	//   1s: attempt 2, 200ms: no such order
	//   1.2s: ended: aborted
	// 2 [1s] [aborted]
}
