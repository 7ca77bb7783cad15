package strategy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

// The facts were measured on the original, with as many samples as each says, and are compared with as many draws as below
// from a seeded source, so the answer is the same on every run. Mean, standard deviation and shares are accepted within
// sigmas standard errors of the difference of two samples. A new seed would raise a false alarm in one of the about 60
// comparisons with a probability of less than 1 in 20 000. The ends must lie within the theory's bounds, and a fact of
// a single draw must come within a thousandth of both, which 20 000 draws miss with a probability of e^-20.

type jitterFact struct {
	Name, Algorithm, After string
	Args                   map[string]float64
	Samples                float64
	Min, Max, Mean, SD     float64
	ShareAtMin             float64 `json:"share_at_min"`
	ShareAtMax             float64 `json:"share_at_max"`
}

// moments is what draws look like, in seconds.
type moments struct{ min, max, mean, sd, fourth, atMin, atMax float64 }

// measure draws the answer to the last of the events after, with p as new for each draw.
func measure(p *strategy.Pacer, after string, low, high float64) moments {
	p.Rand = rand.New(rand.NewPCG(10, uint64(len(after)))).Float64
	got := moments{min: math.Inf(1), max: math.Inf(-1)}
	values := make([]float64, draws)
	for i := range values {
		p.Reset(moment(0))
		for _, event := range after {
			kind := "failure"
			if event == 's' {
				kind = "success"
			}
			values[i] = tell(p, kind, 0)
		}
		v := values[i]
		got.min, got.max, got.mean = min(got.min, v), max(got.max, v), got.mean+v/draws
		if v == low {
			got.atMin += 1.0 / draws
		}
		if v == high {
			got.atMax += 1.0 / draws
		}
	}
	for _, v := range values {
		square := (v - got.mean) * (v - got.mean)
		got.sd += square / draws
		got.fourth += square * square / draws
	}
	got.sd = math.Sqrt(got.sd)
	return got
}

// require compares with a mean and a standard deviation that were measured on so many samples.
func (m moments) require(t *testing.T, mean, sd, samples float64, name string) {
	t.Helper()
	both := 1.0/draws + 1/samples
	require.InDelta(t, mean, m.mean, 1e-9+sigmas*m.sd*math.Sqrt(both), name)
	slack := 0.0
	if m.sd > 0 {
		slack = sigmas * math.Sqrt((m.fourth-math.Pow(m.sd, 4))/(4*m.sd*m.sd)*both)
	}
	require.InDelta(t, sd, m.sd, 1e-9+slack, name)
}

func TestJitterFactsOfAlgorithmBackoff(t *testing.T) {
	var facts []jitterFact
	readVectors(t, "algorithm_backoff_jitter.json", &facts)
	require.Len(t, facts, 12)
	bounds := map[string][2]float64{ // in theory
		"uniform": {7.5, 12.5}, "clamped": {1.8, 2.2}, "one-sided cap": {7.5, 10}, "exp n=4": {6, 10}, "exp raw above cap": {4, 4},
		"success zero": {0, 0}, "MIMD n=4 compounds": {8 * math.Pow(0.75, 4), 8 * math.Pow(1.25, 4)}, "MIMD at the cap": {4, 4},
		"LIMD n=4 compounds":  {2*math.Pow(0.75, 4) + 4*(math.Pow(0.75, 3)+0.75*0.75+0.75), 2*math.Pow(1.25, 4) + 4*(math.Pow(1.25, 3)+1.25*1.25+1.25)},
		"jitter 1.0 accepted": {0, 20}, "jitter 1.5 accepted": {0, 25},
	}
	bounds["LILD n=4"] = bounds["LIMD n=4 compounds"]
	for _, fact := range facts {
		low, high := bounds[fact.Name][0], bounds[fact.Name][1]
		a := args{t: t, from: fact.Args}
		p := a.pacer(fact.Algorithm)
		a.done()
		p.Compat010 = true
		got := measure(p, fact.After, low, high)
		got.require(t, fact.Mean, fact.SD, fact.Samples, fact.Name)
		require.GreaterOrEqual(t, got.min, low-1e-9, fact.Name)
		require.LessOrEqual(t, got.max, high+1e-9, fact.Name)
		if fact.After == "f" || fact.Algorithm == "Exponential" {
			slack := (high - low) / 1000
			require.InDelta(t, low, got.min, slack, fact.Name)
			require.InDelta(t, high, got.max, slack, fact.Name)
		}
		if low < high {
			for _, share := range [][2]float64{{fact.ShareAtMin, got.atMin}, {fact.ShareAtMax, got.atMax}} {
				want := share[0]
				if fact.Name == "jitter 1.5 accepted" && share[1] == got.atMin {
					want = 1.0 / 6 // the zeros, which were not counted
				}
				require.InDelta(t, want, share[1], 1e-9+sigmas*math.Sqrt(want*(1-want)*(1.0/draws+1/fact.Samples)), fact.Name)
			}
		}
	}
}

