package observe_test

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/throttle"
)

// once makes one observed call whose only attempt ends with err.
func (r *telemetry) once(t *testing.T, err error) {
	_ = retry.Run(t.Context(), func(context.Context) error { return err },
		retry.WithName("orders"), retry.WithMaxAttempts(1), retry.WithObserver(r.observer))
}

func TestWithAttributes(t *testing.T) {
	r := record(
		observe.WithAttributes(attribute.String("team", "shop"), attribute.String("retry.name", "not this")),
		observe.WithAttributes(attribute.Int("shard", 7)),
		observe.WithActiveOperations(),
	)
	r.once(t, nil)
	want := []string{`retry.name="orders"`, "shard=7", `team="shop"`}
	for _, s := range r.spans.Ended() {
		assert.Subset(t, attributeLines(s.Attributes()), want, s.Name())
		assert.NotContains(t, attributeLines(s.Attributes()), `retry.name="not this"`)
	}
	text := r.metrics(t)
	assert.Contains(t, text, `retry.attempt.duration (s)
    {retry.name="orders", retry.outcome="success", shard=7, team="shop"} count=1 `)
	assert.Contains(t, text, "retry.operation.active ({operation})\n    {retry.name=\"orders\", shard=7, team=\"shop\"} value=0\n")
}

func TestWithStatusDescription(t *testing.T) {
	descriptions := func(opts ...observe.Option) (all []string) {
		r := record(opts...)
		r.once(t, errors.New("password hunter2 is wrong"))
		for _, s := range r.spans.Ended() {
			require.Equal(t, codes.Error, s.Status().Code)
			all = append(all, s.Status().Description)
		}
		return all
	}
	attempt := "password hunter2 is wrong"
	operation := `password hunter2 is wrong (retry "orders": gave up after 1 attempt: attempts exhausted)`
	assert.Equal(t, []string{attempt, operation}, descriptions())
	assert.Equal(t, []string{"", ""}, descriptions(observe.WithStatusDescription(func(error) string { return "" })))
	assert.Equal(t, []string{"*errors.errorString", "*retry.Error"},
		descriptions(observe.WithStatusDescription(func(err error) string { return fmt.Sprintf("%T", err) })))
	assert.Equal(t, []string{attempt, operation}, descriptions(observe.WithStatusDescription(nil)))
}

// The text of a throttle's error names its key; the description of a status does not.
func TestStatusDescriptionWithoutKeys(t *testing.T) {
	of := func(err error) string {
		r := record()
		r.once(t, err)
		return r.spans.Ended()[0].Status().Description
	}
	acme := &throttle.Error{Key: `ac"me`, Remaining: sec, Source: "block"}
	globex := &throttle.Error{Key: "globex", Remaining: sec, Err: acme}
	nested := retry.Run(t.Context(), func(context.Context) error { return nil }, retry.WithThrottle(refusing(acme)))
	for _, err := range []error{acme, globex, fmt.Errorf("load: %w", errors.Join(errRefused, globex)), nested} {
		require.ErrorIs(t, err, error(acme))
		text := of(err)
		assert.Contains(t, err.Error(), `ac\"me`)
		assert.NotContains(t, text, "me\"", "%v", err)
		assert.NotContains(t, text, "globex", "%v", err)
		assert.Contains(t, text, `throttle: "…" is cooling down for 1s`)
	}
	assert.Equal(t, `throttle: "" is cooling down for 1s`, of(&throttle.Error{Remaining: sec}))
	assert.Equal(t, "throttle: refused", of(fmt.Errorf("%w", (*throttle.Error)(nil))))
	assert.Empty(t, of((*dialError)(nil)), "the text of a nil pointer is not asked for")
}

func TestSpanStartOptions(t *testing.T) {
	link := trace.Link{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})}
	r := record(observe.WithSpanStartOptions(trace.WithLinks(link)), observe.WithAttemptSpanStartOptions(trace.WithSpanKind(trace.SpanKindClient)))
	r.once(t, nil)
	attempt, operation := r.spans.Ended()[0], r.spans.Ended()[1]
	assert.Equal(t, trace.SpanKindInternal, operation.SpanKind())
	assert.Len(t, operation.Links(), 1)
	assert.Equal(t, trace.SpanKindClient, attempt.SpanKind())
	assert.Empty(t, attempt.Links())
}

func TestWithout(t *testing.T) {
	r := record(observe.WithoutTraces())
	r.once(t, nil)
	assert.Empty(t, r.spans.Started())
	assert.Len(t, r.collect(t), 3)

	r = record(observe.WithoutMetrics(), observe.WithActiveOperations())
	r.once(t, nil)
	assert.Len(t, r.spans.Ended(), 2)
	assert.Empty(t, r.collect(t))

	r = record(observe.WithTracerProvider(nil), observe.WithMeterProvider(nil), observe.WithTracerProvider((*sdktrace.TracerProvider)(nil)), nil)
	r.once(t, nil)
	assert.Len(t, r.spans.Ended(), 2, "nil is ignored")
	assert.Len(t, r.collect(t), 3)
}

// wrapped is a provider that does nothing, but says so to nobody.
type wrapped struct {
	trace.TracerProvider
	started int
}

func (w *wrapped) Tracer(string, ...trace.TracerOption) trace.Tracer {
	return wrappedTracer{tracenoop.Tracer{}, w}
}

type wrappedTracer struct {
	trace.Tracer
	w *wrapped
}

func (t wrappedTracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	t.w.started++
	return t.Tracer.Start(ctx, name, opts...)
}

