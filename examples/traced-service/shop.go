package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

const maxAttempts = 4

// shop is the service that customers ask. What is in stock it must ask another service, which does not always answer.
type shop struct {
	client *http.Client
	policy *retry.Policy
	stock  string // address
}

func newShop(t *telemetry, stock string) *shop {
	observer := observe.New(observe.WithTracerProvider(t.shop),
		observe.WithMeterProvider(t.meters), observe.WithActiveOperations())
	return &shop{
		stock: stock,
		policy: retry.MustNew(
			retry.WithName("stock"), // the operation's span, and retry.name of the metrics
			retry.WithObserver(observer),
			retry.WithMaxAttempts(maxAttempts),
			retry.WithStrategy(strategy.EqualJitter{Base: 60 * time.Millisecond, Max: 5 * time.Second}),
			retry.WithCondition(condition.Only(condition.Network(), condition.HTTPStatus(429, 502, 503, 504))),
		),
		// otelhttp makes a span of every request, and sends the trace on. observe.Transport is inside, so that it can write
		// the number of the resend on that span.
		client: &http.Client{Transport: otelhttp.NewTransport(observe.Transport(new(http.Transport)),
			otelhttp.WithTracerProvider(t.shop), otelhttp.WithMeterProvider(t.meters), otelhttp.WithPropagators(propagator))},
	}
}

func (s *shop) handler(tracers *sdktrace.TracerProvider) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /articles/{name}", otelhttp.NewHandler(http.HandlerFunc(s.article), "article",
		otelhttp.WithTracerProvider(tracers), otelhttp.WithPropagators(propagator)))
	return mux
}

// article answers a customer. The request's context carries the span that otelhttp made; what is done with it hangs below.
func (s *shop) article(w http.ResponseWriter, r *http.Request) {
	left, err := s.left(r.Context(), r.PathValue("name"))
	var code statusError
	switch {
	case err == nil:
		fmt.Fprintf(w, "%d left", left)
	case errors.As(err, &code) && code == http.StatusNotFound:
		http.Error(w, "no such article", http.StatusNotFound)
	default:
		http.Error(w, "the stock is not known: "+err.Error(), http.StatusServiceUnavailable)
	}
}

// left asks the stock service how many there are of an article, by as many attempts as the policy allows.
func (s *shop) left(ctx context.Context, name string) (int, error) {
	return retry.Do(ctx, func(ctx context.Context) (int, error) {
		return s.ask(ctx, name) // ctx is the attempt's: the request's span becomes a child of the attempt's
	}, s.policy)
}

// ask makes one attempt.
func (s *shop) ask(ctx context.Context, name string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.stock+"/stock/"+name, nil)
	if err != nil {
		return 0, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		err := statusError(resp.StatusCode)
		signal, _ := hint.Standard().Parse(resp.Header, resp.StatusCode, time.Now())
		return 0, signal.Wrap(err) // the wait that the server asks for, if it does
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 20))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(text))
}

// statusError is an HTTP status.
type statusError int

// HTTPStatusCode is how condition.HTTPStatus reads it.
func (code statusError) HTTPStatusCode() int { return int(code) }

// ErrorType is how package observe reads it: error.type is the status, as it is on the spans of otelhttp.
func (code statusError) ErrorType() string { return strconv.Itoa(int(code)) }

func (code statusError) Error() string {
	return fmt.Sprintf("%d %s", int(code), http.StatusText(int(code)))
}