// By default jitter does not add up: the level has none in it.
func TestJitterDoesNotCompound(t *testing.T) {
	for name, c := range map[string]struct {
		s    strategy.Strategy
		mean float64
	}{
		"LILD": {&strategy.LILD{Initial: secs(2), IncrementOnFailure: secs(4)}, 14},
		"LIMD": {&strategy.LIMD{Initial: secs(2), IncrementOnFailure: secs(4)}, 14},
		"MILD": {&strategy.MILD{Initial: secs(2), MultipleOnFailure: 2}, 16},
		"MIMD": {&strategy.MIMD{Initial: secs(1), MultipleOnFailure: 2}, 8},
	} {
		got := measure(&strategy.Pacer{Strategy: c.s, JitterFactor: 0.25}, "ffff", c.mean*0.75, c.mean*1.25)
		got.require(t, c.mean, c.mean*0.25/math.Sqrt(3), math.Inf(1), name)
		require.InDelta(t, c.mean*0.75, got.min, c.mean/1000, name)
		require.InDelta(t, c.mean*1.25, got.max, c.mean/1000, name)
		require.GreaterOrEqual(t, got.min, c.mean*0.75, name)
		require.Less(t, got.max, c.mean*1.25, name)
	}
}

// Timeouts are spread too, by a number of their own that is drawn after that of the wait.
func TestTimeoutJitter(t *testing.T) {
	source := rand.New(rand.NewPCG(10, 10)).Float64
	low, high, mean := math.Inf(1), 0.0, 0.0
	for range draws {
		p := strategy.Pacer{
			Strategy: strategy.Constant{Delay: secs(10)}, MaxDuration: secs(50), TimeoutShare: 0.5, TimeoutJitter: 0.1, Rand: source,
		}
		require.Equal(t, 10.0, tell(&p, "failure", 0))
		v := p.Timeout().Seconds()
		require.Equal(t, v, p.Timeout().Seconds(), "drawn once")
		low, high, mean = min(low, v), max(high, v), mean+v/draws
	}
	require.InDelta(t, 18, low, 0.004)
	require.InDelta(t, 22, high, 0.004)
	require.InDelta(t, 20, mean, sigmas*2/math.Sqrt(3*draws))

	numbers := []float64{0.5, 0, almostOne, 0.25}
	p := strategy.Pacer{
		Strategy: strategy.Constant{Delay: secs(10)}, JitterFactor: 0.5, MaxDuration: secs(50), TimeoutShare: 0.5, TimeoutJitter: 0.1,
		Rand: func() float64 { r := numbers[0]; numbers = numbers[1:]; return r },
	}
	require.Equal(t, secs(25), p.Timeout(), "r = 0.5")
	require.Equal(t, 5.0, tell(&p, "failure", 0), "r = 0")
	require.InDelta(t, 24.75, p.Timeout().Seconds(), 1e-6, "r = almost 1 of 22.5 s")
	require.Len(t, numbers, 1)
}
