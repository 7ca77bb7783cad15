package retrysim_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysim"
)

// erlangC is the probability that a request has to wait for one of c workers that are offered a erlangs.
func erlangC(c int, a float64) float64 {
	sum, term := 0.0, 1.0
	for k := range c {
		sum += term
		term *= a / float64(k+1)
	}
	wait := term * float64(c) / (float64(c) - a)
	return wait / (sum + wait)
}

// TestQueueTheory: a queue whose arrivals and service times are exponential, without retries, waits as Erlang says: on average
// C/(cμ-λ), and with one worker the share q of the responses takes at most -ln(1-q)/(μ-λ).
func TestQueueTheory(t *testing.T) {
	for _, workers := range []int{1, 4, 20} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			t.Parallel()
			const mu = 100.0 // a second and worker
			lambda := 0.8 * mu * float64(workers)
			s := retrysim.Scenario{
				Length: time.Duration(120_000 / lambda * float64(time.Second)), Load: retrysim.Open{Rate: retrysim.PerSecond(lambda)},
				Server: retrysim.Queue{Workers: workers, Service: retrysim.Exponential(10 * ms)},
			}
			r := run(t, s, 1, 8, retrysim.Fleet("c", policy(retry.WithMaxAttempts(1))))
			one := &r.Results[0]
			require.InDelta(t, 0.8, one.Value(metric(t, "utilisation")), 0.01)
			require.Equal(t, 1.0, one.Value(metric(t, "success")))
			if workers == 1 {
				for name, q := range map[string]float64{"p50": 0.5, "p90": 0.9, "p99": 0.99} {
					m := metric(t, name)
					want := -math.Log(1-q) / (mu - lambda) * 1e9
					within4(t, name, one.Mean(m), one.Error(m), want, 0, 0)
				}
			}
			// Little: what waits on average is the rate times the mean wait.
			mean := erlangC(workers, lambda/mu) / (float64(workers)*mu - lambda)
			waiting := 0.0
			steps := 0
			for _, step := range one.Series {
				if step.Calls > 0 {
					waiting += float64(step.Queue) / 8
					steps++
				}
			}
			require.InEpsilon(t, lambda*mean, waiting/float64(steps), 0.25, "sampled once a second")
		})
	}
}

// TestOpenArrivals: their number is Poisson's, and follows the rate: steps, ramps, and from a rate of 0 on.
func TestOpenArrivals(t *testing.T) {
	second := time.Second
	at := func(t time.Duration, rate float64) retrysim.RatePoint {
		return retrysim.RatePoint{At: t, PerSecond: rate}
	}
	for name, row := range map[string]struct {
		rate retrysim.Rate
		want map[int]float64 // by second
	}{
		"constant":       {retrysim.PerSecond(500), map[int]float64{0: 500, 9: 500}},
		"burst":          {retrysim.Steps(at(0, 0.1), at(4*second, 800), at(5*second, 0)), map[int]float64{2: 0.1, 4: 800, 6: 0}},
		"from nothing":   {retrysim.Ramp(at(0, 0), at(10*second, 1000)), map[int]float64{0: 50, 5: 550, 9: 950}},
		"to nothing":     {retrysim.Ramp(at(0, 1000), at(10*second, 0)), map[int]float64{0: 950, 9: 50}},
		"starts at five": {retrysim.Steps(at(0, 0), at(5*second, 300)), map[int]float64{4: 0, 5: 300, 9: 300}},
	} {
		t.Run(name, func(t *testing.T) {
			s := retrysim.Scenario{Length: 10 * second, Load: retrysim.Open{Rate: row.rate}, Server: retrysim.Chance{}}
			const trials = 20
			series := run(t, s, 3, trials, retrysim.Fleet("c", nil)).Results[0].Series
			for i, want := range row.want {
				calls := 0.0
				if i < len(series) {
					calls = float64(series[i].Calls) / trials
				}
				require.InDelta(t, want, calls, 4*math.Sqrt(want/trials)+0.2, "second %d", i)
			}
		})
	}
}

// TestCommonCalls: contenders of one trial meet the same calls: the same arrivals and, of each call, the same first attempt.
func TestCommonCalls(t *testing.T) {
	s := outage(10)
	s.Faults = nil
	r := run(t, s, 7, 3,
		retrysim.Fleet("one", policy(retry.WithMaxAttempts(1))), retrysim.Each("three", policy(retry.WithMaxAttempts(3))), retrysim.Fleet("at once", policy(atOnce)))
	for _, other := range r.Results[1:] {
		require.Equal(t, r.Results[0].Calls, other.Calls)
		for i, step := range r.Results[0].Series {
			require.Equal(t, step.Calls, other.Series[i].Calls)
		}
		for _, name := range []string{"p50", "p99", "max"} { // nothing fails: every latency is that of a first attempt
			require.Equal(t, value(t, r, "one", name), value(t, r, other.Name, name))
		}
	}
	diff, err := r.Difference(metric(t, "p99"), 0, 1)
	require.Zero(t, diff)
	require.Zero(t, err)

	// Paired, a difference is known far better than each of the two.
	r = run(t, chance(0.3), 1, 6, retrysim.Each("a", policy(atOnce, retry.WithMaxAttempts(1))), retrysim.Each("b", policy(atOnce, retry.WithMaxAttempts(2))))
	_, err = r.Difference(metric(t, "first_try"), 0, 1)
	require.Zero(t, err, "first attempts are the same")
	require.Positive(t, r.Results[0].Error(metric(t, "first_try")))
}
