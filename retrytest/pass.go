package retrytest

import (
	"context"
	"errors"
	"time"
)

var errNeverDone = errors.New("retrytest: blocked on a context that cannot end")

// Wait lets d pass, or less if ctx is done or stop is closed before, and records d in Waits. The executor waits by it. Events
// due are made to happen in order, in this goroutine; the wait ends at the moment of the one that ended it. If ctx is done or
// stop closed already, no time passes. A d of 0 or less makes those happen that are due now. A nil ctx is never done, a nil
// stop never closed.
func (c *Clock) Wait(ctx context.Context, stop <-chan struct{}, d time.Duration) {
	c.lock()
	c.waits = append(c.waits, d)
	c.pending++
	c.mu.Unlock()
	defer func() { // events may panic or end the goroutine
		c.lock()
		c.pending--
		c.mu.Unlock()
	}()
	_ = c.pass(ctx, stop, d)
}

// After is a Wait that nothing ends early. It returns when d has passed, with a channel that holds the time.
func (c *Clock) After(d time.Duration) <-chan time.Time {
	c.Wait(context.Background(), nil, d)
	fired := make(chan time.Time, 1)
	fired <- c.Now()
	return fired
}

// NewTimer is After for code that stops its timers: fired holds the time already, and stop comes too late and returns false.
// A wait that may end early is one for Wait.
func (c *Clock) NewTimer(d time.Duration) (fired <-chan time.Time, stop func() bool) {
	return c.After(d), func() bool { return false }
}

// Advance lets d pass, whatever happens: an operation that takes d and does not heed its context. Events due are made to
// happen in order, in this goroutine. A d of 0 or less makes those happen that are due now.
func (c *Clock) Advance(d time.Duration) { _ = c.pass(context.Background(), nil, d) }

// Sleep lets d pass, or less if ctx is done before: an operation that takes d and heeds its context. It returns nil if d has
// passed, else the context's error, at the moment of its end. Events due are made to happen in order, in this goroutine. A
// ctx that is done lets no time pass. A d of 0 or less makes those happen that are due now. A nil ctx is never done.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error { return c.pass(ctx, nil, d) }

// pass lets d pass, event by event, or less if ctx is done or stop is closed. It returns the error of ctx if it saw one.
func (c *Clock) pass(ctx context.Context, stop <-chan struct{}, d time.Duration) error {
	if ctx == nil {
		ctx = context.Background()
	}
	for end := (time.Time{}); ; {
		c.settle()
		if err := ctx.Err(); err != nil {
			return err
		}
		select {
		case <-stop:
			return nil
		default:
		}
		c.lock()
		if end.IsZero() { // in one with the move, so that of two waits one comes after the other
			end = c.in(d)
		}
		e := c.next()
		if e == nil || e.at.After(end) {
			c.moveTo(end)
			c.mu.Unlock()
			return nil
		}
		c.take(e)
		c.mu.Unlock()
		e.f()
	}
}

// Block lets time pass, event by event, until ctx is done, and returns the context's error: an operation that hangs until
// its timeout. Where no event is left it waits in real time, for another goroutine to end ctx or to make an event. An
// operation that blocks on ctx.Done() itself is not seen by the clock, and moves nothing. A ctx that cannot end, nil
// included, is an error at once.
func (c *Clock) Block(ctx context.Context) error {
	if ctx == nil || ctx.Done() == nil {
		return errNeverDone
	}
	for {
		c.settle()
		if err := ctx.Err(); err != nil {
			return err
		}
		c.lock()
		if e := c.next(); e != nil {
			c.take(e)
			c.mu.Unlock()
			e.f()
			continue
		}
		if c.made == nil {
			c.made = make(chan struct{})
		}
		made := c.made
		c.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-made:
		}
	}
}
