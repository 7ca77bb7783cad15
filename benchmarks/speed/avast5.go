package speed

import (
	"context"

	"github.com/avast/retry-go/v5"
	"github.com/seed-89b3229b/retry/benchmarks/library"
)

// A retrier may be shared, but its context is fixed when it is made: calls with contexts of their own make one each.
func avast5(row Row) []Case {
	with := func(use Use, opts ...retry.Option) Case {
		return Case{Use: use, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			work := func() (int, error) { return op(ctx) }
			own := append(opts[:len(opts):len(opts)], retry.Context(ctx))
			if use == Fresh {
				return func() (int, error) { return retry.NewWithData[int](own...).Do(work) }
			}
			retrier := retry.NewWithData[int](own...)
			return func() (int, error) { return retrier.Do(work) }
		}}
	}
	exponential := []retry.Option{retry.Attempts(attempts), retry.Delay(base), retry.MaxDelay(most)}
	switch row {
	case First:
		return []Case{with(Fixed, exponential...), with(Fresh, exponential...)}
	case Inline:
		return []Case{{Use: Call, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			work := func() (int, error) { return op(ctx) }
			return func() (int, error) {
				return retry.NewWithData[int](retry.Attempts(inlineAttempts), retry.MaxDelay(inlineMost), retry.Context(ctx)).Do(work)
			}
		}}}
	case NoWait, Wait, LongWait:
		return []Case{with(Fixed, retry.Attempts(attempts), retry.Delay(row.delay), retry.DelayType(retry.FixedDelay))}
	default:
		return []Case{with(Fixed, exponential...)}
	}
}
