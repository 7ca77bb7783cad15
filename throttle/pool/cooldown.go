package pool

import (
	"time"

	"github.com/seed-89b3229b/retry/internal/draw"
	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/internal/release"
	"github.com/seed-89b3229b/retry/internal/saturate"
	"github.com/seed-89b3229b/retry/throttle"
)

// report is told how an attempt that was given a key ended.
func (p *Pool[K]) report(now time.Time, given *spell[K], o *throttle.Outcome) {
	if p.Classify != nil && o.Class != throttle.Skipped {
		changed := p.Classify(*o)
		o = &changed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := given.slot
	if s.at < 0 {
		return // removed
	}
	switch o.Class {
	case throttle.Throttled:
		s.limited++
	case throttle.Success, throttle.Permanent:
	case throttle.Skipped:
		s.uses = max(s.uses-1, 0)
		fallthrough
	default:
		if given == s.spell && p.trying.has(s.at) {
			p.revive(s) // for another to try
		}
		return
	}
	p.meet()
	n, told := p.since(now), min(max(o.Signal.Delay, 0), positive(p.MaxCooldown, throttle.DefaultMaxCooldown))
	if given != s.spell {
		if end := saturate.Add(n, told); o.Signal.HasDelay && told > 0 && (!s.rests() || end > s.end) {
			p.cool(n, s, s.spell.failures, told, o)
		}
		return
	}
	if o.Class == throttle.Throttled {
		length := told
		if !o.Signal.HasDelay {
			length = p.length(given.failures + 1)
		}
		p.cool(n, s, given.failures+1, length, o)
		return
	}
	given.open = true
	if o.Class == throttle.Success {
		given.failures = 0
	}
	if o.Signal.HasDelay && told > 0 {
		p.cool(n, s, given.failures, told, o)
	} else {
		p.revive(s)
	}
}

// cool starts a cool-down.
func (p *Pool[K]) cool(n time.Duration, s *slot[K], failures int, length time.Duration, o *throttle.Outcome) {
	next := &spell[K]{slot: s, failures: failures, window: release.Window(length, p.Spread), source: o.Signal.Source}
	if !errtree.IsNil(o.Err) {
		next.err = o.Err
	}
	s.spell, s.keeper = next, nil
	p.trying.clear(s.at)
	end := saturate.Add(n, length)
	p.rest(s, end, end)
}

// length returns the cool-down after so many failures in a row, where no server told one.
func (p *Pool[K]) length(failures int) time.Duration {
	base, most := p.Base, positive(p.Max, DefaultMax)
	if base == 0 {
		base = DefaultBase
	}
	length := most
	if doublings := failures - 1; base < 0 {
		length = 0
	} else if doublings < 63 && base <= most>>doublings {
		length = base << doublings
	}
	if p.Jitter != nil && length > 0 {
		length = min(max(p.Jitter(length, most, draw.From(p.Rand)), 0), most)
	}
	return length
}

// positive returns d, or other if d is not above 0.
func positive(d, other time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return other
}
