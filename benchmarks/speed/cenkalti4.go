package speed

import (
	"context"

	"github.com/cenkalti/backoff/v4"
	"github.com/seed-89b3229b/retry/benchmarks/library"
)

// A policy of cenkalti/backoff has the state of a call, so one is made in each. Constant waits have no state: there the
// policy is made once.
func cenkalti4(row Row) []Case {
	switch row {
	case First:
		return []Case{
			{Use: Fresh, Make: func(ctx context.Context, op library.Op) func() (int, error) {
				work := func() (int, error) { return op(ctx) }
				return func() (int, error) {
					return backoff.RetryWithData(work, backoff.WithContext(backoff.NewExponentialBackOff(), ctx))
				}
			}},
			{Use: Unsafe, Make: func(ctx context.Context, op library.Op) func() (int, error) {
				work, policy := func() (int, error) { return op(ctx) }, backoff.NewExponentialBackOff()
				return func() (int, error) { return backoff.RetryWithData(work, backoff.WithContext(policy, ctx)) }
			}},
		}
	case Inline:
		return []Case{{Use: Call, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			work := func() (int, error) { return op(ctx) }
			return func() (int, error) {
				policy := backoff.NewExponentialBackOff(backoff.WithMaxInterval(inlineMost))
				return backoff.RetryWithData(work, backoff.WithContext(backoff.WithMaxRetries(policy, inlineAttempts-1), ctx))
			}
		}}}
	case NoWait, Wait, LongWait:
		return []Case{{Use: Once, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			work, policy := func() (int, error) { return op(ctx) }, backoff.NewConstantBackOff(row.delay)
			return func() (int, error) { return backoff.RetryWithData(work, backoff.WithContext(policy, ctx)) }
		}}}
	}
	return nil
}
