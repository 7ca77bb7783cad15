package throttle

import (
	"context"
	"sync"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Pace returns a Throttle that keeps operations apart by what p answers, so that successes too are followed by a wait,
// across calls. p is a *strategy.Pacer or anything like it: told that an attempt failed or succeeded at a time, it answers how
// long to wait before the next one; ok false gives up. It is for work that is done again and again, such as polling a queue
// that turns callers away when they come too often.
//
//	pacer := &strategy.Pacer{Strategy: &strategy.LIMD{Min: time.Second, Max: 30 * time.Second}}
//	policy := retry.MustNew(retry.WithThrottle(throttle.Pace(pacer)), retry.WithStrategy(strategy.Constant{}))
//
// No attempt starts before the last outcome that counts plus the wait that it was answered with, nor within that wait of
// the start of another attempt: those who were held back start one by one. Where the policy's own wait is longer, it is
// kept; a Constant{} leaves all waiting to p. Waits count against retry.WithMaxHint, which is 60 s unless set: for longer
// ones, and for many callers that wait for one another, set it too.
//
// Classes Success and Permanent (the dependency works) are told as successes, Transient, Timeout and Throttled as failures.
// Canceled, Panicked, Skipped and Unset are not told; such an attempt has taken its turn all the same, so Pace stands last
// among throttles. Told waits (Signal) are the executor's and a Gate's.
//
// # Giving up
//
// A call whose policy waits by itself sleeps that wait before it is refused: another reason for Constant{}.
//
// When p gives up, the next attempt that asks is refused with an *Error, whenever it asks: that ends the call that failed, or
// another one that would have found the same. So are all others that ask within the last wait before. After that, one
// attempt per such wait is let through to find out whether things have changed: a success ends the state, a failure
// prolongs it. A call that begins then makes one attempt. So a pacer that has given up for good, such as one whose
// MaxDuration is over, still lets single attempts through; reset it or stop calling.
//
// The Throttle is a Planner and an Explainer, and safe for concurrent use. p is called from one goroutine at a time, and
// must not call the Throttle. A negative answer is read as 0. Time that goes backwards never makes a wait longer than p
// answered; it may make one shorter, so all callers should go by one clock. Validate, which a policy calls, returns a
// *ConfigError for a nil p and what p's own Validate says; what is not validated lets everything pass if p is nil.
func Pace(p interface {
	Failure(at time.Time) (delay time.Duration, ok bool)
	Success(at time.Time) (delay time.Duration)
}) Throttle {
	if errtree.IsNil(p) {
		return new(pace)
	}
	return &pace{pacer: p}
}

type pace struct {
	pacer interface {
		Failure(time.Time) (time.Duration, bool)
		Success(time.Time) time.Duration
	}

	mu    sync.Mutex
	delay time.Duration // the last answer
	next  time.Time     // no attempt before that
	over  bool          // given up
	owed  bool          // and nobody has been refused since
	err   error         // the failure that was told last, if nothing else was told after it
}

func (t *pace) Validate() error {
	if t.pacer == nil {
		return &ConfigError{"Pace", nil, "must not be nil"}
	}
	if v, ok := t.pacer.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

func (t *pace) Admit(_ context.Context, now time.Time, ticket Ticket) (Ticket, time.Duration, error) {
	if t.pacer == nil {
		return ticket, 0, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	wait := t.rest(now)
	if t.next.Sub(now) > wait {
		t.next = now.Add(wait) // the clock was set back
	}
	switch {
	case t.over && (t.owed || wait > 0):
		t.owed = false
		return ticket, 0, t.refusal(now, wait, "given up")
	case wait > 0:
		return ticket, wait, nil
	}
	t.next = now.Add(t.delay)
	return ticket, 0, nil
}

func (t *pace) Done(_ context.Context, now time.Time, _ Ticket, o Outcome) {
	if t.pacer == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch o.Class {
	case Success, Permanent:
		t.delay, t.over, t.err = max(t.pacer.Success(now), 0), false, nil
	case Transient, Timeout, Throttled:
		delay, ok := t.pacer.Failure(now)
		if ok {
			t.delay = max(delay, 0)
		}
		t.over, t.owed, t.err = !ok, !ok, o.Err
	default:
		return
	}
	t.next = now.Add(t.delay)
}

// Ready answers 0 once p has given up: who would be refused need not wait for that.
func (t *pace) Ready(_ context.Context, at time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return 0
	}
	return t.rest(at)
}

func (t *pace) Explain(_ context.Context, now time.Time) *Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if wait := t.rest(now); wait > 0 {
		return t.refusal(now, wait, "")
	}
	return nil
}

// rest is how long to wait from now. It is never longer than the last answer, which matters if the clock was set back.
func (t *pace) rest(now time.Time) time.Duration {
	return min(max(t.next.Sub(now), 0), t.delay)
}

func (t *pace) refusal(now time.Time, wait time.Duration, source string) *Error {
	return &Error{Key: "pace", Until: now.Add(wait), Remaining: wait, Source: source, Err: t.err}
}
