package retrysim

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Dist is a distribution of durations: how long a server works on a request, how long a message travels. The zero Dist is
// Fixed(0). A Dist is a value, made by Fixed, Uniform, Exponential, LogNormal, AbsNormal, Empirical and ParseDist; it draws no
// negative duration and saturates at the largest one. Safe for concurrent use.
type Dist struct {
	kind    distKind
	a, b    time.Duration
	sigma   float64
	samples []time.Duration
}

type distKind uint8

const (
	distFixed distKind = iota
	distUniform
	distExponential
	distLogNormal
	distAbsNormal
	distEmpirical
)

// Fixed is always d.
func Fixed(d time.Duration) Dist { return Dist{kind: distFixed, a: d} }

// Uniform draws evenly from a … b.
func Uniform(a, b time.Duration) Dist { return Dist{kind: distUniform, a: a, b: b} }

// Exponential draws from the exponential distribution: its standard deviation is its mean.
func Exponential(mean time.Duration) Dist { return Dist{kind: distExponential, a: mean} }

// LogNormal draws from the log-normal distribution median·e^(sigma·z), z being standard normal: the usual shape of service
// times. Its mean is median·e^(sigma²/2). FitLogNormal finds both from two quantiles.
func LogNormal(median time.Duration, sigma float64) Dist {
	return Dist{kind: distLogNormal, a: median, sigma: sigma}
}

// AbsNormal draws |mean + sd·z|, z being standard normal.
func AbsNormal(mean, sd time.Duration) Dist { return Dist{kind: distAbsNormal, a: mean, b: sd} }

// Empirical draws one of the samples, each as often as the others: what was measured. The slice is copied.
func Empirical(samples []time.Duration) Dist {
	return Dist{kind: distEmpirical, samples: slices.Clone(samples)}
}

// Validate returns a *ConfigError for a negative duration, a Uniform that ends before it begins, a LogNormal whose sigma is not
// from 0 to 10, and an Empirical without samples.
func (d Dist) Validate() error {
	shape := distShapes[d.kind]
	for i, v := range []time.Duration{d.a, d.b} {
		if v < 0 {
			return &ConfigError{shape.fields[i], v, notNegative}
		}
	}
	switch {
	case d.kind == distUniform && d.b < d.a:
		return &ConfigError{"max", d.b, "must not be below min"}
	case d.kind == distLogNormal && !(d.sigma >= 0 && d.sigma <= 10):
		return &ConfigError{"sigma", d.sigma, "must be from 0 to 10"}
	case d.kind == distEmpirical && len(d.samples) == 0:
		return &ConfigError{"samples", "[]", "must not be empty"}
	}
	for _, v := range d.samples {
		if v < 0 {
			return &ConfigError{"samples", v, notNegative}
		}
	}
	return nil
}

// Mean returns the distribution's mean.
func (d Dist) Mean() time.Duration {
	switch d.kind {
	case distUniform:
		return d.a + (d.b-d.a)/2
	case distLogNormal:
		return nanoseconds(float64(d.a) * exponent(d.sigma*d.sigma/2))
	case distAbsNormal: // of the folded normal distribution
		if d.b == 0 {
			return d.a
		}
		m, s := float64(d.a), float64(d.b)
		return nanoseconds(s*math.Sqrt(2/math.Pi)*math.Exp(-m*m/(2*s*s)) + m*math.Erf(m/(s*math.Sqrt2)))
	case distEmpirical:
		sum := 0.0
		for _, v := range d.samples {
			sum += float64(v)
		}
		return nanoseconds(sum / float64(max(len(d.samples), 1)))
	}
	return d.a
}

// draw takes the next duration from s.
func (d *Dist) draw(s *stream) int64 {
	switch d.kind {
	case distUniform:
		return int64(nanoseconds(mulAdd(s.float(), float64(d.b-d.a), float64(d.a))))
	case distExponential:
		return int64(nanoseconds(s.exponential() * float64(d.a)))
	case distLogNormal:
		return int64(nanoseconds(float64(d.a) * exponent(d.sigma*s.normal())))
	case distAbsNormal:
		return int64(nanoseconds(math.Abs(mulAdd(s.normal(), float64(d.b), float64(d.a)))))
	case distEmpirical:
		if len(d.samples) > 0 {
			return int64(max(d.samples[s.below(len(d.samples))], 0))
		}
	}
	return int64(max(d.a, 0))
}

// nanoseconds is v as a Duration. What is not one is the nearest that is, and NaN is 0.
func nanoseconds(v float64) time.Duration {
	switch {
	case !(v > 0):
		return 0
	case v >= math.MaxInt64:
		return math.MaxInt64
	}
	return time.Duration(v)
}

// String returns the text that ParseDist reads, such as "lognormal(median=50ms, sigma=0.25)".
func (d Dist) String() string {
	shape := distShapes[d.kind]
	switch d.kind {
	case distFixed:
		return fmt.Sprintf("fixed(%v)", d.a)
	case distLogNormal:
		return fmt.Sprintf("lognormal(median=%v, sigma=%s)", d.a, strconv.FormatFloat(d.sigma, 'g', -1, 64))
	case distEmpirical:
		texts := make([]string, len(d.samples))
		for i, v := range d.samples {
			texts[i] = v.String()
		}
		return "empirical(samples=[" + strings.Join(texts, ", ") + "])"
	case distExponential:
		return fmt.Sprintf("exponential(mean=%v)", d.a)
	}
	return fmt.Sprintf("%s(%s=%v, %s=%v)", shape.name, shape.fields[0], d.a, shape.fields[1], d.b)
}
