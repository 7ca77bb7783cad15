package strategy

import "time"

// Decorrelated draws the next wait from the last one, not from the number of failures. With cap = min(Max, State.Limit)
// and Prev the wait before, Base for the first failure:
//
//	min(cap, uniform Base..3·Prev)     Capped false
//	uniform Base..min(cap, 3·Prev)     Capped true
//
// Both ends can be drawn. Where 3·Prev is below Base the wait is Base, and where cap is below Base it is cap. Capped
// false is the published formula: once Prev is near the cap, two thirds of the waits are exactly the cap, so callers meet
// there again. Capped true keeps them spread, with a lower mean. The zero value draws first from 100..300 ms. Without
// Max, 3·Prev saturates at the largest Duration. Negative fields are invalid; Next reads them as not set.
//
// Waits grow by about 1.3 at the median, slower than by doubling, but with a long tail, and it makes more attempts than
// FullJitter. It has no memory of its own: Prev is the State's.
//
// It is safe for concurrent use. Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
type Decorrelated struct {
	// Base is the shortest wait. 0: 100 ms. A real zero is written 1 ns, or Constant{}.
	Base time.Duration
	// Max caps the wait. 0: none.
	Max time.Duration
	// Capped says that the cap bounds what is drawn from, instead of what was drawn.
	Capped bool
}

// Next draws the wait that follows s.Prev, with one number of s.Rand. ok is always true.
func (j Decorrelated) Next(s State) (delay time.Duration, ok bool) {
	low, ceiling := or(j.Base, defaultDelay), s.ceiling(j.Max)
	high := max(low, scale(or(s.Prev, low), 3, forever))
	if j.Capped {
		low, high = min(low, ceiling), min(high, ceiling)
	}
	return min(between(low, high, s.rand()), ceiling), true
}

// Jittered returns true.
func (j Decorrelated) Jittered() bool { return true }

// Validate returns a *ConfigError for the first field that is negative.
func (j Decorrelated) Validate() error { return check(j.table()) }

// String returns the text that Parse reads, such as "decorrelated(base=200ms, max=20s, capped=true)".
func (j Decorrelated) String() string { return format(j.table()) }

func (j *Decorrelated) table() (kind string, fields []field) {
	return "Decorrelated", []field{{"Base", &j.Base}, {"Max", &j.Max}, {"Capped", &j.Capped}}
}
