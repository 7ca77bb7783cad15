package throttle

import "time"

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
