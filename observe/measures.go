package observe

import (
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/seed-89b3229b/retry"
)

// NameLimit is how many names of policies an Observer uses on metrics. Those that it meets later are _OTHER there; spans
// have the name itself in any case.
const NameLimit = 256

const (
	endings  = int(retry.EndPanicked) + 1
	outcomes = int(outcomeGiveUp) + 1
	sources  = int(retry.SourceThrottle) + 1
)

// measures holds the options for measuring the operations of one name: a measurement with options made beforehand costs no
// allocation.
type measures struct {
	classifier           *classifier
	attributes           []attribute.KeyValue
	plain                []metric.AddOption
	operations, attempts []measure // by outcome and error type
	delays               [sources]measure
}

// measure is the options of one set of attributes, made when they are first needed. They are one option, because several
// are merged at every measurement.
type measure struct {
	made atomic.Pointer[[]metric.RecordOption]
}

func newMeasures(o *Observer, name string) *measures {
	if o.instruments == nil {
		return nil
	}
	attributes := named(o.config.attributes, name)
	return &measures{
		classifier: o.classifier,
		attributes: attributes,
		plain:      []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(attributes...))},
		operations: make([]measure, endings*errorTypes),
		attempts:   make([]measure, outcomes*errorTypes),
	}
}

func (m *measures) operation(e retry.Ending, t errorType) []metric.RecordOption {
	return m.ended(m.operations, int(e), e.String(), t)
}

func (m *measures) attempt(o outcome, t errorType) []metric.RecordOption {
	return m.ended(m.attempts, int(o), o.String(), t)
}

func (m *measures) delay(s retry.Source) []metric.RecordOption {
	if int(s) >= len(m.delays) {
		return m.make(KeyDelaySource.String(s.String()))
	}
	slot := &m.delays[s].made
	if slot.Load() == nil {
		opts := m.make(KeyDelaySource.String(s.String()))
		slot.Store(&opts)
	}
	return *slot.Load()
}

func (m *measures) ended(all []measure, outcome int, word string, t errorType) []metric.RecordOption {
	i := outcome*errorTypes + int(t)
	if i < len(all) {
		if opts := all[i].made.Load(); opts != nil {
			return *opts
		}
	}
	attributes := []attribute.KeyValue{KeyOutcome.String(word)}
	if t != noError {
		attributes = append(attributes, KeyErrorType.String(m.classifier.text(t)))
	}
	opts := m.make(attributes...)
	if i < len(all) {
		all[i].made.Store(&opts)
	}
	return opts
}

func (m *measures) make(a ...attribute.KeyValue) []metric.RecordOption {
	return []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(append(m.attributes, a...)...))}
}
