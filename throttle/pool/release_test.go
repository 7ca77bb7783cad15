package pool_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// blocked returns a pool whose keys cool down for these times, and draws the numbers.
func blocked(t *testing.T, us []float64, waits ...time.Duration) *pool.Pool[int] {
	p := pool.New[int]()
	p.Rand = script(t, us...)
	for i, d := range waits {
		p.Add(i)
		p.Done(t.Context(), t0, pool.TicketOf(p, i), limitedFor(d))
	}
	return p
}

// asks lets somebody ask at a time and returns the ticket, after comparing the answer: a wait, or a key if that is 0.
func asks(t *testing.T, p *pool.Pool[int], at time.Duration, ticket throttle.Ticket, want time.Duration, key ...int) throttle.Ticket {
	t.Helper()
	ticket, wait, err := p.Admit(t.Context(), t0.Add(at), ticket)
	require.NoError(t, err)
	require.Equal(t, want, wait)
	if want == 0 {
		require.Equal(t, key, []int{p.Key(p.Attach(t.Context(), ticket))})
	}
	return ticket
}

func ends(t *testing.T, p *pool.Pool[int], at time.Duration, ticket throttle.Ticket, c throttle.Class) {
	p.Done(t.Context(), t0.Add(at), ticket, throttle.Outcome{Class: c})
}

// TestPoolWaitersSpreadOverKeys: each key gets its first, the earliest end first, and the further ones draw places.
func TestPoolWaitersSpreadOverKeys(t *testing.T) {
	p := blocked(t, []float64{0.5, 0.25}, 30*sec, 20*sec, 20100*ms)
	first := asks(t, p, 0, nil, 20*sec)
	second := asks(t, p, 0, nil, 20100*ms)
	third := asks(t, p, 0, nil, 20500*ms) // 20 s + half of a second, while key 0 has 30 s to go
	fourth := asks(t, p, 0, nil, 20250*ms)
	asks(t, p, sec, third, 19500*ms) // the place is kept
	asks(t, p, 20100*ms, second, 0, 2)
	first = asks(t, p, 20100*ms, first, 0, 1)
	ends(t, p, 20200*ms, first, throttle.Success)
	asks(t, p, 20250*ms, fourth, 0, 1)
	asks(t, p, 20500*ms, third, 0, 1)
}

// TestPoolHalfOpen: after its cool-down a key is tried by one attempt, and all others keep off for the window.
func TestPoolHalfOpen(t *testing.T) {
	p := blocked(t, []float64{0.5, 0.75}, 5*sec, 100*sec)
	trial := asks(t, p, 5*sec, nil, 0, 0)
	asks(t, p, 5*sec, nil, 250*ms)
	late := asks(t, p, 5200*ms, nil, 225*ms) // three quarters of what is left
	ends(t, p, 5300*ms, trial, throttle.Success)
	asks(t, p, 5300*ms, nil, 0, 0)
	asks(t, p, 5300*ms, late, 0, 0)

	p = blocked(t, nil, 5*sec, 100*sec)
	asks(t, p, 5*sec, nil, 0, 0)
	asks(t, p, 5500*ms, nil, 0, 0) // nothing was heard: another one tries, and has the key for as long
	p.Rand = always(0)
	asks(t, p, 5999*ms, nil, 1)
	asks(t, p, 6*sec, nil, 0, 0)

	p = blocked(t, nil, 5*sec, 100*sec)
	trial = asks(t, p, 50*sec, nil, 0, 0)
	p.Rand = always(0.5)
	asks(t, p, 50*sec, nil, 250*ms) // the window begins with the attempt
	ends(t, p, 50*sec, trial, throttle.Permanent)
	trial = asks(t, p, 50*sec, nil, 0, 0)
	asks(t, p, 50*sec, nil, 0, 0) // an answer is enough
	ends(t, p, 50*sec, trial, throttle.Throttled)
	asks(t, p, 50*sec, nil, 2*sec) // but the row has not ended
}

// TestPoolOthersAreTakenMeanwhile: a key that is being tried is passed over while there are others.
func TestPoolOthersAreTakenMeanwhile(t *testing.T) {
	p := blocked(t, nil, 10*sec, 0, 0)
	ends(t, p, 0, pool.TicketOf(p, 1), throttle.Success)
	ends(t, p, 0, pool.TicketOf(p, 2), throttle.Success)
	trial := asks(t, p, 10*sec, nil, 0, 0)
	for _, key := range []int{1, 2, 1, 2} {
		asks(t, p, 10*sec, nil, 0, key)
	}
	ends(t, p, 10*sec, trial, throttle.Success)
	for _, key := range []int{0, 1, 2, 0} {
		asks(t, p, 10*sec, nil, 0, key)
	}
}

