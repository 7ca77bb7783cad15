package strategy

import "time"

// FullJitter draws from the whole of a wait that doubles after every failure. With n counting failures from 1:
//
//	uniform 0..e, e = min(Max, State.Limit, Base·2^(n−1))
//
// The mean is e/2, and both ends can be drawn. The cap comes before the draw, so that waits at the cap are spread like
// all others. The zero value draws from 0..100 ms, 0..200 ms, 0..400 ms and so on. Without Max, e saturates at the
// largest Duration. Base above Max is valid: e is Max. Negative fields are invalid; Next reads them as not set.
//
// It spreads a crowd of callers best, but some waits are very short. Where each failure has to be followed by some rest,
// use EqualJitter.
//
// It is safe for concurrent use. Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
type FullJitter struct {
	// Base is the longest first wait. 0: 100 ms. A real zero is written 1 ns, or Constant{}.
	Base time.Duration
	// Max caps the wait. 0: none.
	Max time.Duration
}

// Next draws the wait after failure s.Number, with one number of s.Rand. ok is always true.
func (j FullJitter) Next(s State) (delay time.Duration, ok bool) {
	return between(0, double(or(j.Base, defaultDelay), s.steps(), s.ceiling(j.Max)), s.rand()), true
}

// Jittered returns true.
func (j FullJitter) Jittered() bool { return true }

// Validate returns a *ConfigError for the first field that is negative.
func (j FullJitter) Validate() error { return check(j.table()) }

// String returns the text that Parse reads, such as "fulljitter(base=200ms, max=20s)".
func (j FullJitter) String() string { return format(j.table()) }

func (j *FullJitter) table() (kind string, fields []field) {
	return "FullJitter", []field{{"Base", &j.Base}, {"Max", &j.Max}}
}
