package speed

import (
	"context"

	"github.com/eapache/go-resiliency/retrier"
	"github.com/seed-89b3229b/retry/benchmarks/library"
)

// An operation has no value, so it is carried out by a closure.
func eapache(row Row) []Case {
	with := func(use Use, waits func() *retrier.Retrier) []Case {
		return []Case{{Use: use, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			call := func(r *retrier.Retrier) (v int, err error) {
				err = r.RunCtx(ctx, func(ctx context.Context) error {
					var err error
					v, err = op(ctx)
					return err
				})
				return v, err
			}
			if use == Call {
				return func() (int, error) { return call(waits()) }
			}
			policy := waits()
			return func() (int, error) { return call(policy) }
		}}}
	}
	switch row {
	case Inline:
		return with(Call, func() *retrier.Retrier {
			return retrier.New(retrier.LimitedExponentialBackoff(inlineAttempts-1, base, inlineMost), nil)
		})
	case NoWait, Wait, LongWait:
		return with(Once, func() *retrier.Retrier {
			return retrier.New(retrier.ConstantBackoff(attempts-1, row.delay), nil)
		})
	default:
		return with(Once, func() *retrier.Retrier {
			return retrier.New(retrier.LimitedExponentialBackoff(attempts-1, base, most), nil)
		})
	}
}