// TestPoolTrialThatSaysNothing: a trial that is never made, or ends without a word on the key, does not hold it.
func TestPoolTrialThatSaysNothing(t *testing.T) {
	for _, c := range []throttle.Class{throttle.Skipped, throttle.Canceled, throttle.Panicked, throttle.Transient, throttle.Timeout} {
		p := blocked(t, []float64{0.5, 0.5}, 10*sec)
		trial := asks(t, p, 10*sec, nil, 0, 0)
		asks(t, p, 10*sec, nil, 500*ms)
		ends(t, p, 10*sec, trial, c)
		asks(t, p, 10*sec, nil, 0, 0) // and it is one again
		asks(t, p, 10*sec, nil, 500*ms)
	}
}

// TestPoolTrialGoesOn: what an older attempt comes to is no word on it.
func TestPoolTrialGoesOn(t *testing.T) {
	p := pool.New(0)
	p.Rand = always(0.5)
	for _, c := range []throttle.Class{throttle.Skipped, throttle.Canceled, throttle.Transient, throttle.Success, throttle.Throttled} {
		p.Remove(0)
		p.Add(0)
		old, limits := asks(t, p, 0, nil, 0, 0), asks(t, p, 0, nil, 0, 0)
		p.Done(t.Context(), t0, limits, limitedFor(10*sec))
		asks(t, p, 10*sec, nil, 0, 0)
		ends(t, p, 10*sec, old, c)
		asks(t, p, 10*sec, nil, 500*ms)
	}
}

// TestPoolWaitersInOrder: of cool-downs that end together the first in the list is waited for first.
func TestPoolWaitersInOrder(t *testing.T) {
	for n := 2; n < 12; n++ {
		p := blocked(t, nil, slices.Repeat([]time.Duration{10 * sec}, n)...)
		var tickets []throttle.Ticket
		for range n {
			tickets = append(tickets, asks(t, p, 0, nil, 10*sec))
		}
		for i, ticket := range tickets {
			asks(t, p, 10*sec, ticket, 0, i)
		}
	}
}

// TestPoolFirstPlaceIsHandedBack: by one who gives up, or got another key.
func TestPoolFirstPlaceIsHandedBack(t *testing.T) {
	p := blocked(t, []float64{0.5}, 10*sec)
	first := asks(t, p, 0, nil, 10*sec)
	second := asks(t, p, 0, nil, 10500*ms)
	ends(t, p, sec, second, throttle.Skipped) // it had none to hand back
	ends(t, p, sec, first, throttle.Skipped)
	asks(t, p, sec, nil, 9*sec)

	p = blocked(t, []float64{0.5}, 10*sec)
	first = asks(t, p, 0, nil, 10*sec)
	p.Add(1)
	first = asks(t, p, sec, first, 0, 1)
	ends(t, p, sec, first, throttle.Throttled)
	asks(t, p, 1500*ms, nil, 500*ms) // key 1
	asks(t, p, 1500*ms, nil, 550*ms) // the further place at key 1 comes first
}

// TestPoolDueWaitersGetAKey: who has waited for its place finds one, even if all are being tried or kept.
func TestPoolDueWaitersGetAKey(t *testing.T) {
	p := blocked(t, []float64{0.5, 0.5}, 10*sec, 10*sec)
	a, b := asks(t, p, 0, nil, 10*sec), asks(t, p, 0, nil, 10*sec)
	c, d := asks(t, p, 0, nil, 10500*ms), asks(t, p, 0, nil, 10500*ms)
	asks(t, p, 10*sec, a, 0, 0)
	asks(t, p, 10*sec, b, 0, 1)
	c = asks(t, p, 10500*ms, c, 0, 0) // both are being tried; and they are joined in turn
	asks(t, p, 10500*ms, d, 0, 1)
	ends(t, p, 10500*ms, c, throttle.Transient) // whoever reports ends the trial

	p = blocked(t, []float64{0, 0.5}, 10*sec)
	a, b = asks(t, p, 0, nil, 10*sec), asks(t, p, 0, nil, 10*sec)
	asks(t, p, 10*sec, b, 0, 0) // as if it were the first, which is a little late
	asks(t, p, 10*sec, a, 0, 0) // and has waited for its place too
	asks(t, p, 10*sec, nil, 500*ms)

	p = blocked(t, []float64{0, 0.5}, 10*sec)
	a, b = asks(t, p, 0, nil, 10*sec), asks(t, p, 0, nil, 10*sec)
	asks(t, p, 10*sec, b, 0, 0)
	ends(t, p, 10*sec, a, throttle.Skipped) // it has nothing to hand back any more
	asks(t, p, 10*sec, nil, 500*ms)
}

