package retryhttp_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/retryhttp"
)

// silencer stands between client and server. From some moment on it swallows what comes on the connections that there are,
// without a word; those that are opened later work.
type silencer struct {
	address string
	closed  sync.WaitGroup // by the client: those that were silenced

	mu     sync.Mutex
	conns  map[*silenced]bool
	target string
}

type silenced struct {
	client, server net.Conn
	silent         atomic.Bool
}

func newSilencer(t *testing.T, target string) *silencer {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &silencer{address: listener.Addr().String(), target: target, conns: map[*silenced]bool{}}
	accept(t, listener, s.carry)
	return s
}

func (s *silencer) carry(client net.Conn) {
	server, err := net.Dial("tcp", s.target)
	if err != nil {
		return
	}
	c := &silenced{client: client, server: server}
	s.mu.Lock()
	s.conns[c] = true
	s.mu.Unlock()
	var back sync.WaitGroup
	back.Go(func() { _, _ = io.Copy(writerFunc(c.toClient), server) })
	_, _ = io.Copy(writerFunc(c.toServer), client)
	_ = server.Close()
	back.Wait()
	if c.silent.Load() {
		s.closed.Done()
	}
}

func (c *silenced) toClient(p []byte) (int, error) {
	if c.silent.Load() {
		return len(p), nil
	}
	return c.client.Write(p)
}

func (c *silenced) toServer(p []byte) (int, error) {
	if c.silent.Load() {
		return len(p), nil
	}
	return c.server.Write(p)
}

// silence silences the connections that there are.
func (s *silencer) silence() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		s.closed.Add(1)
		c.silent.Store(true)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// onFirst lets a server do something with the requests of its first connection, and answer all others.
func onFirst(act func(n int32, w http.ResponseWriter, r *http.Request)) (handler func(int, http.ResponseWriter, *http.Request), met *atomic.Int32) {
	var first atomic.Value
	met = new(atomic.Int32)
	return func(n int, w http.ResponseWriter, r *http.Request) {
		if first.CompareAndSwap(nil, r.RemoteAddr); first.Load() == r.RemoteAddr {
			act(met.Add(1), w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(append([]byte("found "), body...))
	}, met
}

// opaque wraps a base, and shows it to nobody.
func opaque(base http.RoundTripper) http.RoundTripper { return roundTripper(base.RoundTrip) }

// transparent wraps a base that it shows.
type transparent struct{ http.RoundTripper }

func (b transparent) Unwrap() http.RoundTripper { return b.RoundTripper }

type kubernetes struct{ http.RoundTripper }

func (b kubernetes) WrappedRoundTripper() http.RoundTripper { return b.RoundTripper }

func shown(base http.RoundTripper) http.RoundTripper { return kubernetes{transparent{base}} }

func bare(base http.RoundTripper) http.RoundTripper { return base }

func startCleartext2(s *httptest.Server) {
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
}

// connectionCases are the ways to a server, and how many attempts it then takes to get to another connection.
var connectionCases = []struct {
	name  string
	start func(*httptest.Server)
	wrap  func(http.RoundTripper) http.RoundTripper
	lost  int32
}{
	{"HTTP/1", (*httptest.Server).Start, bare, 1},
	{"HTTP/1, opaque", (*httptest.Server).Start, opaque, 1},
	{"HTTP/1 over TLS", (*httptest.Server).StartTLS, bare, 1},
	{"HTTP/2", startHTTP2, bare, 1},
	{"HTTP/2, wrapped", startHTTP2, shown, 1},
	{"HTTP/2, opaque", startHTTP2, opaque, 2},
	{"HTTP/2 without TLS", startCleartext2, bare, 1},
	{"HTTP/2 without TLS, wrapped", startCleartext2, shown, 2},
}

// newConnServer starts the server of one of connectionCases.
func newConnServer(t *testing.T, transport *retryhttp.Transport, start func(*httptest.Server), wrap func(http.RoundTripper) http.RoundTripper,
	handler func(int, http.ResponseWriter, *http.Request),
) *server {
	s := startServer(t, transport, start, handler)
	trust(s)
	if s.Config.Protocols != nil {
		s.base.Protocols = s.Config.Protocols
	}
	transport.Base = wrap(s.base)
	return s
}
