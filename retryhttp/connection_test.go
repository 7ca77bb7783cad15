package retryhttp_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrytest"
)

// silencer stands between client and server. From some moment on it swallows what comes on the connections that there are,
// without a word; those that are opened later work.
type silencer struct {
	address string
	opened  atomic.Int32
	closed  sync.WaitGroup // by the client: those that were silenced

	mu     sync.Mutex
	conns  map[*silenced]bool
	target string
}

type silenced struct {
	client, server net.Conn
	silent         atomic.Bool
	first          func() // bytes that are swallowed
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
	s.opened.Add(1)
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
		c.first()
		return len(p), nil
	}
	return c.server.Write(p)
}

// silence silences the connections that there are. each is called once for every one of them that the client then writes to.
func (s *silencer) silence(each func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.first = sync.OnceFunc(each)
		s.closed.Add(1)
		c.silent.Store(true)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestSilentConnections: all connections that the client has go silent. Of four attempts one is lost, and not all; the
// others of HTTP/1 are closed when they are met, and that of HTTP/2 is not used by anybody again.
// https://github.com/Azure/azure-sdk-for-go/issues/21346, https://github.com/kubernetes/client-go/issues/374
func TestSilentConnections(t *testing.T) {
	for _, tc := range []struct {
		name  string
		conns int32
		start func(*httptest.Server)
	}{
		{"HTTP/1", 8, (*httptest.Server).Start},
		{"HTTP/1 over TLS", 8, (*httptest.Server).StartTLS},
		{"HTTP/2", 1, startHTTP2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // for when it does not work
			defer cancel()
			clk := retrytest.NewClock()
			attempts := 0
			transport := retryhttp.NewTransport(nil, atOnce, retry.WithClock(clk), retry.WithMaxAttempts(4), retry.WithAttemptTimeout(400*time.Millisecond))
			var warm sync.WaitGroup
			warm.Add(int(tc.conns))
			s := startServer(t, transport, tc.start, func(_ int, w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/warm" {
					warm.Done()
					warm.Wait()
				}
				_, _ = io.WriteString(w, "found")
			})
			trust(s)
			s.base.MaxIdleConnsPerHost = 8
			through := newSilencer(t, s.Listener.Addr().String())
			s.base.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", through.address)
			}
			var all sync.WaitGroup
			for range tc.conns {
				all.Go(func() {
					response, err := s.client.Do(newRequest(t, "GET", s.URL+"/warm", nil))
					if assert.NoError(t, err) {
						assert.Equal(t, "found", read(t, response))
					}
				})
			}
			all.Wait()
			before := through.opened.Load()
			require.Equal(t, tc.conns, before)

			through.silence(func() { clk.Advance(400 * time.Millisecond) })
			transport.Sign = func(*http.Request) error { attempts++; return nil }
			response, err := s.client.Do(newRequest(t, "GET", s.URL, nil).WithContext(ctx))
			require.NoError(t, err)
			assert.Equal(t, "found", read(t, response))
			assert.Equal(t, 2, attempts)
			assert.Equal(t, before+1, through.opened.Load())
			through.closed.Wait()

			response, err = s.client.Do(newRequest(t, "GET", s.URL, nil).WithContext(ctx))
			require.NoError(t, err)
			assert.Equal(t, "found", read(t, response))
			assert.Equal(t, 3, attempts)
			assert.Equal(t, before+1, through.opened.Load())
		})
	}
}

func startHTTP2(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() }

// trust lets a server's client accept its certificate.
func trust(s *server) {
	if s.TLS != nil {
		s.base.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	}
}

