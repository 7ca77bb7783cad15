package strategy_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

func TestFullJitter(t *testing.T) {
	zero, capped := strategy.FullJitter{}, strategy.FullJitter{Base: 200 * ms, Max: time.Second}
	require.Equal(t, each(ms, 0, 0, 0), drawing(t, zero, 0, 1, 2, 3))
	require.Equal(t, each(ms, 50, 100, 200, 400), drawing(t, zero, 0.5, 1, 2, 3, 4))
	require.Equal(t, each(ms, 100, 200, 400, 800), drawing(t, zero, almostOne, 1, 2, 3, 4))
	require.Equal(t, each(ms, 50, 100, 200, 250, 250), drawing(t, capped, 0.25, 1, 2, 3, 4, 5))
	require.Equal(t, each(ms, 200, 400, 800, 1000, 1000), drawing(t, capped, almostOne, 1, 2, 3, 4, math.MaxInt))
	require.Equal(t, each(ms, 500), drawing(t, strategy.FullJitter{Base: time.Hour, Max: time.Second}, 0.5, 1), "the cap wins")
	require.Equal(t, each(ms, 50), drawing(t, strategy.FullJitter{Base: -1, Max: -1}, 0.5, 1), "negative is not set")
}

func TestEqualJitter(t *testing.T) {
	zero, capped := strategy.EqualJitter{}, strategy.EqualJitter{Base: 200 * ms, Max: time.Second}
	require.Equal(t, each(ms, 50, 100, 200), drawing(t, zero, 0, 1, 2, 3))
	require.Equal(t, each(ms, 75, 150, 300, 600), drawing(t, zero, 0.5, 1, 2, 3, 4))
	require.Equal(t, each(ms, 100, 200, 400, 800), drawing(t, zero, almostOne, 1, 2, 3, 4))
	require.Equal(t, each(ms, 150, 300, 600, 750, 750), drawing(t, capped, 0.5, 1, 2, 3, 4, math.MaxInt))
	require.Equal(t, each(ms, 500), drawing(t, strategy.EqualJitter{Base: time.Hour, Max: time.Second}, 0, 1), "the cap wins")
	require.Equal(t, each(ms, 75), drawing(t, strategy.EqualJitter{Base: -1, Max: -1}, 0.5, 1), "negative is not set")
}

func TestDrawsCapAtTheLimitFirst(t *testing.T) {
	for _, c := range []struct {
		s    strategy.Strategy
		want time.Duration
	}{
		{strategy.FullJitter{Base: time.Second, Max: time.Minute}, 150 * ms},
		{strategy.EqualJitter{Base: time.Second, Max: time.Minute}, 225 * ms},
		{strategy.Decorrelated{Base: 100 * ms, Max: time.Minute, Capped: true}, 200 * ms},
		{strategy.Decorrelated{Base: 100 * ms, Max: time.Minute}, 300 * ms}, // after the draw, as its doc says
	} {
		got, ok := c.s.Next(strategy.State{Number: 1, Prev: time.Second, Limit: 300 * ms, Rand: always(0.5)})
		require.True(t, ok)
		require.Equal(t, c.want, got, "%v", c.s)
	}
}

func TestDecorrelated(t *testing.T) {
	for _, c := range []struct {
		name  string
		s     strategy.Decorrelated
		prev  time.Duration
		limit time.Duration
		r     float64
		want  time.Duration
	}{
		{"zero value, low end", strategy.Decorrelated{}, 0, 0, 0, 100 * ms},
		{"zero value, middle", strategy.Decorrelated{}, 0, 0, 0.5, 200 * ms},
		{"zero value, high end", strategy.Decorrelated{}, 0, 0, almostOne, 300 * ms},
		{"prev", strategy.Decorrelated{Base: 100 * ms}, 500 * ms, 0, 0.5, 800 * ms},
		{"prev far below base", strategy.Decorrelated{Base: 100 * ms}, 1, 0, 0.5, 100 * ms},
		{"prev below base", strategy.Decorrelated{Base: 100 * ms}, 50 * ms, 0, almostOne, 150 * ms},
		{"negative prev is none", strategy.Decorrelated{Base: 100 * ms}, math.MinInt64, 0, 0.5, 200 * ms},
		{"cap after the draw", strategy.Decorrelated{Base: 100 * ms, Max: time.Second}, time.Second, 0, 0.5, time.Second},
		{"cap after the draw, below it", strategy.Decorrelated{Base: 100 * ms, Max: time.Second}, time.Second, 0, 0.25, 825 * ms},
		{"cap before the draw", strategy.Decorrelated{Base: 100 * ms, Max: time.Second, Capped: true}, time.Second, 0, 0.5, 550 * ms},
		{"limit after the draw", strategy.Decorrelated{Base: 100 * ms}, time.Second, time.Second, 0.5, time.Second},
		{"limit before the draw", strategy.Decorrelated{Base: 100 * ms, Capped: true}, time.Second, time.Second, 0.5, 550 * ms},
		{"lower of both", strategy.Decorrelated{Base: 100 * ms, Max: time.Second, Capped: true}, time.Second, 500 * ms, 0.5, 300 * ms},
		{"base above max", strategy.Decorrelated{Base: time.Minute, Max: time.Second}, 0, 0, 0.5, time.Second},
		{"base above max, capped", strategy.Decorrelated{Base: time.Minute, Max: time.Second, Capped: true}, 0, 0, 0.5, time.Second},
		{"saturates", strategy.Decorrelated{Base: forever}, forever, 0, 0.5, forever},
		{"negative fields are not set", strategy.Decorrelated{Base: -1, Max: -1}, 0, 0, 0.5, 200 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := c.s.Next(strategy.State{Number: 7, Prev: c.prev, Limit: c.limit, Rand: always(c.r)})
			require.True(t, ok)
			require.Equal(t, c.want, got)
		})
	}
}

