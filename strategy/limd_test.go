package strategy_test

import (
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

// leveled is what LILD, LIMD, MILD and MIMD have in common.
type leveled interface {
	strategy.Learner
	Level() time.Duration
	Reset()
	Validate() error
	String() string
	Ceiling(strategy.State) time.Duration
}

// play is what an executor without a clock does, event by event: f for a failure, s for a success. It returns the levels.
func play(t testing.TB, l leveled, events string) []time.Duration {
	t.Helper()
	levels := make([]time.Duration, len(events))
	for i, event := range events {
		if event == 's' {
			l.Succeed()
		} else {
			before := l.Level()
			shown, ok := l.Next(strategy.State{Number: i + 1})
			require.True(t, ok)
			require.Equal(t, before, l.Level(), "Next only looks")
			l.Failed(strategy.State{Number: i + 1})
			require.Equal(t, shown, l.Level(), "Failed commits what Next showed")
		}
		levels[i] = l.Level()
	}
	return levels
}

func TestLevels(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		l      leveled
		events string
		unit   time.Duration
		want   []int64
	}{
		// The seed system's own illustrations.
		"LIMD": {&strategy.LIMD{Initial: 2 * s, IncrementOnFailure: 4 * s, MultipleOnSuccess: 0.2, Min: s}, "fffssf", s, []int64{2, 6, 10, 2, 1, 5}},
		"LILD": {&strategy.LILD{Initial: 3 * s, IncrementOnFailure: 4 * s, IncrementOnSuccess: -5 * s, Min: s}, "fffssssff", s, []int64{3, 7, 11, 6, 1, 1, 1, 5, 9}},
		"MILD": {&strategy.MILD{Initial: 3 * s, MultipleOnFailure: 2, IncrementOnSuccess: -5 * s, Min: s}, "ffffsssssf", s, []int64{3, 6, 12, 24, 19, 14, 9, 4, 1, 2}},
		"MIMD": {&strategy.MIMD{Initial: 3 * s, MultipleOnFailure: 2, MultipleOnSuccess: 0.5, Min: 2 * s}, "ffffsssssf", s, []int64{3, 6, 12, 24, 12, 6, 3, 2, 2, 4}},
		// What zero fields mean.
		"LILD by default":     {&strategy.LILD{}, "fffsssf", ms, []int64{100, 200, 300, 200, 100, 0, 100}},
		"LIMD by default":     {&strategy.LIMD{}, "ffffssf", ms, []int64{100, 200, 300, 400, 200, 100, 200}},
		"MILD by default":     {&strategy.MILD{}, "ffffssssf", ms, []int64{100, 200, 400, 800, 700, 600, 500, 400, 800}},
		"MIMD by default":     {&strategy.MIMD{}, "ffffssf", ms, []int64{100, 200, 400, 800, 400, 200, 400}},
		"Initial for the add": {&strategy.LILD{Initial: 7 * s}, "fffs", s, []int64{7, 14, 21, 14}},
		"invalid, so not set": {&strategy.MIMD{Initial: -1, MultipleOnFailure: math.NaN(), MultipleOnSuccess: math.Inf(1), Min: -1, Max: -1}, "fffs", ms, []int64{100, 200, 400, 200}},
		"negative, so not":    {&strategy.MIMD{MultipleOnFailure: -1, MultipleOnSuccess: -2}, "ffs", ms, []int64{100, 200, 100}},
		// The first event sets Initial, whatever it is.
		"success first":        {&strategy.MIMD{Initial: 2 * s, MultipleOnFailure: 3, MultipleOnSuccess: 0.25}, "ssf", 500 * ms, []int64{4, 1, 3}},
		"success first, added": {&strategy.LILD{Initial: 2 * s}, "sff", s, []int64{2, 4, 6}},
		// Bounds are the level's own: from the cap a success goes down at once, from the floor a failure goes up at once.
		"cap":               {&strategy.LIMD{Initial: 2 * s, IncrementOnFailure: 4 * s, Max: 8 * s}, "fffffsf", s, []int64{2, 6, 8, 8, 8, 4, 8}},
		"floor":             {&strategy.LILD{Initial: 5 * s, Min: 3 * s}, "fssssf", s, []int64{5, 3, 3, 3, 3, 8}},
		"Initial above Max": {&strategy.LIMD{Initial: 10 * s, Max: 5 * s}, "fs", 500 * ms, []int64{10, 5}},
		"Initial below Min": {&strategy.LIMD{Initial: s, Min: 5 * s}, "fffs", s, []int64{5, 6, 7, 5}},
		"Min above Max":     {&strategy.MIMD{Initial: 2 * s, Min: 8 * s, Max: 5 * s}, "ffssf", s, []int64{8, 8, 8, 8, 8}},
		"nothing below 0":   {&strategy.MILD{Initial: s, IncrementOnSuccess: math.MinInt64}, "fsfs", s, []int64{1, 0, 0, 0}},
		// Signs and multiples as one likes.
		"failures lower":    {&strategy.LILD{Initial: 2 * s, IncrementOnFailure: -500 * ms, IncrementOnSuccess: s}, "ffffssf", 500 * ms, []int64{4, 3, 2, 1, 3, 5, 4}},
		"successes raise":   {&strategy.MIMD{Initial: 2 * s, MultipleOnFailure: 0.5, MultipleOnSuccess: 1.5}, "fffss", 125 * ms, []int64{16, 8, 4, 6, 9}},
		"no change at all":  {&strategy.MIMD{Initial: 2 * s, MultipleOnFailure: 1, MultipleOnSuccess: 1}, "fffss", s, []int64{2, 2, 2, 2, 2}},
		"success to zero":   {&strategy.LIMD{Initial: 2 * s, MultipleOnSuccess: math.SmallestNonzeroFloat64}, "ffsf", s, []int64{2, 4, 0, 2}},
		"rounds to nearest": {&strategy.LIMD{Initial: 5, MultipleOnSuccess: 0.5}, "fsssss", 1, []int64{5, 3, 2, 1, 1, 1}},
		// The largest Duration.
		"saturating sum":      {&strategy.LILD{Initial: forever - 1, IncrementOnFailure: forever}, "fffs", 1, []int64{math.MaxInt64 - 1, math.MaxInt64, math.MaxInt64, 1}},
		"saturating multiple": {&strategy.MILD{Initial: forever / 2, MultipleOnFailure: 3, IncrementOnSuccess: -1}, "ffs", 1, []int64{math.MaxInt64 / 2, math.MaxInt64, math.MaxInt64 - 1}},
		"exact whole":         {&strategy.MILD{Initial: 1<<54 + 1, MultipleOnFailure: 3}, "ff", 1, []int64{1<<54 + 1, 3<<54 + 3}},
		"huge multiple":       {&strategy.MIMD{Initial: 1, MultipleOnFailure: math.MaxFloat64}, "fff", 1, []int64{1, math.MaxInt64, math.MaxInt64}},
		"multiple of zero":    {&strategy.MIMD{Initial: 1, MultipleOnFailure: 1e300, MultipleOnSuccess: 0.1}, "fsf", 1, []int64{1, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Zero(t, c.l.Level(), "before the first event")
			for range 2 {
				require.Equal(t, each(c.unit, c.want...), play(t, c.l, c.events))
				c.l.Reset()
				require.Zero(t, c.l.Level())
			}
		})
	}
}

