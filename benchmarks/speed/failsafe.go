package speed

import (
	"context"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/seed-89b3229b/retry/benchmarks/library"
)

func failsafeGo(row Row) []Case {
	with := func(builder retrypolicy.Builder[int]) []Case {
		executor := failsafe.With[int](builder.Build())
		return []Case{{Use: Once, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			work := func(exec failsafe.Execution[int]) (int, error) { return op(exec.Context()) }
			return func() (int, error) { return executor.WithContext(ctx).GetWithExecution(work) }
		}}}
	}
	switch row {
	case Inline:
		return []Case{{Use: Call, Make: func(ctx context.Context, op library.Op) func() (int, error) {
			work := func(exec failsafe.Execution[int]) (int, error) { return op(exec.Context()) }
			return func() (int, error) {
				policy := retrypolicy.NewBuilder[int]().WithMaxAttempts(inlineAttempts).WithBackoff(base, inlineMost).Build()
				return failsafe.With[int](policy).WithContext(ctx).GetWithExecution(work)
			}
		}}}
	case NoWait, Wait, LongWait:
		return with(retrypolicy.NewBuilder[int]().WithMaxAttempts(attempts).WithDelay(row.delay))
	default:
		return with(retrypolicy.NewBuilder[int]().WithMaxAttempts(attempts).WithBackoff(base, most))
	}
}
