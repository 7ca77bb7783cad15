package strategy_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

func TestFibonacci(t *testing.T) {
	for _, c := range []curve{
		{"zero value", strategy.Fibonacci{}, 0, each(ms, 100, 100, 200, 300, 500, 800, 1300, 2100)},
		{"first", strategy.Fibonacci{First: time.Second}, 0, each(time.Second, 1, 1, 2, 3, 5, 8, 13)},
		{"second", strategy.Fibonacci{First: time.Second, Second: 2 * time.Second}, 0, each(time.Second, 1, 2, 3, 5, 8, 13)},
		{"second only", strategy.Fibonacci{Second: 300 * ms}, 0, each(ms, 100, 300, 400, 700, 1100)},
		{"first above second", strategy.Fibonacci{First: 5 * ms, Second: ms}, 0, each(ms, 5, 1, 6, 7, 13)},
		{"max", strategy.Fibonacci{Max: 400 * ms}, 0, each(ms, 100, 100, 200, 300, 400, 400)},
		{"second below max below first", strategy.Fibonacci{First: 50 * ms, Second: 10 * ms, Max: 20 * ms}, 0, each(ms, 20, 10, 20, 20)},
		{"limit below max", strategy.Fibonacci{Max: time.Second}, 400 * ms, each(ms, 100, 100, 200, 300, 400, 400)},
		{"first above max", strategy.Fibonacci{First: time.Hour, Max: time.Second}, 0, each(time.Second, 1, 1, 1)},
		{"saturates", strategy.Fibonacci{First: forever}, 0, []time.Duration{forever, forever, forever}},
		{"saturates in a sum", strategy.Fibonacci{First: 1, Second: forever}, 0, []time.Duration{1, forever, forever, forever}},
		{"negative fields are not set", strategy.Fibonacci{First: -1, Second: -1, Max: -1}, 0, each(ms, 100, 100, 200)},
	} {
		c.run(t)
	}
}

func TestFibonacciIsExactUntilItSaturates(t *testing.T) {
	a, b := big.NewInt(1), big.NewInt(1)
	for n := 1; n <= 200; n++ {
		want := forever
		if a.IsInt64() {
			want = time.Duration(a.Int64())
		}
		require.Equal(t, []time.Duration{want}, drawing(t, strategy.Fibonacci{First: 1}, 0, n), "failure %d", n)
		a.Add(a, b)
		a, b = b, a
	}
	require.Equal(t, []time.Duration{forever}, drawing(t, strategy.Fibonacci{First: 1}, 0, math.MaxInt))
}

func TestFibonacciValidate(t *testing.T) {
	require.NoError(t, strategy.Fibonacci{}.Validate())
	require.NoError(t, strategy.Fibonacci{First: time.Hour, Second: 1, Max: 2}.Validate())
	requireConfigError(t, strategy.Fibonacci{First: -1}.Validate(), "Fibonacci.First",
		"strategy: Fibonacci.First = -1ns: must not be negative")
	requireConfigError(t, strategy.Fibonacci{Second: -1}.Validate(), "Fibonacci.Second",
		"strategy: Fibonacci.Second = -1ns: must not be negative")
	requireConfigError(t, strategy.Fibonacci{Max: -1}.Validate(), "Fibonacci.Max",
		"strategy: Fibonacci.Max = -1ns: must not be negative")
}
