package strategy

import "time"

// Jitter spreads a delay, so that callers that failed together do not come back together. r is a random number from
// [0, 1); the result is never negative and never above limit.
//
// A limit of 0 or below leaves nothing: the result is 0. Where there is no limit, limit is math.MaxInt64. A negative
// delay is read as 0; r outside of [0, 1) is brought to the nearer end, and NaN to 0. A Jitter must be safe for
// concurrent use.
//
// The limit comes first and the draw second, so that delays at the limit are spread like all others.
type Jitter func(delay, limit time.Duration, r float64) time.Duration

// Full is a Jitter that draws from the whole delay: uniform 0..min(delay, limit). The mean is half of that.
func Full(delay, limit time.Duration, r float64) time.Duration {
	return between(0, limited(delay, limit), r)
}

// Equal is a Jitter that draws from the upper half of the delay: uniform half..whole of min(delay, limit). The half is
// rounded down to the nanosecond.
func Equal(delay, limit time.Duration, r float64) time.Duration {
	d := limited(delay, limit)
	return between(d/2, d, r)
}

// Proportional returns a Jitter that draws from both sides of the delay. With d = min(delay, limit):
//
//	uniform d(1−factor)..min(d(1+factor), limit)
//
// So Proportional(0.25) keeps within a quarter of the delay. The mean is the delay, or less where the limit cuts the
// upper side off: a delay at the limit is spread over the factor below it, instead of every second one being exactly the
// limit.
//
// A factor of 0 or below, or NaN, leaves the delay as it is, up to the limit. Above 1 the lower end is 0.
func Proportional(factor float64) Jitter {
	if !(factor > 0) {
		return func(delay, limit time.Duration, _ float64) time.Duration { return limited(delay, limit) }
	}
	return func(delay, limit time.Duration, r float64) time.Duration {
		d := limited(delay, limit)
		if d == 0 {
			return 0
		}
		side := nearest(float64(d)*factor, forever)
		return between(d-min(side, d), add(d, side, limit), r)
	}
}

// limited brings delay into 0..limit.
func limited(delay, limit time.Duration) time.Duration {
	return max(min(delay, limit), 0)
}
