package observe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
)

// flakyServer fails the first requests, and keeps the parent that each of them came with.
type flakyServer struct {
	*httptest.Server
	mu      sync.Mutex
	fails   int
	parents []trace.SpanContext
}

func newFlakyServer(t *testing.T, fails int) *flakyServer {
	s := &flakyServer{fails: fails}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		s.parents = append(s.parents, trace.SpanContextFromContext(ctx))
		if len(s.parents) <= s.fails {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// client returns a client whose requests are traced as otelhttp does it, and get, an operation that uses it.
func (s *flakyServer) client(r *telemetry) (*http.Client, func(ctx context.Context) error) {
	c := &http.Client{Transport: otelhttp.NewTransport(observe.Transport(s.Server.Client().Transport),
		otelhttp.WithTracerProvider(r.tracers), otelhttp.WithPropagators(propagation.TraceContext{}))}
	return c, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
		if err != nil {
			return err
		}
		response, err := c.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return errors.New(response.Status)
		}
		return nil
	}
}

// Each request is a child of its attempt, which is a child of the call: the server sees one trace and another parent each
// time.
func TestTraceThroughHTTP(t *testing.T) {
	r := record()
	server := newFlakyServer(t, 2)
	client, get := server.client(r)
	defer client.CloseIdleConnections()
	require.NoError(t, retry.Run(t.Context(), get, policy, retry.WithMaxDelay(1), retry.WithObserver(r.observer)))

	spans := map[trace.SpanID]sdktrace.ReadOnlySpan{}
	for _, s := range r.spans.Ended() {
		spans[s.SpanContext().SpanID()] = s
	}
	require.Len(t, spans, 7)
	require.Len(t, server.parents, 3)
	seen := map[trace.SpanID]bool{}
	for i, parent := range server.parents {
		request := spans[parent.SpanID()]
		require.NotNil(t, request)
		assert.Equal(t, trace.SpanKindClient, request.SpanKind())
		assert.False(t, seen[parent.SpanID()], "the server saw this span before")
		seen[parent.SpanID()] = true

		attempt := spans[request.Parent().SpanID()]
		require.NotNil(t, attempt)
		assert.Equal(t, "orders attempt", attempt.Name())
		assert.Contains(t, attributeLines(attempt.Attributes()), fmt.Sprintf("retry.attempt=%d", i+1))

		operation := spans[attempt.Parent().SpanID()]
		require.NotNil(t, operation)
		assert.Equal(t, "orders", operation.Name())
		assert.False(t, operation.Parent().IsValid())
		for _, s := range []sdktrace.ReadOnlySpan{request, attempt, operation} {
			assert.Equal(t, parent.TraceID(), s.SpanContext().TraceID())
		}

		attributes := attribute.NewSet(request.Attributes()...)
		resend, ok := attributes.Value(semconv.HTTPRequestResendCountKey)
		assert.Equal(t, i > 0, ok, "attempt %d", i+1)
		assert.Equal(t, int64(i), resend.AsInt64())
	}
	for _, s := range spans {
		if s.SpanKind() == trace.SpanKindInternal {
			for _, a := range s.Attributes() {
				assert.NotContains(t, a.Key, "http.")
			}
		}
	}
}

// resent returns the resend counts of all requests, -1 where there is none.
func (r *telemetry) resent() (counts []int64) {
	for _, a := range r.attributesOf("HTTP GET") {
		if n, ok := a.Value(semconv.HTTPRequestResendCountKey); ok {
			counts = append(counts, n.AsInt64())
		} else {
			counts = append(counts, -1)
		}
	}
	return counts
}

// The number is that of the nearest call, observed or not.
func TestResendCountOfNestedCalls(t *testing.T) {
	again := func(get func(context.Context) error, opts ...retry.Option) func(context.Context) error {
		return func(ctx context.Context) error {
			return retry.Run(ctx, get, append([]retry.Option{retry.WithMaxAttempts(2), retry.WithMaxDelay(1)}, opts...)...)
		}
	}
	r := record()
	for _, c := range []struct {
		name         string
		outer, inner []retry.Option
		want         []int64
	}{
		{"outer observed", nil, nil, []int64{-1, -1, 1, 1}},
		{"both observed", nil, []retry.Option{retry.WithObserver(r.observer)}, []int64{-1, 1, -1, 1}},
		{"inner with facts", nil, []retry.Option{retry.WithAttemptInfo()}, []int64{-1, 1, -1, 1}},
		{"both with facts", []retry.Option{retry.WithAttemptInfo()}, []retry.Option{retry.WithAttemptInfo()}, []int64{-1, 1, -1, 1}},
		{"outer with facts", []retry.Option{retry.WithAttemptInfo()}, nil, []int64{-1, -1, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.spans.Reset()
			server := newFlakyServer(t, 4)
			client, get := server.client(r)
			defer client.CloseIdleConnections()
			require.Error(t, again(again(get, c.inner...), append(c.outer, retry.WithObserver(r.observer))...)(t.Context()))
			assert.Equal(t, c.want, r.resent())
		})
	}
}

// Without an observer the number comes from WithAttemptInfo; without either there is none.
func TestResendCountWithoutObserver(t *testing.T) {
	for _, c := range []struct {
		opts []retry.Option
		want []int64
	}{
		{[]retry.Option{retry.WithAttemptInfo()}, []int64{-1, 1, 2}},
		{[]retry.Option{retry.WithName("")}, []int64{-1, -1, -1}},
	} {
		r := record()
		server := newFlakyServer(t, 2)
		client, get := server.client(r)
		require.NoError(t, retry.Run(t.Context(), get, append(c.opts, retry.WithMaxDelay(1))...))
		assert.Equal(t, c.want, r.resent())
		client.CloseIdleConnections()
	}
}

// A transport that nothing traces leaves the spans of the call alone, and a request that no span records costs nothing.
func TestTransportAlone(t *testing.T) {
	r := record()
	server := newFlakyServer(t, 1)
	transport := observe.Transport(server.Client().Transport)
	attempt := func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		require.NoError(t, err)
		response, err := transport.RoundTrip(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		if response.StatusCode != http.StatusOK {
			return errRefused
		}
		return nil
	}
	require.NoError(t, retry.Run(t.Context(), attempt, policy, retry.WithMaxDelay(1), retry.WithObserver(r.observer)))
	require.Len(t, server.parents, 2)
	assert.NotContains(t, r.tree(t), "http.")

	assert.NotNil(t, observe.Transport(nil))
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "ftp://example.com", nil)
	_, err := observe.Transport(nil).RoundTrip(request)
	assert.ErrorContains(t, err, "unsupported protocol scheme")
}
