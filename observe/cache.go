package observe

import (
	"maps"
	"sync"
	"sync/atomic"
)

// cache is a small map that is read without a lock, and copied for each of its few additions. It does not grow beyond limit.
type cache[K comparable, V any] struct {
	limit int
	mu    sync.Mutex
	known atomic.Pointer[map[K]V]
}

func (c *cache[K, V]) get(k K) (v V, ok bool) {
	if known := c.known.Load(); known != nil {
		v, ok = (*known)[k]
	}
	return v, ok
}

func (c *cache[K, V]) full() bool {
	known := c.known.Load()
	return known != nil && len(*known) >= c.limit
}

// add keeps v for k, unless there is a value already, which it then returns. ok is false if there is no room.
func (c *cache[K, V]) add(k K, v V) (kept V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept, ok := c.get(k); ok {
		return kept, true
	}
	if c.full() {
		return v, false
	}
	grown := map[K]V{}
	if known := c.known.Load(); known != nil {
		grown = maps.Clone(*known)
	}
	grown[k] = v
	c.known.Store(&grown)
	return v, true
}
