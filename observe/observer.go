package observe

import (
	"context"
	"runtime/debug"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/internal/errtree"
)

var _ retry.Observer = (*Observer)(nil)

// Observer turns calls into spans and metrics. It is for retry.WithObserver; one serves any number of policies and
// goroutines. New makes it; the zero Observer, and a nil one, observe nothing. It starts no goroutine.
type Observer struct {
	config      config
	tracer      trace.Tracer // nil: no traces
	instruments *instruments // nil: no metrics
	classifier  *classifier
	names       cache[string, *series]
	otherNames  func() *measures
}

// New makes an Observer. Without options it uses the global providers of OpenTelemetry, those that are installed after it
// was made included, so that it may stand in a package variable. A wrong value in an option is found by Validate, and so by
// retry.New.
func New(opts ...Option) *Observer {
	o := &Observer{}
	c := &o.config
	c.tracers, c.meters = otel.GetTracerProvider(), otel.GetMeterProvider()
	for _, opt := range opts {
		if opt != nil {
			opt.apply(c)
		}
	}
	// Providers that are known to do nothing are not asked at all. The global ones are, even if no SDK is behind them: that
	// is where instrumentation from outside the program (eBPF) takes hold.
	if _, noop := c.tracers.(tracenoop.TracerProvider); !noop && !c.noTraces {
		tracer := c.tracers.Tracer(ScopeName, trace.WithInstrumentationVersion(version()), trace.WithSchemaURL(SchemaURL))
		if !errtree.IsNil(tracer) {
			o.tracer = tracer
		}
	}
	if _, noop := c.meters.(metricnoop.MeterProvider); !noop && !c.noMetrics {
		meter := c.meters.Meter(ScopeName, metric.WithInstrumentationVersion(version()), metric.WithSchemaURL(SchemaURL))
		if !errtree.IsNil(meter) {
			o.instruments = newInstruments(meter, c.active)
		}
	}
	o.classifier = newClassifier(c.errorType)
	o.names.limit = NameLimit
	o.otherNames = sync.OnceValue(func() *measures { return newMeasures(o, o.classifier.text(typeOther)) })
	return o
}

// version is that of this module in the running program.
var version = sync.OnceValue(func() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == modulePath {
				return m.Version
			}
		}
	}
	return ""
})

// Validate returns a *retry.ConfigError if an option of New has a value that cannot be used.
func (o *Observer) Validate() error {
	if o == nil {
		return nil
	}
	return o.config.validate()
}

// Enabled reports whether there is anything to make: false without traces and metrics, be it by options or since the
// providers are those of OpenTelemetry's noop packages. retry.WithObserver then leaves the Observer out.
func (o *Observer) Enabled() bool { return o != nil && (o.tracer != nil || o.instruments != nil) }

// Start implements retry.Observer.
func (o *Observer) Start(ctx context.Context, c retry.Call) (context.Context, retry.Observation) {
	if !o.Enabled() {
		return ctx, nil
	}
	v := observations.Get().(*observation)
	v.Observer, v.series = o, o.seriesOf(c.Name)
	if o.tracer != nil {
		ctx, v.operation = o.start(ctx, v.series.operationName, v.series.operations.of(v.series, c.MaxAttempts)...)
		v.recording = v.operation.IsRecording()
	}
	if o.instruments != nil {
		o.instruments.begin(ctx, v.series.measures)
	}
	return ctx, v
}

// start starts a span; one that does nothing, if the tracer gives none.
func (o *Observer) start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	next, span := o.tracer.Start(ctx, name, opts...)
	if next == nil || span == nil {
		return ctx, tracenoop.Span{}
	}
	return next, span
}

func (o *Observer) seriesOf(name string) *series {
	if s, ok := o.names.get(name); ok {
		return s
	}
	if o.names.full() {
		return newSeries(&o.config, name, o.otherNames())
	}
	s, ok := o.names.add(name, newSeries(&o.config, name, newMeasures(o, name)))
	if !ok {
		s.measures = o.otherNames()
	}
	return s
}
