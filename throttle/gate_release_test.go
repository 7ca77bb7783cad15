package throttle_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
)

func TestReleaseIsSpread(t *testing.T) {
	g := throttle.Gate{Rand: script(t, 0.5, 0, belowOne, 0.25)}
	th := g.For("a")
	g.Block(t0, 30*sec, "a")

	first := admit(t, th, t0.Add(1*sec), nil, 29*sec)
	half := admit(t, th, t0.Add(2*sec), nil, 28500*ms)
	lucky := admit(t, th, t0.Add(3*sec), nil, 27*sec)
	last := admit(t, th, t0.Add(4*sec), nil, 27*sec-1)
	late := admit(t, th, t0.Add(30*sec-1), nil, 250*ms+1)

	end := t0.Add(30 * sec)
	admit(t, th, end.Add(-1), first, 1)
	admit(t, th, end, first, 0)
	admit(t, th, end, half, 500*ms)
	admit(t, th, end, lucky, 0)
	admit(t, th, end, last, sec-1)
	admit(t, th, end, nil, 0) // whoever comes after the deadline goes at once
	admit(t, th, end.Add(250*ms-1), late, 1)
	admit(t, th, end.Add(250*ms), late, 0)
	admit(t, th, end.Add(500*ms), half, 0)
	admit(t, th, end.Add(sec-2), last, 1)
	admit(t, th, end.Add(time.Hour), last, 0)
}

func TestReleaseSpreadIsATenthAtMost(t *testing.T) {
	for _, c := range []struct{ spread, length, want time.Duration }{
		{0, 30 * sec, 500 * ms},
		{0, 10 * sec, 500 * ms},
		{0, 5 * sec, 250 * ms},
		{0, 100, 5},
		{0, 20, 1},
		{0, 19, 0}, // too short to spread
		{0, 1, 0},
		{200 * ms, 30 * sec, 100 * ms},
		{200 * ms, sec, 50 * ms},
		{2, 30 * sec, 1},
		{1, 30 * sec, 0},
		{-1, 30 * sec, 0},
		{math.MinInt64, 30 * sec, 0},
		{longest, 30 * sec, 1500 * ms},
		{longest, longest, 0}, // no room above the longest
	} {
		g := throttle.Gate{Spread: c.spread, MaxCooldown: longest, Rand: always(0.5)}
		th := g.For("a")
		g.Block(t0, c.length, "a")
		admit(t, th, t0, nil, c.length)
		admit(t, th, t0, nil, c.length+c.want)
		ready(t, th, t0, c.length+c.want)
	}
}

func TestReleaseDrawsOncePerWaiter(t *testing.T) {
	g := throttle.Gate{Rand: script(t, 0.3)}
	th := g.For("a")
	g.Block(t0, 10*sec, "a")
	admit(t, th, t0, nil, 10*sec)
	second := admit(t, th, t0, nil, 10300*ms)
	for i := range 10 {
		second = admit(t, th, t0.Add(time.Duration(i)*sec), second, 10300*ms-time.Duration(i)*sec)
	}
	admit(t, th, t0.Add(10*sec), second, 300*ms)
}

func TestReleaseTakesAnyDraw(t *testing.T) {
	for u, want := range map[float64]time.Duration{
		math.Inf(-1): 0, -1: 0, math.SmallestNonzeroFloat64: 0, 0.5: 500 * ms, 1: sec - 1, 7: sec - 1, math.Inf(1): sec - 1,
	} {
		g := throttle.Gate{Rand: always(u)}
		g.Block(t0, time.Minute, "a")
		admit(t, g.For("a"), t0, nil, time.Minute)
		admit(t, g.For("a"), t0, nil, time.Minute+want)
	}
	g := throttle.Gate{Rand: always(math.NaN())}
	g.Block(t0, time.Minute, "a")
	admit(t, g.For("a"), t0, nil, time.Minute)
	admit(t, g.For("a"), t0, nil, time.Minute)
}

func TestReleaseDrawsItselfWithoutRand(t *testing.T) {
	var g throttle.Gate
	g.Block(t0, time.Minute, "a")
	admit(t, g.For("a"), t0, nil, time.Minute)
	waits := map[time.Duration]bool{}
	for range 100 {
		_, wait, _ := g.For("a").Admit(t.Context(), t0, nil)
		require.GreaterOrEqual(t, wait, time.Minute)
		require.Less(t, wait, time.Minute+sec)
		waits[wait] = true
	}
	assert.Greater(t, len(waits), 90)
}

func TestReadyTakesNoPlace(t *testing.T) {
	g := throttle.Gate{Rand: script(t, 0.75, 0.5, 0.25)}
	th := g.For("a")
	g.Block(t0, 10*sec, "a")
	ready(t, th, t0, 10*sec)           // the first to foresee it is told the end
	ready(t, th, t0.Add(sec), 9750*ms) // the others are spread
	admit(t, th, t0, nil, 10*sec)      // neither has taken the first place: this one has
	ready(t, th, t0.Add(sec), 9500*ms) // and then newcomers are not
	admit(t, th, t0, nil, 10250*ms)    // nor is this one
	ready(t, th, t0.Add(10*sec), 0)    // but who comes later goes at once
	ready(t, th, t0.Add(10*sec+1), 0)  //
	admit(t, th, t0.Add(10*sec), nil, 0)
}

