package retryhttp_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retryhttp"
)

const whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// accept serves the connections of a listener, each in a goroutine, until the end of the test, which closes all of them.
func accept(t testing.TB, listener net.Listener, serve func(net.Conn)) {
	var all sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	ended := false
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			if conns = append(conns, conn); ended {
				_ = conn.Close()
			}
			mu.Unlock()
			all.Go(func() {
				serve(conn)
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		ended = true
		for _, conn := range conns {
			_ = conn.Close()
		}
		mu.Unlock()
		all.Wait()
	})
}

// rawServer is a TCP peer that reads the header of a request and then does what serve says with the connection.
type rawServer struct {
	url      string
	requests atomic.Int32
}

func newRawServer(t testing.TB, serve func(n int, conn net.Conn)) *rawServer {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &rawServer{url: "http://" + listener.Addr().String()}
	accept(t, listener, func(conn net.Conn) {
		if readHeader(conn) {
			serve(int(s.requests.Add(1)), conn)
		}
	})
	return s
}

// readHeader reads a request without a body, or with one that is in the same packet.
func readHeader(conn net.Conn) bool {
	r := bufio.NewReader(conn)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return false
		}
		if line == "\r\n" {
			_, _ = r.Discard(r.Buffered())
			return true
		}
	}
}

// newBase is a transport of its own, so that no test sees the connections of another.
func newBase(t testing.TB) *http.Transport {
	base := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(base.CloseIdleConnections)
	return base
}

// TestCutReplies: a peer ends the reply after every possible byte, by FIN and by RST. Without a whole header a GET is
// repeated and a POST is not, since the server has seen it; a body that breaks off is the reader's business.
func TestCutReplies(t *testing.T) {
	header := strings.Index(whole, "\r\n\r\n") + 4
	for _, end := range []func(net.Conn){func(conn net.Conn) { _ = conn.Close() }, abort} {
		for cut := range len(whole) {
			s := newRawServer(t, func(n int, conn net.Conn) {
				if n%2 == 1 {
					_, _ = io.WriteString(conn, whole[:cut])
					end(conn)
					return
				}
				_, _ = io.WriteString(conn, whole)
			})
			base := newBase(t)
			base.DisableKeepAlives = true
			client := &http.Client{Transport: retryhttp.NewTransport(base, atOnce)}

			response, err := client.Get(s.url)
			if cut < header || err != nil {
				// A reset can overtake the header: then there is a second attempt as well.
				require.NoError(t, err, cut)
				assert.Equal(t, "ok", read(t, response), cut)
				assert.EqualValues(t, 2, s.requests.Load(), cut)
			} else if s.requests.Load() == 1 {
				_, err = io.ReadAll(response.Body)
				assert.Error(t, err, cut)
				_ = response.Body.Close()
			} else {
				assert.Equal(t, "ok", read(t, response), cut)
			}

			if s.requests.Load()%2 == 1 {
				s.requests.Add(1)
			}
			before := s.requests.Load()
			response, err = client.Post(s.url, "text/plain", newReader("x"))
			assert.Equal(t, before+1, s.requests.Load(), "POST %d", cut)
			if cut < header {
				require.Error(t, err, cut)
				assert.False(t, errors.As(err, new(*retry.Error)), "not retried: as it is")
			}
			if err == nil {
				_ = response.Body.Close()
			}
		}
	}
}

// TestRefused: nobody listens, so that any request may be repeated; at the end the error is the last one.
func TestRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	closed := conn.LocalAddr().String() // nobody else can listen there
	for _, method := range []string{"GET", "POST", "PATCH"} {
		client := &http.Client{Transport: retryhttp.NewTransport(newBase(t), atOnce)}
		_, err := client.Do(newRequest(t, method, "http://"+closed, newReader("x")))
		require.ErrorIs(t, err, syscall.ECONNREFUSED, method)
		var gaveUp *retry.Error
		require.ErrorAs(t, err, &gaveUp)
		assert.Equal(t, 5, gaveUp.Attempts)
		var failure *retryhttp.Failure
		require.ErrorAs(t, err, &failure)
		assert.False(t, failure.Sent)
		assert.True(t, failure.SafeToRetry())
		assert.Equal(t, method, failure.Request.Method)
	}
}

