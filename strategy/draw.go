package strategy

import "time"

// belowOne is the largest float64 below 1.
const belowOne = 1 - 1.0/(1<<53)

// unit brings r into [0, 1). NaN is 0.
func unit(r float64) float64 {
	if !(r > 0) {
		return 0
	}
	return min(r, belowOne)
}

// between maps r from [0, 1) evenly onto the nanoseconds low..high, both included. It expects 0 ≤ low ≤ high.
func between(low, high time.Duration, r float64) time.Duration {
	span := high - low
	// Spans beyond 2^53 ns (104 days) are rounded in float64, possibly upwards: hence the min.
	return low + min(time.Duration(unit(r)*(float64(span)+1)), span)
}
