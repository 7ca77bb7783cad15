package throttle

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// keyring is the cool-downs by key: read without a lock, written under mu.
type keyring struct {
	mu    sync.Mutex
	sweep int // the number of keys at which to look for ones that are over

	_     [64]byte     // keeps what readers read off the cache line that writers lock
	count atomic.Int64 // keys on record; 0 until the first cool-down, and then nobody need look further
	cools sync.Map     // Key to *cooldown
}

const firstSweep = 64

// find returns the key's last known cool-down, which may be over, or nil.
func (r *keyring) find(key Key) *cooldown {
	if r.count.Load() == 0 {
		return nil
	}
	c, _ := r.cools.Load(key)
	cool, _ := c.(*cooldown)
	return cool
}

// put makes c its key's cool-down. The caller holds mu.
func (r *keyring) put(now time.Time, c *cooldown, limit int) {
	if r.find(c.key) == nil {
		if count := int(r.count.Load()); count >= limit || count >= max(r.sweep, firstSweep) {
			r.makeRoom(now, limit)
		}
		r.count.Add(1)
	}
	r.cools.Store(c.key, c)
}

// drop removes the key's cool-down. The caller holds mu.
func (r *keyring) drop(key Key) {
	if _, found := r.cools.LoadAndDelete(key); found {
		r.count.Add(-1)
	}
}

// makeRoom drops what is over, and what ends soonest if limit demands it. It leaves room for a share of the keys it
// keeps, not just for one: to go through all of them for every new key would make a full Gate slow.
func (r *keyring) makeRoom(now time.Time, limit int) {
	full := int(r.count.Load()) >= limit
	var live []*cooldown
	r.cools.Range(func(_, v any) bool {
		if c := v.(*cooldown); c.over(now) {
			r.drop(c.key)
		} else {
			live = append(live, c)
		}
		return true
	})
	if keep := limit - max(limit/16, 1); full && len(live) > keep {
		slices.SortFunc(live, func(a, b *cooldown) int {
			return cmp.Or(cmp.Compare(b.remaining(now), a.remaining(now)), cmp.Compare(a.key, b.key))
		})
		for _, c := range live[keep:] {
			r.drop(c.key)
		}
		live = live[:keep]
	}
	r.sweep = 2 * len(live)
}
