package throttle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
)

// allowed returns how many of n retries the budget allows at now.
func allowed(b throttle.Budget, now time.Time, n int) (ok int) {
	for range n {
		if _, yes := b.Charge(now, throttle.Transient, 0, false); yes {
			ok++
		}
	}
	return ok
}

func deposit(b throttle.Budget, now time.Time, n int) {
	for range n {
		b.Start(now)
		b.Settle(now, true, 0)
	}
}

// TestRatioBudgetTower: the edges that tower's tests look at.
func TestRatioBudgetTower(t *testing.T) {
	for _, origin := range []time.Time{t0, t0.Add(77 * ms), time.Unix(0, 0), {}, time.Unix(-5, 1), time.Now()} {
		at := func(d time.Duration) time.Time { return origin.Add(d) }

		b := &throttle.RatioBudget{TTL: sec, MinPerSecond: -1, Ratio: 1}
		require.Zero(t, allowed(b, at(0), 1), "empty")
		deposit(b, at(0), 1)
		require.Zero(t, allowed(b, at(3*sec), 1), "leaky")

		b = &throttle.RatioBudget{TTL: sec, MinPerSecond: -1, Ratio: 0.5}
		deposit(b, at(0), 2)
		require.Equal(t, 1, allowed(b, at(901*ms), 2), "the slot of the deposits is still there")
		b = &throttle.RatioBudget{TTL: sec, MinPerSecond: -1, Ratio: 0.5}
		deposit(b, at(0), 2)
		require.Zero(t, allowed(b, at(sec), 2))

		b = &throttle.RatioBudget{TTL: sec, MinPerSecond: 5, Ratio: 1}
		require.Equal(t, 5, allowed(b, at(0), 20), "reserve")
		deposit(b, at(0), 3)
		require.Equal(t, 3, allowed(b, at(0), 20), "what was deposited beyond the reserve")
	}
}

// TestRatioBudgetWholeNumbers: W = floor(1000/Ratio), so that 0.3 is 0.3 and not a third.
func TestRatioBudgetWholeNumbers(t *testing.T) {
	for ratio, want := range map[float64]int{0.3: 300, 0.2: 200, 0.07: 70, 1: 1000, 0.001: 1, 2: 2000, 1000: 1_000_000, 0: 200} {
		b := &throttle.RatioBudget{MinPerSecond: -1, Ratio: ratio}
		deposit(b, t0, 1000)
		assert.Equal(t, want, b.Balance(t0), "%v", ratio)
	}
	b := &throttle.RatioBudget{MinPerSecond: -1, Ratio: 0.7} // W is 1428 and not 1428.57
	deposit(b, t0, 357)
	assert.Equal(t, 250, b.Balance(t0))
}

// TestRatioBudgetFloor: MinPerSecond·TTL retries in any window, however the share is set.
func TestRatioBudgetFloor(t *testing.T) {
	for _, c := range []struct {
		b    *throttle.RatioBudget
		want int
	}{
		{throttle.NewRatioBudget(), 10},
		{&throttle.RatioBudget{MinPerSecond: 10}, 100}, // Finagle's
		{&throttle.RatioBudget{MinPerSecond: 0.1}, 1},
		{&throttle.RatioBudget{MinPerSecond: 0.05}, 0},
		{&throttle.RatioBudget{MinPerSecond: 0.05, TTL: 20 * sec}, 1},
		{&throttle.RatioBudget{MinPerSecond: 2, Ratio: -1}, 20},
		{&throttle.RatioBudget{MinPerSecond: -1}, 0},
		{&throttle.RatioBudget{MinPerSecond: 3, Ratio: 0.3}, 30},
		{&throttle.RatioBudget{MinPerSecond: 3, Ratio: 1000}, 30},
	} {
		assert.Equal(t, c.want, c.b.Balance(t0))
		assert.Equal(t, c.want, allowed(c.b, t0, 1000))
		assert.Equal(t, 0, c.b.Balance(t0.Add(9*sec)))
		if c.b.TTL == 0 {
			assert.Equal(t, c.want, c.b.Balance(t0.Add(10*sec)), "a withdrawal is forgotten too")
		}
	}
	b := &throttle.RatioBudget{MinPerSecond: 0.05}
	deposit(b, t0, 3)
	assert.Equal(t, 1, b.Balance(t0), "half a retry of the floor and 3/5 of the successes")
}

