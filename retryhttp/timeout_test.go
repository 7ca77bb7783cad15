package retryhttp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrytest"
)

// TestP35BodyOutlivesTheAttempt: with an attempt timeout the whole body can be read, and its end releases the context.
func TestP35BodyOutlivesTheAttempt(t *testing.T) {
	const size = 512 << 10
	var request *http.Request
	transport := retryhttp.NewTransport(nil, retry.WithAttemptTimeout(time.Hour))
	transport.Sign = func(r *http.Request) error { request = r; return nil }
	s := newServer(t, transport, func(_ int, w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", size))
	})
	response, err := s.client.Get(s.URL)
	require.NoError(t, err)
	require.NoError(t, request.Context().Err())
	n, err := io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	assert.EqualValues(t, size, n)
	require.NoError(t, request.Context().Err())
	require.NoError(t, response.Body.Close())
	assert.ErrorIs(t, request.Context().Err(), context.Canceled)
}

// TestP37AttemptTimeout is not the caller's deadline.
func TestP37AttemptTimeout(t *testing.T) {
	clk := retrytest.NewClock()
	ctx, cancel := clk.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	calls := 0
	transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		calls++
		clk.Block(r.Context())
		return nil, context.Cause(r.Context())
	}), atOnce, retry.WithMaxAttempts(3), retry.WithAttemptTimeout(time.Second))
	ctx = retry.ContextWithClock(ctx, clk)
	_, err := (&http.Client{Transport: transport}).Do(get(t).WithContext(ctx))
	assert.Equal(t, 3, calls)
	assert.Equal(t, 3*time.Second, clk.Elapsed())
	assert.NoError(t, ctx.Err())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorIs(t, err, retry.ErrAttemptTimeout)
	assert.ErrorIs(t, err, retry.ErrExhausted)
	var timeout net.Error
	require.ErrorAs(t, err, &timeout)
	assert.True(t, timeout.Timeout())
	assert.True(t, err.(*url.Error).Temporary(), "as context.DeadlineExceeded")
	assert.ErrorContains(t, err, "gave up after 3 attempts")

	// A POST that may have been sent is not repeated, and still is a timeout.
	calls = 0
	_, err = transport.RoundTrip(post(t, "x").WithContext(ctx))
	assert.Equal(t, 1, calls)
	assert.ErrorIs(t, err, retry.ErrAttemptTimeout)
	assert.False(t, errors.As(err, new(*retry.Error)))
}

// TestP38StreamOutlivesTheTimeout: the attempt timeout covers the time until the response is there.
func TestP38StreamOutlivesTheTimeout(t *testing.T) {
	clk := retrytest.NewClock()
	more := make(chan struct{})
	transport := retryhttp.NewTransport(nil, retry.WithClock(clk), retry.WithAttemptTimeout(time.Second))
	s := newServer(t, transport, func(_ int, w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first ")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-more:
			_, _ = io.WriteString(w, "second")
		case <-r.Context().Done():
		}
	})
	response, err := s.client.Get(s.URL)
	require.NoError(t, err)
	clk.Advance(time.Hour)
	close(more)
	assert.Equal(t, "first second", read(t, response))
	assert.Zero(t, clk.OpenContexts())
}

// TestTimeoutWithAResponse: an attempt timeout that passes as the response comes in makes the attempt fail: its body would
// break off.
func TestTimeoutWithAResponse(t *testing.T) {
	clk := retrytest.NewClock()
	first := &trackedBody{Reader: newReader("lost")}
	calls := 0
	transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		if calls++; calls == 1 {
			clk.Block(r.Context())
			return &http.Response{StatusCode: 200, Body: first}, nil
		}
		return answer(200, "found"), nil
	}), atOnce, retry.WithClock(clk), retry.WithAttemptTimeout(time.Second))
	response, err := transport.RoundTrip(get(t))
	require.NoError(t, err)
	assert.Equal(t, "found", read(t, response))
	assert.Equal(t, 2, calls)
	assert.EqualValues(t, 1, first.closes.Load())
}

