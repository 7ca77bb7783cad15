package throttle

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
)

// keytable is a hash table of chains, of a fixed size. One writer at a time changes it while any number of readers walk
// it. A reader may stand on a link that is being removed: it finds its way on, since a link keeps its successor, and
// what it sees was there when it began. sync.Map could do the same, for half as much memory again a key.
type keytable struct {
	seed  maphash.Seed
	heads []atomic.Pointer[keylink] // as many as a power of two
}

type keylink struct {
	next atomic.Pointer[keylink]
	cool atomic.Pointer[cooldown] // never nil; always of the same key
}

// newKeytable returns a table that is quick for up to size keys, size at least 1.
func newKeytable(size int) *keytable {
	return &keytable{maphash.MakeSeed(), make([]atomic.Pointer[keylink], 1<<bits.Len(uint(size-1)))}
}

// chain returns where the key's chain starts.
func (t *keytable) chain(key Key) *atomic.Pointer[keylink] {
	return &t.heads[maphash.String(t.seed, string(key))&uint64(len(t.heads)-1)]
}

// find returns the key's link, and what points to it; nil if there is none.
func (t *keytable) find(key Key) (from *atomic.Pointer[keylink], l *keylink) {
	from = t.chain(key)
	for l = from.Load(); l != nil && l.cool.Load().key != key; l = from.Load() {
		from = &l.next
	}
	return from, l
}

// add puts in a cool-down of a key that the table does not have.
func (t *keytable) add(c *cooldown) {
	l, head := new(keylink), t.chain(c.key)
	l.cool.Store(c)
	l.next.Store(head.Load())
	head.Store(l)
}

// remove reports whether the table had the key.
func (t *keytable) remove(key Key) bool {
	from, l := t.find(key)
	if l != nil {
		from.Store(l.next.Load())
	}
	return l != nil
}

// each calls f with every cool-down. A nil table has none.
func (t *keytable) each(f func(*cooldown)) {
	if t == nil {
		return
	}
	for i := range t.heads {
		for l := t.heads[i].Load(); l != nil; l = l.next.Load() {
			f(l.cool.Load())
		}
	}
}
