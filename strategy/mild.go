package strategy

import "time"

// MILD multiplies the wait after each failure and lowers it by a fixed amount after each success: multiplicative increase,
// linear decrease.
//
//	failure: min(Max, level · MultipleOnFailure)       at least Min
//	success: min(Max, level + IncrementOnSuccess)      at least Min and 0; IncrementOnSuccess is negative
//
// The zero value waits 100 ms, 200 ms, 400 ms and so on, and 100 ms less after a success. It backs away quickly and comes
// back carefully: for a dependency that takes long to recover. What is said at LIMD of the level, of bursts, of bounds and
// of other special values holds here too. Without Min, successes bring the level down to
// nothing, from where multiplying does not bring it up again: set Min.
//
// It is safe for concurrent use, and must not be copied after the first use. Source: Algorithm::Backoff::MILD 0.010 (CPAN).
type MILD struct {
	// Initial is the level after the first event, whether that is a failure or a success. 0: 100 ms. A real zero is
	// written 1 ns.
	Initial time.Duration
	// MultipleOnFailure is what a failure multiplies the level by. 0: 2.
	MultipleOnFailure float64
	// IncrementOnSuccess is what a success adds to the level: negative to lower it. 0: -Initial.
	IncrementOnSuccess time.Duration
	// Min is what the level does not go below. It wins over Max. 0: none.
	Min time.Duration
	// Max is what the level does not go above. 0: none.
	Max time.Duration

	level level
}

// Next returns the level that the failure s would lead to, at most s.Limit. It draws nothing and changes nothing. ok is
// true, but of a nil pointer false.
func (l *MILD) Next(s State) (delay time.Duration, ok bool) {
	m, r := l.memory()
	return m.next(&r, &s)
}

// Failed moves the level as Next showed, if s counts.
func (l *MILD) Failed(s State) {
	m, r := l.memory()
	m.failed(&r, &s)
}

// Succeed moves the level for a success.
func (l *MILD) Succeed() {
	m, r := l.memory()
	m.succeed(&r)
}

// Level returns the present level; 0 before the first event.
func (l *MILD) Level() time.Duration {
	m, _ := l.memory()
	return m.value()
}

// Resume sets the level to one that was kept from before, within Min and Max, as if events had led to it; the next failure
// counts. 0 or below: as Reset, not begun.
func (l *MILD) Resume(level time.Duration) {
	m, r := l.memory()
	m.resume(&r, level)
}

// Reset forgets all events: the next one sets the level to Initial.
func (l *MILD) Reset() {
	m, _ := l.memory()
	m.reset()
}

// Ceiling returns Max, or Min where that is above Max: a jitter on top stays below it too.
func (l *MILD) Ceiling(State) time.Duration {
	if l == nil {
		return 0
	}
	return levelCeiling(l.Min, l.Max)
}

// Validate returns a *ConfigError for the first field that cannot be used, and for a nil pointer.
func (l *MILD) Validate() error {
	if l == nil {
		return nilPointer("MILD")
	}
	return check(l.table())
}

// String returns the text that Parse reads, such as "mild(initial=1s, multipleonfailure=1.5, incrementonsuccess=-500ms)".
// The level is not part of it.
func (l *MILD) String() string {
	if l == nil {
		return "mild(nil)"
	}
	return format(l.table())
}

func (l *MILD) table() (kind string, fields []field) {
	return "MILD", []field{
		{"Initial", &l.Initial}, {"MultipleOnFailure", (*multiple)(&l.MultipleOnFailure)}, {"IncrementOnSuccess", (*increment)(&l.IncrementOnSuccess)},
		{"Min", &l.Min}, {"Max", &l.Max},
	}
}

func (l *MILD) memory() (*level, rule) {
	if l == nil {
		return nil, rule{}
	}
	return &l.level, family(l.Initial, l.Min, l.Max, multiplying(l.MultipleOnFailure, defaultRaise), adding(l.IncrementOnSuccess, l.Initial, -1))
}
