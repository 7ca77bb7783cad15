package retrysim_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysim"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestPublishedOcc: clients that write the same row at once. Source: testdata/published.json.
func TestPublishedOcc(t *testing.T) {
	strategies := map[string]strategy.Strategy{
		"none":         strategy.Constant{},
		"exponential":  strategy.Exponential{Base: 10 * ms, Max: 2 * time.Second},
		"equal":        strategy.EqualJitter{Base: 10 * ms, Max: 2 * time.Second},
		"full":         strategy.FullJitter{Base: 10 * ms, Max: 2 * time.Second},
		"decorrelated": strategy.Decorrelated{Base: 5 * ms, Max: 2 * time.Second},
	}
	for _, row := range readPublished(t).Occ {
		t.Run(fmt.Sprint(row.Clients, row.Policy), func(t *testing.T) {
			t.Parallel()
			s := retrysim.Scenario{
				Length: time.Second, Clients: row.Clients, Load: retrysim.Burst{},
				Network: retrysim.AbsNormal(10*ms, 2*ms), Server: retrysim.Row{},
			}
			c := retrysim.Fleet("c", policy(retry.WithUnlimitedAttempts(), retry.WithStrategy(strategies[row.Policy])))
			r := run(t, s, 1, occTrials, c)
			one, calls, end := &r.Results[0], metric(t, "attempts"), metric(t, "completion")
			within4(t, "calls", one.Mean(calls), one.Error(calls), row.Calls[0], row.Calls[1], 0)
			within4(t, "time", one.Mean(end)/1e6, one.Error(end)/1e6, row.Ms[0], row.Ms[1], 0)
			require.Equal(t, row.Clients, one.Succeeded/occTrials)
		})
	}
}

// bucket is the token bucket of the published program: it is filled by calls, and not by those that succeed.
type bucket struct{ tokens float64 }

func (b *bucket) Start(time.Time) { b.tokens = min(b.tokens+0.1, 5) }
func (b *bucket) Charge(_ time.Time, _ throttle.Class, _ int, last bool) (int, bool) {
	if last || b.tokens <= 1 {
		return 0, false
	}
	b.tokens--
	return 1, true
}
func (*bucket) Settle(time.Time, bool, int) {}

// breaker is its circuit breaker.
type breaker struct{ calls, failures float64 }

func (b *breaker) Start(time.Time) { b.calls++ }
func (b *breaker) Charge(_ time.Time, _ throttle.Class, _ int, last bool) (int, bool) {
	b.failures++
	return 0, !last && b.failures/b.calls <= 0.1
}
func (*breaker) Settle(time.Time, bool, int) {}

func chance(p float64) retrysim.Scenario {
	return retrysim.Scenario{
		Length: time.Minute, Clients: 100, Load: retrysim.Open{Rate: retrysim.PerSecond(1000)},
		Network: retrysim.Exponential(10 * ms), Server: retrysim.Chance{P: p},
	}
}

// TestPublishedChance: what a bucket and a breaker do where a share p of all requests fails. Source: testdata/published.json.
// Without budget the exact values are known: of k attempts at most, 1-p^k succeed, and (1-p^k)/(1-p) are made on average.
func TestPublishedChance(t *testing.T) {
	for _, row := range readPublished(t).Chance {
		t.Run(fmt.Sprint(row.P), func(t *testing.T) {
			t.Parallel()
			r := run(t, chance(row.P), 1, chanceTrials,
				retrysim.Each("none", policy(atOnce, retry.WithMaxAttempts(1))),
				retrysim.Each("four", policy(atOnce, retry.WithMaxAttempts(4))),
				retrysim.Each("bucket", with(func() throttle.Budget { return &bucket{5} }, atOnce, retry.WithUnlimitedAttempts())),
				retrysim.Each("breaker", with(func() throttle.Budget { return new(breaker) }, atOnce, retry.WithMaxAttempts(4))),
			)
			success, amplification := metric(t, "success"), metric(t, "amplification")
			for i, want := range [][2]float64{row.None, row.Four, row.Bucket, row.Breaker} {
				one := &r.Results[i]
				for k, m := range []retrysim.Metric{success, amplification} {
					// That of a single run; with few trials it is not well known, so at least that of a share of 60 000 calls.
					single := max(one.Error(m)*math.Sqrt(chanceTrials), math.Sqrt(want[0]*(1-want[0])/60_000))
					if i == 3 && row.P == 0.1 {
						single = max(single, 0.005) // a breaker at its threshold is of two minds
					}
					within4(t, one.Name+" "+m.Name, one.Mean(m), single/math.Sqrt(chanceTrials), want[k], single, 1e-4)
				}
			}
			for i, k := range []float64{1, 4} {
				one := &r.Results[i]
				q := math.Pow(row.P, k)
				attempts := k
				if row.P < 1 {
					attempts = (1 - q) / (1 - row.P)
				}
				n := math.Sqrt(60_000 * chanceTrials)
				within4(t, "exact success", one.Value(success), math.Sqrt(q*(1-q))/n, 1-q, 0, 1e-9)
				within4(t, "exact amplification", one.Value(amplification), 1.2/n, attempts, 0, 0)
			}
		})
	}
}