// A policy's cap holds for the wait, and the level does not grow beyond it on that policy's account.
func TestLevelUnderALimit(t *testing.T) {
	l := &strategy.LILD{Initial: time.Second, IncrementOnSuccess: -500 * ms}
	fail := func(limit time.Duration) time.Duration {
		state := strategy.State{Limit: limit}
		wait, ok := l.Next(state)
		require.True(t, ok)
		l.Failed(state)
		return wait
	}
	var waits, levels []time.Duration
	for _, limit := range []time.Duration{2500 * ms, 2500 * ms, 2500 * ms, 2500 * ms, 0, 2500 * ms, 1, -1} {
		waits, levels = append(waits, fail(limit)), append(levels, l.Level())
	}
	require.Equal(t, each(ms, 1000, 2000, 2500, 2500, 3500, 2500), waits[:6])
	require.Equal(t, each(ms, 1000, 2000, 2500, 2500, 3500, 3500), levels[:6], "not lowered for the others")
	require.Equal(t, []time.Duration{1, 4500 * ms}, waits[6:])
	l.Succeed()
	require.Equal(t, 4*time.Second, l.Level())

	held := &strategy.LIMD{Min: time.Minute}
	held.Failed(strategy.State{Limit: time.Second})
	require.Equal(t, time.Minute, held.Level(), "Min is the level's")
	wait, _ := held.Next(strategy.State{Limit: time.Second})
	require.Equal(t, time.Second, wait, "and the limit the wait's")

	falling := &strategy.LILD{Initial: 10 * time.Second, IncrementOnFailure: -time.Second}
	play(t, falling, "f")
	falling.Failed(strategy.State{Limit: time.Second})
	require.Equal(t, 9*time.Second, falling.Level())
}

