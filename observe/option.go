package observe

import (
	"slices"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Option is a setting of an Observer: the With functions of this package. Of two that set the same thing the later wins;
// those that say so add.
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct {
	tracers            trace.TracerProvider
	meters             metric.MeterProvider
	noTraces           bool
	noMetrics          bool
	active             bool
	attributes         []attribute.KeyValue
	attemptSpans       AttemptSpans
	errorType          func(error) string
	description        func(error) string
	operationSpanStart []trace.SpanStartOption
	attemptSpanStart   []trace.SpanStartOption
}

// AttemptSpans says which attempts get a span of their own.
type AttemptSpans uint8

const (
	// Always gives every attempt a span. It is the default.
	Always AttemptSpans = iota
	// OnRetry spares the first attempt its span until another is to follow, which halves the spans of calls that succeed at
	// once. What the first attempt calls hangs directly under the operation's span. Where another attempt follows, its own
	// span is made up afterwards, so that its failure can be seen.
	OnRetry
	// Never gives no attempt a span: there is the operation's only.
	Never
)

// String returns the name of the constant.
func (a AttemptSpans) String() string {
	if names := [...]string{"Always", "OnRetry", "Never"}; int(a) < len(names) {
		return names[a]
	}
	return "invalid"
}

// WithTracerProvider sets where spans go. Nil is ignored. Default: otel.GetTracerProvider() at the time of New; one that
// otel.SetTracerProvider installs later is used from then on.
func WithTracerProvider(p trace.TracerProvider) Option {
	return option(func(c *config) {
		if !errtree.IsNil(p) {
			c.tracers = p
		}
	})
}

// WithMeterProvider sets where metrics go. Nil is ignored. Default: otel.GetMeterProvider() at the time of New; one that
// otel.SetMeterProvider installs later is used from then on.
func WithMeterProvider(p metric.MeterProvider) Option {
	return option(func(c *config) {
		if !errtree.IsNil(p) {
			c.meters = p
		}
	})
}

// WithoutTraces makes no spans, whatever the provider. Default: off.
func WithoutTraces() Option { return option(func(c *config) { c.noTraces = true }) }

// WithoutMetrics records no metrics, whatever the provider. Default: off.
func WithoutMetrics() Option { return option(func(c *config) { c.noMetrics = true }) }

// WithAttributes adds attributes to every span and every measurement. Their values must come from a small set, or the number
// of time series grows with them. Attributes of the package's own keys lose against the package's. Default: none.
func WithAttributes(attributes ...attribute.KeyValue) Option {
	attributes = slices.Clone(attributes)
	return option(func(c *config) { c.attributes = append(c.attributes, attributes...) })
}

// WithAttemptSpans says which attempts get a span of their own, where the operation's span is recorded. Metrics know every
// attempt in any case. Default: Always.
func WithAttemptSpans(which AttemptSpans) Option {
	return option(func(c *config) { c.attemptSpans = which })
}

// WithErrorType sets the function that finds the value of error.type for a failure. An empty answer leaves it to the rules
// of the package, and a panic makes it _OTHER. The function must be safe for concurrent use, and its values few: see
// ErrorTypeLimit. Default: nil, none.
func WithErrorType(f func(error) string) Option {
	return option(func(c *config) { c.errorType = f })
}

// WithStatusDescription sets the function that turns a failure into the description of a span's status: for an attempt the
// attempt's error, for an operation what the caller gets. Where messages may hold secrets, return "" or a text without them.
// A panic makes it "". The function must be safe for concurrent use. Nil is the default: the error's text, in which the keys of
// throttles are replaced by "…".
func WithStatusDescription(f func(error) string) Option {
	return option(func(c *config) { c.description = f })
}

// WithSpanStartOptions adds options to the start of every operation's span, such as links. Default: none, the kind being
// internal.
func WithSpanStartOptions(opts ...trace.SpanStartOption) Option {
	opts = slices.Clone(opts)
	return option(func(c *config) { c.operationSpanStart = append(c.operationSpanStart, opts...) })
}

// WithAttemptSpanStartOptions adds options to the start of every attempt's span. Where attempts make requests that nothing
// else traces, trace.WithSpanKind(trace.SpanKindClient) is right for them. Default: none, the kind being internal.
func WithAttemptSpanStartOptions(opts ...trace.SpanStartOption) Option {
	opts = slices.Clone(opts)
	return option(func(c *config) { c.attemptSpanStart = append(c.attemptSpanStart, opts...) })
}

// WithActiveOperations adds the metric retry.operation.active. Default: off.
func WithActiveOperations() Option { return option(func(c *config) { c.active = true }) }

// validate is what a policy asks before it takes an Observer: New has no error to return.
func (c *config) validate() error {
	if c.attemptSpans > Never {
		return &retry.ConfigError{Option: "WithAttemptSpans", Value: int(c.attemptSpans), Problem: "must be Always, OnRetry or Never"}
	}
	for _, a := range c.attributes {
		if !a.Valid() {
			return &retry.ConfigError{Option: "WithAttributes", Value: string(a.Key), Problem: "must have a key"}
		}
		texts := append(a.Value.AsStringSlice(), string(a.Key), a.Value.AsString())
		if slices.ContainsFunc(texts, func(s string) bool { return !utf8.ValidString(s) }) {
			return &retry.ConfigError{Option: "WithAttributes", Value: string(a.Key), Problem: "must be UTF-8"}
		}
	}
	if slices.Contains(c.operationSpanStart, nil) {
		return &retry.ConfigError{Option: "WithSpanStartOptions", Problem: "must not be nil"}
	}
	if slices.Contains(c.attemptSpanStart, nil) {
		return &retry.ConfigError{Option: "WithAttemptSpanStartOptions", Problem: "must not be nil"}
	}
	return nil
}
