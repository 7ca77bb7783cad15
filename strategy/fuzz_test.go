package strategy_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/strategy"
)

func FuzzStrategies(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add(int64(time.Second), int64(time.Minute), int64(time.Second), 2.0, 1, int64(0), int64(0), 0.5, false)
	f.Add(int64(0), int64(0), int64(0), 0.0, math.MaxInt, int64(math.MaxInt64), int64(math.MaxInt64), almostOne, true)
	f.Add(int64(math.MaxInt64), int64(0), int64(1), 1.5, 2, int64(1), int64(0), 0.0, false)
	f.Add(int64(1), int64(-1), int64(math.MinInt64), math.NaN(), math.MinInt, int64(-1), int64(-1), math.NaN(), true)
	f.Add(int64(1<<53+1), int64(0), int64(1<<62), math.Inf(1), 63, int64(math.MaxInt64/3+1), int64(0), -1.0, false)
	f.Add(int64(3), int64(math.MaxInt64-1), int64(7), 1.0000001, min(1<<40, math.MaxInt), int64(0), int64(math.MaxInt64), 2.0, false)
	f.Fuzz(func(t *testing.T, base, most, other int64, factor float64, number int, prev, limit int64, r float64, throttled bool) {
		b, m, o := time.Duration(base), time.Duration(most), time.Duration(other)
		linear, full := strategy.Linear{Initial: b, Increment: o, Max: m}, strategy.FullJitter{Base: b, Max: m}
		list := []time.Duration{b, o}
		first := b
		if b <= 0 {
			first = 100 * ms // the default
		}
		for _, u := range []subject{
			{s: strategy.Constant{Delay: b}, grows: true, text: true},
			{s: linear, most: m, grows: true, text: true},
			// Beside 1, steps smaller than what float64 can tell apart may go either way.
			{s: strategy.Exponential{Base: b, Factor: factor, Max: m}, most: m, grows: !(factor > 1 && factor < 1.000001), text: true},
			{s: strategy.Fibonacci{First: b, Second: o, Max: m}, most: m, grows: number > 1 || o <= 0 || o >= first, text: true},
			{s: strategy.Sequence{Delays: list}, text: true, ends: true},
			{s: strategy.Sequence{Delays: list, Repeat: true}, text: true},
			{s: full, most: m, draws: 1, grows: true, text: true},
			{s: strategy.EqualJitter{Base: b, Max: m}, most: m, draws: 1, grows: true, text: true},
			{s: strategy.Decorrelated{Base: b, Max: m}, most: m, draws: 1, grows: true, text: true},
			{s: strategy.Decorrelated{Base: b, Max: m, Capped: true}, most: m, draws: 1, grows: true, text: true},
			{s: strategy.Func(func(s strategy.State) (time.Duration, bool) { return o + s.Prev, b > 0 }), ends: true},
			{s: strategy.ByThrottled{Normal: linear, Throttled: linear}, most: m, grows: true, text: true},
			{s: strategy.ByThrottled{Normal: full, Throttled: full}, most: m, draws: 1, grows: true, text: true},
			{s: strategy.ByThrottled{Normal: full, Throttled: full}.Start(), most: m, draws: 1, grows: true},
		} {
			state := strategy.State{
				Number: number, Prev: time.Duration(prev), Elapsed: time.Duration(prev), Limit: time.Duration(limit),
				Throttled: throttled, Rand: always(r),
			}
			delay, _ := conform(t, u, state)
			if state.Number < math.MaxInt {
				state.Number++
				if next, _ := conform(t, u, state); u.grows && next < delay {
					t.Fatalf("%#v shrinks from %d to %d ns at failure %d", u.s, delay, next, state.Number)
				}
			}
			if u.text && validate(t, u.s) == nil {
				text := u.s.(fmt.Stringer).String()
				parsed, err := strategy.Parse(text)
				require.NoError(t, err, text)
				require.Equal(t, u.s, parsed, text)
			}
		}
	})
}

func FuzzJitters(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add(int64(time.Second), int64(time.Minute), 0.5, 0.5)
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), 0.5, almostOne)
	f.Add(int64(0), int64(math.MaxInt64), math.Inf(1), 0.5)
	f.Add(int64(-1), int64(-1), math.NaN(), math.NaN())
	f.Add(int64(1<<53+1), int64(1<<53+3), 1.0, almostOne)
	f.Add(int64(1), int64(1), math.SmallestNonzeroFloat64, -1.0)
	f.Fuzz(func(t *testing.T, delay, limit int64, factor, r float64) {
		d, l := time.Duration(delay), time.Duration(limit)
		whole := max(min(d, l), 0)
		if got := conformJitter(t, "Full", strategy.Full, d, l, r); got > whole {
			t.Fatalf("Full of %d is %d", whole, got)
		}
		if got := conformJitter(t, "Equal", strategy.Equal, d, l, r); got > whole || got < whole/2 {
			t.Fatalf("Equal of %d is %d", whole, got)
		}
		jitter := strategy.Proportional(factor)
		got := conformJitter(t, "Proportional", jitter, d, l, r)
		low, high := conformJitter(t, "Proportional", jitter, d, l, 0), conformJitter(t, "Proportional", jitter, d, l, 1)
		if got < low || got > high || low > whole {
			t.Fatalf("Proportional(%v) of %d is %d, in %d..%d", factor, whole, got, low, high)
		}
	})
}

func FuzzParse(tf *testing.F) {
	f := fuzzed.New(tf)
	for _, text := range []string{
		"", "exponential", "exponential(base=100ms, factor=1.5, max=20s)", "sequence(delays=[0s, 1s], repeat=true)",
		"bythrottled(normal=fulljitter(base=50ms), throttled=sequence(delays=[1s]))", "constant(delay=-0)", "exponential(factor=-0)",
		"lild(initial=2s, incrementonsuccess=-1s)", "limd(multipleonsuccess=0.2)", "mild(multipleonfailure=1e-300)", "bythrottled(normal=mimd, throttled=mimd)",
		"linear(max=1s", "linear(max=1s))", "linear(,)", "linear(=)", "FIBONACCI ( SECOND = 1h )", "sequence(delays=[[1s]])",
		"decorrelated(capped=1)", "exponential(factor=0x1p3)", "exponential(factor=inf)", "bythrottled(normal=bythrottled(normal=", "((((", "ſequence",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := strategy.Parse(text)
		if err != nil {
			var config *strategy.ConfigError
			require.ErrorAs(t, err, &config)
			require.NotEmpty(t, config.Field)
			require.Nil(t, s)
			return
		}
		require.NoError(t, validate(t, s))
		written := s.(fmt.Stringer).String()
		again, err := strategy.Parse(written)
		require.NoError(t, err, written)
		require.Equal(t, s, again)
		require.Equal(t, written, again.(fmt.Stringer).String())
	})
}
