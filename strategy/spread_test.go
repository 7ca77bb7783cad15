package strategy_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

// shareAtCap draws waits of calls that fail 30 times each, and returns the share of those after the tenth that are exactly
// the cap of a second, which every curve under test has reached by then.
func shareAtCap(next func(s strategy.State) time.Duration) float64 {
	source := rand.New(rand.NewPCG(1, 2))
	all, atCap := 0, 0
	for range 1000 {
		s := strategy.State{Rand: source.Float64}
		for s.Number = 1; s.Number <= 30; s.Number++ {
			s.Prev = next(s)
			if s.Number <= 10 {
				continue
			}
			all++
			if s.Prev == time.Second {
				atCap++
			}
		}
	}
	return float64(atCap) / float64(all)
}

func nextOf(u strategy.Strategy) func(strategy.State) time.Duration {
	return func(s strategy.State) time.Duration {
		delay, _ := u.Next(s)
		return delay
	}
}

func jitterOn(u strategy.Strategy, jitter strategy.Jitter) func(strategy.State) time.Duration {
	return func(s strategy.State) time.Duration {
		delay, _ := u.Next(s)
		return jitter(delay, time.Second, s.Rand())
	}
}

func TestDrawsDoNotGatherAtTheCap(t *testing.T) {
	exponential := strategy.Exponential{Base: 10 * ms}
	for name, next := range map[string]func(strategy.State) time.Duration{
		"FullJitter":        nextOf(strategy.FullJitter{Base: 10 * ms, Max: time.Second}),
		"EqualJitter":       nextOf(strategy.EqualJitter{Base: 10 * ms, Max: time.Second}),
		"Decorrelated":      nextOf(strategy.Decorrelated{Base: 10 * ms, Max: time.Second, Capped: true}),
		"Full":              jitterOn(exponential, strategy.Full),
		"Equal":             jitterOn(exponential, strategy.Equal),
		"Proportional(0.1)": jitterOn(exponential, strategy.Proportional(0.1)),
		"Proportional(0.5)": jitterOn(exponential, strategy.Proportional(0.5)),
		"Proportional(1)":   jitterOn(exponential, strategy.Proportional(1)),
	} {
		require.Less(t, shareAtCap(next), 0.01, name)
	}
}

func TestDrawsDoNotGatherAtTheLimit(t *testing.T) {
	for _, u := range []strategy.Strategy{
		strategy.FullJitter{Base: 10 * ms}, strategy.EqualJitter{Base: 10 * ms}, strategy.Decorrelated{Base: 10 * ms, Capped: true},
	} {
		require.Less(t, shareAtCap(func(s strategy.State) time.Duration {
			s.Limit = time.Second
			return nextOf(u)(s)
		}), 0.01, "%v", u)
	}
}

func TestDecorrelatedAsPublishedGathersAtTheCap(t *testing.T) {
	share := shareAtCap(nextOf(strategy.Decorrelated{Base: 10 * ms, Max: time.Second}))
	require.Greater(t, share, 0.2, "this is what Capped is for")
	require.Less(t, share, 0.7)
}
