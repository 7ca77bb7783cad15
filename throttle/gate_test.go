package throttle_test

import (
	"errors"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
)

// left returns how long the keys still cool down at now.
func left(t *testing.T, g *throttle.Gate, now time.Time, keys ...throttle.Key) time.Duration {
	t.Helper()
	err := g.Check(now, keys...)
	if err == nil {
		return 0
	}
	refusal, ok := err.(*throttle.Error)
	require.True(t, ok)
	require.Positive(t, refusal.Remaining)
	require.True(t, refusal.Until.Equal(now.Add(refusal.Remaining)))
	return refusal.Remaining
}

func TestGateDefaults(t *testing.T) {
	assert.Equal(t, 15*time.Minute, throttle.DefaultMaxCooldown)
	assert.Equal(t, 100_000, throttle.DefaultMaxKeys)
	assert.Equal(t, sec, throttle.DefaultSpread)
}

func TestGateBlocksUntilTheDeadline(t *testing.T) {
	var g throttle.Gate
	assert.NoError(t, g.Check(t0, "acme"))
	g.Block(t0, 30*sec, "acme", "acme/PlaceOrder")

	assert.Equal(t, &throttle.Error{Key: "acme", Until: t0.Add(30 * sec), Remaining: 30 * sec, Source: "block"}, g.Check(t0, "acme"))
	assert.Equal(t, 30*sec, left(t, &g, t0, "acme/PlaceOrder"))
	assert.Equal(t, sec, left(t, &g, t0.Add(29*sec), "acme"))
	assert.Equal(t, time.Duration(1), left(t, &g, t0.Add(30*sec-1), "acme"))
	assert.NoError(t, g.Check(t0.Add(30*sec), "acme"))
	assert.NoError(t, g.Check(t0, "other"))
	assert.Equal(t, 31*sec, left(t, &g, t0.Add(-sec), "acme"), "a clock that was read before")
}

func TestGateCheckNamesTheCooldownThatEndsLast(t *testing.T) {
	var g throttle.Gate
	g.Observe(t0, throttle.Signal{Delay: 10 * sec, HasDelay: true, Source: "retry-after"}, boom, "a")
	g.Block(t0, 20*sec, "b")
	g.Block(t0, 5*sec, "c")

	got := g.Check(t0.Add(sec), "c", "", "a", "b", "a", "unknown")
	assert.Equal(t, &throttle.Error{Key: "b", Until: t0.Add(20 * sec), Remaining: 19 * sec, Source: "block"}, got)

	got = g.Check(t0.Add(sec), "a", "c")
	assert.Equal(t, &throttle.Error{Key: "a", Until: t0.Add(10 * sec), Remaining: 9 * sec, Source: "retry-after", Err: boom}, got)
	assert.ErrorIs(t, got, boom)
	assert.EqualError(t, got, `throttle: "a" is cooling down for 9s (retry-after): boom`)
}

func TestGateObserve(t *testing.T) {
	var g throttle.Gate
	g.Observe(t0, throttle.Signal{Delay: sec}, boom, "a")
	assert.NoError(t, g.Check(t0, "a"), "a Delay without HasDelay is none")
	g.Observe(t0, throttle.Signal{Delay: sec, HasDelay: true}, (*nilError)(nil), "a")
	assert.Equal(t, &throttle.Error{Key: "a", Until: t0.Add(sec), Remaining: sec}, g.Check(t0, "a"))
	g.Block(t0, sec, "")
	assert.NoError(t, g.Check(t0, ""), "the empty Key names nothing")
	g.Block(t0, sec)
	assert.NoError(t, g.Check(t0))
	assert.Equal(t, 1, g.Remembered())
}

