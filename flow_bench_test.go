package retry_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// fbEvent is something that happens to a call: the end of an attempt if it is in one, else its begin or the end of a wait.
type fbEvent struct {
	at   time.Duration
	call int32
}

func (e fbEvent) before(o fbEvent) bool { return e.at < o.at || e.at == o.at && e.call < o.call }

// fbQueue is a heap of events. Each call has one at most, so their order is total.
type fbQueue []fbEvent

func (q *fbQueue) push(e fbEvent) {
	*q = append(*q, e)
	h, i := *q, len(*q)-1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(h[parent]) {
			break
		}
		h[i], i = h[parent], parent
	}
	h[i] = e
}

func (q *fbQueue) pop() fbEvent {
	h := *q
	first, e := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	i := 0
	for child := 1; child < len(h); child = 2*i + 1 {
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(e) {
			break
		}
		h[i], i = h[child], child
	}
	if len(h) > 0 {
		h[i] = e
	}
	return first
}

// fbResult is what came of a simulation.
type fbResult struct {
	attempts, succeeded int
	checksum            uint64
}

// fbSimulate interleaves n calls in one goroutine, on virtual time. They begin within 10 s and call a service that takes
// 10 ms to answer. It fails 3 % of the time; from 3 s on more and more, from 5 s on always, and at 6 s it is back.
func fbSimulate(n int, seed uint64) (r fbResult) {
	policy := retry.MustNew(retry.WithMaxAttempts(4), retry.WithStrategy(strategy.FullJitter{Base: 100 * time.Millisecond, Max: 20 * time.Second}))
	epoch, ctx := time.Unix(0, 0), context.Background()
	arrivals, service, waits := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2)), rand.New(rand.NewPCG(seed, 3))
	flows, inAttempt := make([]retry.Flow, n), make([]bool, n)
	queue := make(fbQueue, 0, n)
	for i := range n {
		at := time.Duration(arrivals.Int64N(int64(10 * time.Second)))
		flows[i] = policy.Begin(epoch.Add(at), time.Time{}, waits.Float64)
		queue.push(fbEvent{at, int32(i)})
	}
	for len(queue) > 0 {
		e := queue.pop()
		flow, now := &flows[e.call], epoch.Add(e.at)
		var s retry.Step
		if inAttempt[e.call] {
			var o throttle.Outcome
			if service.Float64() < fbFailures(e.at) {
				o.Err = errFlaky
			}
			inAttempt[e.call] = false
			s = flow.Report(ctx, now, o)
		} else {
			s = flow.Next(ctx, now)
		}
		switch s.Action {
		case retry.Go:
			r.attempts++
			inAttempt[e.call] = true
			queue.push(fbEvent{e.at + 10*time.Millisecond, e.call})
		case retry.Wait:
			queue.push(fbEvent{e.at + s.Delay, e.call})
		case retry.Done:
			if s.Err == nil {
				r.succeeded++
			}
			for _, v := range [...]uint64{uint64(e.at), uint64(e.call), uint64(s.Class)} {
				r.checksum = (r.checksum ^ v) * 1099511628211 // FNV-1a, by words
			}
		}
	}
	return r
}

// fbFailures is the share of attempts that fail at a time.
func fbFailures(at time.Duration) float64 {
	if at < 3*time.Second || at >= 6*time.Second {
		return 0.03
	}
	return min(0.03+(at-3*time.Second).Seconds()/2, 1)
}

func TestFlowSimulationIsRepeatable(t *testing.T) {
	const calls = 10_000
	first := fbSimulate(calls, 7)
	require.Equal(t, first, fbSimulate(calls, 7))
	require.NotEqual(t, first.checksum, fbSimulate(calls, 8).checksum)
	require.Greater(t, first.attempts, calls)
	require.LessOrEqual(t, first.attempts, 4*calls)
	require.Less(t, first.succeeded, calls, "some do not outlast the outage")
	require.Greater(t, first.succeeded, calls/2)
}

func BenchmarkFlow(b *testing.B) {
	b.Run("million", func(b *testing.B) {
		const calls = 1_000_000
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		attempts, runs := 0, 0
		for b.Loop() {
			attempts += fbSimulate(calls, 7).attempts
			runs++
		}
		elapsed := b.Elapsed()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(attempts)/elapsed.Seconds(), "attempts/s")
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(runs*calls), "B/call")
	})
}
