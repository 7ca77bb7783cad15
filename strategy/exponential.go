package strategy

import (
	"math"
	"time"
)

// Exponential multiplies the wait after every failure. With n counting failures from 1:
//
//	min(Max, State.Limit, Base·Factor^(n−1))
//
// The zero value waits 100 ms, 200 ms, 400 ms, 800 ms and so on. Without Max the wait saturates at the largest Duration.
// With a whole Factor the waits are exact; any other is computed in float64 and rounded to the nearest nanosecond. Waits
// do not shrink from one failure to the next (for a Factor within a millionth of 1, rounding decides). Base above Max is
// valid: the wait is Max.
//
// Negative fields are invalid, and so is a Factor that is below 1, NaN or infinite: a wait that shrinks while failures
// go on is a mistake, mostly a jitter factor in the wrong place. Next reads an invalid field as not set.
//
// Callers that fail together retry together: use FullJitter or EqualJitter, or put a Jitter on top, where more than one
// client calls the same service.
//
// It is safe for concurrent use.
type Exponential struct {
	// Base is the first wait. 0: 100 ms. A real zero is written 1 ns, or Constant{}.
	Base time.Duration
	// Factor is what each wait is multiplied by to give the next. 0: 2.
	Factor float64
	// Max caps the wait. 0: none.
	Max time.Duration
}

// Next returns the wait after failure s.Number. It draws nothing, and ok is always true.
func (e Exponential) Next(s State) (delay time.Duration, ok bool) {
	base, factor := or(e.Base, defaultDelay), e.Factor
	if !(factor >= 1 && factor <= math.MaxFloat64) {
		factor = defaultFactor
	}
	return power(base, factor, s.steps(), s.ceiling(e.Max)), true
}

// power returns d·factor^steps, at most ceiling. It expects d > 0 and a finite factor ≥ 1.
func power(d time.Duration, factor float64, steps uint64, ceiling time.Duration) time.Duration {
	switch {
	case factor == 2:
		return double(d, steps, ceiling)
	case steps == 0 || factor == 1 || d >= ceiling:
		return min(d, ceiling)
	case factor >= float64(forever):
		return ceiling
	case factor != math.Trunc(factor):
		// Pow gives +Inf for what it cannot hold, and nearest turns that into the ceiling.
		return nearest(float64(d)*math.Pow(factor, float64(steps)), ceiling)
	}
	// A factor of 3 or more reaches any ceiling within 40 steps, however large steps is.
	for ; steps > 0 && d < ceiling; steps-- {
		d = scale(d, uint64(factor), ceiling)
	}
	return d
}

// Ceiling returns Max: a jitter on top stays below it too.
func (e Exponential) Ceiling(State) time.Duration { return max(e.Max, 0) }

// Validate returns a *ConfigError for the first field that is negative, and for a Factor below 1, NaN or infinite.
func (e Exponential) Validate() error { return check(e.table()) }

// String returns the text that Parse reads, such as "exponential(base=100ms, factor=1.5, max=20s)".
func (e Exponential) String() string { return format(e.table()) }

func (e *Exponential) table() (kind string, fields []field) {
	return "Exponential", []field{{"Base", &e.Base}, {"Factor", &e.Factor}, {"Max", &e.Max}}
}
