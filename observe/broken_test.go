package observe_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/throttle"
)

// twice makes an observed call whose two attempts fail with err.
func (r *telemetry) twice(t *testing.T, err error) error {
	return retry.Run(t.Context(), func(context.Context) error { return err }, policy, retry.WithMaxAttempts(2), retry.WithMaxDelay(1), retry.WithObserver(r.observer))
}

type tracersOf struct {
	tracenoop.TracerProvider
	tracer trace.Tracer
}

func (p tracersOf) Tracer(string, ...trace.TracerOption) trace.Tracer { return p.tracer }

type pointerTracer struct {
	tracenoop.Tracer
	started int
}

func (t *pointerTracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	t.started++
	return t.Tracer.Start(ctx, name, opts...)
}

// nothingTracer is what a mock is that has not been told what to return.
type nothingTracer struct{ tracenoop.Tracer }

func (nothingTracer) Start(context.Context, string, ...trace.SpanStartOption) (context.Context, trace.Span) {
	return nil, nil
}

type metersOf struct {
	metricnoop.MeterProvider
	meter metric.Meter
}

func (p metersOf) Meter(string, ...metric.MeterOption) metric.Meter { return p.meter }

type pointerMeter struct {
	metricnoop.Meter
	made int
}

func (m *pointerMeter) Float64Histogram(name string, opts ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	m.made++
	return m.Meter.Float64Histogram(name, opts...)
}

// nothingMeter makes no instruments, and says nothing.
type nothingMeter struct{ metricnoop.Meter }

func (nothingMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return nil, nil
}
func (nothingMeter) Int64Histogram(string, ...metric.Int64HistogramOption) (metric.Int64Histogram, error) {
	return nil, nil
}
func (nothingMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return nil, nil
}
func (nothingMeter) Int64UpDownCounter(string, ...metric.Int64UpDownCounterOption) (metric.Int64UpDownCounter, error) {
	return nil, nil
}

// A provider that gives nothing costs its signal, and neither the call nor the other signal.
func TestProvidersThatGiveNothing(t *testing.T) {
	for name, tracer := range map[string]trace.Tracer{"nil": nil, "typed nil": (*pointerTracer)(nil), "no spans": nothingTracer{}} {
		t.Run(name+" tracer", func(t *testing.T) {
			r := record(observe.WithTracerProvider(tracersOf{tracer: tracer}))
			require.ErrorIs(t, r.twice(t, errRefused), retry.ErrExhausted)
			assert.Len(t, r.collect(t), 3)
		})
	}
	for name, meter := range map[string]metric.Meter{"nil": nil, "typed nil": (*pointerMeter)(nil), "no instruments": nothingMeter{}} {
		t.Run(name+" meter", func(t *testing.T) {
			r := record(observe.WithMeterProvider(metersOf{meter: meter}), observe.WithActiveOperations())
			require.ErrorIs(t, r.twice(t, errRefused), retry.ErrExhausted)
			assert.Len(t, r.spans.Ended(), 3)
		})
	}
}

// panicking is a span processor that panics at the start, or at the end, of a span.
type panicking struct {
	idle
	start, end     int
	started, ended *int
}

func (p panicking) OnStart(context.Context, sdktrace.ReadWriteSpan) {
	if *p.started++; *p.started == p.start {
		panic("boom")
	}
}

func (p panicking) OnEnd(sdktrace.ReadOnlySpan) {
	if *p.ended++; *p.ended == p.end {
		panic("boom")
	}
}

// A span processor that panics passes through, as from every tracer. No span stays open but the one that it broke, and
// nothing is counted twice.
func TestSpanProcessorsThatPanic(t *testing.T) {
	for _, c := range []struct {
		name             string
		start, end       int
		open             int
		attempts, counts uint64
	}{
		{"start of the operation", 1, 0, 1, 0, 0},
		{"start of the first attempt", 2, 0, 1, 1, 1},
		{"start of the second", 3, 0, 1, 2, 1},
		{"end of the first attempt", 0, 1, 0, 1, 1},
		{"end of the second", 0, 2, 0, 2, 1},
		{"end of the operation", 0, 3, 0, 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := record(observe.WithActiveOperations())
			r.tracers.RegisterSpanProcessor(panicking{start: c.start, end: c.end, started: new(int), ended: new(int)})
			assert.PanicsWithValue(t, "boom", func() { _ = r.twice(t, errRefused) })
			assert.Len(t, r.spans.Ended(), len(r.spans.Started())-c.open)
			count := func(metric string) (n uint64) {
				for _, p := range r.points(t, metric) {
					n += p.Count
				}
				return n
			}
			assert.Equal(t, c.attempts, count(observe.MetricAttemptDuration), "attempts")
			assert.Equal(t, c.counts, count(observe.MetricOperationDuration), "operations")
			if c.counts > 0 {
				assert.Contains(t, r.metrics(t), "retry.operation.active ({operation})\n    {retry.name=\"orders\"} value=0\n")
			}
		})
	}
}

