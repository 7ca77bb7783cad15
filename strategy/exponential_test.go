package strategy_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

func TestExponential(t *testing.T) {
	for _, c := range []curve{
		{"zero value", strategy.Exponential{}, 0, each(ms, 100, 200, 400, 800, 1600, 3200)},
		{"base", strategy.Exponential{Base: 3 * time.Second}, 0, each(time.Second, 3, 6, 12, 24, 48)},
		{"factor 1", strategy.Exponential{Factor: 1}, 0, each(ms, 100, 100, 100)},
		{"factor 3", strategy.Exponential{Base: ms, Factor: 3}, 0, each(ms, 1, 3, 9, 27, 81, 243)},
		{"factor 10", strategy.Exponential{Base: ms, Factor: 10, Max: 2 * time.Second}, 0, each(ms, 1, 10, 100, 1000, 2000, 2000)},
		{"factor 1.5", strategy.Exponential{Factor: 1.5}, 0, each(time.Microsecond, 100_000, 150_000, 225_000, 337_500, 506_250)},
		{"factor 1.1 rounds to nearest", strategy.Exponential{Base: time.Second, Factor: 1.1}, 0,
			each(time.Microsecond, 1_000_000, 1_100_000, 1_210_000, 1_331_000, 1_464_100)},
		{"factor 1.7 too", strategy.Exponential{Base: time.Second, Factor: 1.7}, 0,
			each(time.Microsecond, 1_000_000, 1_700_000, 2_890_000, 4_913_000, 8_352_100, 14_198_570)},
		{"max", strategy.Exponential{Max: 350 * ms}, 0, each(ms, 100, 200, 350, 350)},
		{"limit below max", strategy.Exponential{Max: time.Second}, 350 * ms, each(ms, 100, 200, 350, 350)},
		{"max below limit", strategy.Exponential{Max: 350 * ms}, time.Second, each(ms, 100, 200, 350, 350)},
		{"base above max", strategy.Exponential{Base: time.Minute, Max: time.Second}, 0, each(time.Second, 1, 1)},
		{"base above max, factor 3", strategy.Exponential{Base: time.Minute, Factor: 3, Max: time.Second}, 0, each(time.Second, 1, 1)},
		{"base above max, factor 1.5", strategy.Exponential{Base: time.Minute, Factor: 1.5, Max: time.Second}, 0, each(time.Second, 1, 1)},
		{"huge factor", strategy.Exponential{Base: 1, Factor: math.MaxFloat64}, 0, []time.Duration{1, forever, forever}},
		{"factor 2^62", strategy.Exponential{Base: 1, Factor: 1 << 62}, 0, []time.Duration{1, 1 << 62, forever}},
		{"largest base", strategy.Exponential{Base: forever, Factor: 1.5}, 0, []time.Duration{forever, forever}},
		{"invalid fields are not set", strategy.Exponential{Base: -1, Factor: -3, Max: -1}, 0, each(ms, 100, 200, 400)},
		{"shrinking factor is not set", strategy.Exponential{Factor: 0.5}, 0, each(ms, 100, 200, 400)},
		{"NaN is not set", strategy.Exponential{Factor: math.NaN()}, 0, each(ms, 100, 200, 400)},
		{"infinity is not set", strategy.Exponential{Factor: math.Inf(1)}, 0, each(ms, 100, 200, 400)},
	} {
		c.run(t)
	}
}

func TestExponentialValidate(t *testing.T) {
	require.NoError(t, strategy.Exponential{}.Validate())
	require.NoError(t, strategy.Exponential{Base: time.Hour, Factor: 1, Max: 1}.Validate())
	require.NoError(t, strategy.Exponential{Factor: math.MaxFloat64}.Validate())
	requireConfigError(t, strategy.Exponential{Base: -1}.Validate(), "Exponential.Base",
		"strategy: Exponential.Base = -1ns: must not be negative")
	requireConfigError(t, strategy.Exponential{Max: -1}.Validate(), "Exponential.Max",
		"strategy: Exponential.Max = -1ns: must not be negative")
	for value, text := range map[float64]string{-1: "-1", 0.5: "0.5", math.Inf(1): "+Inf", math.Inf(-1): "-Inf", 0.999: "0.999"} {
		requireConfigError(t, strategy.Exponential{Factor: value}.Validate(), "Exponential.Factor",
			"strategy: Exponential.Factor = "+text+": must be a finite number, 1 or more (0: 2)")
	}
	require.Error(t, strategy.Exponential{Factor: math.NaN()}.Validate())
}

func TestP01ExponentialSaturates(t *testing.T) {
	uncapped, capped := strategy.Exponential{Base: time.Second}, strategy.Exponential{Base: time.Second, Max: 30 * time.Second}
	want := time.Second
	for n := 1; n <= 200; n++ {
		require.Equal(t, []time.Duration{want}, drawing(t, uncapped, 0, n), "failure %d", n)
		require.Equal(t, []time.Duration{min(want, 30*time.Second)}, drawing(t, capped, 0, n), "failure %d", n)
		if want > forever/2 {
			want = forever
		} else {
			want *= 2
		}
	}
	require.Equal(t, forever, want)
	require.Equal(t, each(time.Second, 1<<33), drawing(t, uncapped, 0, 34), "exact up to the last that fits")
	require.Equal(t, []time.Duration{forever, forever}, drawing(t, uncapped, 0, 35, math.MaxInt))
}

func TestP02ExponentialPowerIsInfinite(t *testing.T) {
	for _, factor := range []float64{1.5, 2, 2.5, 3, 1e300} {
		require.Equal(t, []time.Duration{forever, forever, forever},
			drawing(t, strategy.Exponential{Base: time.Second, Factor: factor}, 0, 1100, 10_000, math.MaxInt), "factor %v", factor)
	}
}

func TestP32ExponentialUsesItsFactor(t *testing.T) {
	require.Equal(t, each(ms, 100, 200, 400, 800, 1000),
		strategy.Delays(strategy.Exponential{Base: 100 * ms, Factor: 2, Max: time.Second}, 5, nil))
	require.Equal(t, each(ms, 100, 400, 1000),
		strategy.Delays(strategy.Exponential{Base: 100 * ms, Factor: 4, Max: time.Second}, 3, nil))
}

func TestP41LiteralsHaveDefaults(t *testing.T) {
	require.Equal(t, each(ms, 100, 200, 400), strategy.Delays(strategy.Exponential{}, 3, nil))
	require.Equal(t, each(ms, 100, 100, 200), strategy.Delays(strategy.Fibonacci{}, 3, nil))
	require.Equal(t, each(ms, 100, 200, 300), strategy.Delays(strategy.Linear{}, 3, nil))
	require.Empty(t, strategy.Delays(strategy.Sequence{}, 3, nil), "an empty list ends the call")
	require.Error(t, strategy.Sequence{}.Validate())
}

func TestP42ZeroIntervalIsNoHotLoop(t *testing.T) {
	require.Equal(t, each(ms, 100, 200), strategy.Delays(strategy.Exponential{Base: 0}, 2, nil))
	require.Equal(t, each(ms, 0, 0), strategy.Delays(strategy.Constant{}, 2, nil), "the documented zero")
}
