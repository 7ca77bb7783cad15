package throttle_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/throttle"
)

var belowOne = math.Nextafter(1, 0)

func TestRuleApply(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name          string
		rule          throttle.Rule
		planned, told time.Duration
		draw          float64 // below 0: must not be asked for
		want          time.Duration
		used          bool
	}{
		{"zero rule is at least", throttle.Rule{}, 0, 10 * sec, 0.5, 10500 * ms, true},
		{"told, draw 0", throttle.AtLeast(), ms, 10 * sec, 0, 10 * sec, true},
		{"told, draw a half: a tenth is the 1 s limit", throttle.AtLeast(), ms, 10 * sec, 0.5, 10500 * ms, true},
		{"told, draw just below 1", throttle.AtLeast(), ms, 10 * sec, belowOne, 11*sec - 1, true},
		{"a draw of 1 is not one", throttle.AtLeast(), ms, 10 * sec, 1, 11*sec - 1, true},
		{"an infinite draw is not one", throttle.AtLeast(), ms, 10 * sec, inf, 11*sec - 1, true},
		{"NaN is 0", throttle.AtLeast(), ms, 10 * sec, nan, 10 * sec, true},
		{"minus infinity is 0", throttle.AtLeast(), ms, 10 * sec, -inf, 10 * sec, true},
		{"a tenth of a short wait", throttle.AtLeast(), 0, sec, 0.5, 1050 * ms, true},
		{"the limit of 1 s", throttle.AtLeast(), 0, time.Hour, 0.5, time.Hour + 500*ms, true},
		{"planned longer than any draw", throttle.AtLeast(), 20 * sec, 10 * sec, -1, 20 * sec, false},
		{"planned as long as the longest draw", throttle.AtLeast(), 11*sec - 1, 10 * sec, -1, 11*sec - 1, false},
		{"planned 1 ns shorter than the longest draw, missed", throttle.AtLeast(), 11*sec - 2, 10 * sec, 0.5, 11*sec - 2, false},
		{"planned 1 ns shorter than the longest draw, reached", throttle.AtLeast(), 11*sec - 2, 10 * sec, belowOne, 11*sec - 1, true},
		{"planned within the spread, longer", throttle.AtLeast(), 10200 * ms, 10 * sec, 0.1, 10200 * ms, false},
		{"planned within the spread, shorter", throttle.AtLeast(), 10200 * ms, 10 * sec, 0.3, 10300 * ms, true},
		{"both equal, draw 0", throttle.AtLeast(), sec, sec, 0, sec, false},
		{"nothing told", throttle.AtLeast(), 50 * ms, 0, -1, 50 * ms, false},
		{"nothing at all", throttle.AtLeast(), 0, 0, -1, 0, false},
		{"too short to spread", throttle.AtLeast(), 0, 9, -1, 9, true},
		{"too short to spread by a nanosecond", throttle.AtLeast(), 0, 19, -1, 19, true},
		{"just long enough to spread", throttle.AtLeast(), 0, 20, 0.5, 21, true},
		{"negative waits are 0", throttle.AtLeast(), -sec, -sec, -1, 0, false},
		{"a negative planned wait is 0", throttle.AtLeast(), math.MinInt64, 10 * sec, 0.5, 10500 * ms, true},
		{"saturates whatever the draw", throttle.AtLeast(), 0, longest, -1, longest, true},
		{"saturates for some draws", throttle.AtLeast(), 0, longest - 500*ms, 0.7, longest, true},
		{"does not saturate for others", throttle.AtLeast(), 0, longest - 500*ms, 0.25, longest - 250*ms, true},
		{"planned the longest", throttle.AtLeast(), longest, longest, -1, longest, false},

		{"longer", throttle.Exact(), sec, 10 * sec, -1, 10 * sec, true},
		{"shorter than planned", throttle.Exact(), 10 * sec, sec, -1, sec, true},
		{"at once", throttle.Exact(), 10 * sec, 0, -1, 0, true},
		{"negative is at once", throttle.Exact(), 10 * sec, -sec, -1, 0, true},
		{"the longest", throttle.Exact(), 10 * sec, longest, -1, longest, true},

		{"aws, 1500 ms", throttle.Clamp(5 * sec), 50 * ms, 1500 * ms, -1, 1500 * ms, true},
		{"aws, 0", throttle.Clamp(5 * sec), 50 * ms, 0, -1, 50 * ms, false},
		{"aws, 10 s", throttle.Clamp(5 * sec), 50 * ms, 10 * sec, -1, 5050 * ms, true},
		{"as planned", throttle.Clamp(5 * sec), 50 * ms, 50 * ms, -1, 50 * ms, false},
		{"no span", throttle.Clamp(0), 50 * ms, 10 * sec, -1, 50 * ms, false},
		{"a negative span is 0", throttle.Clamp(-sec), 50 * ms, 10 * sec, -1, 50 * ms, false},
		{"the sum saturates", throttle.Clamp(longest), sec, longest, -1, longest, true},
		{"negative waits", throttle.Clamp(5 * sec), -sec, -sec, -1, 0, false},

		{"told", throttle.Ignore(), 50 * ms, 10 * sec, -1, 50 * ms, false},
		{"told the longest", throttle.Ignore(), 0, longest, -1, 0, false},
		{"negative planned", throttle.Ignore(), -sec, sec, -1, 0, false},
	} {
		t.Run(c.rule.String()+"/"+c.name, func(t *testing.T) {
			draws := 0
			draw := func() float64 { draws++; return c.draw }
			if c.draw == -1 {
				draw = undrawn(t)
			}
			wait, used := c.rule.Apply(c.planned, c.told, draw)
			assert.Equal(t, c.want, wait)
			assert.Equal(t, c.used, used)
			if c.draw != -1 {
				assert.Equal(t, 1, draws)
			}
		})
	}
}

