package cenkalti

import (
	"errors"
	"sync"
	"time"
)

// Ticker sends the times at which to make attempts, for loops over a channel. It asks its policy for the next wait when a
// tick has been received, not when the attempt is over.
type Ticker struct {
	// C has the ticks. It is closed when the policy stops, when the context in the policy ends a wait, and by Stop. A tick that
	// is due when the context ends can still be received.
	C <-chan time.Time

	ticks chan time.Time
	call  *call
	stop  chan struct{}
	ended chan struct{} // closed with C

	mu       sync.Mutex
	away     bool // the goroutine is in a method of the policy or the Timer
	stopping bool
	closing  sync.Once
}

// NewTicker makes a Ticker and starts it. It sends at least one tick, at once, whatever the context in b says. It Resets b
// first; b must not be in use elsewhere. Unless C is received from until it is closed, the Ticker must be stopped.
func NewTicker(b BackOff) *Ticker { return NewTickerWithTimer(b, nil) }

// NewTickerWithTimer is NewTicker whose waits are timer's, and whose ticks after the first are what timer.C sends. A nil
// timer is that of NewTicker.
func NewTickerWithTimer(b BackOff, timer Timer) *Ticker {
	ticks := make(chan time.Time)
	t := &Ticker{C: ticks, ticks: ticks, call: newCall(b, timer), stop: make(chan struct{}), ended: make(chan struct{})}
	t.call.reset()
	go t.run()
	return t
}

// Stop ends the ticks. When it returns, C is closed, so that a loop over C ends and nothing is received any more. It may be
// called more than once, from any goroutine, and from the methods of the policy and the Timer.
func (t *Ticker) Stop() {
	if t == nil || t.stop == nil { // no NewTicker made it
		return
	}
	t.mu.Lock()
	if !t.stopping {
		t.stopping = true
		close(t.stop)
	}
	if t.away { // it may be what called Stop: do not wait for it
		t.close()
	}
	t.mu.Unlock()
	<-t.ended
}

// close closes C. No tick is being sent: mu is held.
func (t *Ticker) close() {
	t.closing.Do(func() {
		close(t.ticks)
		close(t.ended)
	})
}

func (t *Ticker) run() {
	c := t.call
	defer func() {
		t.leave(c.wait.stop)
		t.mu.Lock()
		t.close()
		t.mu.Unlock()
	}()
	for tick := c.wait.now(); t.send(tick); {
		more := false
		if !t.leave(func() { more = c.ticked() }) || !more {
			return
		}
		tick = c.wait.done(c.ctx, t.stop)
		if c.proceed() {
			return
		}
	}
}

// send reports whether the tick was received.
func (t *Ticker) send(tick time.Time) bool {
	select {
	case <-t.stop: // also if there is a receiver
		return false
	default:
	}
	select {
	case t.ticks <- tick:
		return true
	case <-t.stop:
		return false
	}
}

// leave runs f, which calls methods that may call Stop, and reports whether the Ticker is to go on.
func (t *Ticker) leave(f func()) bool {
	t.mu.Lock()
	t.away = true
	t.mu.Unlock()
	f()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.away = false
	return !t.stopping
}

var errTick = errors.New("cenkalti: tick")
