package retryhttp_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retryhttp"
)

// standIn puts something in the place of http.DefaultTransport for the rest of the test.
func standIn(t *testing.T, base http.RoundTripper) {
	before := http.DefaultTransport
	http.DefaultTransport = base
	t.Cleanup(func() { http.DefaultTransport = before })
}

// silent2 is a transport of HTTP/2 to a server that answers nothing, not even a ping.
func silent2(config *http.HTTP2Config) *http.Transport {
	base := &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, theirs); _ = theirs.Close() }()
			return ours, nil
		},
		Protocols: new(http.Protocols),
		HTTP2:     config,
	}
	base.Protocols.SetUnencryptedHTTP2(true)
	return base
}

// TestPings: without a Base, connections of HTTP/2 that went silent are found by a ping. What stands in http.DefaultTransport is
// not changed, what it says itself about pings counts, and one that is put there later is used.
// https://github.com/kubernetes/kubernetes/issues/126954
func TestPings(t *testing.T) {
	for _, tc := range []struct {
		config *http.HTTP2Config
		want   time.Duration
	}{
		{nil, 45 * time.Second},
		{&http.HTTP2Config{}, 45 * time.Second},
		{&http.HTTP2Config{SendPingTimeout: time.Second}, 16 * time.Second},
		{&http.HTTP2Config{PingTimeout: time.Second}, 31 * time.Second},
	} {
		for _, client := range []func(...retry.Option) *http.Client{
			retryhttp.NewClient,
			func(opts ...retry.Option) *http.Client {
				return &http.Client{Transport: retryhttp.NewTransport(nil, opts...)}
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				base := silent2(tc.config)
				standIn(t, base)
				was := base.HTTP2
				began := time.Now()
				_, err := client(atOnce, retry.WithMaxAttempts(2)).Get("http://example.com")
				require.ErrorContains(t, err, "http2: client connection lost")
				assert.ErrorIs(t, err, retry.ErrExhausted)
				assert.Equal(t, condition.Retry, condition.Network().Check(err))
				assert.Equal(t, 2*tc.want, time.Since(began))
				assert.Same(t, was, base.HTTP2)
			})
		}
	}
}

// TestDefaultBase: what is no *http.Transport is used as it is, whenever it was put there, and connections are shared by all that
// have no Base.
func TestDefaultBase(t *testing.T) {
	base := &answers{codes: []int{200}}
	client := retryhttp.NewClient()
	standIn(t, base)
	response, err := client.Do(get(t))
	require.NoError(t, err)
	assert.Equal(t, "body", read(t, response))
	assert.Len(t, base.requests, 1)

	own := new(http.Transport)
	standIn(t, own)
	s := newServer(t, retryhttp.NewTransport(own), func(int, http.ResponseWriter, *http.Request) {})
	other := retryhttp.NewClient()
	for _, c := range []*http.Client{client, other, client} {
		response, err := c.Get(s.URL)
		require.NoError(t, err)
		assert.Empty(t, read(t, response))
	}
	assert.EqualValues(t, 1, s.opened.Load())
	other.CloseIdleConnections()
	response, err = client.Get(s.URL)
	require.NoError(t, err)
	assert.Empty(t, read(t, response))
	assert.EqualValues(t, 2, s.opened.Load())
	client.CloseIdleConnections()
}
