package strategy

import (
	"time"

	"github.com/seed-89b3229b/retry/internal/draw"
)

// between maps r from [0, 1) evenly onto the nanoseconds low..high, both included. It expects 0 ≤ low ≤ high.
func between(low, high time.Duration, r float64) time.Duration {
	span := high - low
	// Spans beyond 2^53 ns (104 days) are rounded in float64, possibly upwards: hence the min.
	return low + min(time.Duration(draw.Unit(r)*(float64(span)+1)), span)
}
