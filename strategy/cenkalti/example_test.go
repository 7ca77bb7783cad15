package cenkalti_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/strategy/cenkalti"
)

// v4's own policy, this engine.
func ExampleRetryWithData() {
	calls := 0
	operation := func() (string, error) {
		if calls++; calls < 3 {
			return "", errors.New("connection reset")
		}
		return "hello", nil
	}
	policy := backoff.NewExponentialBackOff(backoff.WithInitialInterval(time.Millisecond))
	word, err := cenkalti.RetryWithData(operation, policy)
	fmt.Println(word, err, calls)
	// Output: hello <nil> 3
}

// Where a context ends the call, the error says why it failed and why it ended.
func ExampleWithContext() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := cenkalti.Retry(func() error { return io.ErrUnexpectedEOF }, cenkalti.WithContext(cenkalti.NewConstantBackOff(time.Hour), ctx))
	fmt.Println(err)
	fmt.Println(errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, context.DeadlineExceeded))
	// Output:
	// unexpected EOF (retry: gave up after 1 attempt: the next wait of 1h0m0s would end after the deadline in 1m0s)
	// true true
}

// The second step of moving: a v4 policy, and v4's marks, with all that retry.Do has.
func ExamplePolicy() {
	policy := cenkalti.Policy(func() cenkalti.BackOff {
		return cenkalti.WithMaxRetries(cenkalti.NewConstantBackOff(time.Millisecond), 2)
	})
	_, err := retry.Do(context.Background(), func(ctx context.Context) (int, error) {
		return 0, io.ErrUnexpectedEOF
	}, policy, retry.WithName("orders"), retry.WithOnRetry(func(_ context.Context, e retry.Event) {
		fmt.Println("attempt", e.Number, "again in", e.Delay)
	}))
	fmt.Println(errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, retry.ErrNoDelay))
	// Output:
	// attempt 1 again in 1ms
	// attempt 2 again in 1ms
	// true true
}

func ExampleNewTicker() {
	ticker := cenkalti.NewTicker(cenkalti.WithMaxRetries(&cenkalti.ZeroBackOff{}, 2))
	defer ticker.Stop()
	for range ticker.C {
		fmt.Println("attempt")
	}
	// Output:
	// attempt
	// attempt
	// attempt
}

// The other way round: a strategy of this module for code that takes a BackOff of v4.
func Example_toBackOff() {
	var policy backoff.BackOff = strategy.ToBackOff(strategy.Fibonacci{First: time.Millisecond}, strategy.WithMaxDelay(4*time.Millisecond))
	err := backoff.RetryNotify(func() error { return io.EOF }, backoff.WithMaxRetries(policy, 5), func(err error, wait time.Duration) {
		fmt.Println(err, wait)
	})
	fmt.Println(err)
	// Output:
	// EOF 1ms
	// EOF 1ms
	// EOF 2ms
	// EOF 3ms
	// EOF 4ms
	// EOF
}