// The processor breaks over the attempt that panicked: the operation is counted all the same, and no longer under way.
func TestSpanProcessorThatPanicsOverAPanic(t *testing.T) {
	r := record(observe.WithActiveOperations())
	r.tracers.RegisterSpanProcessor(panicking{end: 1, started: new(int), ended: new(int)})
	assert.Panics(t, func() {
		_ = retry.Run(t.Context(), func(context.Context) error { panic("first") }, policy, retry.WithObserver(r.observer))
	})
	text := r.everything(t)
	assert.Contains(t, text, "retry.operation.active ({operation})\n    {retry.name=\"orders\"} value=0\n")
	assert.Contains(t, text, `{error.type="panic", retry.name="orders", retry.outcome="panic"} count=1 sum=1`)
}

type noText struct{}

func (noText) Error() string { panic("boom") }

type noType struct{}

func (noType) Error() string     { return "no type" }
func (noType) ErrorType() string { panic("boom") }

// An error that cannot tell its text or its type, and a function of the user's that panics over it, are no reason to end
// the program: OpenTelemetry's handler is told, and the telemetry does without.
func TestFunctionsThatPanic(t *testing.T) {
	boom := func(error) string { panic("boom") }
	for _, c := range []struct {
		name        string
		err         error
		option      observe.Option
		kind, text  string
		complaints  int
		complaining string
	}{
		{"Error", retry.Permanent(noText{}), nil, "github.com/seed-89b3229b/retry/observe_test.noText", "", 2, "status description of a observe_test.noText: panic: boom"},
		{"ErrorType", retry.Permanent(noType{}), nil, "_OTHER", "no type", 1, "error.type of a observe_test.noType: panic: boom"},
		{"WithErrorType", retry.Permanent(errRefused), observe.WithErrorType(boom), "_OTHER", "connection refused", 1, "error.type of a *observe_test.dialError: panic: boom"},
		{"WithStatusDescription", retry.Permanent(errRefused), observe.WithStatusDescription(boom), "*observe_test.dialError", "", 2, "status description of a *observe_test.dialError: panic: boom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told []error
			otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { told = append(told, err) }))
			defer otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
			r := record(c.option)
			r.once(t, c.err)
			require.Len(t, r.spans.Ended(), 2)
			for _, s := range r.spans.Ended() {
				assert.Equal(t, sdktrace.Status{Code: 1, Description: c.text}, s.Status())
				assert.Contains(t, attributeLines(s.Attributes()), fmt.Sprintf("error.type=%q", c.kind))
			}
			assert.Contains(t, r.metrics(t), fmt.Sprintf(`{error.type=%q, retry.name="orders", retry.outcome="aborted"} count=1`, c.kind))
			require.Len(t, told, c.complaints)
			for _, err := range told {
				assert.EqualError(t, err, "observe: "+c.complaining)
			}
		})
	}
}

// badSource is a throttle whose every text is not UTF-8.
type badSource struct{ tokens }

func (*badSource) Label(throttle.Ticket) string { return "label\xff" }

