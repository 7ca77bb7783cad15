package throttle

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync/atomic"
	"time"
)

// ident is a key with its hash, so that a throttle for fixed keys hashes them once.
type ident struct {
	key  Key
	hash uint64
}

var seed = maphash.MakeSeed()

func keyed(key Key) ident { return ident{key, maphash.String(seed, string(key))} }

// table is a hash table of cool-downs that is read without a lock. Its buckets hold lists that are never changed, only
// replaced; writers hold Gate.mu. sync.Map would do, but it takes an allocation to look up a string.
type table struct {
	buckets []atomic.Pointer[link] // a power of two
}

type link struct {
	cool *cooldown
	next *link
}

func (t *table) bucket(hash uint64) *atomic.Pointer[link] {
	return &t.buckets[hash&uint64(len(t.buckets)-1)]
}

// add puts c in the place of its key's former cool-down.
func (t *table) add(c *cooldown) {
	b := t.bucket(c.hash)
	b.Store(&link{c, b.Load().without(c.key)})
}

// without returns the list without key. What follows it is shared.
func (l *link) without(key Key) *link {
	switch {
	case l == nil:
		return nil
	case l.cool.key == key:
		return l.next
	}
	if rest := l.next.without(key); rest != l.next {
		return &link{l.cool, rest}
	}
	return l
}

// find returns the key's last known cool-down, which may be over, or nil.
func (g *Gate) find(id ident) *cooldown {
	if g == nil {
		return nil
	}
	t := g.table.Load()
	if t == nil {
		return nil
	}
	for l := t.bucket(id.hash).Load(); l != nil; l = l.next {
		if l.cool.hash == id.hash && l.cool.key == id.key {
			return l.cool
		}
	}
	return nil
}

// put makes c its key's cool-down. The caller holds mu.
func (g *Gate) put(now time.Time, c *cooldown) {
	if g.find(c.ident) == nil {
		if t := g.table.Load(); t == nil || g.count >= min(len(t.buckets), g.maxKeys()) {
			g.makeRoom(now)
		}
		g.count++
	}
	g.table.Load().add(c)
}

// forget removes the key's cool-down.
func (g *Gate) forget(id ident) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.find(id) != nil {
		b := g.table.Load().bucket(id.hash)
		b.Store(b.Load().without(id.key))
		g.count--
	}
}

// makeRoom drops what is over, and what ends soonest if MaxKeys demands it, and builds a table of the size that is needed
// now. It leaves room for a share of the keys it keeps before it is called again, not just for one: going through all
// of them for every new key would make a full Gate slow. The caller holds mu.
func (g *Gate) makeRoom(now time.Time) {
	var live []*cooldown
	if t := g.table.Load(); t != nil {
		for i := range t.buckets {
			for l := t.buckets[i].Load(); l != nil; l = l.next {
				if !l.cool.over(now) {
					live = append(live, l.cool)
				}
			}
		}
	}
	limit := g.maxKeys()
	if keep := limit - max(limit/16, 1); g.count >= limit && len(live) > keep {
		slices.SortFunc(live, func(a, b *cooldown) int {
			return cmp.Or(cmp.Compare(b.remaining(now), a.remaining(now)), cmp.Compare(a.key, b.key))
		})
		live = live[:keep]
	}
	size := 8
	for size < 2*(len(live)+1) {
		size *= 2
	}
	t := &table{make([]atomic.Pointer[link], size)}
	for _, c := range live {
		t.add(c)
	}
	g.count = len(live)
	g.table.Store(t)
}
