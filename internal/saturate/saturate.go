// Package saturate computes with durations that must not overflow.
package saturate

import (
	"math"
	"time"
)

// Add returns a+b. A sum that is not a Duration is the largest one, or where both are negative the smallest.
func Add(a, b time.Duration) time.Duration {
	sum := a + b
	switch {
	case b > 0 && sum < a:
		return math.MaxInt64
	case b < 0 && sum > a:
		return math.MinInt64
	}
	return sum
}

// Times returns n·unit, for a unit above 0. Below 0 it is 0; a product that is not a Duration is the largest one.
func Times(n int64, unit time.Duration) time.Duration {
	switch {
	case n <= 0:
		return 0
	case n > int64(math.MaxInt64/unit):
		return math.MaxInt64
	}
	return time.Duration(n) * unit
}
