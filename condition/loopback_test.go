package condition_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// TestRealErrors asks about errors as the standard library makes them, on loopback.
func TestRealErrors(t *testing.T) {
	type answers struct{ network, timeout, hopeless condition.Verdict }
	for _, tt := range []struct {
		name string
		make func(t *testing.T) error
		want answers
	}{
		{"dial refused", dialRefused, answers{network: again}},
		{"get refused", getRefused, answers{network: again}},
		{"reset", reset, answers{network: again}},
		{"server closes", serverCloses, answers{network: again}},
		{"server closes before the answer", serverClosesBeforeAnswer, answers{network: again}},
		{"body cut short", bodyCutShort, answers{network: again}},
		{"JSON cut short", jsonCutShort, answers{network: again}},
		{"closed here", closedHere, answers{network: again}},
		{"connection deadline", connDeadline, answers{network: again, timeout: again}},
		{"client timeout", clientTimeout, answers{network: again, timeout: again}},
		{"request deadline", requestDeadline, answers{timeout: again}},
		{"context deadline", contextDeadline, answers{timeout: again}},
		{"dial with a past deadline", dialDeadline, answers{network: again, timeout: again}},
		{"canceled dial", dialCanceled, answers{}},
		{"canceled request", requestCanceled, answers{}},
		{"bad request", statusError, answers{}},
		{"unknown authority", tlsError(func(c *tls.Config) { c.RootCAs = nil }), answers{hopeless: stop}},
		{"wrong host name", tlsError(func(c *tls.Config) { c.ServerName = "wrong.invalid" }), answers{hopeless: stop}},
		{"expired", tlsError(func(c *tls.Config) {
			c.Time = func() time.Time { return time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) }
		}), answers{hopeless: stop}},
		{"not yet valid", tlsError(func(c *tls.Config) {
			c.Time = func() time.Time { return time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC) }
		}), answers{}},
		{"versions apart", tlsVersions, answers{hopeless: stop}},
		{"client certificate missing", clientCertificate, answers{hopeless: stop}},
		{"https to http", httpsToHTTP, answers{hopeless: stop}},
		{"TLS to plain text", tlsToPlain, answers{hopeless: stop}},
		{"unsupported scheme", get("gopher://127.0.0.1/"), answers{hopeless: stop}},
		{"no scheme", get("127.0.0.1"), answers{hopeless: stop}},
		{"no host", get("http:///path"), answers{hopeless: stop}},
		{"bad URL", get("http://[::1"), answers{hopeless: stop}},
		{"bad header", badHeader, answers{hopeless: stop}},
		{"bad method", badMethod, answers{hopeless: stop}},
		{"bad trailer", refused(func(r *http.Request) { r.Trailer = http.Header{"A B": nil} }), answers{hopeless: stop}},
		{"bad host, to a proxy", viaProxy("http://a.invalid", "b c"), answers{hopeless: stop}},
		{"bad path", refused(func(r *http.Request) { r.URL.RawQuery = "a\x00b" }), answers{hopeless: stop}},
		{"body too short", refused(withBody("abc", 5)), answers{hopeless: stop}},
		{"body too long", refused(withBody("abc", 1)), answers{hopeless: stop}},
		{"body missing", refused(func(r *http.Request) { r.ContentLength = 5 }), answers{hopeless: stop}},
		{"body too long for HTTP/2", tooLongForHTTP2, answers{hopeless: stop}},
		{"proxy wants a password", viaProxy("https://a.invalid", ""), answers{hopeless: stop}},
		{"redirect loop", redirectLoop, answers{hopeless: stop}},
		{"bad JSON", badJSON, answers{hopeless: stop}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.make(t)
			require.Error(t, err)
			got := answers{condition.Network().Check(err), condition.Timeout().Check(err), condition.Hopeless().Check(err)}
			require.Equal(t, tt.want, got, "%T: %v", err, err)
		})
	}
}

