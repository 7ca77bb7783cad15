package strategy_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

func TestDelays(t *testing.T) {
	var nothing *strategy.Exponential
	for name, c := range map[string]struct {
		s    strategy.Strategy
		n    int
		want []time.Duration
	}{
		"first n":                  {strategy.Exponential{}, 4, each(ms, 100, 200, 400, 800)},
		"none":                     {strategy.Exponential{}, 0, nil},
		"fewer than none":          {strategy.Exponential{}, math.MinInt, nil},
		"nil":                      {nil, 3, nil},
		"nil pointer":              {nothing, 3, nil},
		"pointer":                  {&strategy.Exponential{}, 2, each(ms, 100, 200)},
		"nil func":                 {strategy.Func(nil), 3, nil},
		"ends at once":             {strategy.Sequence{}, 3, []time.Duration{}},
		"to the end":               {strategy.Sequence{Delays: each(ms, 1, 2)}, 9, each(ms, 1, 2)},
		"more than memory":         {strategy.Sequence{Delays: each(ms, 1, 2)}, math.MaxInt, each(ms, 1, 2)},
		"prev carried":             {strategy.Decorrelated{Base: 100 * ms}, 3, each(ms, 200, 350, 575)},
		"middle of what is drawn":  {strategy.FullJitter{}, 3, each(ms, 50, 100, 200)},
		"below 0 is 0":             {negative{}, 2, each(ms, 0, 0)},
		"normal, never throttled":  {strategy.ByThrottled{Normal: strategy.Linear{}, Throttled: strategy.Constant{}}, 2, each(ms, 100, 200)},
		"Starter that starts none": {startsNothing{}, 2, each(ms, 0, 0)},
		"Starter that starts nil":  {startsNil{}, 2, each(ms, 0, 0)},
	} {
		require.Equal(t, c.want, strategy.Delays(c.s, c.n, always(0.5)), name)
	}
}

func TestDelaysOfManyWaits(t *testing.T) {
	require.Len(t, strategy.Delays(strategy.Constant{}, 1000, nil), 1000)
	require.Len(t, strategy.Delays(strategy.FullJitter{}, 65, nil), 65)
}

func TestDelaysShowsTheState(t *testing.T) {
	var seen []strategy.State
	strategy.Delays(strategy.Func(func(s strategy.State) (time.Duration, bool) {
		require.Equal(t, 0.25, s.Rand())
		s.Rand = nil
		seen = append(seen, s)
		return forever / 2, true
	}), 4, always(0.25))
	require.Equal(t, []strategy.State{
		{Number: 1},
		{Number: 2, Prev: forever / 2, Elapsed: forever / 2},
		{Number: 3, Prev: forever / 2, Elapsed: forever - 1},
		{Number: 4, Prev: forever / 2, Elapsed: forever},
	}, seen)
}

func TestDelaysStartsAStarterAndMovesNoLearner(t *testing.T) {
	starter := &counting{}
	require.Equal(t, each(ms, 1, 2, 3), strategy.Delays(starter, 3, nil))
	require.Equal(t, each(ms, 1, 2, 3), strategy.Delays(starter, 3, nil), "fresh each time")
	learner := &learning{}
	require.Equal(t, each(ms, 0, 0, 0), strategy.Delays(learner, 3, nil))
	require.Empty(t, learner.told)
}

// negative answers below 0.
type negative struct{}

func (negative) Next(strategy.State) (time.Duration, bool) { return math.MinInt64, true }

// startsNothing breaks the contract of Start.
type startsNothing struct{ negative }

func (startsNothing) Start() strategy.Strategy { return nil }

// startsNil breaks it too.
type startsNil struct{ negative }

func (startsNil) Start() strategy.Strategy { return (*strategy.Linear)(nil) }

// counting is a Starter whose private memory counts the waits, and which counts its starts.
type counting struct{ starts int }

func (c *counting) Next(s strategy.State) (time.Duration, bool) { return new(countingCall).Next(s) }
func (c *counting) Start() strategy.Strategy                    { c.starts++; return new(countingCall) }

type countingCall struct{ waits int64 }

func (c *countingCall) Next(strategy.State) (time.Duration, bool) {
	c.waits++
	return time.Duration(c.waits) * ms, true
}

// learning is a Learner that writes down what it is told; its wait is the number of failures it was told.
type learning struct {
	told   []string
	failed int64
}

func (l *learning) Next(strategy.State) (time.Duration, bool) {
	return time.Duration(l.failed) * ms, true
}
func (l *learning) Succeed() { l.told = append(l.told, "succeed") }
func (l *learning) Failed(s strategy.State) {
	l.failed++
	if s.Throttled {
		l.told = append(l.told, "throttled")
	} else {
		l.told = append(l.told, "failed")
	}
}