// TestSilenceSparesOthers: the connections that an attempt was not on, and that have been used since it began, go on.
func TestSilenceSparesOthers(t *testing.T) {
	clk := retrytest.NewClock()
	transport := retryhttp.NewTransport(nil, atOnce, retry.WithClock(clk), retry.WithAttemptTimeout(time.Second))
	began, end, idle := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := newServer(t, transport, func(n int, w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/other":
			close(began)
			<-end
		case n == 2:
			close(end)
			<-idle
			clk.Advance(time.Second)
			<-r.Context().Done()
		}
	})
	other := &http.Client{Transport: s.base}
	go func() {
		response, err := other.Get(s.URL + "/other")
		if assert.NoError(t, err) {
			assert.Empty(t, read(t, response))
		}
		close(idle)
	}()
	<-began
	response, err := s.client.Get(s.URL)
	require.NoError(t, err)
	assert.Empty(t, read(t, response))
	assert.EqualValues(t, 3, s.requests.Load())
	assert.EqualValues(t, 2, s.opened.Load(), "the second attempt is on the connection of the other request")
}

// TestSilenceSparesStreams: where a stream of the same connection makes progress, it goes on to its end.
func TestSilenceSparesStreams(t *testing.T) {
	clk := retrytest.NewClock()
	more, closed := make(chan struct{}), make(chan struct{}, 2)
	transport := retryhttp.NewTransport(nil, atOnce, retry.WithClock(clk), retry.WithAttemptTimeout(time.Second))
	s := startServer(t, transport, func(s *httptest.Server) {
		count := s.Config.ConnState
		s.Config.ConnState = func(conn net.Conn, state http.ConnState) {
			if count(conn, state); state == http.StateClosed {
				closed <- struct{}{}
			}
		}
		startHTTP2(s)
	}, func(n int, w http.ResponseWriter, r *http.Request) {
		switch n {
		case 1:
			_, _ = io.WriteString(w, "first ")
			_ = http.NewResponseController(w).Flush()
			<-more
			_, _ = io.WriteString(w, "second")
		case 2:
			clk.Advance(time.Second)
			<-r.Context().Done()
		}
	})
	trust(s)
	stream, err := s.client.Get(s.URL)
	require.NoError(t, err)
	for range 2 {
		response, err := s.client.Get(s.URL)
		require.NoError(t, err)
		assert.Empty(t, read(t, response))
	}
	assert.EqualValues(t, 4, s.requests.Load())
	assert.EqualValues(t, 2, s.opened.Load())
	close(more)
	assert.Equal(t, "first second", read(t, stream))
	<-closed // the first connection, with its last stream
}

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

// TestSlowConnection: a server that answers nothing on a connection is the same to the client as one that is gone. A body
// that is buffered goes the same way.
func TestSlowConnection(t *testing.T) {
	for _, tc := range connectionCases {
		t.Run(tc.name, func(t *testing.T) {
			clk := retrytest.NewClock()
			transport := retryhttp.NewTransport(nil, atOnce, retry.WithClock(clk), retry.WithAttemptTimeout(time.Second))
			transport.BufferBody = 10
			handler, met := onFirst(func(n int32, _ http.ResponseWriter, r *http.Request) {
				if n > 1 {
					_, _ = io.ReadAll(r.Body)
					clk.Advance(time.Second)
					<-r.Context().Done()
				}
			})
			s := newConnServer(t, transport, tc.start, tc.wrap, handler)
			response, err := s.client.Get(s.URL)
			require.NoError(t, err)
			assert.Empty(t, read(t, response))
			response, err = s.client.Do(newRequest(t, "PUT", s.URL, io.MultiReader(newReader("body"))))
			require.NoError(t, err)
			assert.Equal(t, "found body", read(t, response))
			assert.Equal(t, 1+tc.lost, met.Load())
			assert.EqualValues(t, 2, s.opened.Load())
		})
	}
}