// serve answers each connection to the returned address with f, until the test ends.
func serve(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			f(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

// server starts an HTTP server and a client for it that leave nothing behind.
func server(t *testing.T, start func(*httptest.Server), h http.HandlerFunc) (*httptest.Server, *http.Client) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	start(s)
	t.Cleanup(s.Close)
	t.Cleanup(s.Client().CloseIdleConnections)
	return s, s.Client()
}

func failed(resp *http.Response, err error) error {
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// unusedAddr is where nobody listens, and nobody else can before the end of the test: the client's end of a connection.
func unusedAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return dial(t, l.Addr().String()).LocalAddr().String()
}

func dialRefused(t *testing.T) error { return second(net.Dial("tcp", unusedAddr(t))) }

func getRefused(t *testing.T) error { return failed(http.Get("http://" + unusedAddr(t))) }

func reset(t *testing.T) error {
	conn := dial(t, serve(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1))
		_ = conn.(*net.TCPConn).SetLinger(0) // closing then sends RST
	}))
	_, err := conn.Write([]byte("x"))
	require.NoError(t, err)
	return second(conn.Read(make([]byte, 1)))
}

func serverCloses(t *testing.T) error {
	return second(dial(t, serve(t, func(net.Conn) {})).Read(make([]byte, 1)))
}

func serverClosesBeforeAnswer(t *testing.T) error {
	addr := serve(t, func(conn net.Conn) { _, _ = conn.Read(make([]byte, 1024)) })
	return failed(http.Post("http://"+addr, "text/plain", http.NoBody))
}

func bodyCutShort(t *testing.T) error { return second(io.ReadAll(cutShort(t, `{"a":1}`))) }

func jsonCutShort(t *testing.T) error {
	return json.NewDecoder(cutShort(t, `{"a":`)).Decode(new(any))
}

// cutShort is the body of an answer that promised more than it brings.
func cutShort(t *testing.T, body string) io.Reader {
	s, client := server(t, (*httptest.Server).Start, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, body)
	})
	resp, err := client.Get(s.URL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp.Body
}

func closedHere(t *testing.T) error {
	conn := dial(t, serve(t, func(net.Conn) {}))
	require.NoError(t, conn.Close())
	return second(conn.Read(make([]byte, 1)))
}

func connDeadline(t *testing.T) error {
	conn := dial(t, serve(t, func(conn net.Conn) { _, _ = conn.Read(make([]byte, 1)) }))
	require.NoError(t, conn.SetReadDeadline(time.Unix(1, 0)))
	return second(conn.Read(make([]byte, 1)))
}

