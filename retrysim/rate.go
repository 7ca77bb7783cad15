package retrysim

import (
	"fmt"
	"math"
	"time"
)

// Rate is how many calls begin in a second, all clients together, over time. The zero Rate is none at all. PerSecond, Steps and
// Ramp make one.
type Rate struct {
	// Points are in the order of their times. Before the first, its rate holds; after the last, its rate.
	Points []RatePoint
	// Linear lets the rate run straight from point to point. False: each point's holds until the next.
	Linear bool
}

// RatePoint is the rate at a time.
type RatePoint struct {
	At        time.Duration
	PerSecond float64
}

// PerSecond is a rate that stays.
func PerSecond(rate float64) Rate { return Rate{Points: []RatePoint{{0, rate}}} }

// Steps is a rate that jumps at each point.
func Steps(points ...RatePoint) Rate { return Rate{Points: points} }

// Ramp is a rate that runs straight from point to point.
func Ramp(points ...RatePoint) Rate { return Rate{Points: points, Linear: true} }

// Validate returns a *ConfigError for a Rate without points, a rate that is not a finite number from 0 to 10 million, and points
// whose times are negative or do not ascend.
func (r Rate) Validate() error {
	if len(r.Points) == 0 {
		return &ConfigError{"Points", "[]", "must not be empty"}
	}
	for i, p := range r.Points {
		field := fmt.Sprintf("Points[%d]", i)
		switch {
		case !(p.PerSecond >= 0 && p.PerSecond <= maxRate):
			return &ConfigError{field + ".PerSecond", p.PerSecond, "must be a number from 0 to 10 million"}
		case p.At < 0:
			return &ConfigError{field + ".At", p.At, notNegative}
		case i > 0 && p.At <= r.Points[i-1].At:
			return &ConfigError{field + ".At", p.At, "must be after that of the point before"}
		}
	}
	return nil
}

const maxRate = 1e7

// At returns the rate at a time.
func (r Rate) At(t time.Duration) float64 {
	rate, _, _ := r.piece(int64(t))
	return rate
}

// piece returns the rate at t, how it changes by the second, and when that changes.
func (r Rate) piece(t int64) (rate, slope float64, until int64) {
	if len(r.Points) == 0 {
		return 0, 0, math.MaxInt64
	}
	for i, p := range r.Points {
		if t >= int64(p.At) {
			continue
		}
		if i == 0 {
			return p.PerSecond, 0, int64(p.At)
		}
		before := r.Points[i-1]
		if !r.Linear {
			return before.PerSecond, 0, int64(p.At)
		}
		slope = (p.PerSecond - before.PerSecond) / (p.At - before.At).Seconds()
		return mulAdd(slope, seconds(t-int64(before.At)), before.PerSecond), slope, int64(p.At)
	}
	return r.Points[len(r.Points)-1].PerSecond, 0, math.MaxInt64
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// next returns when the next call begins after t: when the integral of the rate has grown by need, drawn from the exponential
// distribution of mean 1. So it is a Poisson process of exactly this rate; a gap drawn from the rate at its beginning would leap
// over a burst that follows a quiet time, and never leave a rate of 0. Never: MaxInt64.
func (r Rate) next(t int64, need float64) int64 {
	for {
		rate, slope, until := r.piece(t)
		span := seconds(until - t)
		area := float64(span * (rate + slope*span/2))
		if until == math.MaxInt64 {
			area = math.Inf(1)
			if rate == 0 {
				return math.MaxInt64
			}
		}
		if area <= need {
			need -= area
			t = until
			continue
		}
		x := need / rate
		if slope != 0 { // rate·x + slope·x²/2 = need, in the form that does not cancel
			x = 2 * need / (rate + math.Sqrt(max(mulAdd(rate, rate, float64(2*slope)*need), 0)))
		}
		gap := x * 1e9
		if gap >= float64(math.MaxInt64-t) {
			return math.MaxInt64
		}
		return t + int64(gap)
	}
}

// mean returns how many calls are to be expected before t.
func (r Rate) mean(t int64) (calls float64) {
	for at := int64(0); at < t; {
		rate, slope, until := r.piece(at)
		until = min(until, t)
		span := seconds(until - at)
		calls += span * (rate + slope*span/2)
		at = until
	}
	return calls
}
