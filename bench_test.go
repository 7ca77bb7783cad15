package retry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

var (
	errFlaky = errors.New("flaky")
	sink     int
)

//go:noinline
func succeed(context.Context) (int, error) { return 42, nil }

//go:noinline
func fail(context.Context) (int, error) { return 0, errFlaky }

// failing returns an operation that fails n times, then succeeds, over and over.
func failing(n int) func(context.Context) (int, error) {
	calls := 0
	return func(context.Context) (int, error) {
		if calls++; calls%(n+1) != 0 {
			return 0, errFlaky
		}
		return 42, nil
	}
}

// countingBudget is the least that a budget can do.
type countingBudget struct{ started, charged, settled int }

func (b *countingBudget) Start(time.Time) { b.started++ }
func (b *countingBudget) Charge(_ time.Time, _ throttle.Class, held int, last bool) (int, bool) {
	b.charged++
	return held + 1, !last
}
func (b *countingBudget) Settle(time.Time, bool, int) { b.settled++ }

// The operations whose cost is promised. allocs is what one call may allocate.
var doCases = []struct {
	name   string
	allocs float64
	call   func(ctx context.Context) func()
}{
	{"success-default", 0, func(ctx context.Context) func() {
		return func() { sink, _ = retry.Do(ctx, succeed) }
	}},
	{"success-policy", 0, func(ctx context.Context) func() {
		policy := retry.MustNew(retry.WithName("orders"), retry.WithMaxAttempts(4))
		return func() { sink, _ = retry.Do(ctx, succeed, policy) }
	}},
	{"success-override", 0, func(ctx context.Context) func() {
		policy := retry.MustNew(retry.WithName("orders"), retry.WithMaxAttempts(4))
		return func() { sink, _ = retry.Do(ctx, succeed, policy, retry.WithMaxAttempts(1)) }
	}},
	{"success-inline2", 0, func(ctx context.Context) func() {
		return func() { sink, _ = retry.Do(ctx, succeed, retry.WithMaxAttempts(3), retry.WithMaxDelay(time.Second)) }
	}},
	{"success-elapsed", 0, func(ctx context.Context) func() {
		policy := retry.MustNew(retry.WithMaxElapsed(time.Minute))
		return func() { sink, _ = retry.Do(ctx, succeed, policy) }
	}},
	{"success-budget", 0, func(ctx context.Context) func() {
		policy := retry.MustNew(retry.WithBudget(new(countingBudget)))
		return func() { sink, _ = retry.Do(ctx, succeed, policy) }
	}},
	{"success-gate", 0, func(ctx context.Context) func() {
		policy := retry.MustNew(retry.WithThrottle(new(throttle.Gate).For("acme", "acme/orders")))
		return func() { sink, _ = retry.Do(ctx, succeed, policy) }
	}},
	{"success-result", 0, func(ctx context.Context) func() {
		policy := retry.MustNew(retry.WithRetryResult(func(v int) bool { return v == 0 }))
		return func() { sink, _ = retry.Do(ctx, succeed, policy) }
	}},
	{"success-run", 0, func(ctx context.Context) func() {
		policy := retry.MustNew(retry.WithName("orders"))
		return func() {
			_ = retry.Run(ctx, func(ctx context.Context) error { _, err := succeed(ctx); return err }, policy)
		}
	}},
	{"retry3-nowait", 0, func(ctx context.Context) func() {
		policy, fn := retry.MustNew(retry.WithStrategy(strategy.Constant{})), failing(3)
		return func() { sink, _ = retry.Do(ctx, fn, policy) }
	}},
	{"retry3-nowait-info", 4, func(ctx context.Context) func() {
		policy, fn := retry.MustNew(retry.WithStrategy(strategy.Constant{}), retry.WithAttemptInfo()), failing(3)
		return func() { sink, _ = retry.Do(ctx, fn, policy) }
	}},
	{"retry3-wait1ns", 3, func(ctx context.Context) func() {
		policy, fn := retry.MustNew(retry.WithStrategy(strategy.Constant{Delay: 1})), failing(3)
		return func() { sink, _ = retry.Do(ctx, fn, policy) }
	}},
	// A wait of 1 ns is over before it begins; this one needs the timer, three allocations for any number of waits.
	{"retry3-wait10us", 3, func(ctx context.Context) func() {
		policy, fn := retry.MustNew(retry.WithStrategy(strategy.Constant{Delay: 10 * time.Microsecond})), failing(3)
		return func() { sink, _ = retry.Do(ctx, fn, policy) }
	}},
	{"exhausted", 2, func(ctx context.Context) func() {
		policy := retry.MustNew(retry.WithStrategy(strategy.Constant{}))
		return func() { sink, _ = retry.Do(ctx, fail, policy) }
	}},
	{"attempt-timeout", 4, func(ctx context.Context) func() {
		policy := retry.MustNew(retry.WithAttemptTimeout(time.Minute))
		return func() { sink, _ = retry.Do(ctx, succeed, policy) }
	}},
}

