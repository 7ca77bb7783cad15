package observe

import (
	"context"
	"errors"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// appendFacts adds what an attempt was given and told.
func (v *observation) appendFacts(a []attribute.KeyValue, e *retry.Event) []attribute.KeyValue {
	if v.label != "" {
		a = append(a, KeyThrottleLabel.String(clean(v.label)))
	}
	if e.Signal.HasDelay {
		a = append(a, KeyHintDelay.Float64(e.Signal.Delay.Seconds()))
		if e.Signal.Source != "" {
			a = append(a, KeyHintSource.String(clean(e.Signal.Source)))
		}
	}
	return a
}

// operationAttributes returns what is known at the end of an operation.
func (v *observation) operationAttributes(s *retry.Summary, failed errorType) []attribute.KeyValue {
	room := [8]attribute.KeyValue{KeyAttempts.Int(s.Attempts), KeyOutcome.String(s.Ending.String())}
	a := room[:2]
	if s.TotalDelay > 0 {
		a = append(a, KeyDelayTotal.Float64(s.TotalDelay.Seconds()))
	}
	if v.held > 0 {
		a = append(a, KeyThrottleDelay.Float64(v.held.Seconds()))
	}
	a = append(a, v.facts...)
	if s.Ending == retry.EndSucceeded {
		return a
	}
	if reason := reasonText(s.Reason); reason != "" {
		a = append(a, KeyReason.String(reason))
	}
	if gaveUp, ok := s.Err.(*retry.Error); ok && gaveUp != nil && gaveUp.Delay > 0 {
		a = append(a, KeyDelayDeclined.Float64(gaveUp.Delay.Seconds()))
	}
	if refused, ok := errors.AsType[*throttle.Error](s.Reason); ok && refused != nil && refused.Source != "" {
		a = append(a, KeyThrottleSource.String(clean(refused.Source)))
	}
	return a
}

// reasons are the errors that stand for why a call ended.
var reasons = []error{
	retry.ErrExhausted, retry.ErrMaxElapsed, retry.ErrDeadline, retry.ErrRefused, retry.ErrHintTooLong, retry.ErrBudget,
	retry.ErrNoDelay, retry.ErrNotRetryable, retry.ErrShutdown, context.Canceled, context.DeadlineExceeded,
}

// reasonText is a reason without its details, so that it is one of few; "" if it is the error of a hook. What is below the
// reason itself is not looked at: it may be another call's.
func reasonText(reason error) string {
	if detailed, ok := reason.(interface{ Unwrap() []error }); ok {
		if parts := detailed.Unwrap(); len(parts) > 0 {
			reason = parts[0]
		}
	}
	for _, r := range reasons {
		if reason == r {
			return strings.TrimPrefix(r.Error(), "retry: ")
		}
	}
	return ""
}