// TestHandshakeCut: no type of error tells that a request was not sent when the peer hangs up in the TLS handshake.
func TestHandshakeCut(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var dials atomic.Int32
	accept(t, listener, func(conn net.Conn) {
		dials.Add(1)
		_, _ = conn.Read(make([]byte, 1))
	})
	for i, method := range []string{"GET", "POST"} {
		client := &http.Client{Transport: retryhttp.NewTransport(newBase(t), atOnce, retry.WithMaxAttempts(3))}
		_, err := client.Do(newRequest(t, method, "https://"+listener.Addr().String(), newReader("x")))
		var failure *retryhttp.Failure
		require.ErrorAs(t, err, &failure)
		assert.False(t, failure.Sent)
		assert.EqualValues(t, 3*(i+1), dials.Load())
	}
}

// TestUnknownHost: an authoritative no is no outage.
func TestUnknownHost(t *testing.T) {
	dials := 0
	base := newBase(t)
	notFound := true
	base.DialContext = func(context.Context, string, string) (net.Conn, error) {
		dials++
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: notFound, IsTemporary: !notFound}}
	}
	client := &http.Client{Transport: retryhttp.NewTransport(base, atOnce, retry.WithMaxAttempts(3))}
	_, err := client.Get("http://nowhere.example")
	require.Error(t, err)
	assert.Equal(t, 1, dials)
	notFound = false
	_, err = client.Post("http://nowhere.example", "text/plain", newReader("x"))
	require.Error(t, err)
	assert.Equal(t, 4, dials)
}

// TestUnknownAuthority: a certificate does not get better: one handshake, whatever the method, unless the policy knows better.
func TestUnknownAuthority(t *testing.T) {
	for _, tc := range []struct {
		method string
		opts   []retry.Option
		want   int32
	}{
		{"GET", nil, 1},
		{"POST", nil, 1},
		{"GET", []retry.Option{retry.WithCondition(condition.As[x509.UnknownAuthorityError]())}, 3},
		{"POST", []retry.Option{retry.WithRetryIf(func(error) bool { return true })}, 3},
	} {
		transport := retryhttp.NewTransport(nil, append(tc.opts, atOnce, retry.WithMaxAttempts(3))...)
		s := startServer(t, transport, (*httptest.Server).StartTLS, func(int, http.ResponseWriter, *http.Request) {})
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		_, err := s.client.Do(newRequest(t, tc.method, s.URL, newReader("x")))
		var cert *tls.CertificateVerificationError
		require.ErrorAs(t, err, &cert)
		assert.Equal(t, tc.want, s.opened.Load())
		assert.Zero(t, s.requests.Load())
	}
}

// TestOtherProtocols: what no attempt can change is tried once, and http.Client knows the error.
func TestOtherProtocols(t *testing.T) {
	transport := retryhttp.NewTransport(nil, atOnce)
	s := newServer(t, transport, func(int, http.ResponseWriter, *http.Request) {})
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	_, err := s.client.Get(strings.Replace(s.URL, "http:", "https:", 1))
	require.ErrorIs(t, err, http.ErrSchemeMismatch)
	assert.EqualValues(t, 1, s.opened.Load())

	calls := 0
	transport = retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		calls++
		return s.base.RoundTrip(r)
	}), atOnce)
	for i, change := range []func(*http.Request){
		func(r *http.Request) { r.URL.Scheme = "gopher" },
		func(r *http.Request) { r.URL.Host = "" },
		func(r *http.Request) { r.Method = "BAD METHOD" },
		func(r *http.Request) { r.Header["Bad Header"] = []string{"x"} },
		func(r *http.Request) { r.Trailer = http.Header{"Bad Trailer": nil} },
		func(r *http.Request) { r.URL.Host, r.ContentLength = s.Listener.Addr().String(), 5 }, // and no body
		func(r *http.Request) { r.URL = nil },
	} {
		r := get(t)
		change(r)
		_, err := transport.RoundTrip(r)
		require.Error(t, err, i)
		assert.Equal(t, i+1, calls, err)
	}
}

