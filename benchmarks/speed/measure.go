package speed

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Result is what a case costs.
type Result struct {
	Case
	// Ns is the median of the rounds, in nanoseconds for each call.
	Ns float64
	// Low and High are the quartiles: half of the rounds lie between them.
	Low, High float64
	// Best is the fastest round.
	Best float64
	// Bytes and Allocs are on the heap, for each call, rounded down.
	Bytes, Allocs uint64
}

// Measure goes through all cases again and again, so that a machine that gets slower gets slower for all alike. In each of
// the rounds every case runs for about slice: many short ones find moments in which nothing else runs. after is called after each round.
func Measure(ctx context.Context, cases []Case, rounds int, slice time.Duration, after func(round int)) []Result {
	results := make([]Result, len(cases))
	calls := make([]func() (int, error), len(cases))
	counts := make([]int, len(cases))
	for i := range cases {
		results[i].Case = cases[i]
		calls[i] = cases[i].Make(ctx, cases[i].Row.Op())
		counts[i] = calibrate(calls[i], cases[i].Row.Goroutines, slice)
	}
	taken := make([][]float64, len(cases))
	for round := range rounds {
		for i := range cases {
			taken[i] = append(taken[i], results[i].measure(calls[i], counts[i]))
		}
		after(round)
	}
	for i, all := range taken {
		slices.Sort(all)
		r := &results[i]
		r.Best, r.Low, r.Ns, r.High = all[0], all[len(all)/4], all[len(all)/2], all[len(all)*3/4]
	}
	return results
}

// measure makes n calls, keeps the allocations, and returns the nanoseconds for one.
func (r *Result) measure(call func() (int, error), n int) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	took := Run(call, r.Row.Goroutines, n)
	runtime.ReadMemStats(&after)
	r.Bytes = (after.TotalAlloc - before.TotalAlloc) / uint64(n)
	r.Allocs = (after.Mallocs - before.Mallocs) / uint64(n)
	return float64(took.Nanoseconds()) / float64(n)
}

// calibrate returns how many calls take about as long as asked for. It goes by the best of three runs, so that one that was
// interrupted does not make all rounds too short.
func calibrate(call func() (int, error), goroutines int, slice time.Duration) int {
	for n := 10; ; n *= 10 {
		took := min(Run(call, goroutines, n), Run(call, goroutines, n), Run(call, goroutines, n))
		if took >= slice/10 || n >= 100_000_000 {
			return max(int(float64(n)*float64(slice)/float64(took)), 10)
		}
	}
}

// Run makes n calls, shared out among goroutines, and says how long that took.
func Run(call func() (int, error), goroutines, n int) time.Duration {
	start := time.Now()
	if goroutines == 1 {
		for range n {
			_, _ = call()
		}
		return time.Since(start)
	}
	var group sync.WaitGroup
	for i := range goroutines {
		share := n / goroutines
		if i < n%goroutines {
			share++
		}
		group.Go(func() {
			for range share {
				_, _ = call()
			}
		})
	}
	group.Wait()
	return time.Since(start)
}