// waiting is a handler that answers only when the client has gone.
func waiting(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func clientTimeout(t *testing.T) error {
	s, client := server(t, (*httptest.Server).Start, waiting)
	client.Timeout = time.Nanosecond
	return failed(client.Get(s.URL))
}

func requestWith(t *testing.T, ctx context.Context) error {
	s, client := server(t, (*httptest.Server).Start, waiting)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	require.NoError(t, err)
	return failed(client.Do(req))
}

func past(t *testing.T) context.Context {
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	t.Cleanup(cancel)
	return ctx
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func requestDeadline(t *testing.T) error { return requestWith(t, past(t)) }
func requestCanceled(t *testing.T) error { return requestWith(t, canceled(t)) }
func contextDeadline(t *testing.T) error { return past(t).Err() }

func dialWith(t *testing.T, ctx context.Context) error {
	return second(new(net.Dialer).DialContext(ctx, "tcp", serve(t, func(net.Conn) {})))
}

func dialDeadline(t *testing.T) error { return dialWith(t, past(t)) }
func dialCanceled(t *testing.T) error { return dialWith(t, canceled(t)) }

func statusError(*testing.T) error { return withStatus(http.StatusBadRequest) }

// tlsError is what a client gets whose configuration was changed by f.
func tlsError(f func(*tls.Config)) func(*testing.T) error {
	return func(t *testing.T) error {
		s, client := server(t, (*httptest.Server).StartTLS, waiting)
		f(client.Transport.(*http.Transport).TLSClientConfig)
		return failed(client.Get(s.URL))
	}
}

func tlsVersions(t *testing.T) error {
	s, client := server(t, func(s *httptest.Server) {
		s.TLS = &tls.Config{MinVersion: tls.VersionTLS13}
		s.StartTLS()
	}, waiting)
	client.Transport.(*http.Transport).TLSClientConfig.MaxVersion = tls.VersionTLS12
	return failed(client.Get(s.URL))
}

// clientCertificate only shakes hands and reads: a client that writes may see the connection reset before the alert.
func clientCertificate(t *testing.T) error {
	s, client := server(t, func(s *httptest.Server) {
		s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
		s.StartTLS()
	}, waiting)
	config := client.Transport.(*http.Transport).TLSClientConfig.Clone()
	config.ServerName = "example.com" // which the test certificate is for
	conn := tls.Client(dial(t, s.Listener.Addr().String()), config)
	require.NoError(t, conn.Handshake())
	return second(conn.Read(make([]byte, 1)))
}

func httpsToHTTP(t *testing.T) error {
	s, client := server(t, (*httptest.Server).Start, waiting)
	return failed(client.Get("https" + strings.TrimPrefix(s.URL, "http")))
}

func tlsToPlain(t *testing.T) error {
	s, _ := server(t, (*httptest.Server).Start, waiting)
	return tls.Client(dial(t, s.Listener.Addr().String()), &tls.Config{ServerName: "example.com"}).Handshake()
}

func get(url string) func(*testing.T) error {
	return func(*testing.T) error { return failed(http.Get(url)) }
}

func badHeader(t *testing.T) error {
	req, err := http.NewRequest(http.MethodGet, "http://127.0.0.1", nil)
	require.NoError(t, err)
	req.Header.Set("X-Name", "a\nb")
	return failed(http.DefaultClient.Do(req))
}

func badMethod(*testing.T) error {
	req := &http.Request{Method: "A B", URL: &url.URL{Scheme: "http", Host: "127.0.0.1"}, Header: http.Header{}}
	return failed(http.DefaultClient.Do(req))
}

// refused sends a request, changed so that it cannot be sent, to a server that would answer it only after all of its body.
func refused(change func(*http.Request)) func(*testing.T) error {
	return func(t *testing.T) error {
		s, client := server(t, (*httptest.Server).Start, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
		})
		req, err := http.NewRequest(http.MethodPut, s.URL, nil)
		require.NoError(t, err)
		change(req)
		return failed(client.Do(req))
	}
}

func withBody(text string, length int64) func(*http.Request) {
	return func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), length }
}

func tooLongForHTTP2(t *testing.T) error {
	start := func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() }
	s, client := server(t, start, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	req, err := http.NewRequest(http.MethodPut, s.URL, nil)
	require.NoError(t, err)
	withBody("abc", 1)(req)
	return failed(client.Do(req))
}

// viaProxy sends a request through a proxy that asks everybody for a password.
func viaProxy(url, host string) func(*testing.T) error {
	return func(t *testing.T) error {
		s, client := server(t, (*httptest.Server).Start, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusProxyAuthRequired)
		})
		req, err := http.NewRequest(http.MethodGet, s.URL, nil)
		require.NoError(t, err)
		client.Transport.(*http.Transport).Proxy = http.ProxyURL(req.URL)
		req, err = http.NewRequest(http.MethodGet, url, nil)
		require.NoError(t, err)
		req.Host = host
		return failed(client.Do(req))
	}
}

func redirectLoop(t *testing.T) error {
	s, client := server(t, (*httptest.Server).Start, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/", http.StatusFound)
	})
	return failed(client.Get(s.URL))
}

func badJSON(t *testing.T) error {
	s, client := server(t, (*httptest.Server).Start, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>")
	})
	resp, err := client.Get(s.URL)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	return json.NewDecoder(resp.Body).Decode(new(any))
}
