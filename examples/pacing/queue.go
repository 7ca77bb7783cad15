package main

import (
	"errors"
	"time"
)

// phase is a time in which the queue allows a number of polls per second.
type phase struct {
	length  time.Duration
	allowed float64
}

// ideal is the wait at which the workers come exactly as often as is allowed.
func (p phase) ideal() time.Duration {
	return time.Duration(float64(time.Second) * workers / p.allowed)
}

// phaseAt returns the phase at that time, and how long it has been on; ok false: it is all over.
func phaseAt(t time.Duration) (p phase, since time.Duration, ok bool) {
	for _, p := range phases {
		if t < p.length {
			return p, t, true
		}
		t -= p.length
	}
	return phase{}, 0, false
}

var errTooMany = errors.New("429 Too Many Requests")

// queue has one token for every poll that is allowed, and keeps those that were not used for a fifth of a second.
type queue struct {
	tokens float64
	last   time.Duration
}

func (q *queue) poll(now time.Duration) error {
	p, _, _ := phaseAt(now)
	q.tokens = min(q.tokens+p.allowed*(now-q.last).Seconds(), max(p.allowed/5, 1))
	q.last = now
	if q.tokens < 1 {
		return errTooMany
	}
	q.tokens--
	return nil
}
