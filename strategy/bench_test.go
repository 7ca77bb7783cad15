package strategy_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

// plain are strategies as they are used, by name.
var plain = []struct {
	name string
	s    strategy.Strategy
}{
	{"Constant", strategy.Constant{Delay: time.Second}},
	{"Linear", strategy.Linear{Max: time.Minute}},
	{"Exponential", strategy.Exponential{Max: time.Minute}},
	{"Exponential3", strategy.Exponential{Factor: 3, Max: time.Minute}},
	{"Exponential1.5", strategy.Exponential{Factor: 1.5, Max: time.Minute}},
	{"Fibonacci", strategy.Fibonacci{Max: time.Minute}},
	{"Sequence", strategy.Sequence{Delays: each(ms, 1, 2, 3), Repeat: true}},
	{"FullJitter", strategy.FullJitter{Max: time.Minute}},
	{"EqualJitter", strategy.EqualJitter{Max: time.Minute}},
	{"Decorrelated", strategy.Decorrelated{Max: time.Minute}},
	{"DecorrelatedCapped", strategy.Decorrelated{Max: time.Minute, Capped: true}},
	{"Func", strategy.Func(func(s strategy.State) (time.Duration, bool) { return s.Prev, true })},
	{"ByThrottled", strategy.ByThrottled{Normal: strategy.FullJitter{}, Throttled: strategy.Exponential{}}},
	{"ByThrottledStarted", strategy.ByThrottled{Normal: strategy.FullJitter{}, Throttled: strategy.Exponential{}}.Start()},
}

func TestNextDoesNotAllocate(t *testing.T) {
	for _, p := range plain {
		for _, s := range []strategy.State{
			{Number: 1}, {Number: 5, Prev: time.Second, Limit: time.Minute, Rand: always(0.5)}, {Number: math.MaxInt, Throttled: true},
		} {
			require.Zero(t, testing.AllocsPerRun(100, func() { p.s.Next(s) }), p.name)
		}
	}
}

func TestTellingByThrottledDoesNotAllocate(t *testing.T) {
	b := strategy.ByThrottled{Normal: silent{}, Throttled: strategy.Exponential{}}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		b.Failed(strategy.State{Number: 1})
		b.Succeed()
	}))
}

// silent is a Learner that learns nothing.
type silent struct{ strategy.Constant }

func (silent) Failed(strategy.State) {}
func (silent) Succeed()              {}

func TestJittersDoNotAllocate(t *testing.T) {
	for name, jitter := range jitters() {
		require.Zero(t, testing.AllocsPerRun(100, func() { jitter(time.Second, time.Minute, 0.5) }), name)
	}
}

func BenchmarkNext(b *testing.B) {
	for _, p := range plain {
		b.Run(p.name, func(b *testing.B) {
			s := strategy.State{Number: 5, Prev: time.Second, Limit: time.Hour}
			b.ReportAllocs()
			for b.Loop() {
				p.s.Next(s)
			}
		})
	}
}

// BenchmarkNextFar asks for a failure so late that a loop over all failures before it would never end.
func BenchmarkNextFar(b *testing.B) {
	for _, s := range []strategy.Strategy{
		strategy.Linear{}, strategy.Exponential{}, strategy.Exponential{Factor: 3}, strategy.Exponential{Factor: 1.5}, strategy.Fibonacci{First: 1},
	} {
		b.Run(s.(interface{ String() string }).String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Next(strategy.State{Number: math.MaxInt})
			}
		})
	}
}

func BenchmarkJitter(b *testing.B) {
	for name, jitter := range map[string]strategy.Jitter{"Full": strategy.Full, "Equal": strategy.Equal, "Proportional": strategy.Proportional(0.5)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				jitter(time.Second, time.Minute, 0.5)
			}
		})
	}
}
