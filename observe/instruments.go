package observe

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/internal/errtree"
)

// instruments are what an Observer measures with.
type instruments struct {
	operationDuration, attemptDuration, delayDuration metric.Float64Histogram
	operationAttempts                                 metric.Int64Histogram
	rejections                                        metric.Int64Counter
	active                                            metric.Int64UpDownCounter // nil: not wanted
}

// The advised boundaries: those of the conventions for HTTP durations, and some for the longer times that waits make.
var (
	attemptBuckets   = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60}
	operationBuckets = append(attemptBuckets[:len(attemptBuckets):len(attemptBuckets)], 120, 300)
	countBuckets     = []float64{0, 1, 2, 3, 4, 5, 7, 10} // 0: ended before the first attempt; 1: no retry
)

func newInstruments(m metric.Meter, active bool) *instruments {
	seconds := func(name, description string, buckets []float64) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description), metric.WithExplicitBucketBoundaries(buckets...))
		return usable[metric.Float64Histogram](h, err, metricnoop.Float64Histogram{})
	}
	attempts, err1 := m.Int64Histogram(MetricOperationAttempts, metric.WithUnit("{attempt}"),
		metric.WithDescription("Number of attempts of operations: one, and one more for each failure that was retried."), metric.WithExplicitBucketBoundaries(countBuckets...))
	rejections, err2 := m.Int64Counter(MetricThrottleRejections, metric.WithUnit("{operation}"),
		metric.WithDescription("Number of operations ended by a throttle: attempts refused, or waits asked for that are too long."))
	in := &instruments{
		operationDuration: seconds(MetricOperationDuration, "Duration of operations, with all their attempts and waits.", operationBuckets),
		attemptDuration:   seconds(MetricAttemptDuration, "Duration of single attempts.", attemptBuckets),
		delayDuration:     seconds(MetricDelayDuration, "Planned duration of waits before attempts.", operationBuckets),
		operationAttempts: usable[metric.Int64Histogram](attempts, err1, metricnoop.Int64Histogram{}),
		rejections:        usable[metric.Int64Counter](rejections, err2, metricnoop.Int64Counter{}),
	}
	if active {
		up, err := m.Int64UpDownCounter(MetricOperationActive, metric.WithUnit("{operation}"), metric.WithDescription("Number of operations under way."))
		in.active = usable[metric.Int64UpDownCounter](up, err, metricnoop.Int64UpDownCounter{})
	}
	return in
}

// usable is the instrument, or one that does nothing; OpenTelemetry's error handler then knows why.
func usable[I any](instrument I, err error, noop I) I {
	if err != nil {
		otel.Handle(err)
	}
	if err != nil || errtree.IsNil(instrument) {
		return noop
	}
	return instrument
}

func (in *instruments) begin(ctx context.Context, m *measures) {
	if in.active != nil {
		in.active.Add(ctx, 1, m.plain...)
	}
}

func (in *instruments) end(ctx context.Context, m *measures, s *retry.Summary, attempts int, t errorType) {
	if in.active != nil {
		in.active.Add(ctx, -1, m.plain...)
	}
	opts := m.operation(s.Ending, t)
	in.operationDuration.Record(ctx, s.Elapsed.Seconds(), opts...)
	in.operationAttempts.Record(ctx, int64(attempts), opts...)
	if s.Ending == retry.EndThrottled {
		in.rejections.Add(ctx, 1, m.plain...)
	}
}
