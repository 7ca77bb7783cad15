package observe_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
)

var (
	attemptBounds   = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60}
	operationBounds = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 120, 300}
	countBounds     = []float64{0, 1, 2, 3, 4, 5, 7, 10}
)

// point is a series of a histogram in which all values are the same.
func point[N int64 | float64](bounds []float64, value N, count uint64, attributes ...attribute.KeyValue) metricdata.HistogramDataPoint[N] {
	buckets := make([]uint64, len(bounds)+1)
	i := 0
	for i < len(bounds) && float64(value) > bounds[i] {
		i++
	}
	buckets[i] = count
	return metricdata.HistogramDataPoint[N]{
		Attributes: attribute.NewSet(append(attributes, observe.KeyName.String("orders"))...), Count: count, Bounds: bounds, BucketCounts: buckets,
		Min: metricdata.NewExtrema(value), Max: metricdata.NewExtrema(value), Sum: value * N(count),
	}
}

func histogram[N int64 | float64](name, unit, description string, points ...metricdata.HistogramDataPoint[N]) metricdata.Metrics {
	return metricdata.Metrics{Name: name, Unit: unit, Description: description, Data: metricdata.Histogram[N]{
		Temporality: metricdata.CumulativeTemporality, DataPoints: points,
	}}
}

func counter(name, description string, monotonic bool, value int64) metricdata.Metrics {
	return metricdata.Metrics{Name: name, Unit: "{operation}", Description: description, Data: metricdata.Sum[int64]{
		Temporality: metricdata.CumulativeTemporality, IsMonotonic: monotonic,
		DataPoints: []metricdata.DataPoint[int64]{{Attributes: attribute.NewSet(observe.KeyName.String("orders")), Value: value}},
	}}
}

// Every metric with its unit, its description and its boundaries: a call that recovers, and one that is refused.
func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record(observe.WithActiveOperations())
		_, err := retry.Do(t.Context(), lasting(errRefused, errRefused), policy, retry.WithObserver(r.observer), retry.WithMaxDelay(100*ms))
		require.NoError(t, err)
		_, err = retry.Do(t.Context(), lasting(), policy, retry.WithObserver(r.observer), retry.WithThrottle(refusing(errInvalid)))
		require.ErrorIs(t, err, retry.ErrRefused)

		outcome, failure := observe.KeyOutcome, observe.KeyErrorType
		want := []metricdata.Metrics{
			histogram("retry.attempt.duration", "s", "Duration of single attempts.",
				point(attemptBounds, 0.02, 2, outcome.String("retry"), failure.String("*observe_test.dialError")),
				point(attemptBounds, 0.02, 1, outcome.String("success"))),
			histogram("retry.delay.duration", "s", "Planned duration of waits before attempts.",
				point(operationBounds, 0.1, 2, observe.KeyDelaySource.String("policy"))),
			counter("retry.operation.active", "Number of operations under way.", false, 0),
			histogram("retry.operation.attempts", "{attempt}", "Number of attempts of operations: one, and one more for each failure that was retried.",
				point[int64](countBounds, 3, 1, outcome.String("success")),
				point[int64](countBounds, 0, 1, outcome.String("throttled"), failure.String("throttled"))),
			histogram("retry.operation.duration", "s", "Duration of operations, with all their attempts and waits.",
				point(operationBounds, 0.26, 1, outcome.String("success")),
				point(operationBounds, 0.0, 1, outcome.String("throttled"), failure.String("throttled"))),
			counter("retry.throttle.rejections", "Number of operations ended by a throttle: attempts refused, or waits asked for that are too long.", true, 1),
		}
		got := r.collect(t)
		require.Len(t, got, len(want))
		for i := range want {
			metricdatatest.AssertEqual(t, want[i], got[i], metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
		}
	})
}

// The number of operations under way is right while they are.
func TestActiveOperations(t *testing.T) {
	r := record(observe.WithActiveOperations())
	active := func() string {
		for _, m := range r.collect(t) {
			if m.Name == observe.MetricOperationActive {
				p := m.Data.(metricdata.Sum[int64]).DataPoints[0]
				return fmt.Sprint(set(p.Attributes), " ", p.Value)
			}
		}
		return "none"
	}
	assert.Equal(t, "none", active())
	err := retry.Run(t.Context(), func(ctx context.Context) error {
		assert.Equal(t, `{retry.name="orders"} 1`, active())
		return retry.Run(ctx, func(context.Context) error {
			assert.Equal(t, `{retry.name="orders"} 2`, active())
			return nil
		}, policy, retry.WithObserver(r.observer))
	}, policy, retry.WithObserver(r.observer))
	require.NoError(t, err)
	assert.Equal(t, `{retry.name="orders"} 0`, active())
}

// Exemplars lead from an attempt's measurement to the attempt's span, and from an operation's to the operation's.
func TestExemplars(t *testing.T) {
	for name, attempt := range map[string]func(context.Context) error{
		"success": func(context.Context) error { return nil },
		"failure": func(context.Context) error { return retry.Permanent(errInvalid) },
		"panic":   func(context.Context) error { panic("no") },
	} {
		t.Run(name, func(t *testing.T) {
			r := record()
			func() {
				defer func() { _ = recover() }()
				_ = retry.Run(t.Context(), attempt, policy, retry.WithObserver(r.observer))
			}()
			ids := map[string]string{}
			for _, s := range r.spans.Ended() {
				ids[s.Name()] = s.SpanContext().SpanID().String()
			}
			for metric, span := range map[string]string{observe.MetricAttemptDuration: "orders attempt", observe.MetricOperationDuration: "orders"} {
				points := r.points(t, metric)
				require.Len(t, points, 1)
				require.Len(t, points[0].Exemplars, 1)
				assert.Equal(t, ids[span], fmt.Sprintf("%x", points[0].Exemplars[0].SpanID), metric)
			}
		})
	}
}