func TestRuleApplyDrawsItselfWithoutDraw(t *testing.T) {
	for range 100 {
		wait, used := throttle.AtLeast().Apply(0, 10*sec, nil)
		require.True(t, used)
		require.GreaterOrEqual(t, wait, 10*sec)
		require.Less(t, wait, 11*sec)
	}
}

func FuzzRuleApply(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add(uint8(0), int64(0), int64(0), int64(10*sec), 0.5)
	f.Add(uint8(0), int64(0), int64(11*sec-2), int64(10*sec), belowOne)
	f.Add(uint8(0), int64(0), int64(math.MinInt64), int64(math.MaxInt64), math.NaN())
	f.Add(uint8(1), int64(0), int64(math.MaxInt64), int64(-1), math.Inf(1))
	f.Add(uint8(2), int64(5*sec), int64(50*ms), int64(1500*ms), 0.0)
	f.Add(uint8(2), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), 1.0)
	f.Add(uint8(3), int64(-1), int64(math.MaxInt64), int64(7), -1.0)
	f.Fuzz(func(t *testing.T, kind uint8, span, planned, told int64, u float64) {
		rule := []throttle.Rule{throttle.AtLeast(), throttle.Exact(), throttle.Clamp(time.Duration(span)), throttle.Ignore()}[kind%4]
		draws := 0
		wait, used := rule.Apply(time.Duration(planned), time.Duration(told), func() float64 { draws++; return u })
		p, h := max(time.Duration(planned), 0), max(time.Duration(told), 0)
		require.GreaterOrEqual(t, wait, time.Duration(0))
		if !used {
			require.Equal(t, p, wait)
		}
		switch kind % 4 {
		case 0:
			require.GreaterOrEqual(t, wait, p)
			require.GreaterOrEqual(t, wait, h)
			if used {
				require.LessOrEqual(t, wait-h, min(h/10, sec))
			}
			require.LessOrEqual(t, draws, 1)
			if draws == 1 {
				low, _ := rule.Apply(p, h, always(0))
				high, _ := rule.Apply(p, h, always(belowOne))
				require.NotEqual(t, low, high, "a draw that cannot matter")
				require.LessOrEqual(t, low, wait)
				require.LessOrEqual(t, wait, high)
			}
		case 1:
			require.Equal(t, h, wait)
			require.True(t, used)
		case 2:
			require.GreaterOrEqual(t, wait, p)
			require.LessOrEqual(t, wait-p, max(time.Duration(span), 0))
			require.LessOrEqual(t, wait, max(p, h))
		}
		require.True(t, kind%4 == 0 || draws == 0)
	})
}

func TestRuleText(t *testing.T) {
	for want, rule := range map[string]throttle.Rule{
		"AtLeast()":  {},
		"Exact()":    throttle.Exact(),
		"Clamp(5s)":  throttle.Clamp(5 * sec),
		"Clamp(-1s)": throttle.Clamp(-sec),
		"Ignore()":   throttle.Ignore(),
	} {
		assert.Equal(t, want, rule.String())
	}
	assert.Equal(t, throttle.Rule{}, throttle.AtLeast())
}

func TestRuleDemands(t *testing.T) {
	assert.True(t, throttle.AtLeast().Demands())
	assert.True(t, throttle.Exact().Demands())
	assert.False(t, throttle.Clamp(sec).Demands())
	assert.False(t, throttle.Ignore().Demands())
}

func TestRuleValidate(t *testing.T) {
	for _, rule := range []throttle.Rule{{}, throttle.Exact(), throttle.Clamp(0), throttle.Clamp(longest), throttle.Ignore()} {
		assert.NoError(t, rule.Validate())
	}
	assert.EqualError(t, throttle.Clamp(-1).Validate(), "throttle: Clamp = -1ns: must not be negative")
}

func TestSignalIsZero(t *testing.T) {
	assert.True(t, throttle.Signal{}.IsZero())
	assert.True(t, throttle.Signal{Quotas: []throttle.Quota{}}.IsZero())
	for name, s := range map[string]throttle.Signal{
		"a wait of 0": {HasDelay: true},
		"a delay":     {Delay: 1},
		"retry":       {Retry: throttle.No},
		"rule":        {Rule: throttle.Exact()},
		"restart":     {RestartCurve: true},
		"source":      {Source: "retry-after"},
		"quota":       {Quotas: make([]throttle.Quota, 1)},
	} {
		assert.False(t, s.IsZero(), name)
	}
}
