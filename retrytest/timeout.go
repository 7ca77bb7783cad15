package retrytest

import (
	"context"
	"sync"
	"time"
)

// WithTimeout returns a context that is done when d has passed on the clock, when parent is done, or when cancel is called,
// as context.WithTimeout does on the system's clock. After d its error and cause are context.DeadlineExceeded, and that of
// contexts derived from it. Deadline is the earlier of the clock's time in d and the parent's. A d of 0 or less gives a
// context that is done. A nil parent is context.Background.
//
// The executor ends attempts by it (retry.WithAttemptTimeout). In a test it gives the call itself a deadline on the virtual
// clock; a deadline on the system's clock lies decades ahead.
func (c *Clock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if parent == nil {
		parent = context.Background()
	}
	t := &timeout{parent: parent, clock: c, done: make(chan struct{})}
	t.event = &event{f: t.expire, timeout: t}
	ctx, cancel := context.WithCancel(t)
	c.add(d, t.event)
	unhook := context.AfterFunc(parent, t.follow) // for whoever waits in real time
	context.AfterFunc(ctx, func() { unhook() })
	t.follow()
	if d <= 0 {
		t.expire()
	}
	return &timeoutContext{ctx, t}, cancel
}

// settle lets every open context see the end of its parent, so that what hangs on it is done too before time moves on. One
// pass will do: a parent was made before its children.
func (c *Clock) settle() {
	for _, t := range c.open() {
		t.follow()
	}
}

func (c *Clock) open() (all []*timeout) {
	c.lock()
	defer c.mu.Unlock()
	for _, e := range c.events {
		if e.timeout != nil {
			all = append(all, e.timeout)
		}
	}
	return all
}

// timeout stands between a parent and a context of package context, to end the latter with an error of its choice: the
// cancel functions of that package know only context.Canceled. Nobody else sees it.
type timeout struct {
	parent context.Context
	clock  *Clock
	event  *event
	done   chan struct{} // never closed: the one context below is told by end
	end    func()

	once sync.Once
	err  error // set once, before end is called
}

// expire ends the context since its time has come.
func (t *timeout) expire() { t.finish(context.DeadlineExceeded) }

// follow ends the context if the parent is done.
func (t *timeout) follow() {
	if err := t.parent.Err(); err != nil {
		t.finish(err)
	}
}

func (t *timeout) finish(err error) {
	t.once.Do(func() {
		t.err = err
		t.end()
		t.clock.remove(t.event) // last: until then settle finds it, and waits for the end
	})
}

func (t *timeout) Deadline() (time.Time, bool) {
	if at, ok := t.parent.Deadline(); ok && at.Before(t.event.at) {
		return at, true
	}
	return t.event.at, true
}

func (t *timeout) Done() <-chan struct{} { return t.done }
func (t *timeout) Err() error            { return t.err }
func (t *timeout) Value(key any) any     { return t.parent.Value(key) }

// AfterFunc is called once, by context.WithCancel, for the context below. What it returns is called by that one's cancel.
func (t *timeout) AfterFunc(end func()) (stop func() bool) {
	t.end = end
	return func() bool { return t.clock.remove(t.event) }
}

// timeoutContext looks for the end of the parent whenever it is asked, and need not wait for the clock to settle.
type timeoutContext struct {
	context.Context
	timeout *timeout
}

func (c *timeoutContext) Err() error {
	c.timeout.follow()
	return c.Context.Err()
}

func (c *timeoutContext) Done() <-chan struct{} {
	c.timeout.follow()
	return c.Context.Done()
}
