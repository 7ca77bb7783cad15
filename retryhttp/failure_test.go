package retryhttp_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/throttle"
)

func TestFailure(t *testing.T) {
	var none *retryhttp.Failure
	for _, f := range []*retryhttp.Failure{none, {}} {
		assert.NotEmpty(t, f.Error())
		assert.NoError(t, f.Unwrap())
		assert.Zero(t, f.HTTPStatusCode())
		assert.Empty(t, f.ErrorType())
		assert.False(t, f.Timeout())
		assert.Negative(t, f.RetryAfter())
		_, ok := f.ThrottleSignal()
		assert.False(t, ok)
	}
	assert.False(t, none.SafeToRetry())

	f := &retryhttp.Failure{Sent: true, Err: &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}}
	assert.Equal(t, f.Err.Error(), f.Error())
	assert.ErrorIs(t, f, os.ErrDeadlineExceeded)
	assert.True(t, f.Timeout())
	assert.Empty(t, f.ErrorType())
	assert.False(t, f.SafeToRetry())

	f = &retryhttp.Failure{Response: &http.Response{StatusCode: 599}}
	assert.EqualError(t, f, "599")
	assert.Equal(t, "599", f.ErrorType())
	f.Request = &http.Request{}
	assert.EqualError(t, f, "599")
	f.Request, f.Response.StatusCode = get(t), 404
	assert.EqualError(t, f, "404 Not Found (GET example.com/)")
	f.Request.Method = ""
	assert.EqualError(t, f, "404 Not Found (GET example.com/)")
}

// TestFailureFitsConditions: what the condition package asks of errors is answered.
func TestFailureFitsConditions(t *testing.T) {
	var seen *retryhttp.Failure
	look := retry.WithCondition(condition.Func(func(err error) condition.Verdict {
		seen = err.(*retryhttp.Failure)
		return condition.Stop
	}))
	attemptsFor(t, retryhttp.NewTransport(nil, look), get(t), 403, "Retry-After", "7")
	assert.Equal(t, condition.Throttled, condition.HTTPDefault().Check(seen))
	assert.Equal(t, condition.Retry, condition.HTTPStatus(403).Check(seen))
	assert.Equal(t, condition.Unknown, condition.NotSent().Check(seen))
	assert.Equal(t, 7*time.Second, seen.RetryAfter())
	told, ok := throttle.FromError(seen)
	assert.True(t, ok)
	assert.Equal(t, "retry-after", told.Source)
	assert.Equal(t, condition.NotSent().Check(&retryhttp.Failure{Err: errBoom}), condition.Retry)
}

// TestConditionReadsTheBody, and puts it back for whoever gets the response.
func TestConditionReadsTheBody(t *testing.T) {
	transport := retryhttp.NewTransport(nil, atOnce, retry.WithMaxAttempts(2), retry.WithCondition(condition.Func(func(err error) condition.Verdict {
		response := err.(*retryhttp.Failure).Response
		all, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, "body", string(all))
		response.Body = io.NopCloser(newReader(string(all)))
		return condition.Retry
	})))
	assert.Equal(t, 2, attemptsFor(t, transport, get(t), 418))
}

// TestTraceOfTheCaller is called for each attempt, once.
func TestTraceOfTheCaller(t *testing.T) {
	transport := retryhttp.NewTransport(nil, atOnce, retry.WithAttemptTimeout(time.Minute))
	s := newServer(t, transport, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n < 3 {
			w.WriteHeader(503)
		}
	})
	var wrote, connected, asked int
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GetConn:      func(string) { asked++ },
		GotConn:      func(httptrace.GotConnInfo) { connected++ },
		WroteHeaders: func() { wrote++ },
	})
	response, err := s.client.Do(newRequest(t, "PUT", s.URL, newReader("x")).WithContext(ctx))
	require.NoError(t, err)
	assert.Empty(t, read(t, response))
	assert.Equal(t, []int{3, 3, 3}, []int{wrote, connected, asked})
}

// TestObserversSeeThePolicy: names, numbers and the failure.
func TestObserversSeeThePolicy(t *testing.T) {
	var events []retry.Event
	transport := retryhttp.NewTransport(nil, atOnce, retry.WithName("orders"), retry.WithMaxAttempts(2),
		retry.WithOnRetry(func(_ context.Context, e retry.Event) { events = append(events, e) }))
	attemptsFor(t, transport, get(t), 503)
	require.Len(t, events, 1)
	assert.Equal(t, "orders", events[0].Name)
	assert.EqualError(t, events[0].Err, "503 Service Unavailable (GET example.com/)")
}
