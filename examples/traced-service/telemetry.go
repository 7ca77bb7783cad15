package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	promclient "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/observe/waterfall"
)

// propagator writes the trace into the header of requests, and reads it from there. Programs with one service set it for
// all: otel.SetTextMapPropagator.
var propagator = propagation.TraceContext{}

// telemetry is where spans and metrics go. Each service has a tracer provider, because that says whose spans they are. (Two
// services in one program are rare: others install one for all, by otel.SetTracerProvider and otel.SetMeterProvider.)
type telemetry struct {
	shop, stock *sdktrace.TracerProvider
	drawing     *waterfall.Exporter

	meters  *sdkmetric.MeterProvider // of the shop: it is the one that retries
	reader  *sdkmetric.ManualReader
	scrapes http.Handler
}

// newTelemetry draws traces on out, and sends them to the collector at otlp if there is one.
func newTelemetry(ctx context.Context, out io.Writer, otlp string) (*telemetry, error) {
	t := &telemetry{drawing: waterfall.New(out), reader: sdkmetric.NewManualReader()}
	t.drawing.Width, t.drawing.Show = 32, shown
	for service, tracers := range map[string]**sdktrace.TracerProvider{"shop": &t.shop, "stock": &t.stock} {
		opts := []sdktrace.TracerProviderOption{
			sdktrace.WithResource(resource.NewSchemaless(semconv.ServiceName(service))),
			sdktrace.WithSpanProcessor(t.drawing),
		}
		if otlp != "" {
			sender, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpoint(otlp), otlptracehttp.WithInsecure(),
				otlptracehttp.WithTimeout(5*time.Second), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
			if err != nil {
				return nil, err
			}
			opts = append(opts, sdktrace.WithBatcher(sender))
		}
		*tracers = sdktrace.NewTracerProvider(opts...)
	}

	registry := promclient.NewRegistry()
	exporter, err := prometheus.New(prometheus.WithRegisterer(registry))
	if err != nil {
		return nil, err
	}
	t.scrapes = promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}) // exemplars need OpenMetrics
	t.meters = sdkmetric.NewMeterProvider(
		sdkmetric.WithResource(resource.NewSchemaless(semconv.ServiceName("shop"))),
		sdkmetric.WithReader(t.reader), sdkmetric.WithReader(exporter))
	return t, nil
}

// shown says which attributes stand beside the bars: some of many, so that a line fits into a wide terminal.
func shown(a attribute.KeyValue) bool {
	switch a.Key {
	case observe.KeyAttempts, observe.KeyAttempt, observe.KeyOutcome, observe.KeyDelaySource,
		semconv.HTTPRequestResendCountKey, semconv.HTTPResponseStatusCodeKey:
		return true
	}
	return false
}

// stopDrawing ends the drawing of traces.
func (t *telemetry) stopDrawing() { _ = t.drawing.Shutdown(context.Background()) }

// flush sends what has not been sent.
func (t *telemetry) flush(ctx context.Context) error {
	return errors.Join(t.shop.ForceFlush(ctx), t.stock.ForceFlush(ctx))
}

// shutdown ends everything. Whatever ended the program, it has some seconds for what has not been sent.
func (t *telemetry) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(t.shop.Shutdown(ctx), t.stock.Shutdown(ctx), t.meters.Shutdown(ctx))
}
