package strategy_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

// The statistical tests draw from a seeded source, so they give the same answer on every run. A mean is accepted within
// sigmas standard errors, plus half a unit (1 ms) because the vectors count whole milliseconds where this package draws
// nanoseconds. Five sigmas are exceeded by chance once in 1.7 million comparisons; with the about 160 comparisons below,
// a newly chosen seed would raise a false alarm with a probability of less than 1 in 10 000.
const (
	sigmas = 5
	draws  = 20_000
)

type backoffVector struct {
	Base, Max, Attempt, Backoff int64
	Odd                         bool
	Lo, Hi                      int64
	Mean, SD                    float64
}

type decorrelatedVector struct {
	Base, Max, Previous int64
	Min                 int64
	MaxValue            int64   `json:"max_value"`
	MeanAfter           float64 `json:"mean_cap_after_draw"`
	SDAfter             float64 `json:"sd_cap_after_draw"`
	ShareAtCap          float64 `json:"share_at_cap"`
	MeanBefore          float64 `json:"mean_cap_before_draw"`
}

type chainVector struct {
	Base, Max   int64
	MeanByRetry []float64 `json:"mean_by_retry"`
}

func vectors(t *testing.T) (v struct {
	Full, Equal       []backoffVector
	Decorrelated      []decorrelatedVector
	DecorrelatedChain []chainVector `json:"decorrelated_chain"`
}) {
	data, err := os.ReadFile("testdata/rexsilient_jitter.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &v))
	require.Len(t, v.Full, 36)
	require.Len(t, v.Equal, 36)
	require.Len(t, v.Decorrelated, 24)
	require.Len(t, v.DecorrelatedChain, 2)
	return v
}

// sample is what draws of one wait look like, in milliseconds.
type sample struct{ low, high, mean, share float64 }

// take draws the wait after s. share is that of waits of exactly top.
func take(u strategy.Strategy, s strategy.State, top time.Duration) sample {
	s.Rand = rand.New(rand.NewPCG(7, uint64(s.Number))).Float64
	got := sample{low: math.Inf(1)}
	for range draws {
		delay, _ := u.Next(s)
		d := float64(delay) / float64(ms)
		got.low, got.high, got.mean = min(got.low, d), max(got.high, d), got.mean+d/draws
		if delay == top {
			got.share += 1.0 / draws
		}
	}
	return got
}

// require checks bounds and mean.
func (g sample) require(t *testing.T, low, high int64, mean, sd float64, name string) {
	t.Helper()
	require.GreaterOrEqual(t, g.low, float64(low), name)
	require.LessOrEqual(t, g.high, float64(high), name)
	require.InDelta(t, mean, g.mean, 0.5+sigmas*sd/math.Sqrt(draws), name)
	// The ends are not only not passed but nearly reached: a draw leaves the last thousandth free with e^-20.
	slack := float64(high-low) / 1000
	require.LessOrEqual(t, g.low, float64(low)+slack+1, name)
	require.GreaterOrEqual(t, g.high, float64(high)-slack, name)
}

func TestVectorsOfFullAndEqualJitter(t *testing.T) {
	v := vectors(t)
	run := func(name string, list []backoffVector, build func(base, most time.Duration) strategy.Strategy, jitter strategy.Jitter) {
		for _, c := range list {
			base, most := time.Duration(c.Base)*ms, time.Duration(c.Max)*ms
			// A base of 0 means the default here, and never to wait there.
			var drawn, curve strategy.Strategy = strategy.Constant{}, strategy.Constant{}
			if c.Base > 0 {
				drawn, curve = build(base, most), strategy.Exponential{Base: base, Max: most}
			}
			state := strategy.State{Number: int(c.Attempt) + 1}
			bare, _ := curve.Next(state)
			require.Equal(t, time.Duration(c.Backoff)*ms, bare)
			title := fmt.Sprintf("%s %+v", name, c)
			take(drawn, state, 0).require(t, c.Lo, c.Hi, c.Mean, c.SD, title)
			// The jitter on the bare curve says the same.
			jittered := strategy.Func(func(s strategy.State) (time.Duration, bool) {
				delay, ok := curve.Next(s)
				return jitter(delay, forever, s.Rand()), ok
			})
			require.Equal(t, take(drawn, state, 0), take(jittered, state, 0), title)
		}
	}
	run("full", v.Full, func(base, most time.Duration) strategy.Strategy {
		return strategy.FullJitter{Base: base, Max: most}
	}, strategy.Full)
	run("equal", v.Equal, func(base, most time.Duration) strategy.Strategy {
		return strategy.EqualJitter{Base: base, Max: most}
	}, strategy.Equal)
}

func TestVectorsOfDecorrelatedJitter(t *testing.T) {
	for _, c := range vectors(t).Decorrelated {
		base, most := time.Duration(c.Base)*ms, time.Duration(c.Max)*ms
		state := strategy.State{Number: 2, Prev: time.Duration(c.Previous) * ms}
		title := fmt.Sprintf("%+v", c)
		after := take(strategy.Decorrelated{Base: base, Max: most}, state, most)
		after.require(t, c.Min, c.MaxValue, c.MeanAfter, c.SDAfter, title)
		// One more whole millisecond at or above the cap moves the share by one part in the width of the draw.
		width := float64(3*c.Previous - c.Base)
		share := sigmas * math.Sqrt(c.ShareAtCap*(1-c.ShareAtCap)/draws)
		require.InDelta(t, c.ShareAtCap, after.share, share+1/width, title)

		before := take(strategy.Decorrelated{Base: base, Max: most, Capped: true}, state, most)
		before.require(t, c.Min, c.MaxValue, c.MeanBefore, float64(c.MaxValue-c.Min)/math.Sqrt(12), title)
		require.Less(t, before.share, 0.01, title)
	}
}

func TestVectorsOfADecorrelatedChain(t *testing.T) {
	const simulated = 100_000 // chains behind the vectors, which so have an error of their own
	for _, c := range vectors(t).DecorrelatedChain {
		u := strategy.Decorrelated{Base: time.Duration(c.Base) * ms, Max: time.Duration(c.Max) * ms}
		source := rand.New(rand.NewPCG(7, 7))
		sum, squares := make([]float64, len(c.MeanByRetry)), make([]float64, len(c.MeanByRetry))
		for range draws {
			for i, delay := range strategy.Delays(u, len(sum), source.Float64) {
				d := float64(delay) / float64(ms)
				sum[i] += d
				squares[i] += d * d
			}
		}
		for i, want := range c.MeanByRetry {
			mean := sum[i] / draws
			variance := squares[i]/draws - mean*mean
			require.InDelta(t, want, mean, 0.5+sigmas*math.Sqrt(variance*(1.0/draws+1.0/simulated)), "%v, retry %d", u, i+1)
		}
	}
}
