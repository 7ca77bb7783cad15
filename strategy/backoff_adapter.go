package strategy

import (
	"math"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// BackOffAdapter is a Strategy as a BackOff, for code that takes the policies of github.com/cenkalti/backoff, v4 to v7.
// ToBackOff makes it.
//
// It keeps what a call would keep: Number, Prev and Elapsed of the State, the memory of a Starter, and that the strategy has
// ended the call. Reset starts all of that anew. What only a call knows is not there: Err is nil, Throttled false, Began the
// zero time.
//
// It is for one call at a time, as every BackOff: not safe for concurrent use. The zero value, and a nil pointer, stop.
type BackOffAdapter struct {
	strategy Strategy
	maxDelay time.Duration
	jitter   Jitter
	rand     func() float64
	clock    interface{ Now() time.Time }

	// The memory of the present call.
	asked  Strategy // strategy, or what it started; nil: not asked yet
	failed time.Time
	number int
	prev   time.Duration
	over   bool
}

// BackOffOption is a setting of ToBackOff.
type BackOffOption func(*BackOffAdapter)

// WithMaxDelay caps the waits of a BackOffAdapter, jitter included: State.Limit. 0 or below: no cap, the default.
func WithMaxDelay(d time.Duration) BackOffOption {
	return func(a *BackOffAdapter) { a.maxDelay = d }
}

// WithJitter spreads the waits of a BackOffAdapter, after the cap and within it. Strategies that draw themselves need none.
// Nil: none, the default.
func WithJitter(j Jitter) BackOffOption {
	return func(a *BackOffAdapter) { a.jitter = j }
}

// WithRand sets where a BackOffAdapter draws from: numbers from [0, 1). Nil: math/rand/v2, the default.
func WithRand(rnd func() float64) BackOffOption {
	return func(a *BackOffAdapter) { a.rand = rnd }
}

// WithClock sets the clock that State.Elapsed and State.Now of a BackOffAdapter are read from; a Clock of backoff v4 fits. Nil
// (also a nil pointer): the system's, the default.
func WithClock(c interface{ Now() time.Time }) BackOffOption {
	return func(a *BackOffAdapter) { a.clock = c }
}

// ToBackOff makes a BackOff of a Strategy. A nil s (also a nil pointer or Func inside the interface) stops at once; nil
// options are passed over.
//
// Where a policy of this module takes it, none of this is needed: give the policy s itself.
func ToBackOff(s Strategy, opts ...BackOffOption) *BackOffAdapter {
	a := &BackOffAdapter{strategy: s}
	for _, o := range opts {
		if o != nil {
			o(a)
		}
	}
	if c, ok := s.(interface{ Clone() Strategy }); ok && !errtree.IsNil(s) {
		a.strategy = c.Clone()
	}
	return a
}

// NextBackOff returns the wait that follows one more failure, or -1 where the strategy ends the call, and then until Reset.
// The wait is never negative otherwise, and never above WithMaxDelay. A Learner is told the failure, since whoever asks a
// BackOff is about to wait.
func (a *BackOffAdapter) NextBackOff() time.Duration {
	if a == nil || a.over || errtree.IsNil(a.strategy) {
		return backOffStop
	}
	now := a.now()
	if a.asked == nil {
		a.asked, a.failed = started(a.strategy), now
	}
	if a.number < math.MaxInt {
		a.number++
	}
	s := State{Number: a.number, Prev: a.prev, Elapsed: max(now.Sub(a.failed), 0), Limit: max(a.maxDelay, 0), Now: now, Rand: a.rand}
	delay, ok := a.asked.Next(s)
	if !ok {
		a.over = true
		return backOffStop
	}
	a.prev = delay
	delay = s.within(delay)
	if a.jitter != nil {
		limit := s.ceiling(a.ceiling(s))
		delay = max(min(a.jitter(delay, limit, s.rand()), limit), 0)
	}
	if l, ok := a.strategy.(Learner); ok {
		l.Failed(s)
	}
	return delay
}

// Reset begins a new call, with the strategy's first wait. It tells a Learner nothing: a call may begin after any end.
func (a *BackOffAdapter) Reset() {
	if a != nil {
		a.asked, a.failed, a.number, a.prev, a.over = nil, time.Time{}, 0, 0, false
	}
}

// Succeed tells a Learner that the operation succeeded, which nobody tells a BackOff: a strategy of the LIMD family only
// slows down unless its user calls this after each success. It does nothing for other strategies.
func (a *BackOffAdapter) Succeed() {
	if a == nil || errtree.IsNil(a.strategy) {
		return
	}
	if l, ok := a.strategy.(Learner); ok {
		l.Succeed()
	}
}

// Validate returns a *ConfigError for a strategy that is nil and a cap that is negative, what the strategy's own Validate
// says, and a *ConfigError for a jitter on a strategy that draws its delays itself. The adapter works all the same.
func (a *BackOffAdapter) Validate() error {
	if a == nil || errtree.IsNil(a.strategy) {
		return &ConfigError{"ToBackOff", nil, "must not be nil"}
	}
	if v, ok := a.strategy.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return inside("ToBackOff", err)
		}
	}
	if a.maxDelay < 0 {
		return &ConfigError{"ToBackOff.MaxDelay", a.maxDelay, "must not be negative"}
	}
	if a.jitter != nil && jittered(a.strategy) {
		return &ConfigError{"ToBackOff.Jitter", a.strategy, "the strategy draws its delays itself: leave one of the two out"}
	}
	return nil
}

func (a *BackOffAdapter) now() time.Time {
	if errtree.IsNil(a.clock) {
		return time.Now()
	}
	return a.clock.Now()
}

// ceiling is the strategy's own cap, which a jitter keeps too; 0: none.
func (a *BackOffAdapter) ceiling(s State) time.Duration {
	if c, ok := a.strategy.(interface{ Ceiling(State) time.Duration }); ok {
		return c.Ceiling(s)
	}
	return 0
}