// TestPublishedClosed: clients that call one at a time call less while they wait; those of an open load do not. Source:
// testdata/published.json.
func TestPublishedClosed(t *testing.T) {
	for _, row := range readPublished(t).Closed {
		s := chance(row.P)
		s.Load = retrysim.Closed{Rate: 10}
		c := retrysim.Each("c", policy(retry.WithStrategy(strategy.Exponential{Base: 100 * ms}), retry.WithMaxAttempts(4)))
		r := run(t, s, 1, chanceTrials, c)
		one, calls := &r.Results[0], metric(t, "calls")
		single := math.Sqrt(float64(row.FirstTries)) // about that of each run: 241 of 58 000, 73 of 13 800
		within4(t, fmt.Sprint("first tries at ", row.P), one.Mean(calls), single/math.Sqrt(chanceTrials), float64(row.FirstTries), single, 0)
	}
	r := run(t, chance(0.5), 1, 1, retrysim.Fleet("open", policy(retry.WithStrategy(strategy.Exponential{Base: 100 * ms}), retry.WithMaxAttempts(4))))
	require.InDelta(t, 60_000, r.Results[0].Calls, 4*245)
}

// TestPublishedCollapse: a server that gets slower with what is in it, after a spike and a ramp. The mean of the runs without waits
// hides that there are two states: a quarter of the runs recover wholly, the others never. Source: testdata/published.json.
func TestPublishedCollapse(t *testing.T) {
	p := readPublished(t).Collapse
	second := func(n int) time.Duration { return time.Duration(n) * time.Second }
	loads := map[string]retrysim.Rate{
		"spike": retrysim.Steps(retrysim.RatePoint{PerSecond: 40}, retrysim.RatePoint{At: second(20), PerSecond: 80}, retrysim.RatePoint{At: second(25), PerSecond: 40}),
		"ramp":  retrysim.Ramp(retrysim.RatePoint{PerSecond: 40}, retrysim.RatePoint{At: second(25), PerSecond: 80}, retrysim.RatePoint{At: second(75)}),
	}
	for _, row := range p.Rows {
		t.Run(fmt.Sprint(row.Load, row.Backoff), func(t *testing.T) {
			t.Parallel()
			s := retrysim.Scenario{
				Length: second(80), Load: retrysim.Open{Rate: loads[row.Load]}, Network: retrysim.Exponential(100 * ms),
				Timeout: second(3), Server: retrysim.Slope{Base: time.Second, PerInFlight: 10 * ms},
			}
			o := atOnce
			if row.Backoff {
				o = retry.WithStrategy(strategy.FullJitter{Base: second(20), Max: second(40)})
			}
			ends := make([][]float64, len(p.Seconds))
			var tails, shares []float64
			for seed := range collapseTrials {
				series := run(t, s, uint64(seed), 1, retrysim.Fleet("c", policy(o, retry.WithMaxAttempts(3)))).Results[0].Series
				for i, at := range p.Seconds {
					ends[i] = append(ends[i], float64(series[at].Completed))
				}
				tail := 0.0
				for _, step := range series[50:78] {
					tail += float64(step.Completed) / 28
				}
				share := 0.0
				if tail > 30 {
					share = 1
				}
				tails, shares = append(tails, tail), append(shares, share)
			}
			for i, at := range p.Seconds {
				mean, err := meanOf(ends[i])
				within4(t, fmt.Sprint("t=", at), mean, err, row.Ends[i][0], row.Ends[i][1], 0.01)
			}
			mean, err := meanOf(tails)
			within4(t, "tail", mean, err, row.Tail[0], row.Tail[1], 0.01)
			mean, err = meanOf(shares)
			within4(t, "share of runs that recover", mean, err, row.Share[0], row.Share[1], 0.01)
			if row.Load == "spike" && !row.Backoff {
				between := 0
				for _, tail := range tails {
					if tail > 5 && tail < 30 {
						between++
					}
				}
				require.LessOrEqual(t, between, collapseTrials/20, "either up or down")
			}
		})
	}
}