// TestStalledServer: over a real connection. A POST whose connection was made is not repeated; one that is still being
// connected is.
func TestStalledServer(t *testing.T) {
	clk := retrytest.NewClock()
	transport := retryhttp.NewTransport(nil, atOnce, retry.WithClock(clk), retry.WithMaxAttempts(3), retry.WithAttemptTimeout(time.Second))
	s := newServer(t, transport, func(_ int, _ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		clk.Advance(time.Second)
		<-r.Context().Done()
	})
	dial := s.base.DialContext
	var dials atomic.Int32
	s.base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return dial(ctx, network, address)
	}
	_, err := s.client.Get(s.URL)
	require.ErrorIs(t, err, retry.ErrAttemptTimeout)
	assert.EqualValues(t, 3, dials.Load())
	assert.EqualValues(t, 3, s.requests.Load())
	_, err = s.client.Post(s.URL, "text/plain", newReader("x"))
	require.ErrorIs(t, err, retry.ErrAttemptTimeout)
	assert.EqualValues(t, 4, dials.Load())
	assert.EqualValues(t, 4, s.requests.Load())

	s.base.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		dials.Add(1)
		clk.Advance(time.Second)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	_, err = s.client.Post(s.URL, "text/plain", newReader("x"))
	require.ErrorIs(t, err, retry.ErrAttemptTimeout)
	var gaveUp *retry.Error
	require.ErrorAs(t, err, &gaveUp)
	assert.Equal(t, 3, gaveUp.Attempts)
	assert.EqualValues(t, 7, dials.Load())
}

// TestDeadlineIsLookedAhead: no wait is begun that would outlast the request's deadline; what was answered comes back
// at once.
func TestDeadlineIsLookedAhead(t *testing.T) {
	clk := retrytest.NewClock()
	ctx, cancel := clk.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	base := &answers{codes: []int{503}}
	transport := retryhttp.NewTransport(base, retry.WithStrategy(constant(6*time.Second)), retry.WithClock(clk))
	response, err := transport.RoundTrip(get(t).WithContext(ctx))
	require.NoError(t, err)
	assert.Equal(t, "body", read(t, response))
	assert.Equal(t, []time.Duration{6 * time.Second}, clk.Waits())
	assert.Len(t, base.requests, 2)

	base.codes = []int{0}
	_, err = transport.RoundTrip(get(t).WithContext(ctx))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, errBoom)
	assert.Equal(t, 6*time.Second, clk.Elapsed())
}

// TestClientTimeout: the Timeout of http.Client is a deadline of the request's context, and known as such.
func TestClientTimeout(t *testing.T) {
	base := &answers{codes: []int{503}}
	client := &http.Client{Timeout: time.Minute, Transport: retryhttp.NewTransport(base, retry.WithStrategy(constant(time.Hour)))}
	response, err := client.Do(get(t))
	require.NoError(t, err)
	assert.Equal(t, "body", read(t, response))
	assert.Len(t, base.requests, 1)
}

// TestUpgrade: a connection that changed its protocol can still be written to, and closed in one direction.
func TestUpgrade(t *testing.T) {
	for _, opts := range [][]retry.Option{nil, {retry.WithAttemptTimeout(time.Minute)}} {
		transport := retryhttp.NewTransport(nil, opts...)
		s := newServer(t, transport, func(_ int, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "upgrade")
			w.Header().Set("Upgrade", "echo")
			w.WriteHeader(http.StatusSwitchingProtocols)
			conn, buffered, err := http.NewResponseController(w).Hijack()
			if assert.NoError(t, err) {
				all, _ := io.ReadAll(buffered) // to the end of what the client writes
				_, _ = io.WriteString(conn, "echo "+string(all))
				_ = conn.Close()
			}
		})
		r := newRequest(t, "GET", s.URL, nil)
		r.Header.Set("Connection", "upgrade")
		r.Header.Set("Upgrade", "echo")
		response, err := s.client.Do(r)
		require.NoError(t, err)
		require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode)
		_, err = io.WriteString(response.Body.(io.Writer), "hello\n")
		require.NoError(t, err)
		require.NoError(t, response.Body.(interface{ CloseWrite() error }).CloseWrite())
		assert.Equal(t, "echo hello\n", read(t, response))
	}

	// A Base of one's own may have nothing like that.
	transport := retryhttp.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: writable{answer(101, "").Body, io.Discard}}, nil
	}), retry.WithAttemptTimeout(time.Minute))
	response, err := transport.RoundTrip(get(t))
	require.NoError(t, err)
	assert.ErrorIs(t, response.Body.(interface{ CloseWrite() error }).CloseWrite(), http.ErrNotSupported)
	assert.Empty(t, read(t, response))
}

type writable struct {
	io.ReadCloser
	io.Writer
}
