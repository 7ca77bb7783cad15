package observe_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed-89b3229b/retry/observe"
)

// telemetry is an SDK that keeps everything, with an Observer that writes to it.
type telemetry struct {
	spans    *tracetest.SpanRecorder
	reader   *sdkmetric.ManualReader
	tracers  *sdktrace.TracerProvider
	observer *observe.Observer
}

func record(opts ...observe.Option) *telemetry {
	r := &telemetry{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	r.tracers = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans))
	r.observer = observe.New(append([]observe.Option{
		observe.WithTracerProvider(r.tracers),
		observe.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))),
	}, opts...)...)
	return r
}

// tree writes the spans as an indented list, with times counted from the first start.
func (r *telemetry) tree(t *testing.T) string {
	spans := r.spans.Ended()
	require.Len(t, r.spans.Started(), len(spans), "every span has ended")
	slices.SortStableFunc(spans, func(a, b sdktrace.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
	var b strings.Builder
	var write func(parent trace.SpanID, indent string)
	write = func(parent trace.SpanID, indent string) {
		for _, s := range spans {
			if s.Parent().SpanID() != parent {
				continue
			}
			require.Empty(t, s.Events())
			require.Empty(t, s.Links())
			fmt.Fprintf(&b, "%s%s [%s] %s..%s", indent, s.Name(), s.SpanKind(), s.StartTime().Sub(spans[0].StartTime()), s.EndTime().Sub(spans[0].StartTime()))
			switch status := s.Status(); status.Code {
			case codes.Error:
				fmt.Fprintf(&b, " error %q", status.Description)
			case codes.Ok:
				b.WriteString(" ok")
			}
			b.WriteByte('\n')
			for _, line := range attributeLines(s.Attributes()) {
				fmt.Fprintf(&b, "%s    %s\n", indent, line)
			}
			write(s.SpanContext().SpanID(), indent+"  ")
		}
	}
	write(trace.SpanID{}, "")
	return b.String()
}

func attributeLines(attributes []attribute.KeyValue) (lines []string) {
	for _, a := range attributes {
		text := a.Value.String()
		if a.Value.Type() == attribute.STRING {
			text = fmt.Sprintf("%q", text)
		}
		lines = append(lines, string(a.Key)+"="+text)
	}
	slices.Sort(lines)
	return lines
}

// collect reads the metrics of the one scope.
func (r *telemetry) collect(t *testing.T) []metricdata.Metrics {
	var all metricdata.ResourceMetrics
	require.NoError(t, r.reader.Collect(context.Background(), &all))
	if len(all.ScopeMetrics) == 0 {
		return nil
	}
	require.Len(t, all.ScopeMetrics, 1)
	metrics := all.ScopeMetrics[0].Metrics
	slices.SortFunc(metrics, func(a, b metricdata.Metrics) int { return cmp.Compare(a.Name, b.Name) })
	return metrics
}

// metrics writes the metrics as a list of series.
func (r *telemetry) metrics(t *testing.T) string {
	var b strings.Builder
	for _, m := range r.collect(t) {
		lines := []string{}
		switch data := m.Data.(type) {
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				lines = append(lines, fmt.Sprintf("%s count=%d sum=%v", set(p.Attributes), p.Count, p.Sum))
			}
		case metricdata.Histogram[int64]:
			for _, p := range data.DataPoints {
				lines = append(lines, fmt.Sprintf("%s count=%d sum=%v", set(p.Attributes), p.Count, p.Sum))
			}
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				lines = append(lines, fmt.Sprintf("%s value=%d", set(p.Attributes), p.Value))
			}
		default:
			t.Fatalf("%s: %T", m.Name, data)
		}
		slices.Sort(lines)
		fmt.Fprintf(&b, "%s (%s)\n", m.Name, m.Unit)
		for _, line := range lines {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	return b.String()
}

func set(s attribute.Set) string {
	return "{" + strings.Join(attributeLines(s.ToSlice()), ", ") + "}"
}

// attributesOf returns the attributes of the spans with the given name, in the order of their starts.
func (r *telemetry) attributesOf(name string) (all []attribute.Set) {
	spans := r.spans.Ended()
	slices.SortStableFunc(spans, func(a, b sdktrace.ReadOnlySpan) int {
		return cmp.Or(a.StartTime().Compare(b.StartTime()))
	})
	for _, s := range spans {
		if s.Name() == name {
			all = append(all, attribute.NewSet(s.Attributes()...))
		}
	}
	return all
}

const (
	ms  = time.Millisecond
	sec = time.Second
)

// points returns the series of a histogram of seconds.
func (r *telemetry) points(t *testing.T, name string) []metricdata.HistogramDataPoint[float64] {
	for _, m := range r.collect(t) {
		if m.Name == name {
			return m.Data.(metricdata.Histogram[float64]).DataPoints
		}
	}
	return nil
}
