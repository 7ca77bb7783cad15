package pool

import (
	"container/heap"
	"time"

	"github.com/seed-89b3229b/retry/internal/draw"
	"github.com/seed-89b3229b/retry/internal/saturate"
)

// admit gives a key, or says how long to wait for one and as whom. w is the answer from before, nil at first.
func (p *Pool[K]) admit(now time.Time, w *waiter[K]) (given *spell[K], waits *waiter[K], wait time.Duration, err error) {
	if p == nil {
		return nil, w, 0, ErrNoKeys
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.begin(now)
	if len(p.slots) == 0 {
		return nil, w, 0, ErrNoKeys
	}
	if s := p.choose(n, w); s != nil {
		if kept := w.slot(); kept != s {
			p.handBack(w)
		}
		return p.take(n, s), nil, 0, nil
	}
	if w == nil {
		w = new(waiter[K])
	}
	return nil, w, p.place(n, w), nil
}

// begin readies the Pool for a question at now. It returns the time since the epoch.
func (p *Pool[K]) begin(now time.Time) time.Duration {
	p.meet()
	n := p.since(now)
	p.wake(n)
	return n
}

// choose returns the slot whose key w may take, nil if it has to wait.
func (p *Pool[K]) choose(n time.Duration, w *waiter[K]) *slot[K] {
	waited := w.slot()
	if waited != nil && waited.keeper == w && waited.end <= n {
		return waited
	}
	if s := p.pick(); s != nil {
		return s
	}
	if waited == nil || between(n, waited.end) > -w.offset {
		return nil
	}
	// Its time has come, and each key that is not cooling down is somebody's for now.
	if i := p.trying.from(p.next); i >= 0 {
		return p.slots[i]
	}
	return waited
}

// pick returns the slot that is to be taken next, nil if none is ready.
func (p *Pool[K]) pick() *slot[K] {
	i := -1
	switch p.Selection {
	case LeastRecentlyUsed:
		if len(p.idle.slots) > 0 {
			return p.idle.slots[0]
		}
		return nil
	case Random:
		if many := p.ready.count(); many > 0 {
			i = p.ready.nth(min(int(draw.From(p.Rand)*float64(many)), many-1))
		}
	default:
		i = p.ready.from(p.next)
	}
	if i < 0 {
		return nil
	}
	return p.slots[i]
}

// take gives the key of s.
func (p *Pool[K]) take(n time.Duration, s *slot[K]) *spell[K] {
	p.uses++
	p.next = s.at + 1
	s.uses++
	s.used = p.uses
	switch {
	case p.trying.has(s.at):
	case !s.spell.open && s.spell.window > 0:
		s.keeper = nil
		p.rest(s, n, saturate.Add(n, s.spell.window))
		p.trying.set(s.at)
	case p.Selection == LeastRecentlyUsed:
		heap.Fix(&p.idle, s.rank)
	}
	return s.spell
}

// place says how long w has to wait; above 0.
func (p *Pool[K]) place(n time.Duration, w *waiter[K]) time.Duration {
	if s := w.slot(); s != nil {
		if wait := saturate.Add(between(n, s.end), w.offset); wait > 0 {
			return wait
		}
	}
	s := p.resting.slots[0]
	w.spell, w.offset = s.spell, 0
	if s.keeper == nil && !p.trying.has(s.at) {
		s.keeper = w
		p.rest(s, s.end, saturate.Add(s.end, s.spell.window))
	} else {
		w.offset = p.offset(n, s)
	}
	return max(saturate.Add(between(n, s.end), w.offset), 1)
}

// offset draws a place among those who come after the first: how long after the end of the cool-down of s.
func (p *Pool[K]) offset(n time.Duration, s *slot[K]) time.Duration {
	from := max(between(s.end, n), 0)
	return from + draw.Below(between(s.end, s.free)-from, p.Rand)
}

// handBack lets another be the first, if w is.
func (p *Pool[K]) handBack(w *waiter[K]) {
	if s := w.slot(); s != nil && s.keeper == w {
		s.keeper = nil
		p.rest(s, s.end, s.end)
	}
}
