package strategy_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

func TestConfigErrorText(t *testing.T) {
	for want, err := range map[string]*strategy.ConfigError{
		"strategy: invalid":                        nil,
		`strategy: X.A = "a\"b": must be b`:        {Field: "X.A", Value: `a"b`, Problem: "must be b"},
		"strategy: X.A = nil: must not be nil":     {Field: "X.A", Problem: "must not be nil"},
		"strategy: X.A = NaN: must be a number":    {Field: "X.A", Value: math.NaN(), Problem: "must be a number"},
		"strategy: X.A = [1ms 2ms]: must be short": {Field: "X.A", Value: each(ms, 1, 2), Problem: "must be short"},
	} {
		require.EqualError(t, err, want)
	}
}