// The other shapes of work. Supervise ends with an *Error or an error of the operation, so this one's ends with the latter.
var shapeCases = []struct {
	name   string
	allocs float64
	call   func(ctx context.Context) func()
}{
	{"poll-done", 0, func(ctx context.Context) func() {
		return func() {
			sink, _ = retry.Poll(ctx, time.Second, func(ctx context.Context) (int, bool, error) { v, err := succeed(ctx); return v, true, err })
		}
	}},
	{"poll-looks3", 3, func(ctx context.Context) func() { // the timer
		return func() {
			n := 0
			sink, _ = retry.Poll(ctx, 10*time.Microsecond, func(ctx context.Context) (int, bool, error) { n++; v, err := succeed(ctx); return v, n == 4, err })
		}
	}},
	{"supervise-ends", 0, func(ctx context.Context) func() {
		end := retry.Permanent(errFlaky)
		return func() { _ = retry.Supervise(ctx, func(context.Context) error { return end }) }
	}},
	{"supervise-runs3", 0, func(ctx context.Context) func() {
		end, policy := retry.Permanent(errFlaky), retry.MustNew(retry.WithStrategy(strategy.Constant{}))
		return func() {
			n := 0
			_ = retry.Supervise(ctx, func(context.Context) error {
				if n++; n < 4 {
					return nil
				}
				return end
			}, policy)
		}
	}},
	{"success-rules", 0, func(ctx context.Context) func() {
		policy := retry.MustNew(retry.WithRule(condition.Is(errFlaky), retry.WithMaxAttempts(9)), retry.WithRule(condition.Network()))
		return func() { sink, _ = retry.Do(ctx, succeed, policy) }
	}},
	{"rules-retry3", 1, func(ctx context.Context) func() { // the kinds
		fn := failing(3)
		policy := retry.MustNew(retry.WithRule(condition.Is(errFlaky), retry.WithMaxAttempts(9), retry.WithStrategy(strategy.Constant{})))
		return func() { sink, _ = retry.Do(ctx, fn, policy) }
	}},
	{"reset-retry3", 0, func(ctx context.Context) func() {
		policy, fn := retry.MustNew(retry.WithStrategy(strategy.Constant{}), retry.WithResetAfter(time.Hour)), failing(3)
		return func() { sink, _ = retry.Do(ctx, fn, policy) }
	}},
	{"loop", 1, func(ctx context.Context) func() { // its Try
		return func() {
			for range retry.NewLoop(ctx).Tries() {
				sink++
				break
			}
		}
	}},
}

func BenchmarkShapes(b *testing.B) {
	for _, tc := range shapeCases {
		call := tc.call(b.Context())
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
}

func BenchmarkDo(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.Run("bare-call", func(b *testing.B) {
		for b.Loop() {
			sink, _ = succeed(ctx)
		}
	})
	for _, tc := range doCases {
		call := tc.call(ctx)
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
	b.Run("shared-policy", func(b *testing.B) {
		policy := retry.MustNew(retry.WithName("orders"))
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, _ = retry.Do(ctx, succeed, policy)
			}
		})
	})
}
