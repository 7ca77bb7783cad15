package strategy_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry/strategy"
)

const (
	ms      = time.Millisecond
	forever = time.Duration(math.MaxInt64)
	// almostOne is the largest number that a random source draws.
	almostOne = 1 - 1.0/(1<<53)
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// always is a random source that draws r every time.
func always(r float64) func() float64 { return func() float64 { return r } }

// drawing returns the waits after the given failures, each with the same r and no Prev.
func drawing(t testing.TB, s strategy.Strategy, r float64, numbers ...int) []time.Duration {
	t.Helper()
	waits := make([]time.Duration, len(numbers))
	for i, n := range numbers {
		var ok bool
		waits[i], ok = s.Next(strategy.State{Number: n, Rand: always(r)})
		require.True(t, ok, "failure %d", n)
	}
	return waits
}

// each writes numbers in a unit.
func each(unit time.Duration, numbers ...int64) []time.Duration {
	waits := make([]time.Duration, len(numbers))
	for i, n := range numbers {
		waits[i] = time.Duration(n) * unit
	}
	return waits
}

// curve is one row of a table of exact sequences.
type curve struct {
	name  string
	s     strategy.Strategy
	limit time.Duration
	want  []time.Duration
}

func (c curve) run(t *testing.T) {
	t.Run(c.name, func(t *testing.T) {
		var got []time.Duration
		for n := range c.want {
			delay, ok := c.s.Next(strategy.State{Number: n + 1, Limit: c.limit, Rand: func() float64 {
				t.Error("a curve without jitter draws nothing")
				return 0
			}})
			require.True(t, ok)
			got = append(got, delay)
		}
		require.Equal(t, c.want, got)
	})
}

// requireConfigError checks that err is a *ConfigError on that field with that text.
func requireConfigError(t testing.TB, err error, field, text string) {
	t.Helper()
	var config *strategy.ConfigError
	require.ErrorAs(t, err, &config)
	require.Equal(t, field, config.Field)
	require.EqualError(t, err, text)
}

// validate calls Validate, which every strategy of this package has.
func validate(t testing.TB, s strategy.Strategy) error {
	t.Helper()
	v, ok := s.(interface{ Validate() error })
	require.True(t, ok, "%T has no Validate", s)
	return v.Validate()
}
