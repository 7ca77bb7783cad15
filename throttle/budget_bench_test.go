package throttle_test

import (
	"testing"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

var benchBudgets = []struct {
	name  string
	fresh func() throttle.Budget
}{
	{"Token", func() throttle.Budget { return throttle.NewTokenBudget() }},
	{"Failure", func() throttle.Budget { return throttle.NewFailureBudget() }},
	{"Ratio", func() throttle.Budget { return throttle.NewRatioBudget() }},
	{"InFlight", func() throttle.Budget { return throttle.NewInFlightBudget() }},
}

// BenchmarkBudget times the methods alone, where they have something to do: a call that succeeds at once, one with a retry that
// then succeeds, and a retry that is refused.
func BenchmarkBudget(b *testing.B) {
	now := time.Now()
	for _, c := range benchBudgets {
		b.Run(c.name+"/Start+Settle", func(b *testing.B) {
			b.ReportAllocs()
			budget := c.fresh()
			for b.Loop() {
				budget.Start(now)
				budget.Settle(now, true, 0)
			}
		})
		b.Run(c.name+"/Start+Charge+Settle", func(b *testing.B) {
			b.ReportAllocs()
			budget := c.fresh()
			for b.Loop() {
				budget.Start(now)
				held, _ := budget.Charge(now, throttle.Transient, 0, false)
				budget.Settle(now, true, held)
			}
		})
		b.Run(c.name+"/Charge-refused", func(b *testing.B) {
			b.ReportAllocs()
			budget := c.fresh()
			for _, ok := budget.Charge(now, throttle.Transient, 0, false); ok; {
				_, ok = budget.Charge(now, throttle.Transient, 0, false)
			}
			for b.Loop() {
				budget.Charge(now, throttle.Transient, 0, false)
			}
		})
	}
}

// BenchmarkBudgetParallel is one budget for all cores.
func BenchmarkBudgetParallel(b *testing.B) {
	now := time.Now()
	for _, c := range benchBudgets {
		b.Run(c.name+"/Start+Settle", func(b *testing.B) {
			budget := c.fresh()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					budget.Start(now)
					budget.Settle(now, true, 0)
				}
			})
		})
		b.Run(c.name+"/Start+Charge+Settle", func(b *testing.B) {
			budget := c.fresh()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					budget.Start(now)
					held, _ := budget.Charge(now, throttle.Transient, 0, false)
					budget.Settle(now, true, held)
				}
			})
		})
	}
}
