package retryhttp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// atOnce retries without a wait.
var atOnce = retry.WithStrategy(strategy.Constant{})

func TestZeroTransport(t *testing.T) {
	var transport retryhttp.Transport
	require.NoError(t, transport.Validate())
	s := newServer(t, &transport, func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	transport.Base = nil
	t.Cleanup(transport.CloseIdleConnections)
	response, err := s.client.Get(s.URL)
	require.NoError(t, err)
	require.Equal(t, "hello", read(t, response))

	assert.EqualValues(t, 64<<10, retryhttp.DefaultDrainBytes)
	assert.Equal(t, 100*time.Millisecond, retryhttp.DefaultDrainTime)
}

// TestNewTransport: a policy of its own, that of the options, or their error.
func TestNewTransport(t *testing.T) {
	policy := retry.MustNew(retry.WithMaxAttempts(2))
	assert.Same(t, policy, retryhttp.NewTransport(nil, policy).Policy)

	base := &answers{codes: []int{500}}
	response, err := retryhttp.NewTransport(base, policy, atOnce).RoundTrip(get(t))
	require.NoError(t, err)
	assert.Equal(t, 500, response.StatusCode)
	assert.Len(t, base.requests, 2)

	client := retryhttp.NewClient(policy)
	assert.Zero(t, client.Timeout)
	assert.Nil(t, client.Transport.(*retryhttp.Transport).Base)
}

func TestInvalidTransport(t *testing.T) {
	for name, tc := range map[string]struct {
		transport *retryhttp.Transport
		option    string
	}{
		"option":        {retryhttp.NewTransport(nil, retry.WithMaxAttempts(0)), "WithMaxAttempts"},
		"nil policy":    {retryhttp.NewTransport(nil, (*retry.Policy)(nil)), "Policy"},
		"status":        {&retryhttp.Transport{Statuses: map[int]retryhttp.Repeat{99: retryhttp.RepeatAlways}}, "Transport.Statuses"},
		"repeat":        {&retryhttp.Transport{Statuses: map[int]retryhttp.Repeat{500: 3}}, "Transport.Statuses"},
		"base":          {&retryhttp.Transport{Base: (*http.Transport)(nil)}, "Transport.Base"},
		"base function": {&retryhttp.Transport{Base: roundTripper(nil)}, "Transport.Base"},
		"gate":          {&retryhttp.Transport{Gate: &throttle.Gate{MaxKeys: -1}}, "Transport.Gate"},
		"parser":        {&retryhttp.Transport{Parser: hint.Parsers(nil)}, "Transport.Parser"},
		"fallback": {retryhttp.NewTransport(nil, retry.WithFallback(func(context.Context, error) (int, error) { return 0, nil })),
			"WithFallback"},
	} {
		t.Run(name, func(t *testing.T) {
			base := &answers{codes: []int{200}}
			if tc.transport.Base == nil {
				tc.transport.Base = base
			}
			body := &trackedBody{Reader: strings.NewReader("x")}
			_, err := tc.transport.RoundTrip(newRequest(t, http.MethodPost, "http://example.com", body))
			var config *retry.ConfigError
			require.ErrorAs(t, err, &config)
			assert.Equal(t, tc.option, config.Option)
			assert.Empty(t, base.requests)
			assert.EqualValues(t, 1, body.closes.Load())
			if name != "fallback" { // of which type it is only a call sees
				require.ErrorAs(t, tc.transport.Validate(), &config)
				assert.Equal(t, tc.option, config.Option)
			}
		})
	}
	_, err := new(retryhttp.Transport).RoundTrip(nil)
	assert.EqualError(t, err, "retryhttp: nil Request")

	for range 10 { // the same of several each time
		err := (&retryhttp.Transport{Statuses: map[int]retryhttp.Repeat{7: 1, 8: 1, 600: 9, 700: 9}}).Validate()
		assert.EqualError(t, err, "retry: Transport.Statuses(7): must be from 200 to 999")
	}

	var none *retryhttp.Transport
	body := &trackedBody{Reader: strings.NewReader("x")}
	_, err = none.RoundTrip(newRequest(t, http.MethodPost, "http://example.com", body))
	assert.EqualError(t, err, "retry: Transport(nil): must not be nil")
	assert.EqualValues(t, 1, body.closes.Load())
	assert.Equal(t, none.Validate(), err)
	assert.NotPanics(t, none.CloseIdleConnections)
}

// TestLastResponse: the last answer comes back with a nil error and an open body, whyever there is no further attempt.
func TestLastResponse(t *testing.T) {
	budget := denyAll{}
	stop := make(chan struct{})
	close(stop)
	for name, tc := range map[string]struct {
		opts     []retry.Option
		fields   []string
		attempts int
	}{
		"exhausted":    {[]retry.Option{atOnce, retry.WithMaxAttempts(3)}, nil, 3},
		"budget":       {[]retry.Option{retry.WithBudget(budget)}, nil, 1},
		"max elapsed":  {[]retry.Option{retry.WithMaxElapsed(time.Second), retry.WithStrategy(strategy.Constant{Delay: time.Hour})}, nil, 1},
		"no delay":     {[]retry.Option{retry.WithStrategy(strategy.Sequence{Delays: []time.Duration{0}})}, nil, 2},
		"too long":     {nil, []string{"Retry-After", "61"}, 1},
		"should retry": {nil, []string{"X-Should-Retry", "false"}, 1},
		"condition":    {[]retry.Option{retry.WithRetryIf(func(error) bool { return false })}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			base := &answers{codes: []int{503}, fields: tc.fields}
			response, err := retryhttp.NewTransport(base, append(tc.opts, retry.WithClock(retrytest.NewClock()))...).RoundTrip(get(t))
			require.NoError(t, err)
			assert.Equal(t, 503, response.StatusCode)
			assert.Equal(t, "body", read(t, response))
			assert.Len(t, base.requests, tc.attempts)
		})
	}
}

