package retry

import (
	"time"

	"github.com/seed-89b3229b/retry/internal/saturate"
	"github.com/seed-89b3229b/retry/strategy"
)

// lasting is how long the waits of a call that keeps failing take together, without told waits and throttles.
type lasting struct {
	waits          int
	average, worst time.Duration
	averageKnown   bool // else only the worst case is
}

// longest is how many waits are added up at the most.
const longest = 10_000

// lasts adds up the waits of a policy; ok is false where they cannot be known: the strategy is not one of package strategy's that
// go by the number of failures alone, or there are too many.
func (c *config) lasts() (l lasting, ok bool) {
	attempts, curve := c.attempts(), c.curve(&c.terms)
	if attempts > longest || !foreseeable(curve) {
		return l, false
	}
	middle, most := c.drawn(attempts-1, 0.5), c.drawn(attempts-1, almostOne)
	l.waits, l.averageKnown = len(most), true
	top := forever
	if d, is := curve.(strategy.Decorrelated); is { // at its cap, the mean is not the middle any more
		top = min(orForever(d.Max), c.delayLimit())
	}
	for i, wait := range most {
		mean, high := middle[i], wait
		l.averageKnown = l.averageKnown && wait < top
		if c.jitter != nil {
			limit := min(c.delayLimit(), ceiling(curve, &strategy.State{Number: i + 1}))
			draw := func(r float64) time.Duration { return max(min(c.jitter(wait, limit, r), limit), 0) }
			low, last := draw(0), draw(almostOne)
			mean, high = draw(0.5), max(low, last)
			if off := low/2 + last/2 - mean; off < -2 || off > 2 {
				l.averageKnown = false // a jitter of the caller's that does not draw evenly
			}
		}
		l.average, l.worst = saturate.Add(l.average, mean), saturate.Add(l.worst, high)
	}
	return l, true
}

// drawn are the first n waits of the strategy, each within WithMaxDelay, where every draw is r.
func (c *config) drawn(n int, r float64) []time.Duration {
	waits := make([]time.Duration, 0, min(max(n, 0), 64))
	state := strategy.State{Limit: c.maxDelay, Rand: func() float64 { return r }}
	for state.Number = 1; state.Number <= n; state.Number++ {
		wait, ok := c.curve(&c.terms).Next(state)
		if !ok {
			break
		}
		state.Prev = max(wait, 0)
		waits = append(waits, min(state.Prev, c.delayLimit()))
	}
	return waits
}

// almostOne is the largest number that is drawn.
const almostOne = 1 - 1.0/(1<<53)

// foreseeable says that a strategy's waits follow from the number of failures and even draws alone.
func foreseeable(s strategy.Strategy) bool {
	switch s.(type) {
	case strategy.Constant, strategy.Linear, strategy.Exponential, strategy.Fibonacci, strategy.Sequence,
		strategy.FullJitter, strategy.EqualJitter, strategy.Decorrelated:
		return true
	}
	return false
}
