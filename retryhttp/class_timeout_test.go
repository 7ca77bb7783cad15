package retryhttp_test

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/throttle"
)

// A base transport may say of every context that ended that it was cancelled. To those who count failures, a POST that was
// sent and got no answer within the attempt's timeout is a timeout; only the caller's end is not the server's failure.
func TestTimeoutThatLooksCanceledIsATimeout(t *testing.T) {
	for timeout, want := range map[time.Duration]throttle.Class{time.Second: throttle.Timeout, time.Hour: throttle.Canceled} {
		clk, told := retrytest.NewClock(), &recorder{}
		transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
			if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteRequest != nil {
				trace.WroteRequest(httptrace.WroteRequestInfo{})
			}
			if timeout == time.Second {
				clk.Block(r.Context())
			}
			return nil, context.Canceled
		}), atOnce, retry.WithClock(clk), retry.WithAttemptTimeout(timeout), retry.WithThrottle(told))
		_, err := transport.RoundTrip(post(t, "x"))
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, want, told.last.Class, timeout)
	}
}