type denyAll struct{}

func (denyAll) Start(time.Time)                                         {}
func (denyAll) Charge(time.Time, throttle.Class, int, bool) (int, bool) { return 0, false }
func (denyAll) Settle(time.Time, bool, int)                             {}

// TestErrorOnExhausted: what is given up on becomes an error with the answer in it; a plain answer stays one.
func TestErrorOnExhausted(t *testing.T) {
	base := &answers{codes: []int{503}}
	transport := retryhttp.NewTransport(base, atOnce, retry.WithMaxAttempts(2), retry.WithErrorHistory(1))
	transport.ErrorOnExhausted = true
	response, err := transport.RoundTrip(get(t))
	require.Nil(t, response)
	require.ErrorIs(t, err, retry.ErrExhausted)
	assert.ErrorContains(t, err, "503 Service Unavailable (GET example.com/) (retry: gave up after 2 attempts")
	var failure *retryhttp.Failure
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, "body", read(t, failure.Response))

	transport.DrainBytes = 3
	_, err = transport.RoundTrip(get(t))
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, "bod", read(t, failure.Response))

	base.codes = []int{404}
	response, err = transport.RoundTrip(get(t))
	require.NoError(t, err)
	assert.Equal(t, "body", read(t, response))
	base.codes = []int{500}
	response, err = transport.RoundTrip(post(t, "x"))
	require.NoError(t, err, "a POST is not repeated after 500")
	assert.Equal(t, "body", read(t, response))
}

// TestBaseBreaksTheContract: neither, or both. P45.
func TestP45BaseBreaksTheContract(t *testing.T) {
	calls := 0
	transport := retryhttp.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { calls++; return nil, nil }))
	response, err := transport.RoundTrip(get(t))
	assert.Nil(t, response)
	assert.EqualError(t, err, "retryhttp: Base returned neither a response nor an error")
	assert.Equal(t, 1, calls)

	body := &trackedBody{Reader: strings.NewReader("x")}
	transport = retryhttp.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: body}, context.Canceled
	}))
	response, err = transport.RoundTrip(get(t))
	assert.Nil(t, response)
	assert.Equal(t, context.Canceled, err)
	assert.EqualValues(t, 1, body.closes.Load())

	transport = retryhttp.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 503}, nil // no header, no body
	}), atOnce, retry.WithAttemptTimeout(time.Minute))
	response, err = transport.RoundTrip(get(t))
	require.NoError(t, err)
	assert.Empty(t, read(t, response))

	transport = retryhttp.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, (*net.OpError)(nil) // whose methods panic
	}), atOnce)
	_, err = transport.RoundTrip(get(t))
	assert.EqualError(t, err, "retryhttp: Base returned neither a response nor an error")
}