func TestGateExtendsOnly(t *testing.T) {
	var g throttle.Gate
	g.Observe(t0, throttle.Signal{Delay: 10 * sec, HasDelay: true, Source: "first"}, nil, "a")
	for _, d := range []time.Duration{math.MinInt64, -1, 0, 1, 9 * sec, 10 * sec} {
		g.Block(t0, d, "a")
		require.Equal(t, "first", g.Check(t0, "a").(*throttle.Error).Source, "%v", d)
	}
	g.Block(t0.Add(9*sec), sec, "a")
	assert.Equal(t, "first", g.Check(t0, "a").(*throttle.Error).Source, "the same end")
	g.Block(t0.Add(9*sec), sec+1, "a")
	assert.Equal(t, 10*sec+1, left(t, &g, t0, "a"))
	g.Block(t0.Add(time.Hour), 1, "a")
	assert.Equal(t, time.Duration(1), left(t, &g, t0.Add(time.Hour), "a"), "after the end anything is longer")
}

func TestGateReplaces(t *testing.T) {
	g := throttle.Gate{Replace: true}
	g.Block(t0, 10*sec, "a", "b")
	g.Block(t0.Add(sec), 2*sec, "a")
	assert.Equal(t, 2*sec, left(t, &g, t0.Add(sec), "a"))
	g.Block(t0.Add(sec), 20*sec, "a")
	assert.Equal(t, 20*sec, left(t, &g, t0.Add(sec), "a"))
	g.Observe(t0.Add(sec), throttle.Signal{}, boom, "a")
	assert.Equal(t, 20*sec, left(t, &g, t0.Add(sec), "a"), "nothing was said")
	for _, d := range []time.Duration{math.MinInt64, -1, 0} {
		g.Block(t0, sec, "a")
		g.Block(t0, d, "a")
		require.NoError(t, g.Check(t0, "a"), "%v", d)
	}
	assert.Equal(t, 9*sec, left(t, &g, t0.Add(sec), "b"), "other keys stay as they are")
	assert.Equal(t, 1, g.Remembered())
}

// TestGateSet: one observation replaces without Replace, and ends where nothing is to be waited for.
func TestGateSet(t *testing.T) {
	for _, replace := range []bool{false, true} {
		g := throttle.Gate{Replace: replace, MaxCooldown: time.Minute}
		set := func(d time.Duration) {
			g.Set(t0, throttle.Signal{Delay: d, HasDelay: true, Source: "test"}, boom, "a", "")
		}
		g.Block(t0, 10*sec, "a", "b")
		for _, d := range []time.Duration{2 * sec, 20 * sec, 20 * sec, 1} {
			set(d)
			require.Equal(t, &throttle.Error{Key: "a", Until: t0.Add(d), Remaining: d, Source: "test", Err: boom}, g.Check(t0, "a"))
		}
		set(time.Hour)
		require.Equal(t, time.Minute, left(t, &g, t0, "a"))
		g.Set(t0, throttle.Signal{}, boom, "a")
		require.Equal(t, time.Minute, left(t, &g, t0, "a"), "nothing was said")
		set(math.MinInt64)
		require.NoError(t, g.Check(t0, "a"))
		require.Equal(t, 10*sec, left(t, &g, t0, "b"), "other keys stay as they are")
	}
}

func TestGateMaxCooldown(t *testing.T) {
	for _, c := range []struct{ limit, told, want time.Duration }{
		{0, 14 * time.Minute, 14 * time.Minute},
		{0, time.Hour, 15 * time.Minute},
		{0, longest, 15 * time.Minute},
		{-1, longest, 15 * time.Minute},
		{math.MinInt64, longest, 15 * time.Minute},
		{sec, sec + 1, sec},
		{1, longest, 1},
		{longest, longest, longest},
	} {
		g := throttle.Gate{MaxCooldown: c.limit}
		g.Block(t0, c.told, "a")
		assert.Equal(t, c.want, left(t, &g, t0, "a"), "%v", c)
	}
}

func TestGateClear(t *testing.T) {
	var g throttle.Gate
	g.Clear("a")
	g.Block(t0, sec, "a", "b", "c")
	g.Clear("a", "unknown", "", "c", "a")
	assert.NoError(t, g.Check(t0, "a", "c"))
	assert.Equal(t, sec, left(t, &g, t0, "b"))
	g.Clear()
	assert.Equal(t, sec, left(t, &g, t0, "b"))
	assert.Equal(t, 1, g.Remembered())
}

