package strategy

import "time"

// EqualJitter draws from the upper half of a wait that doubles after every failure. With n counting failures from 1:
//
//	uniform e/2..e, e = min(Max, State.Limit, Base·2^(n−1))
//
// The mean is 3e/4, and both ends can be drawn; e/2 is rounded down to the nanosecond. The cap comes before the draw, so
// that waits at the cap are spread like all others. The zero value draws from 50..100 ms, 100..200 ms, 200..400 ms and
// so on. Without Max, e saturates at the largest Duration. Base above Max is valid: e is Max. Negative fields are
// invalid; Next reads them as not set.
//
// It is safe for concurrent use. Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
type EqualJitter struct {
	// Base is the longest first wait. 0: 100 ms. A real zero is written 1 ns, or Constant{}.
	Base time.Duration
	// Max caps the wait. 0: none.
	Max time.Duration
}

// Next draws the wait after failure s.Number, with one number of s.Rand. ok is always true.
func (j EqualJitter) Next(s State) (delay time.Duration, ok bool) {
	e := double(or(j.Base, defaultDelay), s.steps(), s.ceiling(j.Max))
	return between(e/2, e, s.rand()), true
}

// Jittered returns true.
func (j EqualJitter) Jittered() bool { return true }

// Validate returns a *ConfigError for the first field that is negative.
func (j EqualJitter) Validate() error { return check(j.table()) }

// String returns the text that Parse reads, such as "equaljitter(base=200ms, max=20s)".
func (j EqualJitter) String() string { return format(j.table()) }

func (j *EqualJitter) table() (kind string, fields []field) {
	return "EqualJitter", []field{{"Base", &j.Base}, {"Max", &j.Max}}
}