// TestPanicPassesThrough: what the caller handed over is closed all the same, and so is what was answered.
func TestPanicPassesThrough(t *testing.T) {
	transport := retryhttp.NewTransport(&answers{codes: []int{200}})
	transport.Sign = func(*http.Request) error { panic(errBoom) }
	body := &trackedBody{Reader: strings.NewReader("x")}
	assert.PanicsWithValue(t, errBoom, func() {
		_, _ = transport.RoundTrip(newRequest(t, http.MethodPost, "http://example.com", body))
	})
	assert.EqualValues(t, 1, body.closes.Load())

	for name, option := range map[string]retry.Option{
		"condition": retry.WithRetryIf(func(error) bool { panic(errBoom) }),
		"observer":  retry.WithObserver(onFailure(func(error) { panic(errBoom) })),
	} {
		body := &trackedBody{Reader: strings.NewReader("x")}
		transport := retryhttp.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 503, Body: body}, nil
		}), option)
		assert.PanicsWithValue(t, errBoom, func() { _, _ = transport.RoundTrip(get(t)) })
		assert.EqualValues(t, 1, body.closes.Load(), name)
	}
}

// TestErrorsAsNetHTTPHasThem: what is not retried is the base's own error, and a timeout says that it is one.
func TestErrorsAsNetHTTPHasThem(t *testing.T) {
	transport := retryhttp.NewTransport(&answers{codes: []int{0}})
	_, err := transport.RoundTrip(post(t, "x"))
	assert.Equal(t, errBoom, err, "not repeated: as it is")

	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err = (&http.Client{Transport: transport}).Do(get(t).WithContext(ctx))
	var timeout interface{ Timeout() bool }
	require.ErrorAs(t, err, &timeout)
	assert.True(t, timeout.Timeout())
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	var gaveUp *retry.Error
	require.ErrorAs(t, err, &gaveUp)
	assert.Zero(t, gaveUp.Attempts)

	base := roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
	})
	_, err = (&http.Client{Transport: retryhttp.NewTransport(base, atOnce)}).Do(get(t))
	require.ErrorIs(t, err, retry.ErrExhausted)
	assert.True(t, err.(*url.Error).Timeout())

	ctx, cancelCause := context.WithCancelCause(t.Context())
	cancelCause(errBoom)
	_, err = transport.RoundTrip(get(t).WithContext(ctx))
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, errBoom)
	assert.False(t, errors.As(err, &timeout) && timeout.Timeout())
}

// TestParentComesFirst: a context that ends during an attempt ends the call, whatever the attempt came to.
func TestParentComesFirst(t *testing.T) {
	for name, give := range map[string]func() (*http.Response, error){
		"error":  func() (*http.Response, error) { return nil, errBoom },
		"answer": func() (*http.Response, error) { return answer(503, "body", "X-Should-Retry", "true"), nil },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		transport := retryhttp.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
			calls++
			cancel()
			return give()
		}), atOnce)
		response, err := transport.RoundTrip(get(t).WithContext(ctx))
		assert.Equal(t, 1, calls, name)
		if name == "error" {
			assert.ErrorIs(t, err, context.Canceled)
			assert.ErrorIs(t, err, errBoom)
			continue
		}
		require.NoError(t, err, "it was answered in time")
		assert.Equal(t, "body", read(t, response))
	}

	// In the wait: the response is gone, both errors are there.
	clk := retrytest.NewClock()
	ctx, cancel := context.WithCancel(t.Context())
	clk.AfterFunc(500*time.Millisecond, cancel)
	transport := retryhttp.NewTransport(&answers{codes: []int{503}}, retry.WithClock(clk), retry.WithStrategy(strategy.Constant{Delay: time.Second}))
	response, err := transport.RoundTrip(get(t).WithContext(ctx))
	assert.Nil(t, response)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 500*time.Millisecond, clk.Elapsed())
	var failure *retryhttp.Failure
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, 503, failure.HTTPStatusCode())
}

// TestRequestCancel: the channel that http.Client.Timeout closes.
func TestRequestCancel(t *testing.T) {
	cancel := make(chan struct{})
	r := get(t)
	r.Cancel = cancel //lint:ignore SA1019 net/http heeds it still
	calls := 0
	transport := retryhttp.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
		calls++
		close(cancel)
		return nil, errBoom
	}), atOnce)
	_, err := transport.RoundTrip(r)
	assert.Equal(t, errBoom, err)
	assert.Equal(t, 1, calls)
	_, err = transport.RoundTrip(r)
	assert.EqualError(t, err, "retryhttp: Request.Cancel was closed")
	assert.Equal(t, 1, calls)
}

func TestCloseIdleConnections(t *testing.T) {
	base := &idle{}
	(&http.Client{Transport: retryhttp.NewTransport(base)}).CloseIdleConnections()
	assert.Equal(t, 1, base.closes)
	retryhttp.NewTransport(&answers{}).CloseIdleConnections()
}

type idle struct {
	http.RoundTripper
	closes int
}

func (i *idle) CloseIdleConnections() { i.closes++ }