// attempt is one that began and ended at these seconds.
func attempt(began, ended float64) strategy.State {
	return strategy.State{Number: 1, Began: moment(began), Now: moment(ended)}
}

func TestFailuresOfOneBurstCountOnce(t *testing.T) {
	l := &strategy.LIMD{Initial: 2 * time.Second, IncrementOnFailure: 4 * time.Second, MultipleOnSuccess: 0.5}
	for i, c := range []struct {
		s    strategy.State
		want float64 // the wait, and the level after
	}{
		{attempt(100, 101), 2},     // the first
		{attempt(100, 101), 2},     // together with it
		{attempt(100.9, 101.5), 2}, // began before the level came
		{attempt(101, 102), 2},     // and at that very moment: nobody has waited for it yet
		{attempt(103, 103.5), 6},   // waited for it, and in vain
		{attempt(102, 110), 6},     // took long, but began before
		{attempt(99, 100), 6},      // told late
		{attempt(103.6, 104), 10},  // began without waiting, but later
		{strategy.State{}, 14},     // nobody measures: counts
		{attempt(104, 105), 14},    // but is no raise that is known to have come later
		{attempt(104.1, 105), 18},
		{strategy.State{Now: moment(106)}, 22}, // nobody measures attempts
		{attempt(105.5, 107), 22},
		{strategy.State{Began: moment(108)}, 26}, // or ends
		{strategy.State{Began: moment(108)}, 26},
		{attempt(109, 108), 30}, // ends before it began
		{attempt(109, 109), 30},
		{attempt(10, 11), 34}, // a clock that was set back
		{attempt(10, 11), 34},
		{attempt(12, 13), 38},
	} {
		wait, _ := l.Next(c.s)
		require.Equal(t, secs(c.want), wait, "failure %d", i+1)
		l.Failed(c.s)
		require.Equal(t, secs(c.want), l.Level(), "failure %d", i+1)
	}
	l.Succeed()
	require.Equal(t, secs(19), l.Level())
	l.Failed(attempt(12.9, 14))
	require.Equal(t, secs(19), l.Level(), "still of the last burst")
	l.Reset()
	l.Failed(attempt(12.9, 14))
	require.Equal(t, secs(2), l.Level())
}

func TestConcurrentSafeBurst(t *testing.T) {
	for _, l := range []leveled{&strategy.LILD{}, &strategy.LIMD{}, &strategy.MILD{}, &strategy.MIMD{}} {
		for round, want := range each(ms, 100, 200) {
			var group sync.WaitGroup
			for i := range 1000 {
				group.Go(func() {
					s := attempt(float64(100*round), float64(100*round)+1+float64(i%7)/1000)
					l.Next(s)
					l.Failed(s)
					if wait, _ := l.Next(s); wait != want {
						t.Errorf("%T, round %d: waits %v", l, round, wait)
					}
				})
			}
			group.Wait()
			require.Equal(t, want, l.Level(), "%T: one step", l)
		}
	}
}

