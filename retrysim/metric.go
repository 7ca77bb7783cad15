package retrysim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

type metricKind int

const (
	metricRecovery metricKind = iota
	metricRecovered
	metricSuccess
	metricFirstTry
	metricAmplification
	metricPeakAmplification
	metricPeakLoad
	metricCalls
	metricAttempts
	metricRefused
	metricWasted
	metricUtilisation
	metricPeakQueue
	metricWaited
	metricCompletion
	metricP50
	metricP90
	metricP99
	metricP999
	metricMax
	metricAllP50
	metricAllP90
	metricAllP99
	metricAllP999
	metricAllMax
	metricKinds

	// metricStable is that of a Map.
	metricStable
)

// Unit says how a metric is written.
type Unit uint8

const (
	// Number is a count, or a factor such as an amplification.
	Number Unit = iota
	// Ratio is a share of a whole: 0.95 is 95 %.
	Ratio
	// Duration is a time in nanoseconds; +Inf is never.
	Duration
)

// pooling is how a metric of several trials comes about.
type pooling uint8

const (
	counted pooling = iota // from the sums over all trials
	worst                  // the largest of them
	average
)

// Metric is one number about a contender.
type Metric struct {
	// Name is what assertions and files call it.
	Name string
	Unit Unit
	// Text says what it is.
	Text string

	kind metricKind
	pool pooling
}

var metrics = [metricKinds]Metric{
	metricRecovery:          {"recovery", Duration, "from the end of the last fault until all is well for good, in the worst trial", 0, worst},
	metricRecovered:         {"recovered", Ratio, "share of the trials that recovered", 0, average},
	metricSuccess:           {"success", Ratio, "share of the calls that succeeded", 0, counted},
	metricFirstTry:          {"first_try", Ratio, "share of the calls that succeeded with their first attempt", 0, counted},
	metricAmplification:     {"amplification", Number, "attempts per call", 0, counted},
	metricPeakAmplification: {"peak_amplification", Number, "attempts per call in the worst step", 0, worst},
	metricPeakLoad:          {"peak_load", Number, "attempts in the busiest step, to those in the average step", 0, worst},
	metricCalls:             {"calls", Number, "calls that began", 0, counted},
	metricAttempts:          {"attempts", Number, "attempts that were sent", 0, counted},
	metricRefused:           {"refused", Number, "calls that a throttle or a budget ended", 0, counted},
	metricWasted:            {"wasted", Ratio, "share of the served requests that failed or that nobody waited for any more", 0, counted},
	metricUtilisation:       {"utilisation", Ratio, "share of their time that the workers of a queue were busy", 0, average},
	metricPeakQueue:         {"peak_queue", Number, "most requests in line; without a line, in the server", 0, worst},
	metricWaited:            {"waited", Duration, "all waits between attempts, added up", 0, counted},
	metricCompletion:        {"completion", Duration, "when the last call ended", 0, average},
	metricP50:               {"p50", Duration, "latency of the calls that succeeded: half took no longer", 0, counted},
	metricP90:               {"p90", Duration, "latency of the calls that succeeded: 90 % took no longer", 0, counted},
	metricP99:               {"p99", Duration, "latency of the calls that succeeded: 99 % took no longer", 0, counted},
	metricP999:              {"p999", Duration, "latency of the calls that succeeded: 99.9 % took no longer", 0, counted},
	metricMax:               {"max", Duration, "latency of the slowest call that succeeded", 0, counted},
	metricAllP50:            {"all_p50", Duration, "latency of all calls: half took no longer", 0, counted},
	metricAllP90:            {"all_p90", Duration, "latency of all calls: 90 % took no longer", 0, counted},
	metricAllP99:            {"all_p99", Duration, "latency of all calls: 99 % took no longer", 0, counted},
	metricAllP999:           {"all_p999", Duration, "latency of all calls: 99.9 % took no longer", 0, counted},
	metricAllMax:            {"all_max", Duration, "latency of the slowest call", 0, counted},
}

// Metrics returns all metrics, in the order of reports.
func Metrics() []Metric {
	all := make([]Metric, len(metrics))
	for i, m := range metrics {
		m.kind = metricKind(i)
		all[i] = m
	}
	return all
}

// stable is the one metric of a Map.
var stable = Metric{"stable", Ratio, "the largest load of a map up to which every outage is survived", metricStable, worst}

// MetricOf returns the metric of a name. Besides those of Metrics there is stable, of a Map.
func MetricOf(name string) (m Metric, ok bool) {
	if name == stable.Name {
		return stable, true
	}
	for i, m := range metrics {
		if m.Name == name {
			m.kind = metricKind(i)
			return m, true
		}
	}
	return Metric{}, false
}

// Format writes a value of the metric, such as "97.5%", "2.54", "1.2s" or "never". It is short, for readers: four digits at most.
func (m Metric) Format(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "never"
	case m.Unit == Duration:
		return short(time.Duration(v)).String()
	case m.Unit == Ratio:
		return strconv.FormatFloat(100*v, 'f', digitsFor(100*v), 64) + "%"
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', digitsFor(v), 64)
}

// exact is Format with all digits: whoever asks why 1.3 is not below 1.3 must see that it is 1.3004.
func (m Metric) exact(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "never"
	case m.Unit == Duration:
		return time.Duration(v).String()
	case m.Unit == Ratio:
		return strconv.FormatFloat(100*v, 'g', 6, 64) + "%"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func digitsFor(v float64) int {
	switch v = math.Abs(v); {
	case v < 10:
		return 2
	case v < 1000:
		return 1
	}
	return 0
}

// short rounds a duration to three digits.
func short(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 && unit < time.Second {
		unit *= 10
	}
	return d.Round(unit)
}

// Parse reads a value of the metric: a number, "95%", "1.5s" or "never".
func (m Metric) Parse(text string) (float64, error) {
	text = strings.TrimSpace(text)
	if m.Unit == Duration {
		if strings.EqualFold(text, "never") {
			return math.Inf(1), nil
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, &ConfigError{m.Name, text, `must be a duration with a unit, such as 1.5s, or "never"`}
		}
		return float64(d), nil
	}
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || strings.ContainsAny(number, "_xX") || percent && m.Unit != Ratio {
		example := "2.5"
		if m.Unit == Ratio {
			example = "95% or 0.95"
		}
		return 0, &ConfigError{m.Name, text, fmt.Sprintf("must be a number, such as %s", example)}
	}
	if percent {
		v /= 100
	}
	return v, nil
}
