package observe

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/internal/saturate"
)

// outcome is what became of an attempt.
type outcome uint8

const (
	outcomeSuccess outcome = iota
	outcomeRetry
	outcomeGiveUp
)

func (o outcome) String() string {
	return [...]string{OutcomeSuccess, OutcomeRetry, OutcomeGiveUp}[o]
}

// observation is one call under way.
type observation struct {
	*Observer
	series    *series
	operation trace.Span // nil: no traces
	recording bool       // the operation's span is, so that attempts have spans too
	failed    errorType  // of the last attempt that ended
	paced     bool       // that one did not fail, and another was to follow: a look of Poll, a run of Supervise
	again     int        // how many were so
	held      time.Duration
	facts     []attribute.KeyValue // of attempts that have no span of their own

	// Of the running attempt.
	running bool
	number  int
	at      time.Time // by the call's clock
	began   time.Time // by the tracer's, where a span may be made up afterwards
	label   string
	ctx     context.Context
	attempt trace.Span // nil: none
}

var observations = sync.Pool{New: func() any { return new(observation) }}

// Attempt implements retry.Observation.
func (v *observation) Attempt(ctx context.Context, s retry.AttemptStart) context.Context {
	v.running, v.number, v.at, v.label, v.ctx, v.paced = true, s.Number, s.At, s.Label, ctx, false
	if v.recording {
		switch {
		case v.config.attemptSpans == Always, v.config.attemptSpans == OnRetry && s.Number > 1:
			ctx, v.attempt = v.start(ctx, v.series.attemptName, v.series.attempts.of(v.series, s.Number)...)
		case v.config.attemptSpans == OnRetry:
			v.began = time.Now()
		}
		ctx = withAttempt(ctx, s.Number)
	}
	v.ctx = ctx
	return ctx
}

// AttemptDone implements retry.Observation.
func (v *observation) AttemptDone(_ context.Context, e retry.Event) {
	o := outcomeGiveUp
	v.failed = noError
	if v.paced = e.Err == nil && e.Retrying; v.paced {
		v.again++
	}
	switch {
	case e.Err == nil:
		o = outcomeSuccess
	case e.Retrying:
		o = outcomeRetry
		fallthrough
	default:
		v.failed = v.classifier.of(e.Err)
	}
	v.attemptEnded(o, v.failed, &e)
}

// attemptEnded ends the attempt's span and measures it. An attempt that panicked has an event without an error. The context
// is the one that Attempt returned: what AttemptDone is given may have the span of another observer.
func (v *observation) attemptEnded(o outcome, failed errorType, e *retry.Event) {
	defer v.forget()
	if v.attempt == nil && e.Retrying && !v.began.IsZero() {
		opts := append([]trace.SpanStartOption{trace.WithTimestamp(v.began)}, v.series.attempts.of(v.series, e.Number)...)
		v.ctx, v.attempt = v.start(v.ctx, v.series.attemptName, opts...)
	}
	if v.instruments != nil {
		v.instruments.attemptDuration.Record(v.ctx, e.Duration.Seconds(), v.series.measures.attempt(o, failed)...)
	}
	v.facts = v.facts[:0]
	switch {
	case !v.recording:
	case v.attempt == nil:
		v.facts = v.appendFacts(v.facts, e)
	case v.attempt.IsRecording():
		var room [8]attribute.KeyValue
		a := append(room[:0], KeyOutcome.String(o.String()))
		if e.Retrying {
			a = append(a, KeyDelay.Float64(e.Delay.Seconds()), KeyDelaySource.String(e.Source.String()))
		}
		a = v.appendFacts(a, e)
		v.finish(v.attempt, a, failed, e.Err)
	}
}

// forget ends the attempt's span, even if something panicked; and once, even if that panics.
func (v *observation) forget() {
	span := v.attempt
	v.running, v.attempt, v.began, v.ctx = false, nil, time.Time{}, nil
	if span != nil {
		span.End()
	}
}

// Pause implements retry.Observation. The policy's wait after what did not fail is the pace of the work, and not measured.
func (v *observation) Pause(ctx context.Context, p retry.Pause) {
	if p.Source == retry.SourceThrottle {
		v.held = saturate.Add(v.held, p.Delay)
	}
	if v.instruments != nil && !(v.paced && p.Source == retry.SourcePolicy) {
		v.instruments.delayDuration.Record(ctx, p.Delay.Seconds(), v.series.measures.delay(p.Source)...)
	}
}

// Done implements retry.Observation.
func (v *observation) Done(ctx context.Context, s retry.Summary) {
	defer v.release()
	failed := noError
	switch {
	case s.Ending == retry.EndPanicked:
		failed = typePanic
	case s.Err == nil: // if it did not succeed, a fallback has helped
	case v.failed != noError:
		failed = v.failed
	default:
		failed = unattempted(s.Reason)
	}
	if v.instruments != nil {
		attempts := max(s.Attempts-v.again, min(s.Attempts, 1))
		v.instruments.end(ctx, v.series.measures, &s, attempts, failed)
	}
	if v.running { // it did not return
		v.attemptEnded(outcomeGiveUp, max(failed, typeOther), &retry.Event{Number: v.number, Duration: max(s.At.Sub(v.at), 0)})
	}
	if v.recording {
		v.finish(v.operation, v.operationAttributes(&s, failed), failed, s.Err)
	}
}

// release ends the operation's span, and gives the observation back.
func (v *observation) release() {
	if v.operation != nil {
		v.operation.End()
	}
	*v = observation{facts: v.facts[:0]}
	observations.Put(v)
}

// finish sets what is known at the end of a span, in one go.
func (v *observation) finish(span trace.Span, a []attribute.KeyValue, failed errorType, err error) {
	if failed != noError {
		a = append(a, KeyErrorType.String(v.classifier.text(failed)))
		span.SetStatus(codes.Error, v.config.describe(err))
	}
	span.SetAttributes(a...)
}