func TestFirstPlaceIsHandedBack(t *testing.T) {
	g := throttle.Gate{Rand: always(0.5)}
	th := g.For("a")
	g.Block(t0, 10*sec, "a")
	first := admit(t, th, t0, nil, 10*sec)
	second := admit(t, th, t0, nil, 10500*ms)
	th.Done(t.Context(), t0, second, throttle.Outcome{Class: throttle.Skipped})
	admit(t, th, t0, nil, 10500*ms)
	th.Done(t.Context(), t0, first, throttle.Outcome{Class: throttle.Transient}) // an attempt was made
	admit(t, th, t0, nil, 10500*ms)

	g.Block(t0, 20*sec, "a")
	first = admit(t, th, t0, nil, 20*sec)
	th.Done(t.Context(), t0, first, throttle.Outcome{Class: throttle.Skipped})
	next := admit(t, th, t0, nil, 20*sec)
	th.Done(t.Context(), t0, first, throttle.Outcome{Class: throttle.Skipped}) // once is enough
	admit(t, th, t0, nil, 20500*ms)
	admit(t, th, t0.Add(20*sec), next, 0)
}

func TestFirstPlaceMovesWithItsOwner(t *testing.T) {
	g := throttle.Gate{Rand: always(0.5)}
	g.Block(t0, 10*sec, "a")
	ab := admit(t, g.For("a", "b"), t0, nil, 10*sec)
	g.Block(t0, 20*sec, "b")
	ab = admit(t, g.For("a", "b"), t0, ab, 20*sec)   // waits for b now
	admit(t, g.For("a"), t0, nil, 10*sec)            // and left its place at a
	admit(t, g.For("b"), t0, nil, 20500*ms)          //
	admit(t, g.For("a", "b"), t0.Add(20*sec), ab, 0) //
}

func TestReleaseAfterAChange(t *testing.T) {
	setup := func() (*throttle.Gate, throttle.Throttle, throttle.Ticket) {
		g := &throttle.Gate{Replace: true, Rand: always(0.5)}
		th := g.For("a")
		g.Block(t0, 10*sec, "a")
		admit(t, th, t0, nil, 10*sec)
		return g, th, admit(t, th, t0, nil, 10500*ms)
	}

	g, th, waiter := setup()
	g.Clear("a")
	admit(t, th, t0.Add(sec), waiter, 0)

	g, th, waiter = setup()
	g.Block(t0.Add(sec), 0, "a") // replaced by nothing
	admit(t, th, t0.Add(sec), waiter, 0)

	g, th, waiter = setup()
	g.Block(t0.Add(sec), sec, "a") // shorter: the place is taken anew
	waiter = admit(t, th, t0.Add(sec), waiter, sec)
	admit(t, th, t0.Add(sec), nil, sec+50*ms)
	admit(t, th, t0.Add(2*sec), waiter, 0)

	g, th, waiter = setup()
	g.Block(t0.Add(sec), sec, "a") // shorter and over when the waiter comes back
	admit(t, th, t0.Add(2*sec), waiter, 0)

	g, th, waiter = setup()
	g.Block(t0.Add(10*sec), 20*sec, "a") // longer
	waiter = admit(t, th, t0.Add(10500*ms), waiter, 19500*ms)
	admit(t, th, t0.Add(30*sec), waiter, 0)

	g, th, waiter = setup()
	g.Clear("a")
	g.Block(t0.Add(sec), 9*sec, "a") // another cool-down, with the same end
	admit(t, th, t0.Add(sec), waiter, 9*sec)
}

func TestForeignTickets(t *testing.T) {
	g, other := throttle.Gate{Rand: always(0.5)}, throttle.Gate{}
	other.Block(t0, 10*sec, "a")
	foreign := admit(t, other.For("a"), t0, nil, 10*sec)
	for _, ticket := range []throttle.Ticket{7, "ticket", struct{}{}, (*int)(nil), foreign} {
		assert.Equal(t, ticket, admit(t, g.For("a"), t0, ticket, 0))
		g.For("a").Done(t.Context(), t0, ticket, throttle.Outcome{Class: throttle.Skipped})
		for _, th := range []throttle.Throttle{(*throttle.Gate)(nil).For("a"), (*throttle.Gate)(nil).By(tenantOf), g.For(), g.By(nil)} {
			assert.Equal(t, ticket, admit(t, th, t0, ticket, 0))
			th.Done(t.Context(), t0, ticket, throttle.Outcome{Class: throttle.Skipped})
		}
	}
	g.Block(t0, 10*sec, "a")
	assert.NotEqual(t, 7, admit(t, g.For("a"), t0, 7, 10*sec))
}
