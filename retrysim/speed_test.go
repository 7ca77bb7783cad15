package retrysim_test

import (
	"testing"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysim"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// BenchmarkRun reports attempts per second on one processor: go test -bench Run -cpu 1 ./retrysim
func BenchmarkRun(b *testing.B) {
	jitter := retry.WithStrategy(strategy.FullJitter{Base: 100 * ms, Max: time.Second})
	queue := outage(1)
	queue.Length = time.Minute
	for _, row := range []struct {
		name string
		s    retrysim.Scenario
		c    retrysim.Contender
	}{
		{"chance", chance(0.5), retrysim.Fleet("x", policy(jitter, retry.WithMaxAttempts(4)))},
		{"queue", queue, retrysim.Fleet("x", func(retrysim.Client) *retry.Policy {
			return retry.MustNew(jitter, retry.WithMaxAttempts(3), retry.WithBudget(throttle.NewTokenBudget()))
		})},
	} {
		b.Run(row.name, func(b *testing.B) {
			attempts := 0
			for i := range b.N {
				r, err := retrysim.Run(b.Context(), row.s, uint64(i), 1, row.c)
				if err != nil {
					b.Fatal(err)
				}
				attempts += r.Results[0].Attempts
			}
			b.ReportMetric(float64(attempts)/b.Elapsed().Seconds()/1e6, "Mattempts/s")
		})
	}
}
