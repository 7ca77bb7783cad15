package observe

import (
	"context"
	"net/http"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Transport returns a RoundTripper that writes the number of the resend on the span of a request: http.request.resend_count,
// 1 for the request of a call's second attempt, absent for that of the first. It belongs inside the transport that makes
// the span:
//
//	client := &http.Client{Transport: otelhttp.NewTransport(observe.Transport(http.DefaultTransport))}
//
// Which attempt a request belongs to it knows from the Observer, where the call is recorded, else from
// retry.WithAttemptInfo. A nil base is http.DefaultTransport.
func Transport(base http.RoundTripper) http.RoundTripper {
	if errtree.IsNil(base) {
		base = http.DefaultTransport
	}
	return &transport{base}
}

type transport struct{ base http.RoundTripper }

// Unwrap shows what makes the requests, to those who care for its connections.
func (t *transport) Unwrap() http.RoundTripper { return t.base }

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if span := trace.SpanFromContext(r.Context()); span.IsRecording() {
		if number := attemptOf(r.Context(), span); number > 1 {
			span.SetAttributes(semconv.HTTPRequestResendCount(number - 1))
		}
	}
	return t.base.RoundTrip(r)
}

// attemptContext carries an attempt's number. The first attempt does without, unless it is within one that has it: most
// calls need no other, and then pay nothing.
type attemptContext struct {
	context.Context
	number int
}

type attemptKey struct{}

func (c *attemptContext) Value(key any) any {
	if key == (attemptKey{}) {
		return c
	}
	return c.Context.Value(key)
}

func withAttempt(ctx context.Context, number int) context.Context {
	if number == 1 && ctx.Value(attemptKey{}) == nil {
		return ctx
	}
	return &attemptContext{ctx, number}
}

// attemptOf returns the number of the nearest attempt; 0 if there is none, or if span is not of a request but the
// attempt's own.
func attemptOf(ctx context.Context, span trace.Span) int {
	info, _ := retry.AttemptFrom(ctx)
	c, ok := ctx.Value(attemptKey{}).(*attemptContext)
	if !ok {
		return info.Number
	}
	if trace.SpanFromContext(c) == span {
		return 0
	}
	if above, _ := retry.AttemptFrom(c); above != info {
		return info.Number // of a call further in, which is not observed
	}
	return c.number
}
