package strategy

import (
	"math"
	"sync"
	"time"

	"github.com/seed-89b3229b/retry/internal/saturate"
)

// level is the memory of the LIMD family: one wait that failures raise and successes lower, shared by all calls.
type level struct {
	mu     sync.Mutex
	at     time.Duration
	moved  bool      // an event has come
	raised time.Time // when the last failure that counted was over
}

// rule is what moves a level, with the defaults in place.
type rule struct {
	initial, least, most time.Duration
	failure, success     change
}

// change is how one kind of event moves a level.
type change struct {
	add   time.Duration
	times float64 // 0: add counts
}

// skew is how far apart two goroutines may tell failures that ended together. A failure that is older than the last one by
// more than this comes from a clock that was set back, or from another clock.
const skew = time.Minute

const (
	defaultRaise = 2.0 // a MultipleOnFailure that is not set
	defaultLower = 0.5 // a MultipleOnSuccess that is not set
)

// family fills in defaults. Both changes are given as they are set.
func family(initial, least, most time.Duration, failure, success change) rule {
	return rule{or(initial, defaultDelay), max(least, 0), or(most, forever), failure, success}
}

// adding is a change by an increment; 0: the Initial of the level, upwards or downwards.
func adding(increment, initial time.Duration, sign time.Duration) change {
	if increment == 0 {
		increment = sign * or(initial, defaultDelay)
	}
	return change{add: increment}
}

// multiplying is a change by a multiple.
func multiplying(multiple, other float64) change {
	if !(multiple > 0 && multiple <= math.MaxFloat64) {
		multiple = other
	}
	return change{times: multiple}
}

// step returns where c leads from the level, within the rule's bounds. Min comes last, so it wins.
func (l *level) step(r *rule, c *change) time.Duration { return r.bound(l.raw(r, c)) }

// raw returns where c leads from the level before any bound: with a negative increment that may be below 0.
func (l *level) raw(r *rule, c *change) time.Duration {
	if l.moved {
		return c.from(l.at)
	}
	return r.initial
}

func (r *rule) bound(d time.Duration) time.Duration { return max(min(d, r.most), r.least) }

func (c *change) from(d time.Duration) time.Duration {
	switch {
	case c.times == 0:
		return saturate.Add(d, c.add)
	case c.times == math.Trunc(c.times) && c.times < float64(forever): // exactly, for large levels too
		return scale(d, uint64(c.times), forever)
	}
	return nearest(float64(d)*c.times, forever)
}

// ahead returns the level that the failure s leads to.
func (l *level) ahead(r *rule, s *State) time.Duration {
	if l.counted(s) {
		return l.at
	}
	d := l.step(r, &r.failure)
	// A policy's cap stops the growth, or a success would have to bring the level back from heights that no wait of that
	// policy had. It takes nothing away from other policies.
	if limit := or(s.Limit, forever); d > limit {
		d = max(min(d, l.at), limit, r.least)
	}
	return d
}

// counted says whether s is one of the failures that the last raise answered: its attempt began before that. At the same
// moment counts as before, because whoever waits for a level begins later than it came.
func (l *level) counted(s *State) bool {
	return l.moved && !s.Began.IsZero() && !l.raised.IsZero() && !s.Began.After(l.raised) && l.raised.Sub(end(s)) <= skew
}

// end is when the attempt was over, as far as s tells.
func end(s *State) time.Time {
	if s.Now.Before(s.Began) {
		return s.Began
	}
	return s.Now
}

func (l *level) next(r *rule, s *State) (time.Duration, bool) {
	if l == nil {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return s.within(l.ahead(r, s)), true
}

func (l *level) failed(r *rule, s *State) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counted(s) {
		return
	}
	l.at, l.moved = l.ahead(r, s), true
	if at := end(s); !at.IsZero() {
		l.raised = at
	}
}

func (l *level) succeed(r *rule) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.moved = l.step(r, &r.success), true
}

// pace moves the level for an event of a Pacer, whose bounds hold for what is kept, and which counts every failure. raw is
// what they have not touched yet, and first says that there was no event before. The Pacer raises what is below 0 to 0 in
// its last step only, so that the time which was waited too little is added to the full decrease.
func (l *level) pace(r *rule, failure bool, at time.Time, least, most time.Duration) (raw time.Duration, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &r.success
	if failure {
		c, l.raised = &r.failure, at
	}
	raw, first = l.raw(r, c), !l.moved
	if raw > 0 || r.least > 0 { // a Min that was set is the strategy's own answer
		raw = r.bound(raw)
	}
	l.at, l.moved = max(min(raw, most), least), true
	return raw, first
}

// put sets the level.
func (l *level) put(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.moved = d, true
}

func (l *level) value() time.Duration {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

func (l *level) reset() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.moved, l.raised = 0, false, time.Time{}
}

// resume sets the level to one of before. Not begun has no level, so 0 is that.
func (l *level) resume(r *rule, at time.Duration) {
	if l == nil {
		return
	}
	if at <= 0 {
		l.reset()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.moved, l.raised = max(min(at, r.most), r.least), true, time.Time{}
}

// levelCeiling is the Ceiling of a level with that Min and Max.
func levelCeiling(least, most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	return max(least, most)
}

// nilPointer is what Validate says of a nil pointer.
func nilPointer(kind string) error { return &ConfigError{kind, nil, "must not be nil"} }
