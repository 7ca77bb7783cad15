package strategy

import "time"

// LIMD raises the wait by a fixed amount after each failure and divides it after each success: linear increase,
// multiplicative decrease.
//
//	failure: min(Max, level + IncrementOnFailure)      at least Min
//	success: min(Max, level · MultipleOnSuccess)       at least Min; MultipleOnSuccess is below 1
//
// The zero value waits 100 ms, 200 ms, 300 ms and so on, and half of that after a success. It approaches a limit
// carefully and forgets a bad time quickly: for polling a service that turns callers away for a while.
//
// # The level
//
// The family, LILD, LIMD, MILD and MIMD, has memory: one level, that belongs to the dependency and not to a call. Make one
// value per dependency and share the pointer between all policies and goroutines that use it: a failure of one call
// makes the next failure of any other wait longer. The first event of either kind, failure or success, sets the level to
// Initial. Max caps the level, and Min, which wins where it is above Max, holds it up; both hold for the level itself, so
// a success at Max starts from Max. There is no other floor than Min and 0, not even Initial.
//
// It is a Learner. Next shows the level that this failure would lead to and changes nothing. Failed commits that, and the
// executor calls it only where a retry will follow: a failure that ends its call does not move the level, unless the wait is
// then broken off or a throttle refuses the retry. Every success does. After a success the executor does not wait; Level is what a loop should wait before its next piece of work.
// State.Limit caps the wait that Next answers and stops the level from growing further, but does not lower it.
//
// # Bursts
//
// Failures of attempts that began before the last increase came, or at that very moment, say nothing new: they began
// without it. They wait for the level and do not move it, so a thousand goroutines that fail together move it by one step.
// This goes by State.Began and State.Now. Where Began is the zero time, every failure counts; so does one that ended more
// than a minute before the last increase, because then the clock is another one.
//
// # Special values
//
// Negative Initial, Min and Max are invalid, and so are multiples that are negative, NaN or infinite; all are read as not
// set. Increments may have any sign, multiples may lie on either side of 1, and Validate takes them all: a success that
// raises the level is unusual, not wrong. An increment is signed as it is added, so one that lowers is negative. The level
// never goes below 0 and saturates at the largest Duration; multiples round to the nearest nanosecond, so a small one is
// how to write a real zero. The fields are set before the first use and not changed after it. Of a nil pointer, Next answers
// not ok, Level 0, and Validate refuses it.
//
// It is safe for concurrent use, and must not be copied after the first use. Source: Algorithm::Backoff::LIMD 0.010 (CPAN).
type LIMD struct {
	// Initial is the level after the first event, whether that is a failure or a success. 0: 100 ms. A real zero is
	// written 1 ns.
	Initial time.Duration
	// IncrementOnFailure is what a failure adds to the level. 0: Initial.
	IncrementOnFailure time.Duration
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
func (l *LIMD) Next(s State) (delay time.Duration, ok bool) {
	m, r := l.memory()
	return m.next(&r, &s)
}

// Failed moves the level as Next showed, if s counts.
func (l *LIMD) Failed(s State) {
	m, r := l.memory()
	m.failed(&r, &s)
}

// Succeed moves the level for a success.
func (l *LIMD) Succeed() {
	m, r := l.memory()
	m.succeed(&r)
}

// Level returns the present level; 0 before the first event.
func (l *LIMD) Level() time.Duration {
	m, _ := l.memory()
	return m.value()
}

// Resume sets the level to one that was kept from before, within Min and Max, as if events had led to it; the next failure
// counts. 0 or below: as Reset, not begun.
func (l *LIMD) Resume(level time.Duration) {
	m, r := l.memory()
	m.resume(&r, level)
}

// Reset forgets all events: the next one sets the level to Initial.
func (l *LIMD) Reset() {
	m, _ := l.memory()
	m.reset()
}

// Ceiling returns Max, or Min where that is above Max: a jitter on top stays below it too.
func (l *LIMD) Ceiling(State) time.Duration {
	if l == nil {
		return 0
	}
	return levelCeiling(l.Min, l.Max)
}

// Validate returns a *ConfigError for the first field that cannot be used, and for a nil pointer.
func (l *LIMD) Validate() error {
	if l == nil {
		return nilPointer("LIMD")
	}
	return check(l.table())
}

// String returns the text that Parse reads, such as "limd(initial=2s, incrementonfailure=4s, multipleonsuccess=0.2, min=1s)".
// The level is not part of it.
func (l *LIMD) String() string {
	if l == nil {
		return "limd(nil)"
	}
	return format(l.table())
}

func (l *LIMD) table() (kind string, fields []field) {
	return "LIMD", []field{
		{"Initial", &l.Initial}, {"IncrementOnFailure", (*increment)(&l.IncrementOnFailure)}, {"MultipleOnSuccess", (*multiple)(&l.MultipleOnSuccess)},
		{"Min", &l.Min}, {"Max", &l.Max},
	}
}

func (l *LIMD) memory() (*level, rule) {
	if l == nil {
		return nil, rule{}
	}
	return &l.level, family(l.Initial, l.Min, l.Max, adding(l.IncrementOnFailure, l.Initial, 1), multiplying(l.MultipleOnSuccess, defaultLower))
}
