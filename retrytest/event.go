package retrytest

import (
	"slices"
	"time"
)

// event is something that happens at a moment of virtual time.
type event struct {
	at      time.Time
	f       func()
	timeout *timeout // the context that f ends; nil: f is the test's own
}

// AfterFunc calls f when d has passed, during whatever wait or Advance that moment falls into: in the middle of a wait it
// can cancel a context, close a stop channel, open a gate. With a d of 0 or less that is at the beginning of the next wait.
// f runs once, in the goroutine that lets time pass, while no lock is held: it may use the clock in any way. stop keeps f
// from being called, and reports whether it did. A nil f is an event at which nothing happens.
func (c *Clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	if f == nil {
		f = func() {}
	}
	e := &event{f: f}
	c.add(d, e)
	return func() bool { return c.remove(e) }
}

// add makes e an event in d.
func (c *Clock) add(d time.Duration, e *event) {
	c.lock()
	defer c.mu.Unlock()
	e.at = c.in(d)
	c.events = append(c.events, e)
	if c.made != nil {
		close(c.made)
		c.made = nil
	}
}

// remove keeps e from happening, and reports whether it was in time.
func (c *Clock) remove(e *event) bool {
	c.lock()
	defer c.mu.Unlock()
	return c.drop(e)
}

// The rest is called with the lock held.

func (c *Clock) drop(e *event) bool {
	i := slices.Index(c.events, e)
	if i < 0 {
		return false
	}
	c.events = slices.Delete(c.events, i, i+1)
	return true
}

// in returns the time in d.
func (c *Clock) in(d time.Duration) time.Time { return c.now.Add(max(d, 0)) }

// next returns the earliest event, of the same time the one made first; nil if there is none.
func (c *Clock) next() *event {
	if len(c.events) == 0 {
		return nil
	}
	return slices.MinFunc(c.events, func(a, b *event) int { return a.at.Compare(b.at) })
}

// take moves to e and takes it out. The caller makes it happen, without the lock.
func (c *Clock) take(e *event) {
	c.moveTo(e.at)
	c.drop(e)
}

// moveTo never moves back: somebody else may have moved on meanwhile.
func (c *Clock) moveTo(t time.Time) {
	if t.After(c.now) {
		c.now = t
	}
}
