package retrysim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysim"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// outage is a server at 47 % of its capacity, that fails everything from second 2 to second 4.
func outage(clients int) retrysim.Scenario {
	return retrysim.Scenario{
		Length: 20 * time.Second, Clients: clients, Load: retrysim.Open{Rate: retrysim.PerSecond(1000)}, Network: retrysim.Fixed(ms),
		Timeout: 100 * ms, Server: retrysim.Queue{Workers: 22, Service: retrysim.LogNormal(10*ms, 0.25)},
		Faults: []retrysim.Fault{{From: 2 * time.Second, To: 4 * time.Second, Fail: 1}},
	}
}

const never = retrysim.Never

// TestOutage: what a budget does after an outage of two seconds, shared by all clients and one for each of a hundred. From and to
// are the quickest and the slowest of the seeds.
func TestOutage(t *testing.T) {
	three := retry.WithMaxAttempts(3)
	token := func() throttle.Budget { return throttle.NewTokenBudget() }
	legacy := func() throttle.Budget { return &throttle.TokenBudget{RetryCost: 5, TimeoutCost: 10} }
	ratio := func() throttle.Budget { return throttle.NewRatioBudget() }
	ratio10 := func() throttle.Budget { return &throttle.RatioBudget{MinPerSecond: 10} }
	noFloor := func() throttle.Budget { return &throttle.RatioBudget{MinPerSecond: -1} }
	failure := func() throttle.Budget { return throttle.NewFailureBudget() }
	inFlight := func() throttle.Budget { return throttle.NewInFlightBudget() }
	adaptive := func(k float64) func(retrysim.Client) *retry.Policy {
		return func(c retrysim.Client) *retry.Policy {
			return retry.MustNew(atOnce, three, retry.WithThrottle(&throttle.Adaptive{K: k, Window: 10 * time.Second, Rand: c.Rand}))
		}
	}
	const s = time.Second
	for _, row := range []struct {
		c        retrysim.Contender
		from, to time.Duration
		peak     float64 // amplification; 0: not looked at
	}{
		{retrysim.Fleet("no retries", policy(retry.WithMaxAttempts(1))), 0, 0, 1},
		{retrysim.Fleet("at once", policy(atOnce, three)), never, never, 3.1},
		{retrysim.Fleet("full jitter", policy(three, retry.WithStrategy(strategy.FullJitter{Base: 100 * ms, Max: s}))), never, never, 3.1},
		{retrysim.Fleet("token", with(token, atOnce, three)), 0, 0, 1.04},
		{retrysim.Fleet("legacy token", with(legacy, atOnce, three)), 0, 0, 1.10},
		{retrysim.Fleet("ratio", with(ratio, atOnce, three)), 0, 0, 1.44},
		{retrysim.Fleet("ratio 10/s", with(ratio10, atOnce, three)), 0, 0, 1.53},
		{retrysim.Fleet("failure", with(failure, atOnce, three)), 0, 0, 1.00},
		{retrysim.Fleet("in flight", with(inFlight, atOnce, three)), 0, 0, 1.26},
		{retrysim.Each("token each", with(token, atOnce, three)), s, s, 0},
		{retrysim.Each("legacy token each", with(legacy, atOnce, three)), 3 * s, 3 * s, 0},
		{retrysim.Each("ratio each", with(ratio, atOnce, three)), 0, 0, 0},
		{retrysim.Each("ratio 10/s each", with(ratio10, atOnce, three)), 7 * s, 8 * s, 0},
		{retrysim.Each("ratio each, no floor", with(noFloor, atOnce, three)), 0, 0, 0},
		{retrysim.Each("failure each", with(failure, atOnce, three)), 0, 0, 0},
		{retrysim.Each("in flight each", with(inFlight, atOnce, three)), never, never, 0},
		{retrysim.Fleet("adaptive 2", adaptive(2)), 4 * s, 5 * s, 0},
		{retrysim.Fleet("adaptive 1.1", adaptive(1.1)), never, never, 0},
	} {
		t.Run(row.c.Name, func(t *testing.T) {
			t.Parallel()
			clients := 1
			if !row.c.Shared {
				clients = 100
			}
			peak := 0.0
			for seed := range outageSeeds {
				r := run(t, outage(clients), uint64(seed), 1, row.c)
				got := r.Results[0].Recovery.Worst
				require.GreaterOrEqual(t, got, row.from)
				require.LessOrEqual(t, got, row.to)
				peak = max(peak, value(t, r, row.c.Name, "peak_amplification"))
			}
			if row.peak > 0 {
				require.InDelta(t, row.peak, peak, 0.06)
			}
		})
	}
}

