package strategy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

func TestConstant(t *testing.T) {
	for _, c := range []curve{
		{"zero value", strategy.Constant{}, 0, each(ms, 0, 0, 0)},
		{"delay", strategy.Constant{Delay: time.Second}, 0, each(time.Second, 1, 1, 1)},
		{"limit", strategy.Constant{Delay: time.Second}, 300 * ms, each(ms, 300, 300)},
		{"limit above", strategy.Constant{Delay: time.Second}, time.Minute, each(ms, 1000, 1000)},
		{"largest", strategy.Constant{Delay: forever}, 0, []time.Duration{forever, forever}},
		{"negative", strategy.Constant{Delay: -1}, 0, each(ms, 0, 0)},
		{"negative limit is none", strategy.Constant{Delay: time.Second}, -1, each(ms, 1000)},
	} {
		c.run(t)
	}
}

func TestConstantValidate(t *testing.T) {
	require.NoError(t, strategy.Constant{}.Validate())
	require.NoError(t, strategy.Constant{Delay: forever}.Validate())
	requireConfigError(t, strategy.Constant{Delay: -time.Second}.Validate(), "Constant.Delay",
		"strategy: Constant.Delay = -1s: must not be negative")
}
