package speed

import (
	"context"

	"github.com/cenkalti/backoff/v7"
	"github.com/seed-89b3229b/retry/benchmarks/library"
)

func cenkalti7(row Row) []Case {
	switch row {
	case First:
		return []Case{
			{Use: Fresh, Make: func(ctx context.Context, op library.Op) func() (int, error) {
				work := func() (int, error) { return op(ctx) }
				return func() (int, error) {
					return backoff.Retry(ctx, work, backoff.WithBackOff(backoff.NewExponentialBackOff()), backoff.WithMaxTries(attempts))
				}
			}},
			{Use: Unsafe, Make: func(ctx context.Context, op library.Op) func() (int, error) {
				work := func() (int, error) { return op(ctx) }
				opts := []backoff.RetryOption{backoff.WithBackOff(backoff.NewExponentialBackOff()), backoff.WithMaxTries(attempts)}
				return func() (int, error) { return backoff.Retry(ctx, work, opts...) }
			}},
		}
	case Inline:
		return []Case{{Use: Call, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			work := func() (int, error) { return op(ctx) }
			return func() (int, error) {
				policy := backoff.NewExponentialBackOff()
				policy.MaxInterval = inlineMost
				return backoff.Retry(ctx, work, backoff.WithBackOff(policy), backoff.WithMaxTries(inlineAttempts))
			}
		}}}
	case NoWait, Wait, LongWait:
		return []Case{{Use: Once, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			work := func() (int, error) { return op(ctx) }
			opts := []backoff.RetryOption{backoff.WithBackOff(backoff.NewConstantBackOff(row.delay)), backoff.WithMaxTries(attempts)}
			return func() (int, error) { return backoff.Retry(ctx, work, opts...) }
		}}}
	}
	return nil
}
