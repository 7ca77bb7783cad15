package retrytest

import (
	"sync"
	"time"

	"github.com/seed-89b3229b/retry"
)

var _ retry.Clock = (*Clock)(nil)

// epoch lies before every deadline on the system's clock, so that a test's own real deadline never cuts virtual time short.
var epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// Clock is a virtual clock on which waits take no time: whoever waits moves it to the end of the wait. It starts at
// 2000-01-01 00:00 UTC and never goes back. Between waits it stands still; what an operation under test takes is said by
// Advance, Sleep or Block. It is a retry.Clock with all optional methods, for retry.WithClock and retry.ContextWithClock.
// NewClock makes one; the zero Clock is ready too. Safe for concurrent use; do not copy.
//
// # Events
//
// Functions of AfterFunc and contexts of WithTimeout are events. Time never jumps over one: whoever lets time pass moves to
// the earliest, makes it happen in its own goroutine, and looks whether that ended its wait before it moves on. So a wait of
// 10 s that is cancelled by a function due after 500 ms ends at 500 ms exactly. Events of the same moment happen in the
// order in which they were made.
//
// # Concurrency
//
// Each wait jumps: ten goroutines that wait 1 s at the same time move the clock by 10 s, and each finds at least 1 s
// passed. Waits with events in them overlap, and a call's wait counts from its failure, so that what other calls let pass in
// between comes off it. Where exact times matter, give every call a Clock of its own, or use testing/synctest.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	waits   []time.Duration
	pending int
	events  []*event      // in the order made
	made    chan struct{} // closed when an event is made, if somebody wants to know
}

// NewClock returns a Clock at 2000-01-01 00:00 UTC.
func NewClock() *Clock { return new(Clock) }

// lock makes the zero Clock ready.
func (c *Clock) lock() {
	c.mu.Lock()
	if c.now.IsZero() {
		c.now = epoch
	}
}

// Now returns the virtual time. It has no monotonic reading.
func (c *Clock) Now() time.Time {
	c.settle() // whoever asks is about to decide something, perhaps by a context
	c.lock()
	defer c.mu.Unlock()
	return c.now
}

// Elapsed returns how much virtual time has passed since the clock was made; at most the largest Duration.
func (c *Clock) Elapsed() time.Duration { return c.Now().Sub(epoch) }

// Waits returns the lengths of all waits so far, as asked for by Wait, After and NewTimer, in the order in which they began:
// those that were cut short in full, those of 0 or less as they were. It is a copy, not nil. Advance, Sleep and Block are
// the test's own and not recorded.
func (c *Clock) Waits() []time.Duration {
	c.lock()
	defer c.mu.Unlock()
	return append([]time.Duration{}, c.waits...)
}

// Pending returns how many waits are under way: calls of Wait, After and NewTimer that have not returned. A function of
// AfterFunc finds the wait that it interrupts. After a call it should be 0: no goroutine of it still waits.
func (c *Clock) Pending() int {
	c.lock()
	defer c.mu.Unlock()
	return c.pending
}

// OpenContexts returns how many contexts were made by WithTimeout and have not ended.
func (c *Clock) OpenContexts() int {
	c.settle()
	return len(c.open())
}
