package throttle

import (
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
	table atomic.Pointer[keytable]
}

const firstSweep = 64

// find returns the key's last known cool-down, which may be over, or nil.
func (r *keyring) find(key Key) *cooldown {
	if r.count.Load() == 0 {
		return nil
	}
	if _, l := r.table.Load().find(key); l != nil {
		return l.cool.Load()
	}
	return nil
}

// put makes c its key's cool-down. The caller holds mu.
func (r *keyring) put(now time.Time, c *cooldown, limit int) {
	t := r.table.Load()
	if t != nil {
		if _, l := t.find(c.key); l != nil {
			l.cool.Store(c)
			return
		}
	}
	if count := int(r.count.Load()); t == nil || count >= limit || count >= r.sweep {
		t = r.makeRoom(now, limit)
	}
	t.add(c)
	r.count.Add(1)
}

// drop removes the key's cool-down. The caller holds mu.
func (r *keyring) drop(key Key) {
	if r.count.Load() > 0 && r.table.Load().remove(key) {
		r.count.Add(-1)
	}
}

// makeRoom moves to a table of the right size, and leaves behind what is over, and what ends soonest if limit demands
// it. It leaves room for a share of the keys it keeps, not just for one: to go through all of them for every new key
// would make a full Gate slow.
func (r *keyring) makeRoom(now time.Time, limit int) *keytable {
	full := int(r.count.Load()) >= limit
	var live []ending
	r.table.Load().each(func(c *cooldown) {
		// Until the end of the release somebody may be waiting for it.
		if rest := c.remaining(now); rest > -c.window {
			live = append(live, ending{rest, c})
		}
	})
	if keep := limit - max(limit/16, 1); full && len(live) > keep {
		longestFirst(live, keep)
		live = live[:keep]
	}
	r.sweep = max(2*len(live), firstSweep)
	t := newKeytable(r.sweep)
	for _, c := range live {
		t.add(c.cool)
	}
	r.table.Store(t)
	r.count.Store(int64(len(live)))
	return t
}

// ending is a cool-down and how long it lasts.
type ending struct {
	rest time.Duration
	cool *cooldown
}

// outlasts is an order of all endings: which one is kept must not depend on the table.
func (e ending) outlasts(f ending) bool {
	if e.rest != f.rest {
		return e.rest > f.rest
	}
	return e.cool.key < f.cool.key
}

// longestFirst moves the n endings that outlast the others to the front, in no order. It is Hoare's selection: to sort
// all of them would take most of the time that a flood of keys costs. The table's order is as good as random, so that no
// choice of keys can make the middle a bad pivot.
func longestFirst(live []ending, n int) {
	for lo, hi := 0, len(live)-1; lo < hi; {
		pivot := live[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for live[i].outlasts(pivot) {
				i++
			}
			for pivot.outlasts(live[j]) {
				j--
			}
			if i <= j {
				live[i], live[j] = live[j], live[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case n-1 <= j:
			hi = j
		case n-1 >= i:
			lo = i
		default:
			return
		}
	}
}
