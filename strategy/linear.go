package strategy

import "time"

// Linear waits longer by the same amount after every failure. With n counting failures from 1:
//
//	min(Max, State.Limit, Initial + (n−1)·Increment)
//
// The zero value waits 100 ms, 200 ms, 300 ms and so on. Without Max the wait saturates at the largest Duration; it never
// shrinks from one failure to the next. Initial above Max is valid: the wait is Max. Negative fields are invalid; Next
// reads them as not set.
//
// It is safe for concurrent use.
type Linear struct {
	// Initial is the first wait. 0: 100 ms. A real zero is written 1 ns.
	Initial time.Duration
	// Increment is added after every failure. 0: Initial. A wait that does not grow is a Constant.
	Increment time.Duration
	// Max caps the wait. 0: none.
	Max time.Duration
}

// Next returns the wait after failure s.Number. It draws nothing, and ok is always true.
func (l Linear) Next(s State) (delay time.Duration, ok bool) {
	initial, ceiling := or(l.Initial, defaultDelay), s.ceiling(l.Max)
	return add(initial, scale(or(l.Increment, initial), s.steps(), ceiling), ceiling), true
}

// Ceiling returns Max: a jitter on top stays below it too.
func (l Linear) Ceiling(State) time.Duration { return max(l.Max, 0) }

// Validate returns a *ConfigError for the first field that is negative.
func (l Linear) Validate() error { return check(l.table()) }

// String returns the text that Parse reads, such as "linear(initial=100ms, increment=50ms, max=5s)".
func (l Linear) String() string { return format(l.table()) }

func (l *Linear) table() (kind string, fields []field) {
	return "Linear", []field{{"Initial", &l.Initial}, {"Increment", &l.Increment}, {"Max", &l.Max}}
}
