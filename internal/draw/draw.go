// Package draw turns random numbers that callers provide into ones that can be trusted.
package draw

import (
	"math/rand/v2"
	"time"
)

// belowOne is the largest float64 below 1.
const belowOne = 1 - 1.0/(1<<53)

// Unit brings u into [0, 1). NaN is 0.
func Unit(u float64) float64 {
	if !(u > 0) {
		return 0
	}
	return min(u, belowOne)
}

// From returns a number from [0, 1), whatever source answers. A nil source is math/rand/v2.
func From(source func() float64) float64 {
	if source == nil {
		return rand.Float64()
	}
	return Unit(source())
}

// Below returns a random part of a span that is not negative; the part is shorter than the span, unless that is 0.
func Below(span time.Duration, source func() float64) time.Duration {
	return min(time.Duration(From(source)*float64(span)), max(span-1, 0))
}