// Texts that come from outside are UTF-8 when they leave, and of bounded length: one that is not costs an exporter the whole
// batch, and Prometheus the whole scrape.
func TestTexts(t *testing.T) {
	long := strings.Repeat("é", 1_000_000)
	grows := strings.Repeat("a\xff", 512)               // 1024 bytes that are 2048 when they are mended
	fits := "x" + strings.Repeat("\uFFFD", 341)         // of the full length: not cut
	shrinks := strings.Repeat("\xff", 2000)             // 3 bytes when mended
	edge := strings.Repeat("a", 1023) + "\xff" + "tail" // the replacement is beyond the limit
	for _, text := range []string{"bad\xff", long, "x" + long, grows, grows + "tail", fits, shrinks, edge} {
		r := record(observe.WithErrorType(func(err error) string {
			if errors.Is(err, errInvalid) {
				return text
			}
			return ""
		}))
		for _, err := range []error{errInvalid, kindError{text}, &dialError{text}, &carrier{throttle.Signal{Delay: 1, HasDelay: true, Source: text}}} {
			_ = retry.Run(t.Context(), func(context.Context) error { return err }, retry.WithName(text), retry.WithObserver(r.observer),
				retry.WithMaxAttempts(1), retry.WithThrottle(new(badSource)))
		}
		_ = retry.Run(t.Context(), func(context.Context) error { return nil }, retry.WithName(text), retry.WithObserver(r.observer),
			retry.WithThrottle(refusing(&throttle.Error{Key: throttle.Key(text), Remaining: 1, Source: text})))
		rewritten := observe.New(observe.WithTracerProvider(r.tracers), observe.WithStatusDescription(func(error) string { return text }))
		_ = retry.Run(t.Context(), func(context.Context) error { return errRefused }, retry.WithObserver(rewritten), retry.WithMaxAttempts(1))

		seen := 0
		check := func(where, text string) {
			seen++
			assert.True(t, utf8.ValidString(text), "%s: %.60q", where, text)
			assert.LessOrEqual(t, len(strings.TrimSuffix(strings.TrimSuffix(text, " attempt"), "…")), 1024, where)
			if strings.Contains(text, "é") {
				assert.NotContains(t, text, "\uFFFD", "cut within a letter")
			}
		}
		require.Len(t, r.spans.Ended(), 4*2+1+2)
		for _, s := range r.spans.Ended() {
			check("name", s.Name())
			check("status", s.Status().Description)
			for _, a := range s.Attributes() {
				check(string(a.Key), a.Value.String())
			}
		}
		for _, metric := range []string{observe.MetricOperationDuration, observe.MetricAttemptDuration} {
			for _, p := range r.points(t, metric) {
				for _, a := range p.Attributes.ToSlice() {
					check(metric+" "+string(a.Key), a.Value.String())
				}
			}
		}
		assert.Greater(t, seen, 60)
		if text == fits {
			assert.Contains(t, r.tree(t), fits+`"`)
		}
	}
}

// A nil pointer where an error is looked for is none.
func TestNilPointersInErrors(t *testing.T) {
	r := record()
	_, err := retry.Do(t.Context(), lastingNot(), policy, retry.WithObserver(r.observer),
		retry.WithThrottle(refusing(fmt.Errorf("closed: %w", (*throttle.Error)(nil)))))
	require.ErrorIs(t, err, retry.ErrRefused)
	_, err = retry.Do(t.Context(), lastingNot(errRefused), policy, retry.WithObserver(r.observer), retry.WithMaxAttempts(1),
		retry.WithFallback(func(context.Context, error) (string, error) { return "", (*retry.Error)(nil) }))
	require.Equal(t, (*retry.Error)(nil), err)
	text := r.tree(t)
	assert.Contains(t, text, `retry.outcome="throttled"`)
	assert.Contains(t, text, `retry.outcome="exhausted"`)
}

// Of two attributes with the same key the later counts, and the package's own above all.
func TestAttributesGivenTwice(t *testing.T) {
	r := record(observe.WithAttributes(attribute.Int("shard", 1), attribute.Int("shard", 2)), observe.WithAttributes(attribute.Int("shard", 3),
		observe.KeyOutcome.String("mine"), observe.KeyAttempts.Int(99), observe.KeyDelaySource.String("mine")))
	require.Error(t, r.twice(t, errRefused))
	for _, text := range []string{r.tree(t), r.metrics(t)} {
		assert.Contains(t, text, "shard=3")
		assert.NotContains(t, text, "shard=1")
		assert.NotContains(t, text, "shard=2")
		assert.NotContains(t, text, "retry.outcome=\"mine\"")
	}
	assert.Contains(t, r.tree(t), "retry.attempts=2")
}
