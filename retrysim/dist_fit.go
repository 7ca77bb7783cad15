package retrysim

import (
	"math"
	"time"
)

// FitLogNormal returns the LogNormal that has the value at two quantiles, such as a measured p50 and p99: p1 and p2 are shares
// between 0 and 1. Sigma is rounded to four decimals. The error is a *ConfigError: shares that are equal or not between 0 and 1,
// durations that are not positive, or that do not grow with the share.
func FitLogNormal(p1 float64, at1 time.Duration, p2 float64, at2 time.Duration) (Dist, error) {
	if p1 > p2 {
		p1, at1, p2, at2 = p2, at2, p1, at1
	}
	switch {
	case !(p1 > 0 && p1 < 1):
		return Dist{}, &ConfigError{"quantile", p1, "must be above 0 and below 1"}
	case !(p2 > p1 && p2 < 1):
		return Dist{}, &ConfigError{"quantile", p2, "must be above 0 and below 1, and not that of the other value"}
	case at1 <= 0:
		return Dist{}, &ConfigError{"value", at1, "must be above 0"}
	case at2 < at1:
		return Dist{}, &ConfigError{"value", at2, "must not be below that of the lower quantile"}
	}
	z1, z2 := math.Sqrt2*math.Erfinv(2*p1-1), math.Sqrt2*math.Erfinv(2*p2-1)
	sigma := math.Log(float64(at2)/float64(at1)) / (z2 - z1)
	median := time.Duration(float64(at1) * math.Exp(-sigma*z1))
	d := LogNormal(median.Round(time.Microsecond), math.Round(sigma*1e4)/1e4)
	if median < time.Millisecond {
		d.a = median
	}
	return d, d.Validate()
}
