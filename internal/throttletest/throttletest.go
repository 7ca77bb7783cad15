// Package throttletest has what the tests of throttles in more than one package need.
package throttletest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

// Boom is a failure that says nothing.
var Boom = errors.New("boom")

// Start is where a virtual clock may well start. It has no monotonic reading.
var Start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Told is the outcome of an attempt that the server told to wait for d.
func Told(d time.Duration) throttle.Outcome {
	return throttle.Outcome{Err: Boom, Class: throttle.Throttled, Signal: throttle.Signal{Delay: d, HasDelay: true, Source: "retry-after"}}
}

// Always draws u.
func Always(u float64) func() float64 { return func() float64 { return u } }

// Script draws the given numbers one after the other, and fails the test if there are none left.
func Script(t testing.TB, us ...float64) func() float64 {
	return func() float64 {
		t.Helper()
		if len(us) == 0 {
			t.Fatal("one draw too many")
		}
		u := us[0]
		us = us[1:]
		return u
	}
}

// Clock moves by whatever it is asked to wait.
type Clock struct {
	Time   time.Time
	Waits  []time.Duration
	Jumped func() // called after each wait, if not nil
}

// Now returns c.Time.
func (c *Clock) Now() time.Time { return c.Time }

// After moves the clock by d, and fires at once.
func (c *Clock) After(d time.Duration) <-chan time.Time {
	c.Waits = append(c.Waits, d)
	c.Time = c.Time.Add(d)
	fired := make(chan time.Time, 1)
	fired <- c.Time
	if c.Jumped != nil {
		c.Jumped()
	}
	return fired
}

// NilError panics unless it points at something.
type NilError struct{ Text string }

func (e *NilError) Error() string { return e.Text }

// RetryAfter is one of the methods that FromError asks for.
func (e *NilError) RetryAfter() time.Duration { return time.Duration(len(e.Text)) }

// GetRetryAfter is another.
func (e *NilError) GetRetryAfter() *int64 { n := int64(len(e.Text)); return &n }

// ThrottleSignal is the third.
func (e *NilError) ThrottleSignal() (throttle.Signal, bool) {
	return throttle.Signal{Source: e.Text}, true
}

func (e *NilError) Unwrap() error { return errors.New(e.Text) }

// Ready fails the test unless th says at that time that an attempt would be held back for want.
func Ready(t testing.TB, th throttle.Throttle, at time.Time, want time.Duration) {
	t.Helper()
	if got := th.(throttle.Planner).Ready(context.Background(), at); got != want {
		t.Fatalf("held back for %v, want %v", got, want)
	}
}
