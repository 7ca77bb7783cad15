package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"

	promclient "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/observe/waterfall"
)

// This file is the code of docs/observability.md, word for word: TestDocumentedCode finds every block of it here.

var observer = observe.New()

var stockPolicy = retry.MustNew(
	retry.WithName("stock"), // names the spans, and tells the policies apart in the metrics
	retry.WithObserver(observer),
)

var client = &http.Client{Transport: otelhttp.NewTransport(observe.Transport(http.DefaultTransport))}

func fetchStock(ctx context.Context, address string) (*http.Response, error) {
	return retry.Do(ctx, func(ctx context.Context) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, err
		}
		return client.Do(req)
	}, stockPolicy)
}

func drawTraces() *sdktrace.TracerProvider {
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(waterfall.New(os.Stderr)))
	return tracers
}

func startTelemetry(ctx context.Context, service string) (scrapes http.Handler, stop func(context.Context) error, err error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, err
	}
	identity := resource.NewSchemaless(semconv.ServiceName(service))
	tracers := sdktrace.NewTracerProvider(sdktrace.WithResource(identity), sdktrace.WithBatcher(exporter))
	otel.SetTracerProvider(tracers)
	otel.SetTextMapPropagator(propagation.TraceContext{})

	registry := promclient.NewRegistry()
	reader, err := prometheus.New(prometheus.WithRegisterer(registry))
	if err != nil {
		return nil, nil, err
	}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithResource(identity), sdkmetric.WithReader(reader))
	otel.SetMeterProvider(meters)

	scrapes = promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}) // with exemplars
	return scrapes, func(ctx context.Context) error {
		return errors.Join(tracers.Shutdown(ctx), meters.Shutdown(ctx))
	}, nil
}

var wired bool // by an earlier TestWiring of the same process, as with -count

// What the document says to write works: the observer that was made before the providers uses them, traces reach the
// collector that the environment names, joined to those of the service that was asked, and metrics are served.
func TestWiring(t *testing.T) {
	if wired {
		t.Skip("an instrument that was made before the providers uses the first of them for ever")
	}
	wired = true
	var exports atomic.Int32
	var header atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/traces" {
			exports.Add(1)
			return
		}
		header.Store(r.Header.Get("Traceparent"))
	}))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)

	scrapes, stop, err := startTelemetry(t.Context(), "shop")
	require.NoError(t, err)
	resp, err := fetchStock(t.Context(), server.URL)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())

	scraped := httptest.NewRecorder()
	scrapes.ServeHTTP(scraped, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Regexp(t, `retry_operation_attempts_sum\{.*retry_name="stock",retry_outcome="success"\} 1\n`, scraped.Body.String())
	require.Contains(t, scraped.Body.String(), `target_info{service_name="shop"} 1`)
	require.NoError(t, stop(context.Background()))
	require.Equal(t, int32(1), exports.Load())
	require.Regexp(t, `^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`, header.Load())

	require.NoError(t, drawTraces().Shutdown(t.Context()))
}