// TestMisdirected: a request that was answered 421 is repeated on another connection, whether an attempt timeout is there or
// not, and whatever its method. https://go.dev/issue/18341, https://github.com/square/okhttp/issues/5424
func TestMisdirected(t *testing.T) {
	for _, tc := range connectionCases {
		for name, opts := range map[string][]retry.Option{"": nil, ", with a timeout": {retry.WithAttemptTimeout(time.Hour)}} {
			t.Run(tc.name+name, func(t *testing.T) {
				transport := retryhttp.NewTransport(nil, append(opts, atOnce)...)
				transport.DrainTime = time.Minute
				handler, met := onFirst(func(_ int32, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMisdirectedRequest) })
				s := newConnServer(t, transport, tc.start, tc.wrap, handler)
				response, err := s.client.Post(s.URL, "text/plain", newReader("x"))
				require.NoError(t, err)
				assert.Equal(t, "found x", read(t, response))
				if s.TLS == nil || s.TLS.NextProtos[0] != "h2" {
					assert.LessOrEqual(t, met.Load(), tc.lost)
				} else {
					assert.Equal(t, tc.lost, met.Load())
				}
				assert.EqualValues(t, 2, s.opened.Load())
			})
		}
	}
}

// TestStuckConnection: where another request is stuck in its first write, the connection cannot be retired, and its pool hands
// it out again. The attempt then has a connection of its own, which ends with the answer.
func TestStuckConnection(t *testing.T) {
	clk := retrytest.NewClock()
	transport := retryhttp.NewTransport(nil, atOnce, retry.WithClock(clk), retry.WithAttemptTimeout(time.Second))
	s := startServer(t, transport, startHTTP2, func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "found") })
	trust(s)
	var stuck atomic.Pointer[func()]
	var first *stuckConn
	s.base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil && first == nil {
			first = &stuckConn{Conn: conn, stuck: &stuck, end: make(chan struct{})}
			conn = first
		}
		return conn, err
	}
	response, err := s.client.Get(s.URL)
	require.NoError(t, err)
	assert.Equal(t, "found", read(t, response))
	advance := sync.OnceFunc(func() { clk.Advance(time.Second) })
	stuck.Store(&advance)
	response, err = s.client.Get(s.URL)
	require.NoError(t, err)
	assert.Equal(t, 2, response.ProtoMajor)
	assert.Equal(t, "found", read(t, response))
	assert.EqualValues(t, 2, s.opened.Load())
	assert.EqualValues(t, 2, s.requests.Load())
	_ = first.Close()
}

// stuckConn has writes that do not return, from when stuck is set.
type stuckConn struct {
	net.Conn
	stuck *atomic.Pointer[func()]
	once  sync.Once
	end   chan struct{}
}

func (c *stuckConn) Write(p []byte) (int, error) {
	if f := c.stuck.Load(); f != nil {
		(*f)()
		<-c.end
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}

func (c *stuckConn) Close() error {
	c.once.Do(func() { close(c.end) })
	return c.Conn.Close()
}

// TestApartFails: an own connection that cannot be opened, or breaks, is an attempt that failed; the request's body is closed.
func TestApartFails(t *testing.T) {
	clk := retrytest.NewClock()
	transport := retryhttp.NewTransport(nil, atOnce, retry.WithClock(clk), retry.WithAttemptTimeout(time.Second), retry.WithMaxAttempts(3))
	handler, met := onFirst(func(_ int32, _ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		clk.Advance(time.Second)
		<-r.Context().Done()
	})
	s := newConnServer(t, transport, startCleartext2, bare, handler)
	dials := 0
	s.base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		switch dials++; dials {
		case 2:
			return nil, errBoom
		case 3:
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err == nil {
				_ = conn.Close()
			}
			return conn, err
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	r := newRequest(t, "PUT", s.URL, nil)
	var bodies []*trackedBody
	r.GetBody = func() (io.ReadCloser, error) {
		bodies = append(bodies, &trackedBody{Reader: newReader("body")})
		return bodies[len(bodies)-1], nil
	}
	r.Body, _ = r.GetBody()
	_, err := s.client.Do(r)
	require.ErrorIs(t, err, retry.ErrExhausted)
	assert.EqualValues(t, 3, dials)
	assert.EqualValues(t, 1, met.Load())
	require.Len(t, bodies, 3)
	for _, body := range bodies {
		assert.Positive(t, body.closes.Load())
	}
}
