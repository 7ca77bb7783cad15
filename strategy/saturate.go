package strategy

import (
	"math"
	"math/bits"
	"time"
)

const (
	// forever is where every curve without a Max ends.
	forever time.Duration = math.MaxInt64
	// defaultDelay stands for a Base, First or Initial that is not set.
	defaultDelay = 100 * time.Millisecond
	// defaultFactor stands for a Factor that is not set.
	defaultFactor = 2.0
)

// or returns d, or other where d is not set. A negative d is invalid and read as not set.
func or(d, other time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return other
}

// steps returns how many failures came before this one.
func (s State) steps() uint64 {
	return uint64(max(s.Number, 1) - 1)
}

// ceiling returns the lower of a strategy's own Max and the policy's Limit, each where it is set.
func (s State) ceiling(most time.Duration) time.Duration {
	return min(or(most, forever), or(s.Limit, forever))
}

// within brings a delay that came from outside into 0..Limit.
func (s State) within(d time.Duration) time.Duration {
	return min(max(d, 0), s.ceiling(0))
}

// double returns d·2^steps, at most ceiling. It expects d > 0.
func double(d time.Duration, steps uint64, ceiling time.Duration) time.Duration {
	// Shifting the ceiling down cannot overflow, where shifting d up can: after 63 steps and more it is 0.
	if d > ceiling>>steps {
		return ceiling
	}
	return d << steps
}

// scale returns d·by, at most ceiling. It expects d, by ≥ 0.
func scale(d time.Duration, by uint64, ceiling time.Duration) time.Duration {
	high, low := bits.Mul64(uint64(d), by)
	if high > 0 || low > uint64(ceiling) {
		return ceiling
	}
	return time.Duration(low)
}

// add returns a+b, at most ceiling. It expects a, b ≥ 0.
func add(a, b, ceiling time.Duration) time.Duration {
	if b > ceiling-a { // which is negative where a alone is above
		return ceiling
	}
	return a + b
}

// nearest returns the Duration nearest to f nanoseconds, within 0..ceiling; NaN is 0.
func nearest(f float64, ceiling time.Duration) time.Duration {
	if !(f > 0) {
		return 0
	}
	// float64(ceiling) may lie above ceiling, so the result is compared once more.
	if f >= float64(ceiling) {
		return ceiling
	}
	return min(time.Duration(math.Round(f)), ceiling)
}
