package retryhttp

import (
	"sync"
	"sync/atomic"
)

// recentLimit is how many entries a recent keeps at least.
const recentLimit = 1000

// recent is a map that makes what it is asked for, and forgets what was not asked for lately. The zero recent is ready for
// use, by many goroutines.
type recent[K comparable, V any] struct {
	mu         sync.RWMutex
	young, old map[K]*made[V]
}

// made is a value that is made when it is first asked for.
type made[V any] struct {
	done  atomic.Bool
	mu    sync.Mutex
	value V
}

// of returns the value of k. It calls make if there is none: once, even if many ask at the same time, who all wait for it.
// Where make panics, the next one to ask calls it again.
func (r *recent[K, V]) of(k K, make func() V) V {
	m := r.entry(k)
	if m.done.Load() {
		return m.value
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.done.Load() {
		m.value = make()
		m.done.Store(true)
	}
	return m.value
}

// entry returns the place of k's value, made or not.
func (r *recent[K, V]) entry(k K) *made[V] {
	r.mu.RLock()
	m := r.young[k]
	r.mu.RUnlock()
	if m != nil {
		return m
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if m = r.young[k]; m != nil {
		return m
	}
	if m = r.old[k]; m == nil {
		m = new(made[V])
	}
	if len(r.young) >= recentLimit { // the young become the old, and those are forgotten
		r.old, r.young = r.young, nil
	}
	if r.young == nil {
		r.young = make(map[K]*made[V])
	}
	r.young[k] = m
	return m
}
