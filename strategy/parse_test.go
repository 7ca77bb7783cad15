package strategy_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

func TestParseAndString(t *testing.T) {
	for text, s := range map[string]strategy.Strategy{
		"constant":           strategy.Constant{},
		"constant(delay=1s)": strategy.Constant{Delay: time.Second},
		"linear":             strategy.Linear{},
		"linear(initial=100ms, increment=50ms, max=5s)": strategy.Linear{Initial: 100 * ms, Increment: 50 * ms, Max: 5 * time.Second},
		"exponential":             strategy.Exponential{},
		"exponential(max=20s)":    strategy.Exponential{Max: 20 * time.Second},
		"exponential(factor=1.5)": strategy.Exponential{Factor: 1.5},
		"exponential(base=1ns, factor=1.7976931348623157e+308, max=2562047h47m16.854775807s)": strategy.Exponential{Base: 1, Factor: math.MaxFloat64, Max: forever},
		"fibonacci(first=100ms, second=200ms, max=20s)":                                       strategy.Fibonacci{First: 100 * ms, Second: 200 * ms, Max: 20 * time.Second},
		"sequence(delays=[0s, 100ms, 1m30s])":                                                 strategy.Sequence{Delays: []time.Duration{0, 100 * ms, 90 * time.Second}},
		"sequence(delays=[1µs], repeat=true)":                                                 strategy.Sequence{Delays: []time.Duration{time.Microsecond}, Repeat: true},
		"fulljitter(base=200ms, max=20s)":                                                     strategy.FullJitter{Base: 200 * ms, Max: 20 * time.Second},
		"equaljitter(base=200ms, max=20s)":                                                    strategy.EqualJitter{Base: 200 * ms, Max: 20 * time.Second},
		"decorrelated(base=200ms, max=20s, capped=true)":                                      strategy.Decorrelated{Base: 200 * ms, Max: 20 * time.Second, Capped: true},
		"bythrottled(normal=fulljitter(base=50ms, max=1s), throttled=sequence(delays=[1s, 2s]))": strategy.ByThrottled{
			Normal:    strategy.FullJitter{Base: 50 * ms, Max: time.Second},
			Throttled: strategy.Sequence{Delays: each(time.Second, 1, 2)},
		},
		"bythrottled(normal=constant, throttled=bythrottled(normal=linear, throttled=fibonacci))": strategy.ByThrottled{
			Normal:    strategy.Constant{},
			Throttled: strategy.ByThrottled{Normal: strategy.Linear{}, Throttled: strategy.Fibonacci{}},
		},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := strategy.Parse(text)
			require.NoError(t, err)
			require.Equal(t, s, got)
			require.Equal(t, text, got.(interface{ String() string }).String())
		})
	}
}

func TestParseIsLenientInForm(t *testing.T) {
	for text, s := range map[string]strategy.Strategy{
		" exponential ":                            strategy.Exponential{},
		"Exponential()":                            strategy.Exponential{},
		"EXPONENTIAL( )":                           strategy.Exponential{},
		"FullJitter(Base=200ms,MAX=20s)":           strategy.FullJitter{Base: 200 * ms, Max: 20 * time.Second},
		"fulljitter ( max = 20s ,\n\tbase=200ms )": strategy.FullJitter{Base: 200 * ms, Max: 20 * time.Second},
		"exponential(factor=3.0, base=0s, max=0)":  strategy.Exponential{Factor: 3},
		"sequence(delays=[ 1s,2s ], repeat=FALSE)": strategy.Sequence{Delays: each(time.Second, 1, 2)},
		"sequence(delays=[1s],repeat=True)":        strategy.Sequence{Delays: each(time.Second, 1), Repeat: true},
	} {
		got, err := strategy.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, s, got, text)
	}
}