// Everything at once, for the race detector; each failure and each success counts exactly once.
func TestConcurrentSafeLevel(t *testing.T) {
	l := &strategy.LILD{Initial: time.Second, IncrementOnFailure: 3, IncrementOnSuccess: -2}
	l.Succeed()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				l.Next(strategy.State{})
				l.Failed(strategy.State{})
				l.Succeed()
				if l.Level() <= 0 || l.Ceiling(strategy.State{}) != 0 || l.String() == "" || l.Validate() != nil {
					t.Error("level lost")
				}
			}
		})
	}
	group.Wait()
	require.Equal(t, time.Second+400, l.Level())
	for range 4 {
		group.Go(func() { l.Reset(); l.Failed(strategy.State{}) })
	}
	group.Wait()
}

func TestNilLevel(t *testing.T) {
	for name, l := range map[string]leveled{
		"LILD": (*strategy.LILD)(nil), "LIMD": (*strategy.LIMD)(nil), "MILD": (*strategy.MILD)(nil), "MIMD": (*strategy.MIMD)(nil),
	} {
		delay, ok := l.Next(strategy.State{Number: 1})
		require.False(t, ok)
		require.Zero(t, delay)
		l.Failed(strategy.State{})
		l.Succeed()
		l.Reset()
		require.Zero(t, l.Level())
		require.Zero(t, l.Ceiling(strategy.State{}))
		requireConfigError(t, l.Validate(), name, "strategy: "+name+" = nil: must not be nil")
		require.Equal(t, strings.ToLower(name)+"(nil)", l.String())
		require.Nil(t, strategy.Delays(l, 3, nil))
	}
}

func TestLevelCeiling(t *testing.T) {
	for _, l := range []leveled{
		&strategy.LILD{Max: 5, Min: 3}, &strategy.LIMD{Max: 3, Min: 5}, &strategy.MILD{Max: 5, Min: -9}, &strategy.MIMD{Max: 5},
	} {
		require.Equal(t, time.Duration(5), l.Ceiling(strategy.State{}), "%v", l)
	}
	for _, l := range []leveled{&strategy.LILD{Min: 3}, &strategy.LIMD{Max: -1}, &strategy.MILD{}, &strategy.MIMD{Min: 5, Max: math.MinInt64}} {
		require.Zero(t, l.Ceiling(strategy.State{}), "%v", l)
	}
}

func TestLevelValidate(t *testing.T) {
	const number = ": must be a finite number above 0 (0: the default)"
	for _, c := range []struct {
		l           leveled
		field, want string
	}{
		{&strategy.LILD{Initial: -1}, "LILD.Initial", "strategy: LILD.Initial = -1ns: must not be negative"},
		{&strategy.LIMD{Min: -1}, "LIMD.Min", "strategy: LIMD.Min = -1ns: must not be negative"},
		{&strategy.MILD{Max: -time.Second}, "MILD.Max", "strategy: MILD.Max = -1s: must not be negative"},
		{&strategy.LIMD{MultipleOnSuccess: -0.5}, "LIMD.MultipleOnSuccess", "strategy: LIMD.MultipleOnSuccess = -0.5" + number},
		{&strategy.MILD{MultipleOnFailure: math.NaN()}, "MILD.MultipleOnFailure", "strategy: MILD.MultipleOnFailure = NaN" + number},
		{&strategy.MIMD{MultipleOnFailure: math.Inf(1)}, "MIMD.MultipleOnFailure", "strategy: MIMD.MultipleOnFailure = +Inf" + number},
	} {
		requireConfigError(t, c.l.Validate(), c.field, c.want)
	}
	for _, l := range []leveled{
		&strategy.LILD{IncrementOnFailure: -1, IncrementOnSuccess: 1}, &strategy.LIMD{Min: 2, Max: 1, MultipleOnSuccess: 1e300},
		&strategy.MILD{MultipleOnFailure: 0.001, IncrementOnSuccess: math.MinInt64}, &strategy.MIMD{Initial: 5, Max: 1},
	} {
		require.NoError(t, l.Validate(), "%v", l)
	}
}

