package retrygrpc

import "sync"

// recentLimit is how many entries a recent keeps at least.
const recentLimit = 1000

// recent is a map that forgets what was not asked for lately. The zero recent is ready for use, by many goroutines.
type recent[K comparable, V any] struct {
	mu         sync.RWMutex
	young, old map[K]V
}

// get returns the entry, or what make makes of the key: made outside the lock, so perhaps twice, and the first counts.
func (r *recent[K, V]) get(k K, make func(K) V) V {
	r.mu.RLock()
	v, ok := r.young[k]
	r.mu.RUnlock()
	if ok {
		return v
	}
	r.mu.Lock()
	if v, ok = r.find(k); ok {
		r.mu.Unlock()
		return v
	}
	r.mu.Unlock()

	fresh := make(k)
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok = r.find(k); ok {
		return v
	}
	r.keep(k, fresh)
	return fresh
}

// find looks into both halves, and makes an old entry young again. The caller holds mu.
func (r *recent[K, V]) find(k K) (V, bool) {
	if v, ok := r.young[k]; ok {
		return v, true
	}
	v, ok := r.old[k]
	if ok {
		r.keep(k, v)
	}
	return v, ok
}

// keep makes an entry one of the young, which become the old when there are enough of them. The caller holds mu.
func (r *recent[K, V]) keep(k K, v V) {
	if len(r.young) >= recentLimit {
		r.old, r.young = r.young, nil
	}
	if r.young == nil {
		r.young = make(map[K]V)
	}
	r.young[k] = v
}
