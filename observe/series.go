package observe

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// prepared is how many numbers of attempts, and how many limits of attempts, have the options of their spans made
// beforehand.
const prepared = 16

// series is what an Observer keeps for the operations of one name, so that they need not make it each time.
type series struct {
	operationName, attemptName string
	attributes                 []attribute.KeyValue // of every span
	operations, attempts       starts
	measures                   *measures // nil: no metrics
}

// starts holds the options of spans, by number or limit of attempts.
type starts struct {
	key  attribute.Key
	more []trace.SpanStartOption
	made cache[int, []trace.SpanStartOption]
}

func newSeries(c *config, name string, m *measures) *series {
	name = clean(name)
	s := &series{
		operationName: name, attemptName: name + " attempt", attributes: named(c.attributes, name), measures: m,
		operations: starts{key: KeyMaxAttempts, more: c.operationSpanStart},
		attempts:   starts{key: KeyAttempt, more: c.attemptSpanStart},
	}
	if name == "" {
		s.operationName, s.attemptName = "retry", "retry attempt"
	}
	s.operations.made.limit, s.attempts.made.limit = prepared, prepared
	return s
}

// named returns the attributes that all telemetry of a name has, without room for more.
func named(attributes []attribute.KeyValue, name string) []attribute.KeyValue {
	if name != "" {
		attributes = append(slices.Clone(attributes), KeyName.String(clean(name)))
	}
	return slices.Clip(attributes)
}

// of returns the options for a span with the given number; 0 is none.
func (t *starts) of(s *series, number int) []trace.SpanStartOption {
	if opts, ok := t.made.get(number); ok {
		return opts
	}
	attributes := s.attributes
	if number != 0 {
		attributes = append(attributes, t.key.Int(number))
	}
	opts := append([]trace.SpanStartOption{trace.WithAttributes(attributes...)}, t.more...)
	opts, _ = t.made.add(number, opts)
	return opts
}