func TestGateValidate(t *testing.T) {
	assert.NoError(t, new(throttle.Gate).Validate())
	assert.NoError(t, (*throttle.Gate)(nil).Validate())
	assert.NoError(t, (&throttle.Gate{MaxCooldown: longest, MaxKeys: math.MaxInt, Spread: -1}).Validate())
	cooldown, keys := &throttle.Gate{MaxCooldown: -sec}, &throttle.Gate{MaxKeys: -1}
	assert.EqualError(t, cooldown.Validate(), "throttle: Gate.MaxCooldown = -1s: must not be negative")
	assert.EqualError(t, keys.Validate(), "throttle: Gate.MaxKeys = -1: must not be negative")
	assert.Error(t, cooldown.For("a").(validator).Validate())
	assert.Error(t, keys.By(nil).(validator).Validate())
}

func TestGateForgetsWhatIsOverWhenItNeedsRoom(t *testing.T) {
	g := throttle.Gate{MaxKeys: 3, Spread: -1}
	g.Block(t0, 1*sec, "a")
	g.Block(t0, 9*sec, "b")
	g.Block(t0, 2*sec, "c")
	assert.Equal(t, 3, g.Remembered())

	now := t0.Add(2 * sec)
	assert.NoError(t, g.Check(now, "a", "c"))
	assert.Equal(t, 3, g.Remembered(), "looking drops nothing")
	g.Block(now, 9*sec, "b")
	assert.Equal(t, 3, g.Remembered(), "a known key needs no room")
	g.Block(now, sec, "d")
	assert.Equal(t, 2, g.Remembered())
	assert.Equal(t, 9*sec, left(t, &g, now, "b"))
	assert.Equal(t, sec, left(t, &g, now, "d"))
}

func TestGateKeepsWhatIsOverWhileItIsReleased(t *testing.T) {
	g := throttle.Gate{MaxKeys: 2, Rand: always(0.5)}
	g.Block(t0, 10*sec, "a")
	g.Block(t0, 60*sec, "b")
	a := g.For("a")
	admit(t, a, t0, nil, 10*sec)
	second := admit(t, a, t0, nil, 10500*ms)

	now := t0.Add(10*sec + 100*ms)
	g.Block(now, 90*sec, "c")
	admit(t, a, now, second, 0)
	assert.Equal(t, 2, g.Remembered(), "a had to go: it ended first")

	g = throttle.Gate{MaxKeys: 3, Rand: always(0.5)}
	g.Block(t0, 1*sec, "b")
	g.Block(t0, 10*sec, "a")
	a = g.For("a")
	admit(t, a, t0, nil, 10*sec)
	second = admit(t, a, t0, nil, 10500*ms)
	g.Block(t0, 1*sec, "c")
	g.Block(now, 90*sec, "d")
	admit(t, a, now, second, 400*ms)
	assert.Equal(t, 2, g.Remembered())
}

func TestGateForgetsWhatEndsFirstWhenItIsFull(t *testing.T) {
	for _, c := range []struct{ limit, blocked, kept int }{
		{1, 1, 1},
		{1, 9, 1},
		{2, 3, 2},
		{31, 40, 31},
		{32, 32, 32},
		{32, 33, 31}, // 32 - 32/16, and the new one
		{160, 161, 151},
		{160, 170, 160},
		{160, 171, 151},
	} {
		g := throttle.Gate{MaxKeys: c.limit}
		name := func(i int) throttle.Key { return throttle.Key(rune('a' + i)) }
		for i := range c.blocked {
			g.Block(t0, time.Duration(i+1)*sec, name(i))
		}
		require.Equal(t, c.kept, g.Remembered(), "%v", c)
		for i := range c.blocked {
			want := time.Duration(i+1) * sec
			if i < c.blocked-c.kept {
				want = 0
			}
			require.Equal(t, want, left(t, &g, t0, name(i)), "%v: %d", c, i)
		}
	}
}