// TestRatioBudgetSlides: each slot is forgotten as a whole, ten slots after its beginning, by the number of whole slots since the
// first use: it does not drift, however rarely or often it is asked.
func TestRatioBudgetSlides(t *testing.T) {
	for _, often := range []bool{false, true} {
		b := &throttle.RatioBudget{MinPerSecond: -1, Ratio: 1}
		at := func(d time.Duration) time.Time { return t0.Add(17 * ms).Add(d) }
		for i := range 20 { // 1 in the first half second, 2 in the next, ...
			deposit(b, at(time.Duration(i)*sec/2), i+1)
		}
		require.Equal(t, 210, b.Balance(at(9999*ms)))
		want := 210
		for i := range 10 {
			want -= 4*i + 3
			now := at(time.Duration(10+i) * sec)
			if often {
				for d := -time.Second + 1; d < 0; d += 33 * ms {
					b.Balance(now.Add(d))
				}
				require.Equal(t, want+4*i+3, b.Balance(now.Add(-1)))
			}
			require.Equal(t, want, b.Balance(now))
		}
		require.Zero(t, want)
	}
}

// TestRatioBudgetOverdrawn: deposits that were spent late are forgotten first, and the balance must not come out of that above
// what it is, nor stay below.
func TestRatioBudgetOverdrawn(t *testing.T) {
	b := &throttle.RatioBudget{Ratio: 1} // and a reserve of 10
	deposit(b, t0, 5)
	require.Equal(t, 15, allowed(b, t0.Add(5*sec), 100))
	require.Zero(t, b.Balance(t0.Add(10*sec)), "the deposits are forgotten: 5 below")
	deposit(b, t0.Add(10*sec), 5)
	require.Zero(t, b.Balance(t0.Add(10*sec)))
	deposit(b, t0.Add(10*sec), 1)
	require.Equal(t, 1, b.Balance(t0.Add(10*sec)))
	require.Equal(t, 16, b.Balance(t0.Add(15*sec)))
	require.Equal(t, 10, b.Balance(t0.Add(20*sec)))
}

// TestRatioBudgetClockSetBack: within the window nothing changes; further back the window starts anew, and is not stuck.
func TestRatioBudgetClockSetBack(t *testing.T) {
	for _, c := range []struct {
		name string
		back time.Duration
		have int
	}{{"a little", 300 * ms, 0}, {"nine slots", 9 * sec, 0}, {"a window", 10 * sec, 10}, {"an hour", time.Hour, 10}, {"for ever", longest, 10}} {
		t.Run(c.name, func(t *testing.T) {
			b := throttle.NewRatioBudget()
			now := t0.Add(100 * sec)
			b.Balance(t0)
			require.Equal(t, 10, allowed(b, now, 100))
			back := now.Add(-c.back)
			require.Equal(t, c.have, b.Balance(back))
			require.Equal(t, 10, b.Balance(back.Add(20*sec)), "no later than two windows on, the floor is there")
			require.Equal(t, 10, allowed(b, back.Add(20*sec), 100))
		})
	}
}

// TestRatioBudgetBeforeItsFirstUse: times before the first one have slots of the same length.
func TestRatioBudgetBeforeItsFirstUse(t *testing.T) {
	for back, have := range map[time.Duration]int{9 * sec: 0, 9*sec + 1: 10, 9500 * ms: 10} { // the tenth slot before begins 10 s before
		b := throttle.NewRatioBudget()
		require.Equal(t, 10, allowed(b, t0, 100))
		require.Equal(t, have, b.Balance(t0.Add(-back)), back)
	}
}

// TestRatioBudgetFailuresPayNothing: a call that fails deposits nothing, and neither does one that begins.
func TestRatioBudgetFailuresPayNothing(t *testing.T) {
	b := &throttle.RatioBudget{MinPerSecond: -1, Ratio: 1000}
	for range 1000 {
		b.Start(t0)
		b.Settle(t0, false, 1)
	}
	require.Zero(t, b.Balance(t0))
}