func TestParseErrors(t *testing.T) {
	const known = "constant, linear, exponential, fibonacci, sequence, fulljitter, equaljitter, decorrelated, lild, limd, mild, mimd, bythrottled"
	for _, c := range []struct{ text, field, want string }{
		{"", "name", `name = "": unknown strategy; known are ` + known},
		{"expo", "name", `name = "expo": unknown strategy; known are ` + known},
		{"func", "name", `name = "func": unknown strategy; known are ` + known},
		{"expo(base=1s)", "name", `name = "expo": unknown strategy; known are ` + known},
		{"linear)", "name", `name = "linear)": unknown strategy; known are ` + known},
		{"linear(max=1s", "text", `text = "linear(max=1s": must end with a closing parenthesis`},
		{"linear(max=1s) and more", "text", `text = "linear(max=1s) and more": must end with a closing parenthesis`},
		{"linear(max=1s))", "text", `text = "max=1s)": brackets do not match`},
		{"linear(max=1s)()", "text", `text = "max=1s)(": brackets do not match`},
		{"linear((max=1s)", "text", `text = "(max=1s": brackets do not match`},
		{"linear(1s)", "Linear", `Linear = "1s": must be of the form field=value; fields are initial, increment, max`},
		{"linear(max=1s,)", "Linear", `Linear = "": must be of the form field=value; fields are initial, increment, max`},
		{"linear(base=1s)", "Linear.base", `Linear.base = "1s": unknown field; known are initial, increment, max`},
		{"linear(max=1s, Max=2s)", "Linear.Max", `Linear.Max = "2s": must not be given twice`},
		{"linear(max=100)", "Linear.Max", `Linear.Max = "100": must be a duration with a unit, such as 150ms or 2m30s`},
		{"linear(max=9999999h)", "Linear.Max", `Linear.Max = "9999999h": must be a duration with a unit, such as 150ms or 2m30s`},
		{"linear(max=-1s)", "Linear.Max", `Linear.Max = -1s: must not be negative`},
		{"exponential(factor=two)", "Exponential.Factor", `Exponential.Factor = "two": must be a number, such as 2 or 1.5`},
		{"exponential(factor=1e400)", "Exponential.Factor", `Exponential.Factor = "1e400": must be a number, such as 2 or 1.5`},
		{"exponential(factor=0.5)", "Exponential.Factor", `Exponential.Factor = 0.5: must be a finite number, 1 or more (0: 2)`},
		{"exponential(factor=NaN)", "Exponential.Factor", `Exponential.Factor = NaN: must be a finite number, 1 or more (0: 2)`},
		{"sequence", "Sequence.Delays", `Sequence.Delays = []: must not be empty`},
		{"sequence(delays=[])", "Sequence.Delays", `Sequence.Delays = []: must not be empty`},
		{"sequence(delays=1s)", "Sequence.Delays", `Sequence.Delays = "1s": must be a list of durations, such as [100ms, 1s]`},
		{"sequence(delays=[1s,])", "Sequence.Delays", `Sequence.Delays = "[1s,]": must be a list of durations, such as [100ms, 1s]`},
		{"sequence(delays=[)", "text", `text = "delays=[": brackets do not match`},
		{"sequence(delays=[1s])]", "text", `text = "sequence(delays=[1s])]": must end with a closing parenthesis`},
		{"sequence(delays=[1s, -2s])", "Sequence.Delays[1]", `Sequence.Delays[1] = -2s: must not be negative`},
		{"sequence(delays=[1s], repeat=yes)", "Sequence.Repeat", `Sequence.Repeat = "yes": must be true or false`},
		{"bythrottled", "ByThrottled.Normal", `ByThrottled.Normal = nil: must not be nil`},
		{"bythrottled(normal=linear)", "ByThrottled.Throttled", `ByThrottled.Throttled = nil: must not be nil`},
		{"bythrottled(normal=expo)", "ByThrottled.Normal", `ByThrottled.Normal = "expo": unknown strategy; known are ` + known},
		{"bythrottled(normal=linear(max=-1s))", "ByThrottled.Normal.Max", `ByThrottled.Normal.Max = -1s: must not be negative`},
		{"bythrottled(normal=linear(max=x))", "ByThrottled.Normal.Max", `ByThrottled.Normal.Max = "x": must be a duration with a unit, such as 150ms or 2m30s`},
	} {
		t.Run(c.text, func(t *testing.T) {
			s, err := strategy.Parse(c.text)
			require.Nil(t, s)
			requireConfigError(t, err, c.field, "strategy: "+c.want)
		})
	}
}

func TestParseKnowsEveryNameItLists(t *testing.T) {
	_, err := strategy.Parse("?")
	_, list, found := strings.Cut(err.Error(), "known are ")
	require.True(t, found)
	for name := range strings.SplitSeq(list, ", ") {
		_, err := strategy.Parse(name + "(x=1)")
		require.ErrorContains(t, err, "unknown field; known are ", name)
	}
}

func TestParseNesting(t *testing.T) {
	nested := func(depth int) string {
		return strings.Repeat("bythrottled(normal=linear, throttled=", depth-1) + "linear" + strings.Repeat(")", depth-1)
	}
	_, err := strategy.Parse(nested(8))
	require.NoError(t, err)
	_, err = strategy.Parse(nested(9))
	require.ErrorContains(t, err, "must not be nested deeper than 8 strategies")
	_, err = strategy.Parse(nested(10_000))
	require.Error(t, err)
}

func TestStringOfWhatParseDoesNotRead(t *testing.T) {
	require.Equal(t, "func", strategy.Func(nil).String())
	require.Equal(t, "bythrottled", strategy.ByThrottled{}.String())
	require.Equal(t, "bythrottled(normal=strategy_test.wild, throttled=func)",
		strategy.ByThrottled{Normal: wild{}, Throttled: strategy.Func(wild{}.Next)}.String())
	require.Equal(t, "bythrottled(normal=strategy_test.wild)", strategy.ByThrottled{Normal: wild{}, Throttled: strategy.Func(nil)}.String())
	require.Equal(t, "constant(delay=-1s)", strategy.Constant{Delay: -time.Second}.String())
	require.Equal(t, "exponential(factor=NaN)", strategy.Exponential{Factor: math.NaN()}.String())
}

// TestParseNumbers: a slip of the pen is not read as another number.
func TestParseNumbers(t *testing.T) {
	for _, factor := range []string{"1_5", "0x2", "0x1p3"} {
		_, err := strategy.Parse("exponential(factor=" + factor + ")")
		var invalid *strategy.ConfigError
		require.ErrorAs(t, err, &invalid, factor)
		require.Equal(t, "Exponential.Factor", invalid.Field)
		require.Equal(t, factor, invalid.Value)
	}
}