func TestGateMemoryFollowsTheKeysThatCoolDown(t *testing.T) {
	var g throttle.Gate
	now := t0
	for i := range 20_000 {
		now = now.Add(sec)
		g.Block(now, 10*sec, throttle.Key(time.Duration(i).String()))
		require.LessOrEqual(t, g.Remembered(), 64)
	}
}

func TestGateTakesAnyTime(t *testing.T) {
	extremes := []time.Time{
		{}, t0, time.Unix(0, 0), time.Unix(math.MinInt64, 0), time.Unix(math.MaxInt64, 999_999_999),
		time.Unix(1<<62, 0), time.Unix(-1<<62, 5), time.Now(), time.Now().Round(0),
	}
	for _, from := range extremes {
		for _, now := range extremes {
			for _, d := range []time.Duration{1, sec, longest} {
				g := throttle.Gate{MaxCooldown: longest, Spread: -1}
				g.Block(from, d, "a")
				ticket, wait, err := g.For("a").Admit(t.Context(), now, nil)
				require.NoError(t, err)
				require.GreaterOrEqual(t, wait, time.Duration(0))
				ready(t, g.For("a"), now, wait)
				g.For("a").Done(t.Context(), now, ticket, throttle.Outcome{Class: throttle.Skipped})
				if now == from {
					require.Equal(t, d, wait)
				}
				if err := g.Check(now, "a"); err != nil {
					require.Positive(t, err.(*throttle.Error).Remaining)
					require.NotEmpty(t, err.Error())
				}
			}
		}
	}
}

func TestGateIgnoresTheWallClock(t *testing.T) {
	now := time.Now()
	shifted := setForward(now, time.Hour)
	require.Equal(t, time.Hour, shifted.Round(0).Sub(now.Round(0)), "the wall clock was set forward")
	require.Zero(t, shifted.Sub(now), "and no time passed")

	var g throttle.Gate
	g.Block(now, 30*sec, "a")
	admit(t, g.For("a"), shifted.Add(10*sec), nil, 20*sec)
	g.Block(shifted, 20*sec, "a")
	assert.Equal(t, 30*sec, g.Check(shifted, "a").(*throttle.Error).Remaining)
	g.Block(shifted, 40*sec, "a")
	assert.Equal(t, 40*sec, g.Check(now, "a").(*throttle.Error).Remaining)
}

// A clock without a monotonic reading that is set back makes a cool-down longer by as much, up to the longest wait there is.
func TestGateClockSetBack(t *testing.T) {
	var g throttle.Gate
	g.Block(t0, 30*sec, "a")
	assert.Equal(t, 31*sec, left(t, &g, t0.Add(-sec), "a"))
	assert.Equal(t, time.Hour+30*sec, left(t, &g, t0.Add(-time.Hour), "a"))
	assert.Equal(t, longest, g.Check(time.Time{}, "a").(*throttle.Error).Remaining)
	g.Clear("a")
	require.NoError(t, g.Check(t0.Add(-time.Hour), "a"))
}

// setForward returns what time.Now would have read at t, had the wall clock been set forward by whole seconds before.
// There is no other way to such a pair of times: this is the layout of time.Time, as its source describes it.
func setForward(t time.Time, d time.Duration) time.Time {
	(*struct{ wall, _ uint64 })(unsafe.Pointer(&t)).wall += uint64(d/time.Second) << 30
	return t
}

func TestGateIsNil(t *testing.T) {
	var g *throttle.Gate
	g.Block(t0, sec, "a")
	g.Observe(t0, throttle.Signal{HasDelay: true, Delay: sec}, boom, "a")
	g.Set(t0, throttle.Signal{HasDelay: true}, boom, "a")
	g.Clear("a")
	assert.NoError(t, g.Check(t0, "a"))
	assert.NoError(t, g.Wait(t.Context(), "a"))
	assert.NoError(t, errors.Join(g.Check(t0), g.Wait(t.Context())))
}