// law is a server whose clients time out, at a share of its capacity, after 30 s in which everything fails.
func law(load float64) retrysim.Scenario {
	q := retrysim.Queue{Workers: 10, Service: retrysim.LogNormal(50*ms, 0.25)}
	return retrysim.Scenario{
		Length: 100 * time.Second, Load: retrysim.Open{Rate: retrysim.PerSecond(load * q.Capacity())}, Network: retrysim.Fixed(ms),
		Timeout: 500 * ms, Server: q, Faults: []retrysim.Fault{{From: 10 * time.Second, To: 40 * time.Second, Fail: 1}},
	}
}

// TestLaw: with up to a attempts and no budget, a queue whose clients time out survives every outage at a load below 1/a of its
// capacity, and not a long one above. A token budget for all lets it survive at any load up to nine tenths.
func TestLaw(t *testing.T) {
	for _, row := range []struct {
		attempts int
		load     float64
		budget   bool
		recovers bool
	}{
		{2, 0.45, false, true}, {2, 0.55, false, false},
		{4, 0.20, false, true}, {4, 0.30, false, false},
		{5, 0.18, false, true}, {5, 0.25, false, false},
		{2, 0.90, true, true}, {5, 0.90, true, true},
	} {
		t.Run(fmt.Sprint(row), func(t *testing.T) {
			t.Parallel()
			c := retrysim.Fleet("c", policy(retry.WithMaxAttempts(row.attempts)))
			if row.budget {
				c.Policy = with(func() throttle.Budget { return throttle.NewTokenBudget() }, retry.WithMaxAttempts(row.attempts))
			}
			for seed := range outageSeeds {
				r := run(t, law(row.load), uint64(seed), 1, c)
				require.Equal(t, row.recovers, r.Results[0].Recovery.Worst != never, "seed %d: %v", seed, r.Results[0].Recovery)
			}
		})
	}
}

// TestLawOfOtherModels: the law does not hang on the shape of service times, nor on one server size.
func TestLawOfOtherModels(t *testing.T) {
	for _, q := range []retrysim.Queue{
		{Workers: 1, Service: retrysim.Fixed(5 * ms)},
		{Workers: 4, Service: retrysim.Exponential(20 * ms)},
		{Workers: 40, Service: retrysim.Uniform(50*ms, 150*ms)},
	} {
		for load, recovers := range map[float64]bool{0.28: true, 0.40: false} {
			s := law(load)
			s.Server, s.Load = q, retrysim.Open{Rate: retrysim.PerSecond(load * q.Capacity())}
			r := run(t, s, 1, 1, retrysim.Fleet("c", policy(retry.WithMaxAttempts(3))))
			require.Equal(t, recovers, r.Results[0].Recovery.Worst != never, "%v at %v", q, load)
		}
	}
}

// TestStability: the map of full jitter with three attempts, with five, and with five and one token budget. Loads are those at which
// two seeds agreed on the smallest that stays down.
func TestStability(t *testing.T) {
	loads := []float64{0.3, 0.4, 0.6, 0.8, 0.9}
	outages := []time.Duration{time.Second, 5 * time.Second, 20 * time.Second}
	token := func() throttle.Budget { return throttle.NewTokenBudget() }
	m, err := retrysim.Stability(t.Context(), law(0.1), loads, outages, 1, 2, nil,
		retrysim.Fleet("three", policy(retry.WithMaxAttempts(3))),
		retrysim.Fleet("five", policy(retry.WithMaxAttempts(5))),
		retrysim.Fleet("budget", with(token, retry.WithMaxAttempts(5))),
	)
	require.NoError(t, err)
	require.Equal(t, []string{"three", "five", "budget"}, m.Names)
	require.InDelta(t, 0.9, m.Stable(2), 1e-9)
	down := func(k, i, j int) bool { return m.Cells[k][i][j].Worst == never }
	for k, first := range [][]float64{{0.8, 0.5, 0.35}, {0.7, 0.3, 0.25}, {1, 1, 1}} { // the smallest load that stays down
		for i, load := range loads {
			for j := range outages {
				if load < first[j]-0.101 || load > first[j]+0.051 {
					require.Equal(t, load > first[j], down(k, i, j), "%s at %v, %v: %v", m.Names[k], load, outages[j], m.Cells[k][i][j])
				}
				if down(k, i, j) && m.Cells[k][i][j].Share == 0 {
					require.True(t, m.Cells[k][i][j].Metastable, "one attempt recovers at %v", load)
				} else {
					require.False(t, m.Cells[k][i][j].Metastable)
				}
			}
		}
	}
}
