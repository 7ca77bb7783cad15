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
