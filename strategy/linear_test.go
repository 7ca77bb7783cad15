package strategy_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

func TestLinear(t *testing.T) {
	for _, c := range []curve{
		{"zero value", strategy.Linear{}, 0, each(ms, 100, 200, 300, 400, 500)},
		{"initial only", strategy.Linear{Initial: time.Second}, 0, each(time.Second, 1, 2, 3, 4)},
		{"increment only", strategy.Linear{Increment: 50 * ms}, 0, each(ms, 100, 150, 200, 250)},
		{"both", strategy.Linear{Initial: 2 * time.Second, Increment: 500 * ms}, 0, each(ms, 2000, 2500, 3000)},
		{"max", strategy.Linear{Initial: 100 * ms, Max: 250 * ms}, 0, each(ms, 100, 200, 250, 250)},
		{"limit below max", strategy.Linear{Max: 350 * ms}, 250 * ms, each(ms, 100, 200, 250, 250)},
		{"max below limit", strategy.Linear{Max: 250 * ms}, time.Hour, each(ms, 100, 200, 250, 250)},
		{"initial above max", strategy.Linear{Initial: time.Hour, Max: time.Second}, 0, each(time.Second, 1, 1)},
		{"one nanosecond is the real zero", strategy.Linear{Initial: 1, Increment: time.Second}, 0,
			[]time.Duration{1, time.Second + 1, 2*time.Second + 1}},
		{"saturates", strategy.Linear{Initial: forever - 1, Increment: 1}, 0,
			[]time.Duration{forever - 1, forever, forever, forever}},
		{"negative fields are not set", strategy.Linear{Initial: -1, Increment: -1, Max: -1}, 0, each(ms, 100, 200, 300)},
	} {
		c.run(t)
	}
}

func TestLinearValidate(t *testing.T) {
	require.NoError(t, strategy.Linear{}.Validate())
	require.NoError(t, strategy.Linear{Initial: time.Hour, Max: 1}.Validate())
	requireConfigError(t, strategy.Linear{Initial: -1}.Validate(), "Linear.Initial",
		"strategy: Linear.Initial = -1ns: must not be negative")
	requireConfigError(t, strategy.Linear{Increment: -ms}.Validate(), "Linear.Increment",
		"strategy: Linear.Increment = -1ms: must not be negative")
	requireConfigError(t, strategy.Linear{Max: -time.Hour}.Validate(), "Linear.Max",
		"strategy: Linear.Max = -1h0m0s: must not be negative")
}

func TestP46LinearSaturates(t *testing.T) {
	numbers := []int{min(1<<40, math.MaxInt), math.MaxInt} // int may have 32 bits
	require.Equal(t, []time.Duration{forever, forever},
		drawing(t, strategy.Linear{Initial: time.Hour, Increment: time.Hour}, 0, numbers...))
	require.Equal(t, each(time.Hour, 1, 1),
		drawing(t, strategy.Linear{Initial: time.Hour, Increment: time.Hour, Max: time.Hour}, 0, numbers...))
	require.Equal(t, []time.Duration{time.Duration(numbers[0]), time.Duration(numbers[1])},
		drawing(t, strategy.Linear{Initial: 1, Increment: 1}, 0, numbers...))
}