// TestPoolLongerCooldownMovesWaiters: one that was extended, and one that a failed trial began.
func TestPoolLongerCooldownMovesWaiters(t *testing.T) {
	p := pool.New(0)
	p.Rand = script(t, 0.5, 0.5)
	early, late := asks(t, p, 0, nil, 0, 0), asks(t, p, 0, nil, 0, 0)
	p.Done(t.Context(), t0, early, limitedFor(10*sec))
	first, second := asks(t, p, 0, nil, 10*sec), asks(t, p, 0, nil, 10500*ms)
	p.Done(t.Context(), t0, late, limitedFor(20*sec))
	first = asks(t, p, 10*sec, first, 10*sec)
	second = asks(t, p, 10500*ms, second, 10*sec) // half a second later, as it happens
	trial := asks(t, p, 20*sec, first, 0, 0)
	p.Done(t.Context(), t0.Add(20*sec), trial, limitedFor(4*sec))
	second = asks(t, p, 20500*ms, second, 3500*ms) // now it is the first
	asks(t, p, 24*sec, second, 0, 0)
}

func TestPoolSpread(t *testing.T) {
	for spread, extra := range map[time.Duration]time.Duration{0: sec / 2, -1: 0, 100 * ms: 50 * ms, longest: 3 * sec} {
		p := pool.New(0)
		p.Spread, p.Rand = spread, always(0.5)
		p.Done(t.Context(), t0, pool.TicketOf(p, 0), limitedFor(time.Minute))
		asks(t, p, 0, nil, time.Minute)
		asks(t, p, 0, nil, time.Minute+extra)
	}
	p := pool.New(0)
	p.Spread = -1
	p.Done(t.Context(), t0, pool.TicketOf(p, 0), limitedFor(time.Minute))
	for range 3 {
		asks(t, p, time.Minute, nil, 0, 0) // all at once
	}
}

// TestPoolReady: what Admit would say, without a place; and only the first to foresee an end is told the very end.
func TestPoolReady(t *testing.T) {
	p := blocked(t, nil, 10*sec, 20*sec)
	p.Rand = always(0.5)
	ready(t, p, t0.Add(10*sec), 0)
	ready(t, p, t0.Add(4*sec), 6*sec)
	ready(t, p, t0.Add(4*sec), 6500*ms)
	asks(t, p, 0, nil, 10*sec) // nobody had that place
	ready(t, p, t0, 10500*ms)
	ready(t, p, t0.Add(10200*ms), 400*ms) // half of the rest of the second that is the first one's
	ready(t, p, t0.Add(11*sec), 0)
	require.Equal(t, &throttle.Error{Key: "pool", Until: t0.Add(10 * sec), Remaining: 9 * sec, Source: "retry-after", Err: boom}, p.Explain(t.Context(), t0.Add(sec)))
	require.Equal(t, t0.Add(11*sec), p.Explain(t.Context(), t0.Add(10200*ms)).Until, "somebody has the first second")
	require.Nil(t, p.Explain(t.Context(), t0.Add(11*sec)))
	require.Equal(t, []time.Duration{10 * sec, 20 * sec}, cooling(p, t0), "looking changed nothing")
	ready(t, pool.New(0), t0, 0)
}

func TestPoolAcquireRefuses(t *testing.T) {
	p := blocked(t, nil, 10*sec, 8*sec)
	_, err := p.Acquire(t0.Add(sec))
	require.Equal(t, &throttle.Error{Key: "pool", Until: t0.Add(8 * sec), Remaining: 7 * sec, Source: "retry-after", Err: boom}, err)
	require.EqualError(t, err, `throttle: "pool" is cooling down for 7s (retry-after): boom`)
	require.Equal(t, 1, taken(t, p, t0.Add(8*sec)).Key())
	_, err = p.Acquire(t0.Add(8 * sec))
	require.Equal(t, t0.Add(8800*ms), err.(*throttle.Error).Until, "being tried")
	require.Equal(t, 1, taken(t, p, t0.Add(8800*ms)).Key())

	p = pool.New(0)
	taken(t, p, t0).Done(t0, turnedAway)
	_, err = p.Acquire(t0)
	require.EqualError(t, err, `throttle: "pool" is cooling down for 1s: boom`)
}
