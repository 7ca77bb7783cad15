package speed

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/benchmarks/library"
	"github.com/sethvargo/go-retry"
)

// A policy has the state of a call, so one is made in each. An error is retried only if the operation marks it.
func sethvargo(row Row) []Case {
	policy := func() retry.Backoff {
		return retry.WithMaxRetries(attempts-1, retry.WithCappedDuration(most, retry.NewExponential(base)))
	}
	switch row {
	case First:
		return []Case{
			{Use: Fresh, Make: func(ctx context.Context, op library.Op) func() (int, error) {
				work := marking(op)
				return func() (int, error) { return retry.DoValue(ctx, policy(), work) }
			}},
			{Use: Unsafe, Make: func(ctx context.Context, op library.Op) func() (int, error) {
				work, policy := marking(op), policy()
				return func() (int, error) { return retry.DoValue(ctx, policy, work) }
			}},
		}
	case Inline:
		return []Case{{Use: Call, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			work := marking(op)
			return func() (int, error) {
				policy := retry.WithMaxRetries(inlineAttempts-1, retry.WithCappedDuration(inlineMost, retry.NewExponential(base)))
				return retry.DoValue(ctx, policy, work)
			}
		}}}
	case NoWait: // NewConstant panics at zero
		return []Case{{Use: Fresh, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			work, none := marking(op), retry.BackoffFunc(func() (time.Duration, bool) { return 0, false })
			return func() (int, error) { return retry.DoValue(ctx, retry.WithMaxRetries(attempts-1, none), work) }
		}}}
	case Wait, LongWait:
		return []Case{{Use: Fresh, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			work, constant := marking(op), retry.NewConstant(row.delay)
			return func() (int, error) { return retry.DoValue(ctx, retry.WithMaxRetries(attempts-1, constant), work) }
		}}}
	}
	return nil
}

func marking(op library.Op) retry.RetryFuncValue[int] {
	return func(ctx context.Context) (int, error) {
		v, err := op(ctx)
		return v, retry.RetryableError(err)
	}
}