func TestDrawsReachBothEnds(t *testing.T) {
	for _, s := range []strategy.Strategy{
		strategy.FullJitter{Base: 2}, strategy.EqualJitter{Base: 4}, strategy.Decorrelated{Base: 1}, strategy.Decorrelated{Base: 1, Capped: true},
	} {
		seen := map[time.Duration]int{}
		for i := range 3000 {
			seen[drawing(t, s, (float64(i)+0.5)/3000, 1)[0]]++
		}
		require.Len(t, seen, 3, "%v", s)
		for d, count := range seen {
			require.InDelta(t, 3000/len(seen), count, 1, "%v draws %d ns", s, d)
		}
	}
}

func TestDrawsWithoutARandomSource(t *testing.T) {
	for _, s := range []strategy.Strategy{strategy.FullJitter{}, strategy.EqualJitter{}, strategy.Decorrelated{}} {
		seen := map[time.Duration]bool{}
		for range 50 {
			d, ok := s.Next(strategy.State{Number: 3})
			require.True(t, ok)
			seen[d] = true
		}
		require.Greater(t, len(seen), 1, "%v", s)
	}
}

func TestDrawsOutsideOfTheUnitIntervalAreClamped(t *testing.T) {
	for r, want := range map[float64]time.Duration{
		-1: 0, math.Inf(-1): 0, 1: 100 * ms, 2: 100 * ms, math.Inf(1): 100 * ms,
	} {
		require.Equal(t, []time.Duration{want}, drawing(t, strategy.FullJitter{}, r, 1), "r = %v", r)
	}
	require.Equal(t, each(ms, 0), drawing(t, strategy.FullJitter{}, math.NaN(), 1))
}

func TestDrawsValidate(t *testing.T) {
	for _, s := range []strategy.Strategy{strategy.FullJitter{}, strategy.EqualJitter{}, strategy.Decorrelated{},
		strategy.FullJitter{Base: time.Hour, Max: 1}, strategy.EqualJitter{Base: time.Hour, Max: 1}, strategy.Decorrelated{Base: time.Hour, Max: 1}} {
		require.NoError(t, validate(t, s))
	}
	for field, s := range map[string]strategy.Strategy{
		"FullJitter.Base": strategy.FullJitter{Base: -1}, "FullJitter.Max": strategy.FullJitter{Max: -1},
		"EqualJitter.Base": strategy.EqualJitter{Base: -1}, "EqualJitter.Max": strategy.EqualJitter{Max: -1},
		"Decorrelated.Base": strategy.Decorrelated{Base: -1}, "Decorrelated.Max": strategy.Decorrelated{Max: -1},
	} {
		requireConfigError(t, validate(t, s), field, "strategy: "+field+" = -1ns: must not be negative")
	}
}

func TestP02FullJitterOnAnUncappedCeiling(t *testing.T) {
	for _, s := range []strategy.Strategy{strategy.FullJitter{Base: time.Second}, strategy.EqualJitter{Base: time.Second}} {
		for _, r := range []float64{0, 0.5, almostOne} {
			for _, delay := range drawing(t, s, r, 34, 64, 1100, math.MaxInt) {
				require.GreaterOrEqual(t, delay, time.Duration(0))
			}
		}
		require.GreaterOrEqual(t, drawing(t, s, almostOne, 1100)[0], forever-2048, "the upper end, as near as a float64 comes")
	}
}
