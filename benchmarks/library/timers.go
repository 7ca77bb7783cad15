package library

import (
	"sync/atomic"
	"time"
)

// Timers are timers that are counted: the fake clock of a question.
type Timers struct{ pending atomic.Int32 }

// Pending is how many have neither fired nor been stopped.
func (t *Timers) Pending() int { return int(t.pending.Load()) }

// Now is the system's time.
func (t *Timers) Now() time.Time { return time.Now() }

// After is NewTimer without a way to stop it.
func (t *Timers) After(d time.Duration) <-chan time.Time {
	fired, _ := t.NewTimer(d)
	return fired
}

// NewTimer starts a timer.
func (t *Timers) NewTimer(d time.Duration) (<-chan time.Time, func() bool) {
	fired := make(chan time.Time, 1)
	t.pending.Add(1)
	timer := time.AfterFunc(d, func() {
		t.pending.Add(-1)
		fired <- time.Now()
	})
	return fired, func() bool {
		stopped := timer.Stop()
		if stopped {
			t.pending.Add(-1)
		}
		return stopped
	}
}

// instant is a timer that has fired as soon as it is started, and keeps what it was asked for.
type instant struct{ delays []time.Duration }

func (i *instant) After(d time.Duration) <-chan time.Time {
	i.delays = append(i.delays, d)
	fired := make(chan time.Time, 1)
	fired <- time.Time{}
	return fired
}
