package speed

import (
	"context"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/benchmarks/library"
	"github.com/seed-89b3229b/retry/strategy"
)

func ours(row Row) []Case {
	with := func(use Use, opts ...retry.Option) Case {
		return Case{Use: use, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			policy := retry.MustNew(opts...)
			return func() (int, error) { return retry.Do(ctx, op, policy) }
		}}
	}
	limit := retry.WithMaxAttempts(attempts)
	switch row {
	case First:
		return []Case{
			with(Once, limit, retry.WithStrategy(strategy.Exponential{Base: base, Max: most})),
			{Use: Default, Make: func(ctx context.Context, op library.Op) func() (int, error) {
				return func() (int, error) { return retry.Do(ctx, op) }
			}},
		}
	case Inline:
		return []Case{{Use: Call, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			return func() (int, error) {
				return retry.Do(ctx, op, retry.WithMaxAttempts(inlineAttempts), retry.WithMaxDelay(inlineMost))
			}
		}}}
	case NoWait, Wait, LongWait:
		return []Case{with(Once, limit, retry.WithStrategy(strategy.Constant{Delay: row.delay}))}
	default:
		return []Case{with(Once, limit, retry.WithStrategy(strategy.Exponential{Base: base, Max: most}))}
	}
}