func TestProvidersThatDoNothing(t *testing.T) {
	start := func(o *observe.Observer) retry.Observation {
		ctx, observation := o.Start(t.Context(), retry.Call{Name: "orders"})
		assert.Equal(t, t.Context(), ctx)
		return observation
	}
	noTraces, noMetrics := observe.WithTracerProvider(tracenoop.NewTracerProvider()), observe.WithMeterProvider(metricnoop.NewMeterProvider())
	assert.Nil(t, start(observe.New(noTraces, noMetrics)))
	assert.Nil(t, start(observe.New(observe.WithoutTraces(), noMetrics)))
	assert.Nil(t, start(observe.New(noTraces, observe.WithoutMetrics())))
	assert.Nil(t, start(new(observe.Observer)))
	assert.Nil(t, start(nil))

	w := new(wrapped)
	r := record(observe.WithTracerProvider(w))
	r.once(t, errRefused)
	assert.Equal(t, 1, w.started, "the operation's span is started, for whoever may listen, and no attempt's")
	assert.Len(t, r.collect(t), 3)
}

func TestScope(t *testing.T) {
	assert.Equal(t, "https://opentelemetry.io/schemas/1.43.0", observe.SchemaURL)
	assert.Equal(t, semconv.SchemaURL, observe.SchemaURL)
	info, ok := debug.ReadBuildInfo()
	require.True(t, ok)
	r := record()
	r.once(t, nil)
	for _, s := range r.spans.Ended() {
		assert.Equal(t, info.Main.Version, s.InstrumentationScope().Version)
		assert.Equal(t, observe.ScopeName, s.InstrumentationScope().Name)
		assert.Equal(t, observe.SchemaURL, s.InstrumentationScope().SchemaURL)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		option observe.Option
		name   string
	}{
		{observe.WithAttemptSpans(3), "WithAttemptSpans"},
		{observe.WithAttributes(attribute.String("", "x")), "WithAttributes"},
		{observe.WithAttributes(attribute.String("team", "\xff")), "WithAttributes"},
		{observe.WithAttributes(attribute.Int("team\xff", 1)), "WithAttributes"},
		{observe.WithAttributes(attribute.StringSlice("teams", []string{"a", "b\xff"})), "WithAttributes"},
		{observe.WithSpanStartOptions(nil), "WithSpanStartOptions"},
		{observe.WithAttemptSpanStartOptions(nil), "WithAttemptSpanStartOptions"},
	} {
		o := observe.New(c.option)
		var invalid *retry.ConfigError
		require.ErrorAs(t, o.Validate(), &invalid)
		assert.Equal(t, c.name, invalid.Option)
		_, err := retry.New(retry.WithObserver(o))
		require.ErrorIs(t, err, retry.ErrConfig)
		assert.ErrorContains(t, err, c.name)
	}
	require.NoError(t, observe.New().Validate())
	require.NoError(t, new(observe.Observer).Validate())
	require.NoError(t, (*observe.Observer)(nil).Validate())
	assert.Equal(t, "Always OnRetry Never invalid", fmt.Sprint(observe.Always, observe.OnRetry, observe.Never, observe.AttemptSpans(3)))
}

// Options are copied.
func TestOptionsAreCopied(t *testing.T) {
	attributes := []attribute.KeyValue{attribute.String("team", "shop")}
	option := observe.WithAttributes(attributes...)
	attributes[0] = attribute.String("team", "other")
	r := record(option)
	r.once(t, nil)
	assert.Contains(t, attributeLines(r.spans.Ended()[0].Attributes()), `team="shop"`)
}

// What is recorded although it is not sampled is recorded in full; a sampler may drop attempts and keep their operation.
func TestSamplers(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder), sdktrace.WithSampler(sampler{}))
	o := observe.New(observe.WithTracerProvider(tracers), observe.WithMeterProvider(sdkmetric.NewMeterProvider()))
	_ = retry.Run(t.Context(), func(context.Context) error { return errRefused },
		retry.WithName("orders"), retry.WithObserver(o), retry.WithMaxAttempts(2), retry.WithMaxDelay(1))
	require.Len(t, recorder.Ended(), 2)
	assert.Equal(t, "orders attempt", recorder.Ended()[0].Name())
	assert.Contains(t, attributeLines(recorder.Ended()[0].Attributes()), "retry.attempt=2")
	assert.Contains(t, attributeLines(recorder.Ended()[1].Attributes()), "retry.attempts=2")
}

// sampler records what it can tell to be no first attempt: attributes must be there from the start.
type sampler struct{}

func (sampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	for _, a := range p.Attributes {
		if a.Key == observe.KeyAttempt && a.Value.AsInt64() == 1 {
			return sdktrace.SamplingResult{Decision: sdktrace.Drop}
		}
	}
	return sdktrace.SamplingResult{Decision: sdktrace.RecordOnly}
}

func (sampler) Description() string { return "no first attempts" }

func TestEnabled(t *testing.T) {
	noTraces, noMetrics := observe.WithTracerProvider(tracenoop.NewTracerProvider()), observe.WithMeterProvider(metricnoop.NewMeterProvider())
	for _, off := range []*observe.Observer{
		nil, {}, observe.New(noTraces, noMetrics), observe.New(observe.WithoutTraces(), noMetrics), observe.New(observe.WithoutTraces(), observe.WithoutMetrics()),
	} {
		assert.False(t, off.Enabled())
	}
	for _, on := range []*observe.Observer{observe.New(), observe.New(noTraces), observe.New(noMetrics), observe.New(sampled(), noMetrics)} {
		assert.True(t, on.Enabled())
	}
}
