package strategy

import "time"

// LILD raises the wait by a fixed amount after each failure and lowers it by a fixed amount after each success: linear
// increase, linear decrease.
//
//	failure: min(Max, level + IncrementOnFailure)      at least Min
//	success: min(Max, level + IncrementOnSuccess)      at least Min and 0; IncrementOnSuccess is negative
//
// The zero value waits 100 ms, 200 ms, 300 ms and so on, and goes the same way back. It suits a dependency whose limit is
// about known, so that the same step is right near it in both directions. What is said at LIMD of the level, of bursts,
// of bounds and of other special values holds here too. A real zero, a level that one kind of event does not move, is
// written 1 ns or -1 ns.
//
// It is safe for concurrent use, and must not be copied after the first use. Source: Algorithm::Backoff::LILD 0.010 (CPAN).
type LILD struct {
	// Initial is the level after the first event, whether that is a failure or a success. 0: 100 ms. A real zero is
	// written 1 ns.
	Initial time.Duration
	// IncrementOnFailure is what a failure adds to the level. 0: Initial.
	IncrementOnFailure time.Duration
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
func (l *LILD) Next(s State) (delay time.Duration, ok bool) {
	m, r := l.memory()
	return m.next(&r, &s)
}

// Failed moves the level as Next showed, if s counts.
func (l *LILD) Failed(s State) {
	m, r := l.memory()
	m.failed(&r, &s)
}

// Succeed moves the level for a success.
func (l *LILD) Succeed() {
	m, r := l.memory()
	m.succeed(&r)
}

// Level returns the present level; 0 before the first event.
func (l *LILD) Level() time.Duration {
	m, _ := l.memory()
	return m.value()
}

// Resume sets the level to one that was kept from before, within Min and Max, as if events had led to it; the next failure
// counts. 0 or below: as Reset, not begun.
func (l *LILD) Resume(level time.Duration) {
	m, r := l.memory()
	m.resume(&r, level)
}

// Reset forgets all events: the next one sets the level to Initial.
func (l *LILD) Reset() {
	m, _ := l.memory()
	m.reset()
}

// Ceiling returns Max, or Min where that is above Max: a jitter on top stays below it too.
func (l *LILD) Ceiling(State) time.Duration {
	if l == nil {
		return 0
	}
	return levelCeiling(l.Min, l.Max)
}

// Validate returns a *ConfigError for the first field that cannot be used, and for a nil pointer.
func (l *LILD) Validate() error {
	if l == nil {
		return nilPointer("LILD")
	}
	return check(l.table())
}

// String returns the text that Parse reads, such as "lild(initial=2s, incrementonfailure=4s, incrementonsuccess=-1s)".
// The level is not part of it.
func (l *LILD) String() string {
	if l == nil {
		return "lild(nil)"
	}
	return format(l.table())
}

func (l *LILD) table() (kind string, fields []field) {
	return "LILD", []field{
		{"Initial", &l.Initial}, {"IncrementOnFailure", (*increment)(&l.IncrementOnFailure)}, {"IncrementOnSuccess", (*increment)(&l.IncrementOnSuccess)},
		{"Min", &l.Min}, {"Max", &l.Max},
	}
}

func (l *LILD) memory() (*level, rule) {
	if l == nil {
		return nil, rule{}
	}
	return &l.level, family(l.Initial, l.Min, l.Max, adding(l.IncrementOnFailure, l.Initial, 1), adding(l.IncrementOnSuccess, l.Initial, -1))
}
