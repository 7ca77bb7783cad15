package speed

import (
	"context"

	"github.com/avast/retry-go/v4"
	"github.com/seed-89b3229b/retry/benchmarks/library"
)

// The context is an option, so that one is made in each call.
func avast4(row Row) []Case {
	with := func(opts ...retry.Option) []Case {
		return []Case{{Use: Options, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			work := func() (int, error) { return op(ctx) }
			return func() (int, error) {
				return retry.DoWithData(work, append(opts[:len(opts):len(opts)], retry.Context(ctx))...)
			}
		}}}
	}
	switch row {
	case Inline:
		return []Case{{Use: Call, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			work := func() (int, error) { return op(ctx) }
			return func() (int, error) {
				return retry.DoWithData(work, retry.Attempts(inlineAttempts), retry.MaxDelay(inlineMost), retry.Context(ctx))
			}
		}}}
	case NoWait, Wait, LongWait:
		return with(retry.Attempts(attempts), retry.Delay(row.delay), retry.DelayType(retry.FixedDelay))
	default:
		return with(retry.Attempts(attempts), retry.Delay(base), retry.MaxDelay(most))
	}
}
