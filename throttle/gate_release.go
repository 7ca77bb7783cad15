package throttle

import (
	"sync/atomic"
	"time"

	"github.com/seed-89b3229b/retry/internal/draw"
	"github.com/seed-89b3229b/retry/internal/saturate"
)

// cooldown is one observation. It is replaced, never changed, except for led and known.
type cooldown struct {
	key    Key
	from   time.Time     // kept apart from length, because their sum may not be a time
	length time.Duration // above 0
	window time.Duration // after the end, in which those held back are released
	source string
	err    error
	led    atomic.Bool // somebody has the first place
	known  atomic.Bool // somebody has foreseen it
}

// remaining returns how long c still lasts at now; 0 or less: it is over.
func (c *cooldown) remaining(now time.Time) time.Duration {
	passed := now.Sub(c.from)
	if passed < c.length-maxDuration {
		return maxDuration
	}
	return c.length - passed
}

func (c *cooldown) refusal(now time.Time) *Error {
	return &Error{Key: c.key, Until: c.from.Add(c.length), Remaining: max(c.remaining(now), 0), Source: c.source, Err: c.err}
}

// last returns the cool-down of keys that ends last, and how long it still lasts at now; nil and 0 if all are over.
func (g *Gate) last(now time.Time, keys []Key) (last *cooldown, rest time.Duration) {
	if g == nil {
		return nil, 0
	}
	for _, key := range keys {
		if c := g.keys.find(key); c != nil {
			if r := c.remaining(now); r > rest {
				last, rest = c, r
			}
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

// place says how long an attempt has to wait at now. p is its place from the last answer, nil at first.
func (g *Gate) place(now time.Time, p *place, keys []Key) (*place, time.Duration) {
	last, rest := g.last(now, keys)
	switch {
	case last == nil && (p == nil || g.keys.find(p.cool.key) != p.cool):
		// Open; or what p waited for was cleared, or replaced by a cool-down that is over as well.
		return p, 0
	case last == nil:
		return p, max(saturate.Add(p.cool.remaining(now), p.offset), 0)
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
	return p, saturate.Add(rest, p.offset)
}

// ready says how long place would let a newcomer wait, without giving it a place. Those who plan by it come back together,
// so only the first to foresee a cool-down is told its very end.
func (g *Gate) ready(at time.Time, keys []Key) time.Duration {
	last, rest := g.last(at, keys)
	if last == nil || !last.led.Load() && last.known.CompareAndSwap(false, true) {
		return rest
	}
	return saturate.Add(rest, g.draw(last))
}

// explain returns the refusal by the cool-down that ends last, nil if all are over.
func (g *Gate) explain(now time.Time, keys []Key) *Error {
	if last, _ := g.last(now, keys); last != nil {
		return last.refusal(now)
	}
	return nil
}

func (g *Gate) draw(c *cooldown) time.Duration {
	if c.window <= 1 {
		return 0
	}
	return draw.Below(c.window, g.Rand)
}

// handBack frees the first place for another, if p has it.
func (p *place) handBack() {
	if p != nil && p.first {
		p.first = false
		p.cool.led.Store(false)
	}
}
