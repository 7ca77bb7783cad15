package strategy

import "time"

// MIMD multiplies the wait after each failure and divides it after each success: multiplicative increase, multiplicative
// decrease.
//
//	failure: min(Max, level · MultipleOnFailure)       at least Min
//	success: min(Max, level · MultipleOnSuccess)       at least Min; MultipleOnSuccess is below 1
//
// The zero value waits 100 ms, 200 ms, 400 ms and so on, and half of that after a success. It finds its way over several
// orders of magnitude in few steps, and swings about the right level more widely than the others. What is said at LIMD of
// the level, of bursts, of bounds and of other special values holds here too. Without Min, successes bring the level down to
// nothing, from where multiplying does not bring it up again: set Min.
//
// It is safe for concurrent use, and must not be copied after the first use. Source: Algorithm::Backoff::MIMD 0.010 (CPAN).
type MIMD struct {
	// Initial is the level after the first event, whether that is a failure or a success. 0: 100 ms. A real zero is
	// written 1 ns.
	Initial time.Duration
	// MultipleOnFailure is what a failure multiplies the level by. 0: 2.
	MultipleOnFailure float64
	// MultipleOnSuccess is what a success multiplies the level by: below 1 to lower it. 0: 0.5.
	MultipleOnSuccess float64
	// Min is what the level does not go below. It wins over Max. 0: none.
	Min time.Duration
	// Max is what the level does not go above. 0: none.
	Max time.Duration

	level level
}

// Next returns the level that the failure s would lead to, at most s.Limit. It draws nothing and changes nothing. ok is
// true, but of a nil pointer false.
func (l *MIMD) Next(s State) (delay time.Duration, ok bool) {
	m, r := l.memory()
	return m.next(&r, &s)
}

// Failed moves the level as Next showed, if s counts.
func (l *MIMD) Failed(s State) {
	m, r := l.memory()
	m.failed(&r, &s)
}

// Succeed moves the level for a success.
func (l *MIMD) Succeed() {
	m, r := l.memory()
	m.succeed(&r)
}

// Level returns the present level; 0 before the first event.
func (l *MIMD) Level() time.Duration {
	m, _ := l.memory()
	return m.value()
}

// Resume sets the level to one that was kept from before, within Min and Max, as if events had led to it; the next failure
// counts. 0 or below: as Reset, not begun.
func (l *MIMD) Resume(level time.Duration) {
	m, r := l.memory()
	m.resume(&r, level)
}

// Reset forgets all events: the next one sets the level to Initial.
func (l *MIMD) Reset() {
	m, _ := l.memory()
	m.reset()
}

// Ceiling returns Max, or Min where that is above Max: a jitter on top stays below it too.
func (l *MIMD) Ceiling(State) time.Duration {
	if l == nil {
		return 0
	}
	return levelCeiling(l.Min, l.Max)
}

// Validate returns a *ConfigError for the first field that cannot be used, and for a nil pointer.
func (l *MIMD) Validate() error {
	if l == nil {
		return nilPointer("MIMD")
	}
	return check(l.table())
}

// String returns the text that Parse reads, such as "mimd(initial=2s, multipleonfailure=3, multipleonsuccess=0.25)".
// The level is not part of it.
func (l *MIMD) String() string {
	if l == nil {
		return "mimd(nil)"
	}
	return format(l.table())
}

func (l *MIMD) table() (kind string, fields []field) {
	return "MIMD", []field{
		{"Initial", &l.Initial}, {"MultipleOnFailure", (*multiple)(&l.MultipleOnFailure)}, {"MultipleOnSuccess", (*multiple)(&l.MultipleOnSuccess)},
		{"Min", &l.Min}, {"Max", &l.Max},
	}
}

func (l *MIMD) memory() (*level, rule) {
	if l == nil {
		return nil, rule{}
	}
	return &l.level, family(l.Initial, l.Min, l.Max, multiplying(l.MultipleOnFailure, defaultRaise), multiplying(l.MultipleOnSuccess, defaultLower))
}
