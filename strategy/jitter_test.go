package strategy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

// jitters are all jitters, with the factors below and above the delay that each may reach. A new jitter is added here.
func jitters() map[string]strategy.Jitter {
	all := map[string]strategy.Jitter{"Full": strategy.Full, "Equal": strategy.Equal}
	for _, factor := range []float64{0, 0.25, 0.5, 1, 2, math.MaxFloat64, math.SmallestNonzeroFloat64, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		all[fmt.Sprintf("Proportional(%v)", factor)] = strategy.Proportional(factor)
	}
	return all
}

// conformJitter checks one answer. It is called too often for require.
func conformJitter(t testing.TB, name string, jitter strategy.Jitter, delay, limit time.Duration, r float64) time.Duration {
	got := jitter(delay, limit, r)
	if got < 0 || got > max(limit, 0) {
		t.Fatalf("%s(%d, %d, %v) = %d", name, delay, limit, r, got)
	}
	if again := jitter(delay, limit, r); again != got {
		t.Fatalf("%s(%d, %d, %v) = %d, then %d", name, delay, limit, r, got, again)
	}
	return got
}

var allDelays = []time.Duration{math.MinInt64, -1, 0, 1, 2, 3, 999, time.Second, time.Hour, 1<<53 + 1, 1<<62 + 1, forever - 1, forever}

func TestJitterConformance(t *testing.T) {
	for name, jitter := range jitters() {
		for _, delay := range allDelays {
			for _, limit := range allDelays {
				for _, r := range allRands {
					conformJitter(t, name, jitter, delay, limit, r)
				}
				last := time.Duration(0)
				for _, r := range []float64{0, 1e-300, 0.25, 0.5, 0.75, almostOne} {
					got := conformJitter(t, name, jitter, delay, limit, r)
					require.GreaterOrEqual(t, got, last, "%s(%d, %d): grows with r", name, delay, limit)
					last = got
				}
			}
			require.Zero(t, jitter(delay, 0, 0.5), "%s: a limit of 0 leaves nothing", name)
			require.Zero(t, jitter(delay, -time.Second, 0.5), "%s: nor does one below", name)
		}
	}
}

func TestJitterConcurrentSafe(t *testing.T) {
	var group sync.WaitGroup
	for name, jitter := range jitters() {
		want := jitter(time.Second, time.Minute, 0.3)
		for range 4 {
			group.Go(func() {
				for range 50 {
					if got := jitter(time.Second, time.Minute, 0.3); got != want {
						t.Errorf("%s: %v, alone %v", name, got, want)
					}
				}
			})
		}
	}
	group.Wait()
}

func TestJitterValues(t *testing.T) {
	for _, c := range []struct {
		name         string
		jitter       strategy.Jitter
		delay, limit time.Duration
		low, middle  time.Duration
		high         time.Duration
	}{
		{"full", strategy.Full, 800 * ms, forever, 0, 400 * ms, 800 * ms},
		{"full at the limit", strategy.Full, time.Hour, time.Second, 0, 500 * ms, time.Second},
		{"full of nothing", strategy.Full, 0, time.Second, 0, 0, 0},
		{"full of less", strategy.Full, -time.Second, time.Second, 0, 0, 0},
		{"full of one", strategy.Full, 1, time.Second, 0, 1, 1},
		{"equal", strategy.Equal, 800 * ms, forever, 400 * ms, 600 * ms, 800 * ms},
		{"equal at the limit", strategy.Equal, time.Hour, time.Second, 500 * ms, 750 * ms, time.Second},
		{"equal of one", strategy.Equal, 1, time.Second, 0, 1, 1},
		{"proportional", strategy.Proportional(0.25), 800 * ms, forever, 600 * ms, 800 * ms, time.Second},
		{"proportional at the limit", strategy.Proportional(0.5), time.Hour, time.Second, 500 * ms, 750 * ms, time.Second},
		{"proportional near the limit", strategy.Proportional(0.5), 800 * ms, time.Second, 400 * ms, 700 * ms, time.Second},
		{"proportional of everything", strategy.Proportional(1), time.Second, forever, 0, time.Second, 2 * time.Second},
		{"proportional of more", strategy.Proportional(3), time.Second, forever, 0, 2 * time.Second, 4 * time.Second},
		{"proportional of infinity", strategy.Proportional(math.Inf(1)), time.Second, 10 * time.Second, 0, 5 * time.Second, 10 * time.Second},
		{"proportional of zero", strategy.Proportional(0), time.Second, forever, time.Second, time.Second, time.Second},
		{"proportional of zero at the limit", strategy.Proportional(0), time.Minute, time.Second, time.Second, time.Second, time.Second},
		{"proportional of NaN", strategy.Proportional(math.NaN()), time.Second, forever, time.Second, time.Second, time.Second},
		{"proportional of less than zero", strategy.Proportional(-5), time.Second, forever, time.Second, time.Second, time.Second},
		{"infinitely much of nothing", strategy.Proportional(math.Inf(1)), 0, time.Second, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.low, c.jitter(c.delay, c.limit, 0))
			require.Equal(t, c.middle, c.jitter(c.delay, c.limit, 0.5))
			require.Equal(t, c.high, c.jitter(c.delay, c.limit, almostOne))
			require.Equal(t, c.low, c.jitter(c.delay, c.limit, math.NaN()))
			require.Equal(t, c.low, c.jitter(c.delay, c.limit, -7))
			require.Equal(t, c.high, c.jitter(c.delay, c.limit, 7))
		})
	}
}

func TestProportionalOfTwoNanosecondsIsEven(t *testing.T) {
	seen, jitter := map[time.Duration]int{}, strategy.Proportional(0.5)
	for i := range 3000 {
		seen[jitter(2, forever, (float64(i)+0.5)/3000)]++
	}
	require.Equal(t, map[time.Duration]int{1: 1000, 2: 1000, 3: 1000}, seen)
}

func TestP03ZeroOrNegativeJitterLeavesTheDelay(t *testing.T) {
	for _, factor := range []float64{0, -0.5, -5, math.NaN(), math.Inf(-1)} {
		for _, r := range allRands {
			require.Equal(t, time.Second, strategy.Proportional(factor)(time.Second, forever, r))
		}
	}
	for name, jitter := range jitters() {
		require.Zero(t, jitter(0, forever, 0.5), name)
		require.Zero(t, jitter(-5*time.Second, forever, 0.5), name)
	}
}

func TestP04JitterKeepsTheCapAndTheSpread(t *testing.T) {
	source := rand.New(rand.NewPCG(4, 4))
	atCap, jitter := 0, strategy.Proportional(0.5)
	for range 10_000 {
		d := jitter(time.Second, time.Second, source.Float64())
		require.LessOrEqual(t, d, time.Second)
		require.GreaterOrEqual(t, d, 500*ms)
		if d == time.Second {
			atCap++
		}
	}
	require.Less(t, atCap, 100)
}

func TestP05JitterNearTheLargestDuration(t *testing.T) {
	source := rand.New(rand.NewPCG(5, 5))
	for range 1000 {
		for name, jitter := range jitters() {
			conformJitter(t, name, jitter, forever, forever, source.Float64())
		}
	}
}
