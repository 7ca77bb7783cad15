package strategy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

func TestFunc(t *testing.T) {
	echo := strategy.Func(func(s strategy.State) (time.Duration, bool) { return s.Prev, s.Number < 3 })
	for _, c := range []struct {
		state strategy.State
		want  time.Duration
		ok    bool
	}{
		{strategy.State{Number: 1, Prev: time.Second}, time.Second, true},
		{strategy.State{Number: 1, Prev: time.Second, Limit: ms}, ms, true},
		{strategy.State{Number: 1, Prev: -time.Second}, 0, true},
		{strategy.State{Number: 3, Prev: time.Second}, 0, false},
	} {
		got, ok := echo.Next(c.state)
		require.Equal(t, c.ok, ok)
		require.Equal(t, c.want, got)
	}
	_, ok := strategy.Func(nil).Next(strategy.State{Number: 1})
	require.False(t, ok)
	require.NoError(t, echo.Validate())
	requireConfigError(t, strategy.Func(nil).Validate(), "Func", "strategy: Func = nil: must not be nil")
}