// A program that makes up a name for each call has its spans named so, and still few time series.
func TestNamesAreBounded(t *testing.T) {
	r := record(observe.WithAttemptSpans(observe.Never))
	for n := range 2 * observe.NameLimit {
		_ = retry.Run(t.Context(), func(context.Context) error { return nil }, retry.WithName("orders of "+strconv.Itoa(n)), retry.WithObserver(r.observer))
	}
	names := map[string]uint64{}
	for _, p := range r.points(t, observe.MetricOperationDuration) {
		name, _ := p.Attributes.Value(observe.KeyName)
		names[name.AsString()] += p.Count
	}
	assert.Len(t, names, observe.NameLimit+1)
	assert.Equal(t, uint64(observe.NameLimit), names["_OTHER"])
	spans := r.spans.Ended()
	require.Len(t, spans, 2*observe.NameLimit)
	last := spans[len(spans)-1]
	assert.Equal(t, "orders of 511", last.Name())
	assert.Contains(t, attributeLines(last.Attributes()), `retry.name="orders of 511"`)
}

// More attempts, and more limits of attempts, than have their options prepared.
func TestManyAttempts(t *testing.T) {
	const most = 40
	r := record()
	for limit := 1; limit <= most; limit++ {
		_ = retry.Run(t.Context(), func(context.Context) error { return errRefused }, retry.WithObserver(r.observer),
			retry.WithMaxAttempts(limit), retry.WithMaxDelay(1))
	}
	for i, a := range r.attributesOf("retry") {
		limit, _ := a.Value(observe.KeyMaxAttempts)
		made, _ := a.Value(observe.KeyAttempts)
		assert.Equal(t, []int64{int64(i + 1), int64(i + 1)}, []int64{limit.AsInt64(), made.AsInt64()})
	}
	seen := map[int64]int{}
	for _, a := range r.attributesOf("retry attempt") {
		number, _ := a.Value(observe.KeyAttempt)
		seen[number.AsInt64()]++
	}
	for n := 1; n <= most; n++ {
		assert.Equal(t, most+1-n, seen[int64(n)], "attempt %d", n)
	}
}

// brokenMeter makes no instruments.
type brokenMeter struct{ metricnoop.Meter }

func (brokenMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return nil, errInvalid
}
func (brokenMeter) Int64Histogram(string, ...metric.Int64HistogramOption) (metric.Int64Histogram, error) {
	return nil, errInvalid
}
func (brokenMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return nil, errInvalid
}
func (brokenMeter) Int64UpDownCounter(string, ...metric.Int64UpDownCounterOption) (metric.Int64UpDownCounter, error) {
	return nil, errInvalid
}

type brokenMeters struct{ metric.MeterProvider }

func (brokenMeters) Meter(string, ...metric.MeterOption) metric.Meter { return brokenMeter{} }

// Instruments that cannot be made are told to OpenTelemetry's handler and not used.
func TestBrokenInstruments(t *testing.T) {
	var told []error
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { told = append(told, err) }))
	r := record(observe.WithMeterProvider(brokenMeters{metricnoop.NewMeterProvider()}), observe.WithActiveOperations())
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
	assert.Len(t, told, 6)
	for _, err := range told {
		assert.ErrorIs(t, err, errInvalid)
	}
	_, err := retry.Do(t.Context(), lastingNot(errRefused), policy, retry.WithObserver(r.observer), retry.WithMaxDelay(1), retry.WithThrottle(refusing(nil, nil)))
	require.NoError(t, err)
	assert.Len(t, r.spans.Ended(), 3)
}

// lastingNot is lasting without the time it takes.
func lastingNot(errs ...error) func(context.Context) (string, error) {
	n := 0
	return func(context.Context) (string, error) {
		if n++; n <= len(errs) {
			return "", errs[n-1]
		}
		return "", nil
	}
}

// Another driver than Do may tell an observation anything.
func TestStrangeValues(t *testing.T) {
	r := record()
	for _, c := range []retry.Call{{}, {Name: "orders", MaxAttempts: -1}, {MaxAttempts: math.MaxInt}} {
		ctx, o := r.observer.Start(t.Context(), c)
		o.Pause(ctx, retry.Pause{Delay: math.MinInt64, Source: 200})
		o.Pause(ctx, retry.Pause{Delay: math.MaxInt64, Source: retry.SourceThrottle})
		o.Pause(ctx, retry.Pause{Delay: math.MaxInt64, Source: retry.SourceThrottle})
		attempt := o.Attempt(ctx, retry.AttemptStart{Number: -7, At: time.Now().Add(time.Hour)})
		o.AttemptDone(attempt, retry.Event{Err: errRefused, Retrying: true, Delay: math.MinInt64, Source: 200, Duration: -1})
		o.Attempt(ctx, retry.AttemptStart{Number: math.MaxInt})
		o.Done(ctx, retry.Summary{Ending: 200, Err: errors.New("strange"), Attempts: -1, TotalDelay: -1, Elapsed: math.MinInt64})
	}
	text := r.tree(t)
	assert.Contains(t, text, `retry.outcome="invalid"`)
	assert.Contains(t, text, `retry.throttle.delay=9.223372036854776e+09`)
	assert.Contains(t, text, `retry.delay.source="invalid"`)
	assert.Contains(t, r.metrics(t), `retry.outcome="invalid"`)
}