// One level for both kinds of failure, if the same pointer stands in both places.
func TestByThrottledWithALevel(t *testing.T) {
	l := &strategy.LIMD{Initial: time.Second}
	both := strategy.ByThrottled{Normal: l, Throttled: l}
	both.Failed(strategy.State{Throttled: true})
	both.Failed(strategy.State{})
	require.Equal(t, 2*time.Second, l.Level())
	both.Succeed()
	require.Equal(t, time.Second, l.Level())
	wait, ok := both.Start().Next(strategy.State{})
	require.True(t, ok)
	require.Equal(t, 2*time.Second, wait)
	require.Same(t, l, both.Clone().(strategy.ByThrottled).Normal, "shared, not cloned")
}

func TestLevelText(t *testing.T) {
	for text, want := range map[string]leveled{
		"lild": &strategy.LILD{},
		"lild(initial=2s, incrementonfailure=4s, incrementonsuccess=-1s, min=1s, max=1m0s)": &strategy.LILD{
			Initial: 2 * time.Second, IncrementOnFailure: 4 * time.Second, IncrementOnSuccess: -time.Second, Min: time.Second, Max: time.Minute,
		},
		"limd(initial=2s, incrementonfailure=4s, multipleonsuccess=0.2, min=1s)": &strategy.LIMD{
			Initial: 2 * time.Second, IncrementOnFailure: 4 * time.Second, MultipleOnSuccess: 0.2, Min: time.Second,
		},
		"mild(multipleonfailure=0.5, incrementonsuccess=1ns)": &strategy.MILD{MultipleOnFailure: 0.5, IncrementOnSuccess: 1},
		"mimd(multipleonfailure=3, multipleonsuccess=0.25)":   &strategy.MIMD{MultipleOnFailure: 3, MultipleOnSuccess: 0.25},
	} {
		require.Equal(t, text, want.String())
		got, err := strategy.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		play(t, got.(leveled), "ff")
		require.Equal(t, text, got.(leveled).String(), "without the level")
		again, err := strategy.Parse(text)
		require.NoError(t, err)
		require.NotSame(t, got, again)
		require.Zero(t, again.(leveled).Level(), "a level of its own")
	}
	for text, problem := range map[string]string{
		"limd(multipleonsuccess=-1)":                        "strategy: LIMD.MultipleOnSuccess = -1: must be a finite number above 0 (0: the default)",
		"limd(multipleonsuccess=NaN)":                       "strategy: LIMD.MultipleOnSuccess = NaN: must be a finite number above 0 (0: the default)",
		"mimd(multipleonfailure=much)":                      `strategy: MIMD.MultipleOnFailure = "much": must be a number, such as 2 or 1.5`,
		"lild(incrementonsuccess=-1)":                       `strategy: LILD.IncrementOnSuccess = "-1": must be a duration with a unit, such as 150ms or 2m30s`,
		"mild(min=-1s)":                                     "strategy: MILD.Min = -1s: must not be negative",
		"mild(nil)":                                         `strategy: MILD = "nil": must be of the form field=value; fields are initial, multipleonfailure, incrementonsuccess, min, max`,
		"lild(multipleonfailure=2)":                         `strategy: LILD.multipleonfailure = "2": unknown field; known are initial, incrementonfailure, incrementonsuccess, min, max`,
		"bythrottled(normal=limd(max=-1s), throttled=limd)": "strategy: ByThrottled.Normal.Max = -1s: must not be negative",
	} {
		got, err := strategy.Parse(text)
		require.Nil(t, got, text)
		require.EqualError(t, err, problem)
	}
}
