// Package clock is the seam between the library and time.
package clock

import (
	"context"
	"time"
)

// Clock is the public retry.Clock, declared again so that leaves need not import the root. Nil is the system's clock:
// the common case then costs the test of one word.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

// Timers is a Clock whose timers can be stopped, so that an interrupted wait leaves nothing behind.
type Timers interface {
	NewTimer(d time.Duration) (fired <-chan time.Time, stop func() bool)
}

// Timeouts is a Clock that ends contexts on its own time.
type Timeouts interface {
	WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

// Funcs is a Clock that calls functions on its own time.
type Funcs interface {
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Waiter is a Clock that does a whole wait itself. A virtual clock needs that to know whether what happens on the way ends
// the wait: it returns after d, or as soon as ctx is done or stop is closed.
type Waiter interface {
	Wait(ctx context.Context, stop <-chan struct{}, d time.Duration)
}

// Now returns c's time, the system's if c is nil.
func Now(c Clock) time.Time {
	if c == nil {
		return time.Now()
	}
	return c.Now()
}

// Sleeper waits on a Clock. It owns at most one system timer, made at the first wait and reset for each further one: a
// pooled timer would tie calls in different synctest bubbles together. Not safe for concurrent use.
type Sleeper struct {
	Clock Clock
	timer *time.Timer
}

// Sleep returns after d, or as soon as ctx is done or stop is closed, and leaves no timer running. A d of 0 or less
// returns at once.
func (s *Sleeper) Sleep(ctx context.Context, stop <-chan struct{}, d time.Duration) {
	if d <= 0 {
		return
	}
	if w, ok := s.Clock.(Waiter); ok {
		w.Wait(ctx, stop, d)
		return
	}
	fired, cancel := s.start(d)
	select {
	case <-fired:
	case <-ctx.Done():
		cancel.stop()
	case <-stop:
		cancel.stop()
	}
}

func (s *Sleeper) start(d time.Duration) (<-chan time.Time, canceler) {
	if s.Clock == nil {
		if s.timer == nil {
			s.timer = time.NewTimer(d)
		} else {
			s.timer.Reset(d)
		}
		return s.timer.C, canceler{timer: s.timer}
	}
	if t, ok := s.Clock.(Timers); ok {
		fired, stop := t.NewTimer(d)
		return fired, canceler{fn: stop}
	}
	return s.Clock.After(d), canceler{}
}

// canceler is a timer's stop function. A method value of time.Timer would allocate.
type canceler struct {
	timer *time.Timer
	fn    func() bool
}

func (c canceler) stop() {
	switch {
	case c.timer != nil:
		c.timer.Stop()
	case c.fn != nil:
		c.fn()
	}
}
