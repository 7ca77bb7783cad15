package pool

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-89b3229b/retry/internal/carry"
	"github.com/seed-89b3229b/retry/internal/clock"
	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/throttle"
)

// Lease is a key for one attempt, for use without the executor. Its methods are safe for concurrent use, and answer for a nil
// *Lease too. It holds no key back from others; one that never reports ends by itself.
type Lease[K comparable] struct {
	given *spell[K]
	done  atomic.Bool
}

// Key returns the key; the zero K if there is none.
func (l *Lease[K]) Key() (key K) {
	if l != nil && l.given != nil {
		key = *l.given.slot.key
	}
	return key
}

// Index returns the key's index, as in KeyStats; -1 if there is none.
func (l *Lease[K]) Index() int {
	if l == nil || l.given == nil {
		return -1
	}
	return l.given.slot.index
}

// Done reports how the attempt ended. Only the first report counts. Where o leaves it open, the Signal is what o.Err says by
// FromError, and the Class is Success without an Err, Throttled with a told wait, else Transient: say Throttled for a failure
// that is a limit without a word on the wait. Class Skipped says that there was no attempt.
func (l *Lease[K]) Done(now time.Time, o throttle.Outcome) {
	if l == nil || l.given == nil || l.done.Swap(true) {
		return
	}
	if errtree.IsNil(o.Err) {
		o.Err = nil
	}
	if o.Signal.IsZero() {
		o.Signal, _ = throttle.FromError(o.Err)
	}
	if o.Class == throttle.Unset {
		switch {
		case o.Err == nil:
			o.Class = throttle.Success
		case o.Signal.HasDelay:
			o.Class = throttle.Throttled
		default:
			o.Class = throttle.Transient
		}
	}
	l.given.slot.pool.report(now, l.given, &o)
}

// Acquire returns a key at once. If there is none to take, the error is an *Error that says until when; without any keys it
// is ErrNoKeys.
func (p *Pool[K]) Acquire(now time.Time) (*Lease[K], error) {
	if p == nil {
		return nil, ErrNoKeys
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.begin(now)
	if s := p.pick(); s != nil {
		return &Lease[K]{given: p.take(n, s)}, nil
	}
	if refused := p.refusal(now); refused != nil {
		return nil, refused
	}
	return nil, ErrNoKeys
}

// AcquireWait returns a key, having waited for one if need be: for the end of a cool-down and for its own place in the
// release.
//
// A cool-down that does not end before ctx's deadline is not waited for: the answer is its *Error at once, which also matches
// context.DeadlineExceeded. Where only the place in the release lies past the deadline, the end of the cool-down is taken
// instead. When ctx is done, before or during the wait, the answer matches its error and its cause, even if there is
// a key. Without keys the answer is ErrNoKeys. Time is that of the clock which ctx carries, the system's by default. A nil
// ctx is never done. Keys that are added, and successes, do not end a wait early.
func (p *Pool[K]) AcquireWait(ctx context.Context) (*Lease[K], error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return nil, errtree.Ended(ctx)
	}
	sleeper := clock.Sleeper{Clock: carry.From(ctx).Clock}
	deadline, limited := ctx.Deadline()
	var w *waiter[K]
	for {
		now := clock.Now(sleeper.Clock)
		given, waits, wait, err := p.admit(now, w)
		if given != nil {
			return &Lease[K]{given: given}, nil
		}
		if err != nil {
			return nil, err
		}
		w = waits
		if limited && wait >= deadline.Sub(now) {
			if wait, err = p.hurry(now, w, deadline.Sub(now)); err != nil {
				return nil, err
			}
		}
		sleeper.Sleep(ctx, nil, wait)
		// Asked even if the wait is over: when both are ready, the context's end counts.
		if ctx.Err() != nil {
			p.leave(w)
			return nil, errtree.Ended(ctx)
		}
	}
}

// hurry lets w go at the very end of the cool-down it waits for, if that is before the deadline, else w gives up.
func (p *Pool[K]) hurry(now time.Time, w *waiter[K], left time.Duration) (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := w.slot()
	if s == nil {
		return 0, nil
	}
	rest := between(p.since(now), s.end)
	if rest < left {
		w.offset = 0
		return rest, nil
	}
	refused := s.refusal(now, rest)
	refused.PastDeadline = true
	p.handBack(w)
	return 0, refused
}
