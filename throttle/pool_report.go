package throttle

import (
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/internal/saturate"
)

// report is told how an attempt that was given a key ended.
func (p *Pool[K]) report(now time.Time, given *spell[K], o *Outcome) {
	if p.Classify != nil && o.Class != Skipped {
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
	case Throttled:
		s.limited++
	case Success, Permanent:
	case Skipped:
		s.uses = max(s.uses-1, 0)
		fallthrough
	default:
		if given == s.spell && p.trying.has(s.at) {
			p.revive(s) // for another to try
		}
		return
	}
	p.meet()
	n, told := p.since(now), min(max(o.Signal.Delay, 0), orDefault(p.MaxCooldown, DefaultMaxCooldown))
	if given != s.spell {
		if end := saturate.Add(n, told); o.Signal.HasDelay && told > 0 && (!s.rests() || end > s.end) {
			p.cool(n, s, s.spell.failures, told, o)
		}
		return
	}
	if o.Class == Throttled {
		length := told
		if !o.Signal.HasDelay {
			length = p.length(given.failures + 1)
		}
		p.cool(n, s, given.failures+1, length, o)
		return
	}
	given.open = true
	if o.Class == Success {
		given.failures = 0
	}
	if o.Signal.HasDelay && told > 0 {
		p.cool(n, s, given.failures, told, o)
	} else {
		p.revive(s)
	}
}

// cool starts a cool-down.
func (p *Pool[K]) cool(n time.Duration, s *poolSlot[K], failures int, length time.Duration, o *Outcome) {
	next := &spell[K]{slot: s, failures: failures, window: releaseWindow(length, p.Spread), source: o.Signal.Source}
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
	base, most := p.Base, orDefault(p.Max, DefaultPoolMax)
	if base == 0 {
		base = DefaultPoolBase
	}
	length := most
	if doublings := failures - 1; base < 0 {
		length = 0
	} else if doublings < 63 && base <= most>>doublings {
		length = base << doublings
	}
	if p.Jitter != nil && length > 0 {
		length = min(max(p.Jitter(length, most, p.draw()), 0), most)
	}
	return length
}
