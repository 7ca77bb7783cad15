package strategy_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

func TestSequence(t *testing.T) {
	list := each(ms, 100, 0, 1000)
	for _, c := range []curve{
		{"in order", strategy.Sequence{Delays: list}, 0, list},
		{"repeats the last", strategy.Sequence{Delays: list, Repeat: true}, 0, each(ms, 100, 0, 1000, 1000, 1000)},
		{"limit", strategy.Sequence{Delays: list}, 300 * ms, each(ms, 100, 0, 300)},
		{"negative elements are 0", strategy.Sequence{Delays: each(ms, -1, 5)}, 0, each(ms, 0, 5)},
	} {
		c.run(t)
	}
}

func TestSequenceEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		s      strategy.Sequence
		number int
		want   time.Duration
		ok     bool
	}{
		{"last", strategy.Sequence{Delays: each(ms, 1, 2)}, 2, 2 * ms, true},
		{"after the last", strategy.Sequence{Delays: each(ms, 1, 2)}, 3, 0, false},
		{"far after the last", strategy.Sequence{Delays: each(ms, 1, 2)}, math.MaxInt, 0, false},
		{"far after the last, repeated", strategy.Sequence{Delays: each(ms, 1, 2), Repeat: true}, math.MaxInt, 2 * ms, true},
		{"number below 1 is 1", strategy.Sequence{Delays: each(ms, 1, 2)}, math.MinInt, ms, true},
		{"empty", strategy.Sequence{}, 1, 0, false},
		{"empty, repeated", strategy.Sequence{Repeat: true}, 1, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := c.s.Next(strategy.State{Number: c.number})
			require.Equal(t, c.ok, ok)
			require.Equal(t, c.want, got)
		})
	}
}

func TestSequenceValidate(t *testing.T) {
	require.NoError(t, strategy.Sequence{Delays: []time.Duration{0}}.Validate())
	requireConfigError(t, strategy.Sequence{Repeat: true}.Validate(), "Sequence.Delays",
		"strategy: Sequence.Delays = []: must not be empty")
	requireConfigError(t, strategy.Sequence{Delays: each(ms, 1, -2)}.Validate(), "Sequence.Delays[1]",
		"strategy: Sequence.Delays[1] = -2ms: must not be negative")
}

func TestSequenceClone(t *testing.T) {
	original := strategy.Sequence{Delays: each(ms, 1, 2), Repeat: true}
	clone := original.Clone()
	require.Equal(t, original, clone)
	original.Delays[0] = time.Hour
	require.Equal(t, strategy.Sequence{Delays: each(ms, 1, 2), Repeat: true}, clone)
}
