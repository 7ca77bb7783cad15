package retryhttp_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
)

// TestLogLine says which request failed, so that twenty of one host can be told apart, and nothing that may be secret.
func TestLogLine(t *testing.T) {
	var lines bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	transport := retryhttp.NewTransport(&answers{codes: []int{503, 0, 404}}, atOnce, retry.WithLogger(logger))
	r := newRequest(t, "GET", "http://user:hunter2@example.com:8080/orders/17?token=s3cret", nil)
	response, err := transport.RoundTrip(r)
	require.NoError(t, err)
	_ = response.Body.Close()
	got := strings.Split(strings.TrimSpace(lines.String()), "\n")
	require.Len(t, got, 3)
	const request = "http.request.method=GET server.address=example.com server.port=8080 url.path=/orders/17"
	assert.Contains(t, got[0], `error="503 Service Unavailable (GET example.com:8080/orders/17)" `+request+" http.response.status_code=503")
	assert.True(t, strings.HasSuffix(got[1], "error=boom "+request), got[1])
	assert.Contains(t, got[2], `msg="not retried"`)
	assert.Contains(t, got[2], request+" http.response.status_code=404")
	for _, secret := range []string{"hunter2", "s3cret", "user"} {
		assert.NotContains(t, lines.String(), secret)
	}
}

func TestLogAttrs(t *testing.T) {
	at := func(u *url.URL) *retryhttp.Failure { return &retryhttp.Failure{Request: &http.Request{URL: u}} }
	parse := func(text string) *url.URL {
		u, err := url.Parse(text)
		require.NoError(t, err)
		return u
	}
	for name, x := range map[string]struct {
		failure *retryhttp.Failure
		want    string
	}{
		"nil":          {nil, "[]"},
		"no request":   {new(retryhttp.Failure), "[]"},
		"no URL":       {at(nil), "[]"},
		"an empty URL": {at(new(url.URL)), "[http.request.method=GET server.address=]"},
		"no path":      {at(parse("http://example.com")), "[http.request.method=GET server.address=example.com]"},
		"IPv6":         {at(parse("http://[::1]:80/a")), "[http.request.method=GET server.address=::1 server.port=80 url.path=/a]"},
		"escaped":      {at(&url.URL{Host: "a", Path: "/é\n"}), "[http.request.method=GET server.address=a url.path=/%C3%A9%0A]"},
		"opaque":       {at(parse("http:user:pw@host?q")), "[http.request.method=GET server.address=]"},
		"long": {at(parse("http://a/" + strings.Repeat("é", 1000))), "[http.request.method=GET server.address=a url.path=" +
			("/" + strings.Repeat("%C3%A9", 100))[:256] + "…]"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			b.WriteByte('[')
			for i, a := range x.failure.LogAttrs() {
				if i > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(a.String())
			}
			assert.Equal(t, x.want, b.String()+"]")
		})
	}
}
