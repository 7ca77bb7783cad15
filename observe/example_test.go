package observe_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/strategy"
)

// flaky fails twice, then succeeds.
func flaky() func(context.Context) error {
	n := 0
	return func(context.Context) error {
		if n++; n < 3 {
			return errors.New("connection refused")
		}
		return nil
	}
}

func ExampleNew() {
	recorder := tracetest.NewSpanRecorder() // in a program: an exporter
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))

	observer := observe.New(observe.WithTracerProvider(tracers))
	err := retry.Run(context.Background(), flaky(),
		retry.WithName("orders"), retry.WithStrategy(strategy.Constant{Delay: time.Millisecond}), retry.WithObserver(observer))
	fmt.Println("error:", err)

	for _, span := range recorder.Ended() {
		fmt.Printf("%s: %s %q\n", span.Name(), span.Status().Code, span.Status().Description)
	}
	// Output:
	// error: <nil>
	// orders attempt: Error "connection refused"
	// orders attempt: Error "connection refused"
	// orders attempt: Unset ""
	// orders: Unset ""
}

func ExampleNew_metrics() {
	reader := sdkmetric.NewManualReader() // in a program: a periodic one, or that of Prometheus
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))

	observer := observe.New(observe.WithMeterProvider(meters), observe.WithoutTraces())
	_ = retry.Run(context.Background(), flaky(),
		retry.WithName("orders"), retry.WithStrategy(strategy.Constant{}), retry.WithObserver(observer))

	var all metricdata.ResourceMetrics
	_ = reader.Collect(context.Background(), &all)
	for _, m := range all.ScopeMetrics[0].Metrics {
		if attempts, ok := m.Data.(metricdata.Histogram[int64]); ok {
			fmt.Println(m.Name, attempts.DataPoints[0].Sum, m.Unit)
		}
	}
	// Output:
	// retry.operation.attempts 3 {attempt}
}

// HTTPError is an error that says what kind it is.
type HTTPError struct{ Status int }

func (e *HTTPError) Error() string { return http.StatusText(e.Status) }

// Kinds of failures that belong together, and those that should be told apart.
func ExampleWithErrorType() {
	recorder := tracetest.NewSpanRecorder()
	observer := observe.New(
		observe.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))),
		observe.WithErrorType(func(err error) string {
			if e, ok := errors.AsType[*HTTPError](err); ok {
				return fmt.Sprint(e.Status)
			}
			return "" // as without this function
		}),
	)
	_ = retry.Run(context.Background(), func(context.Context) error { return &HTTPError{Status: 503} },
		retry.WithMaxAttempts(1), retry.WithObserver(observer))

	for _, a := range recorder.Ended()[0].Attributes() {
		if a.Key == observe.KeyErrorType {
			fmt.Println(a.Key, a.Value.AsString())
		}
	}
	// Output:
	// error.type 503
}

// Errors without their text: the kind of a failure is still known from error.type.
func ExampleWithStatusDescription() {
	recorder := tracetest.NewSpanRecorder()
	observer := observe.New(
		observe.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))),
		observe.WithStatusDescription(func(error) string { return "" }),
	)
	_ = retry.Run(context.Background(), func(context.Context) error { return errors.New("no user with token s3cr3t") },
		retry.WithMaxAttempts(1), retry.WithObserver(observer))

	fmt.Printf("%s %q\n", recorder.Ended()[0].Status().Code, recorder.Ended()[0].Status().Description)
	// Output:
	// Error ""
}

func ExampleTransport() {
	client := &http.Client{Transport: otelhttp.NewTransport(observe.Transport(http.DefaultTransport))}

	observer := observe.New()
	get := func(ctx context.Context) (int, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "ftp://example.com/orders", nil)
		if err != nil {
			return 0, err
		}
		response, err := client.Do(request)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}
	_, err := retry.Do(context.Background(), get, retry.WithObserver(observer))
	fmt.Println(err)
	// Output:
	// Get "ftp://example.com/orders": unsupported protocol scheme "ftp"
}
