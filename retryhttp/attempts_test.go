package retryhttp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
)

// TestAttempts: the number is that of the requests which this transport sent, also through what http.Client wraps around a
// response, and with ends that are no success.
func TestAttempts(t *testing.T) {
	assert.Zero(t, retryhttp.Attempts(nil))
	assert.Equal(t, 1, retryhttp.Attempts(&http.Response{}), "not sent by a Transport")
	for _, tc := range []struct {
		codes []int
		want  int
	}{{[]int{200}, 1}, {[]int{503, 200}, 2}, {[]int{503, 0, 200}, 3}, {[]int{503}, 5}, {[]int{404}, 1}, {[]int{500, 404}, 2}} {
		for _, timeout := range []time.Duration{0, time.Minute} {
			client := &http.Client{Transport: retryhttp.NewTransport(&answers{codes: tc.codes}, atOnce), Timeout: timeout}
			response, err := client.Do(get(t))
			require.NoError(t, err)
			assert.Equal(t, tc.want, retryhttp.Attempts(response), tc.codes)
			assert.Equal(t, "body", read(t, response))
			assert.Equal(t, tc.want, retryhttp.Attempts(response), "read and closed")
		}
	}
}

// TestAttemptsOfTheOuterTransport count, where one is the other's base.
func TestAttemptsOfTheOuterTransport(t *testing.T) {
	base := &answers{codes: []int{503, 200}}
	inner := retryhttp.NewTransport(base, atOnce)
	response, err := retryhttp.NewTransport(inner, atOnce).RoundTrip(get(t))
	require.NoError(t, err)
	assert.Equal(t, 1, retryhttp.Attempts(response))
	assert.Len(t, base.requests, 2)
}

// TestAttemptsOfARequestSentAnew: the request in a response, and its context, carry nothing over to another call.
func TestAttemptsOfARequestSentAnew(t *testing.T) {
	transport := retryhttp.NewTransport(&answers{codes: []int{503, 200}}, atOnce)
	first, err := transport.RoundTrip(get(t))
	require.NoError(t, err)
	require.Equal(t, 2, retryhttp.Attempts(first))
	again, err := transport.RoundTrip(first.Request)
	require.NoError(t, err)
	assert.Equal(t, 1, retryhttp.Attempts(again))
	with, err := transport.RoundTrip(get(t).WithContext(first.Request.Context()))
	require.NoError(t, err)
	assert.Equal(t, 1, retryhttp.Attempts(with))
	assert.Equal(t, 2, retryhttp.Attempts(first))
	assert.Equal(t, 1, retryhttp.Attempts(&http.Response{Request: get(t).WithContext(first.Request.Context())}), "by another transport")
}

// TestAttemptsWithoutRetry is 1.
func TestAttemptsWithoutRetry(t *testing.T) {
	r := get(t)
	response, err := retryhttp.NewTransport(&answers{codes: []int{503, 200}}, atOnce).RoundTrip(r.WithContext(retry.ContextWithoutRetry(r.Context())))
	require.NoError(t, err)
	assert.Equal(t, 1, retryhttp.Attempts(response))
}