// TestRegisteredProtocol: what is registered with a *http.Transport for a scheme need not know of traces. A POST that it may
// have sent is not repeated.
func TestRegisteredProtocol(t *testing.T) {
	for method, want := range map[string]int{"GET": 3, "POST": 1} {
		calls := 0
		base := newBase(t)
		base.RegisterProtocol("other", roundTripper(func(r *http.Request) (*http.Response, error) {
			calls++
			_ = r.Body.Close()
			return nil, errBoom
		}))
		_, err := retryhttp.NewTransport(base, atOnce, retry.WithMaxAttempts(3)).RoundTrip(newRequest(t, method, "other://example.com", newReader("x")))
		require.ErrorIs(t, err, errBoom)
		assert.Equal(t, want, calls, method)
	}
}

// TestExpectContinue: a body that the server did not ask for is still there for the next attempt.
func TestExpectContinue(t *testing.T) {
	transport := retryhttp.NewTransport(nil, atOnce)
	var got string
	s := newServer(t, transport, func(n int, w http.ResponseWriter, r *http.Request) {
		if n < 3 {
			w.WriteHeader(503)
			return
		}
		all, _ := io.ReadAll(r.Body)
		got = string(all)
	})
	s.base.ExpectContinueTimeout = time.Minute
	body := streamed("abc")
	r := put(t, s.URL, body)
	r.Header.Set("Expect", "100-continue")
	response, err := s.client.Do(r)
	require.NoError(t, err)
	assert.Equal(t, 200, response.StatusCode)
	assert.Empty(t, read(t, response))
	assert.Equal(t, "abc", got)
	assert.EqualValues(t, 1, body.closes.Load())
}

// TestKilledKeepAlive: a server that drops idle connections as they are used again. net/http repeats what it may by itself;
// a POST without a key that was written reaches the server once.
func TestKilledKeepAlive(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		var seen atomic.Int32
		transport := retryhttp.NewTransport(nil, atOnce)
		s := newServer(t, transport, func(n int, w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/warm" {
				return
			}
			if seen.Add(1) == 1 {
				_, _ = io.Copy(io.Discard, r.Body)
				reset(t, w)
			}
		})
		response, err := s.client.Get(s.URL + "/warm")
		require.NoError(t, err)
		assert.Empty(t, read(t, response))
		response, err = s.client.Do(newRequest(t, method, s.URL, newReader("x")))
		if method == "POST" {
			require.ErrorIs(t, err, syscall.ECONNRESET)
			assert.EqualValues(t, 1, seen.Load())
			continue
		}
		require.NoError(t, err)
		assert.Empty(t, read(t, response))
		assert.EqualValues(t, 2, seen.Load())
	}
}

// TestUntracedBase: of a base that does not know httptrace nobody learns what was sent, unless its error says so.
func TestUntracedBase(t *testing.T) {
	for _, tc := range []struct {
		err       error
		get, post int
	}{
		{errBoom, 2, 1},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, 2, 2},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, 2, 1},
		{io.EOF, 2, 1},
	} {
		calls := 0
		transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
			calls++
			if r.Body != nil {
				_ = r.Body.Close()
			}
			return nil, tc.err
		}), atOnce, retry.WithMaxAttempts(2))
		_, err := transport.RoundTrip(get(t))
		require.ErrorIs(t, err, tc.err)
		assert.Equal(t, tc.get, calls, tc.err)
		calls = 0
		_, err = transport.RoundTrip(post(t, "x"))
		require.ErrorIs(t, err, tc.err)
		assert.Equal(t, tc.post, calls, tc.err)
		calls = 0
		r := post(t, "x")
		r.Header["Idempotency-Key"] = nil
		_, err = transport.RoundTrip(r)
		require.ErrorIs(t, err, tc.err)
		assert.Equal(t, tc.get, calls, tc.err)
	}
}
