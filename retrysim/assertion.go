package retrysim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-89b3229b/retry/internal/quote"
)

// Assertion is a sentence about a Report that is true or not, such as "one budget: recovery <= 1s".
type Assertion struct {
	// Contender is whose metric is meant. Empty: that of each.
	Contender string
	Metric    Metric
	// Op is one of < <= > >= == !=.
	Op string
	// Value is what it is compared with. +Inf is never, which is longer than any duration.
	Value float64

	text string
}

// ops are the comparisons. The longer come first, so that none is taken for its beginning.
var ops = []string{"<=", ">=", "==", "!=", "<", ">"}

// ParseAssertion reads an assertion: [CONTENDER:] METRIC OP VALUE, such as "success >= 99%" or "full jitter: recovery == never".
// Metrics are those of Metrics. The error is a *ConfigError.
func ParseAssertion(text string) (Assertion, error) {
	a := Assertion{text: strings.TrimSpace(text)}
	rest := a.text
	if i := strings.LastIndex(rest, ":"); i >= 0 {
		a.Contender, rest = strings.TrimSpace(rest[:i]), rest[i+1:]
		if a.Contender == "" {
			return a, &ConfigError{"assertion", text, "has no name before the colon"}
		}
	}
	at := strings.IndexAny(rest, "<>=!")
	if at < 0 {
		return a, &ConfigError{"assertion", text, "must be of the form [POLICY:] METRIC OP VALUE, OP being one of < <= > >= == !="}
	}
	name, tail := strings.TrimSpace(rest[:at]), rest[at:]
	i := slices.IndexFunc(ops, func(op string) bool { return strings.HasPrefix(tail, op) })
	if i < 0 {
		return a, &ConfigError{"assertion", text, "has no comparison that is known; they are < <= > >= == !="}
	}
	a.Op = ops[i]
	var ok bool
	if a.Metric, ok = MetricOf(name); !ok {
		return a, &ConfigError{"assertion", text, fmt.Sprintf("unknown metric %s; known are %s", quote.Quote(name), strings.Join(metricNames(), ", "))}
	}
	var err error
	if a.Value, err = a.Metric.Parse(tail[len(a.Op):]); err != nil {
		return a, within("assertion", err)
	}
	return a, nil
}

func metricNames() (names []string) {
	for _, m := range metrics {
		names = append(names, m.Name)
	}
	return append(names, stable.Name)
}

// String returns the text that was parsed.
func (a Assertion) String() string { return a.text }

// Failed is an assertion that does not hold for a contender, as an error.
type Failed struct {
	Assertion Assertion
	Contender string
	// Measured is what the metric was.
	Measured float64
}

// Error returns the text, such as `full jitter: recovery is never, not <= 1s`.
func (f *Failed) Error() string {
	m := f.Assertion.Metric
	return fmt.Sprintf("%s: %s is %s, not %s %s", f.Contender, m.Name, m.exact(f.Measured), f.Assertion.Op, m.exact(f.Assertion.Value))
}

// Check returns a *Failed for each contender of whom the assertion is not true, and a *ConfigError if it names one that is not
// there. Nil: it holds.
func (a Assertion) Check(r *Report) (failed []error) {
	if a.Metric.kind == metricStable {
		return []error{&ConfigError{"assertion", a.text, "stable is known of a stability map only"}}
	}
	names := make([]string, len(r.Results))
	for i, one := range r.Results {
		names[i] = one.Name
	}
	return a.check(names, func(i int) float64 { return r.Results[i].Value(a.Metric) })
}

// CheckMap is Check for a Map, of which only stable is known.
func (a Assertion) CheckMap(m *Map) (failed []error) {
	if a.Metric.kind != metricStable {
		return []error{&ConfigError{"assertion", a.text, "of a stability map, only stable is known"}}
	}
	return a.check(m.Names, m.Stable)
}

func (a Assertion) check(names []string, value func(int) float64) (failed []error) {
	found := a.Contender == ""
	for i, name := range names {
		if a.Contender != "" && name != a.Contender {
			continue
		}
		found = true
		if v := value(i); !a.holds(v) {
			failed = append(failed, &Failed{a, name, v})
		}
	}
	if !found {
		return []error{&ConfigError{"assertion", a.text, fmt.Sprintf("there is no policy %s; there are %s", quote.Quote(a.Contender), quote.Cut(fmt.Sprintf("%q", names)))}}
	}
	return failed
}

func (a Assertion) holds(v float64) bool {
	switch a.Op {
	case "<":
		return v < a.Value
	case "<=":
		return v <= a.Value
	case ">":
		return v > a.Value
	case ">=":
		return v >= a.Value
	case "==":
		return v == a.Value
	}
	return v != a.Value
}

// Check checks all assertions, and returns what does not hold, an error each, joined. Nil: all hold. It is for tests:
//
//	require.NoError(t, report.Check("success >= 99%", "one budget: recovery <= 1s"))
func (r *Report) Check(assertions ...string) error {
	var problems []error
	for _, text := range assertions {
		a, err := ParseAssertion(text)
		if err != nil {
			return err
		}
		problems = append(problems, a.Check(r)...)
	}
	return errors.Join(problems...)
}
