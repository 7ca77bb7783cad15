package retryhttp_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestKeyInUse: a 409 while the server is still at work on an earlier attempt with the same key is repeated; any other is an
// answer. https://github.com/stripe/stripe-ruby/issues/431
func TestKeyInUse(t *testing.T) {
	keyed := func(t *testing.T) *http.Request {
		r := post(t, "x")
		r.Header.Set("Idempotency-Key", "k")
		return r
	}
	unkeyed := func(t *testing.T) *http.Request { return newRequest(t, "PUT", "http://example.com/", newReader("x")) }
	for _, tc := range []struct {
		name     string
		request  func(*testing.T) *http.Request
		codes    []int // 0: no answer
		statuses map[int]retryhttp.Repeat
		want     int
	}{
		{"after no answer", keyed, []int{0, 409, 409, 200}, nil, 4},
		{"after 504", keyed, []int{504, 409, 200}, nil, 3},
		{"first", keyed, []int{409, 200}, nil, 1},
		{"after 429, which did nothing", keyed, []int{429, 409, 200}, nil, 2},
		{"no key", unkeyed, []int{0, 409, 200}, nil, 2},
		{"said otherwise", keyed, []int{0, 409, 200}, map[int]retryhttp.Repeat{409: retryhttp.RepeatNever}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base := &answers{codes: tc.codes}
			transport := retryhttp.NewTransport(sending(base), atOnce)
			transport.Statuses = tc.statuses
			response, err := transport.RoundTrip(tc.request(t))
			require.NoError(t, err)
			assert.Equal(t, "body", read(t, response))
			assert.Len(t, base.requests, tc.want)
		})
	}

	base := &answers{codes: []int{0, 409, 200}}
	transport := retryhttp.NewTransport(sending(base), atOnce)
	transport.IdempotencyKey = retryhttp.NewKey
	response, err := transport.RoundTrip(post(t, "x"))
	require.NoError(t, err)
	assert.Equal(t, 200, response.StatusCode, "a generated key")
}

// sending makes a base say that it has written the header of each request.
func sending(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).WroteHeaders()
		return base.RoundTrip(r)
	})
}

// TestCanceledByTheTimeout: an attempt timeout that surfaces as context.Canceled is a timeout to those who count.
func TestCanceledByTheTimeout(t *testing.T) {
	clk := retrytest.NewClock()
	told := &history{}
	transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).WroteHeaders()
		clk.Block(r.Context())
		return nil, context.Canceled
	}), atOnce, retry.WithClock(clk), retry.WithAttemptTimeout(time.Second), retry.WithThrottle(told))
	_, err := transport.RoundTrip(post(t, "x"))
	require.ErrorIs(t, err, retry.ErrAttemptTimeout)
	assert.Equal(t, []throttle.Class{throttle.Timeout}, told.classes)
}

// TestNotYetValid: a certificate that will be valid is waited for, whatever the method; one that was is not.
func TestNotYetValid(t *testing.T) {
	for _, tc := range []struct {
		year, want int
	}{{1960, 2}, {2200, 1}} {
		for _, method := range []string{"GET", "POST"} {
			transport := retryhttp.NewTransport(nil, atOnce, retry.WithMaxAttempts(2))
			s := startServer(t, transport, (*httptest.Server).StartTLS, func(int, http.ResponseWriter, *http.Request) {})
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			trust(s)
			handshakes := 0
			s.base.TLSClientConfig.Time = func() time.Time {
				if handshakes++; handshakes == 2 && tc.want == 2 {
					return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
				}
				return time.Date(tc.year, 1, 1, 0, 0, 0, 0, time.UTC)
			}
			response, err := s.client.Do(newRequest(t, method, s.URL, newReader("x")))
			if tc.want == 1 {
				require.ErrorAs(t, err, new(*tls.CertificateVerificationError))
				assert.EqualValues(t, 1, s.opened.Load())
				continue
			}
			require.NoError(t, err)
			assert.Empty(t, read(t, response))
			assert.EqualValues(t, 2, s.opened.Load())
		}
	}
}

// TestShortBody: a body that is shorter than it was said to be is hopeless, unless a condition knows that the next is whole. But
// no condition makes a POST safe that was sent.
func TestShortBody(t *testing.T) {
	short := condition.Func(func(err error) condition.Verdict {
		if strings.Contains(err.Error(), "with Body length") {
			return condition.Retry
		}
		return condition.Unknown
	})
	for _, tc := range []struct {
		method string
		opts   []retry.Option
		want   string
	}{
		{"PUT", nil, ""},
		{"PUT", []retry.Option{retry.WithCondition(short)}, "whole"},
		{"POST", []retry.Option{retry.WithCondition(short)}, ""},
		{"POST", []retry.Option{retry.WithRetryIf(func(error) bool { return true })}, ""},
	} {
		transport := retryhttp.NewTransport(nil, append(tc.opts, atOnce)...)
		s := newServer(t, transport, func(_ int, w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
		r := newRequest(t, tc.method, s.URL, io.MultiReader(newReader("who")))
		r.ContentLength = 5
		attempts := 1
		r.GetBody = func() (io.ReadCloser, error) {
			attempts++
			return io.NopCloser(newReader("whole")), nil
		}
		response, err := s.client.Do(r)
		if tc.want == "" {
			require.ErrorContains(t, err, "with Body length 3")
			assert.False(t, errors.As(err, new(*retry.Error)))
			assert.Equal(t, 1, attempts)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, tc.want, read(t, response))
		assert.Equal(t, 2, attempts)
	}
}

// TestHTTP2BufferedBody: what the server has not begun is sent again with the body that is kept, whatever the method (RFC 9113,
// section 8.7). Without BufferBody it cannot be, and says so.
func TestHTTP2BufferedBody(t *testing.T) {
	const refused = 7
	for name, end := range map[string]func(stream uint32) ([]byte, bool){
		"REFUSED_STREAM": func(stream uint32) ([]byte, bool) { return resetStream(stream, refused), false },
		"GOAWAY":         func(uint32) ([]byte, bool) { return goAway(0, 0), false },
	} {
		for _, limit := range []int64{0, 2, 10} {
			s := newFrameServer(t, func(n int, stream uint32) ([]byte, bool) {
				if n == 1 {
					return end(stream)
				}
				return ok(stream), false
			})
			transport := retryhttp.NewTransport(s.base, atOnce)
			transport.BufferBody = limit
			client := &http.Client{Transport: transport}
			response, err := client.Do(newRequest(t, "POST", s.url, io.MultiReader(newReader("body"))))
			if limit == 10 {
				require.NoError(t, err, name)
				_ = response.Body.Close()
				assert.EqualValues(t, 2, s.requests.Load(), name)
			} else if err != nil { // it may have been refused before anything of the body was read
				require.ErrorIs(t, err, retryhttp.ErrBody, name)
				assert.EqualValues(t, 1, s.requests.Load(), name)
			} else {
				_ = response.Body.Close()
			}
		}
	}
}
