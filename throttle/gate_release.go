package throttle

import (
	"sync/atomic"
	"time"
)

// cooldown is one observation. It is replaced, never changed, except for led.
type cooldown struct {
	ident
	from   time.Time     // kept apart from length, because their sum may not be a time
	length time.Duration // above 0
	window time.Duration // after the end, in which those held back are released
	source string
	err    error
	led    atomic.Bool // somebody has the first place
}

// remaining returns how long c still lasts at now; 0 or less: it is over.
func (c *cooldown) remaining(now time.Time) time.Duration {
	passed := now.Sub(c.from)
	if passed < c.length-maxDuration {
		return maxDuration
	}
	return c.length - passed
}

// over reports whether nobody waits for c any more.
func (c *cooldown) over(now time.Time) bool { return c.remaining(now) <= -c.window }

func (c *cooldown) refusal(now time.Time) *Error {
	return &Error{Key: c.key, Until: c.from.Add(c.length), Remaining: max(c.remaining(now), 0), Source: c.source, Err: c.err}
}

// later returns the one of last and c that ends later, and how long it still lasts; nil if both are over.
func later(last *cooldown, rest time.Duration, c *cooldown, now time.Time) (*cooldown, time.Duration) {
	if c != nil {
		if r := c.remaining(now); r > rest {
			return c, r
		}
	}
	return last, rest
}

// place is the ticket of one who was told to wait: the cool-down it waits for, and where in the release it stands.
type place struct {
	cool   *cooldown
	offset time.Duration
	first  bool
}

// admit says how long an attempt has to wait at now. p is the place from the last answer, nil at first.
func (g *Gate) admit(now time.Time, p *place, ids []ident) (*place, time.Duration) {
	var last *cooldown
	var rest time.Duration
	valid := false
	for _, id := range ids {
		c := g.find(id)
		last, rest = later(last, rest, c, now)
		valid = valid || c != nil && p != nil && p.cool == c
	}
	switch {
	case last == nil && !valid:
		// Open; or what p waited for was cleared, or replaced by a cool-down that it need not wait for.
		return p, 0
	case last == nil:
		return p, max(addSaturating(p.cool.remaining(now), p.offset), 0)
	case p == nil:
		p = new(place)
	}
	if p.cool != last {
		p.handBack()
		p.cool, p.offset, p.first = last, 0, last.led.CompareAndSwap(false, true)
		if !p.first {
			p.offset = g.draw(last)
		}
	}
	return p, addSaturating(rest, p.offset)
}

// ready says how long admit would let a newcomer wait, without giving it a place.
func (g *Gate) ready(at time.Time, ids []ident) time.Duration {
	last, rest := g.last(at, ids)
	if last == nil || !last.led.Load() {
		return rest
	}
	return addSaturating(rest, g.draw(last))
}

// last returns the cool-down that ends last, and how long it still lasts at now; nil and 0 if all are over.
func (g *Gate) last(now time.Time, ids []ident) (last *cooldown, rest time.Duration) {
	for _, id := range ids {
		last, rest = later(last, rest, g.find(id), now)
	}
	return last, rest
}

func (g *Gate) draw(c *cooldown) time.Duration {
	if c.window <= 1 {
		return 0
	}
	return share(c.window, g.Rand)
}

// handBack frees the first place for another, if p has it.
func (p *place) handBack() {
	if p != nil && p.first {
		p.first = false
		p.cool.led.Store(false)
	}
}
