package pool

import (
	"cmp"
	"container/heap"
	"math"
	"time"

	"github.com/seed-89b3229b/retry/internal/saturate"
)

// slot is a key with all that is known about it. The Pool's lock guards it. It is ready, and then in the ready set, or it
// rests: cooling down, or over and taken by the one attempt that tries it.
type slot[K comparable] struct {
	pool  *Pool[K]
	key   *K // so that nothing that prints a ticket, with whatever verb, gets to the key
	index int
	at    int // its place in the rotation; -1: removed
	rank  int // its place in the queue that it is in
	spell *spell[K]

	// Of one that rests, counted from the Pool's epoch: when its cool-down ends, and when it is anybody's again. The latter is
	// later while somebody has the first attempt: keeper, who waits for it, or who is trying.
	end, free time.Duration
	keeper    *waiter[K]

	used          uint64 // the Pool's count at its last use
	uses, limited int64
}

// spell is the time from the start of one cool-down of a key to that of the next. It is the ticket of the attempts that begin
// in it: what one fails with that began in an earlier spell is known already.
type spell[K comparable] struct {
	slot     *slot[K]
	failures int           // in a row
	open     bool          // an attempt has shown that the key works
	foreseen bool          // somebody was told its end
	window   time.Duration // how long one attempt has the key for itself after the cool-down
	source   string
	err      error
}

// waiter is the ticket of one who was told to wait: the cool-down it waits for, and how long after its end it may go.
type waiter[K comparable] struct {
	spell  *spell[K]
	offset time.Duration
}

// slot returns the slot that w waits for, nil if what it waits for is no more.
func (w *waiter[K]) slot() *slot[K] {
	if w == nil || w.spell == nil || w.spell.slot.spell != w.spell || !w.spell.slot.rests() {
		return nil
	}
	return w.spell.slot
}

func (s *slot[K]) rests() bool {
	return s.at >= 0 && s.at < s.pool.known && !s.pool.ready.has(s.at)
}

// left returns how long the cool-down still lasts, 0 or less if there is none.
func (s *slot[K]) left(n time.Duration) time.Duration {
	if !s.rests() {
		return 0
	}
	return between(n, s.end)
}

// since returns the time since the epoch, which is any time while nothing rests.
func (p *Pool[K]) since(now time.Time) time.Duration {
	if len(p.resting.slots) == 0 {
		p.epoch = now
		return 0
	}
	return max(now.Sub(p.epoch), -math.MaxInt64) // so that it can be negated
}

// between returns to-from, where from is not the smallest Duration.
func between(from, to time.Duration) time.Duration { return saturate.Add(to, -from) }

// wake makes all ready that are anybody's again.
func (p *Pool[K]) wake(n time.Duration) {
	for len(p.resting.slots) > 0 && p.resting.slots[0].free <= n {
		p.revive(p.resting.slots[0])
	}
}

// revive makes s ready.
func (p *Pool[K]) revive(s *slot[K]) {
	if s.rests() {
		p.unqueue(s)
		p.trying.clear(s.at)
		p.setReady(s)
	}
}

// rest makes s rest until free.
func (p *Pool[K]) rest(s *slot[K], end, free time.Duration) {
	wakes := !s.rests()
	if wakes {
		p.unqueue(s)
		p.ready.clear(s.at)
	}
	s.end, s.free = end, free
	if wakes {
		heap.Push(&p.resting, s)
	} else {
		heap.Fix(&p.resting, s.rank)
	}
}

// unqueue takes s out of the queue that it is in.
func (p *Pool[K]) unqueue(s *slot[K]) {
	switch {
	case s.rests():
		heap.Remove(&p.resting, s.rank)
	case p.Selection == LeastRecentlyUsed:
		heap.Remove(&p.idle, s.rank)
	}
}

// slotQueue is what both queues have in common. Together with a Less it is a heap.
type slotQueue[K comparable] struct{ slots []*slot[K] }

func (q *slotQueue[K]) Len() int { return len(q.slots) }

func (q *slotQueue[K]) Swap(i, k int) {
	q.slots[i], q.slots[k] = q.slots[k], q.slots[i]
	q.slots[i].rank, q.slots[k].rank = i, k
}

func (q *slotQueue[K]) Push(x any) {
	s := x.(*slot[K])
	s.rank = len(q.slots)
	q.slots = append(q.slots, s)
}

func (q *slotQueue[K]) Pop() any {
	last := len(q.slots) - 1
	s := q.slots[last]
	q.slots[last] = nil
	q.slots = q.slots[:last]
	return s
}

// byFree has the slot first that is anybody's again first.
type byFree[K comparable] struct{ slotQueue[K] }

func (q *byFree[K]) Less(i, k int) bool {
	a, b := q.slots[i], q.slots[k]
	return cmp.Or(cmp.Compare(a.free, b.free), cmp.Compare(a.at, b.at)) < 0
}

// byUse has the slot first that has not been used for the longest.
type byUse[K comparable] struct{ slotQueue[K] }

func (q *byUse[K]) Less(i, k int) bool {
	a, b := q.slots[i], q.slots[k]
	return cmp.Or(cmp.Compare(a.used, b.used), cmp.Compare(a.at, b.at)) < 0
}
