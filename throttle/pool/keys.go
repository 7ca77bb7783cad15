package pool

import (
	"fmt"
	"slices"
	"time"
)

// Add appends keys to the rotation. A key that is there already stays as it is.
func (p *Pool[K]) Add(keys ...K) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range keys {
		if p.byKey[key] != nil {
			continue
		}
		if p.byKey == nil {
			p.byKey = make(map[K]*slot[K], len(keys))
		}
		s := &slot[K]{pool: p, key: &key, index: p.named, at: len(p.slots)}
		s.spell = &spell[K]{slot: s, open: true}
		p.byKey[key] = s
		p.slots = append(p.slots, s)
		p.named++
	}
}

// Remove takes keys out of the rotation and forgets what was known about them. Attempts that have one may go on with it; how
// they end is ignored, also if the key has been added anew.
func (p *Pool[K]) Remove(keys ...K) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.meet()
	for _, key := range keys {
		s := p.byKey[key]
		if s == nil {
			continue
		}
		p.unqueue(s)
		delete(p.byKey, key)
		p.ready.drop(s.at)
		p.trying.drop(s.at)
		p.slots = slices.Delete(p.slots, s.at, s.at+1)
		p.known--
		if s.at < p.next {
			p.next--
		}
		for i, moved := range p.slots[s.at:] {
			moved.at = s.at + i
		}
		s.at, s.spell, s.keeper = -1, nil, nil
	}
}

// Keys returns the keys, in the order of rotation.
func (p *Pool[K]) Keys() []K {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	keys := make([]K, len(p.slots))
	for i, s := range p.slots {
		keys[i] = *s.key
	}
	return keys
}

// Len returns how many keys there are.
func (p *Pool[K]) Len() int {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.slots)
}

// String returns a text such as "pool of 5 keys". It names none of them.
func (p *Pool[K]) String() string { return fmt.Sprintf("pool of %d keys", p.Len()) }

// GoString is String: what is printed for debugging names no key either.
func (p *Pool[K]) GoString() string { return p.String() }

// KeyStats is what a Pool knows about one of its keys.
type KeyStats struct {
	// Index names the key: 0 for the first that was added, and so on. It stays the same while the key is in the Pool, and is
	// not given to another one after that.
	Index int
	// Uses counts the attempts made with the key, those under way included, and Limited those that came back Throttled.
	Uses, Limited int64
	// Failures counts the failures in a row, a burst as one.
	Failures int
	// Until is when the cool-down in force ends; zero if there is none.
	Until time.Time
}

// Stats returns what is known at now about each key, in the order of Keys.
func (p *Pool[K]) Stats(now time.Time) []KeyStats {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.meet()
	n, stats := p.since(now), make([]KeyStats, len(p.slots))
	for i, s := range p.slots {
		stats[i] = KeyStats{Index: s.index, Uses: s.uses, Limited: s.limited, Failures: s.spell.failures}
		if left := s.left(n); left > 0 {
			stats[i].Until = now.Add(left)
		}
	}
	return stats
}
