package condition_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

func TestRetryableHTTP(t *testing.T) {
	get := func(err error) error { return &url.Error{Op: "Get", URL: "http://invalid header/", Err: err} }
	for _, tt := range []struct {
		name string
		err  error
		want condition.Verdict
	}{
		{"redirects", get(errors.New("stopped after 10 redirects")), stop},
		{"redirects, other number", get(errors.New("stopped after 3 redirects")), stop},
		{"redirects, no number", get(errors.New("stopped after redirects")), again},
		{"redirects, no number but a space", get(errors.New("stopped after  redirects")), again},
		{"redirects, not at the end", get(errors.New("stopped after 10 redirects.")), again},
		{"scheme", get(errors.New(`unsupported protocol scheme "ftp"`)), stop},
		{"scheme, wrapped in it", get(fmt.Errorf("outer: %w", errors.New("unsupported protocol scheme"))), stop},
		{"header", get(errors.New(`net/http: invalid header field name "a b"`)), stop},
		{"certificate text", get(errors.New("x509: certificate is not trusted")), stop},
		{"certificate", get(&tls.CertificateVerificationError{Err: errA}), stop},
		{"certificate, wrapped in it", get(fmt.Errorf("outer: %w", &tls.CertificateVerificationError{Err: errA})), again},
		{"certificate, bare", &tls.CertificateVerificationError{Err: errA}, again},
		{"wrapped", fmt.Errorf("outer: %w", get(errors.New("stopped after 10 redirects"))), again},
		{"no url.Error", errors.New("stopped after 10 redirects"), again},
		{"no such host", get(&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}), again},
		{"hollow", get(nil), again},
		{"hollow inside", get((*fault)(nil)), again},
		{"status in a url.Error", get(withStatus(404)), again},
		{"canceled", context.Canceled, again},
		{"end of stream", io.EOF, again},

		{"429", withStatus(429), throttled},
		{"500", withStatus(500), again},
		{"501", withStatus(501), stop},
		{"999", withStatus(999), again},
		{"404", withStatus(404), stop},
		{"200", withStatus(200), stop},
		{"no status", withStatus(0), again},
		{"wrapped status", fmt.Errorf("outer: %w", withStatus(404)), stop},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, condition.RetryableHTTP().Check(tt.err)) })
	}
	wrapped := fmt.Errorf("outer: %w", get(&tls.CertificateVerificationError{Err: errA}))
	require.Equal(t, stop, condition.Any(condition.Hopeless(), condition.RetryableHTTP()).Check(wrapped), "as documented")
}

// TestRetryableHTTPDecides: a policy is told that nothing behind it would be asked.
func TestRetryableHTTPDecides(t *testing.T) {
	for _, c := range []condition.Condition{condition.RetryableHTTP(), condition.Any(condition.Network(), condition.RetryableHTTP()), condition.Only()} {
		decides, ok := c.(interface{ Decides() bool })
		require.True(t, ok && decides.Decides())
	}
	for _, err := range sampleErrors() {
		require.Equal(t, err == nil, condition.RetryableHTTP().Check(err) == unknown, "%T", err)
	}
}

// TestRetryableHTTPOverLoopback: what net/http's client really says when it gives up.
func TestRetryableHTTPOverLoopback(t *testing.T) {
	s, client := server(t, (*httptest.Server).StartTLS, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/loop", http.StatusFound)
	})
	stranger := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(client *http.Client, to string, header string) error {
		request, err := http.NewRequest(http.MethodGet, to, nil)
		require.NoError(t, err)
		request.Header[header] = []string{"1"}
		return failed(client.Do(request))
	}
	for name, err := range map[string]error{
		"redirects":   get(client, s.URL, "X"),
		"scheme":      get(client, "ftp://127.0.0.1/", "X"),
		"header":      get(client, s.URL, "not a name"),
		"certificate": get(stranger, s.URL, "X"),
	} {
		require.Equal(t, stop, condition.RetryableHTTP().Check(err), "%s: %v", name, err)
	}
}
