package retryhttp_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
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
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // for when it does not work
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
			before := s.used.Load()
			require.Equal(t, tc.conns, before)

			through.silence()
			ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
				WroteHeaders: sync.OnceFunc(func() { clk.Advance(400 * time.Millisecond) }), // of the first attempt
			})
			transport.Sign = func(*http.Request) error { attempts++; return nil }
			response, err := s.client.Do(newRequest(t, "GET", s.URL, nil).WithContext(ctx))
			require.NoError(t, err)
			assert.Equal(t, "found", read(t, response))
			assert.Equal(t, 2, attempts)
			assert.Equal(t, before+1, s.used.Load())
			through.closed.Wait()

			response, err = s.client.Do(newRequest(t, "GET", s.URL, nil).WithContext(ctx))
			require.NoError(t, err)
			assert.Equal(t, "found", read(t, response))
			assert.Equal(t, 3, attempts)
			assert.Equal(t, before+1, s.used.Load())
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
	assert.EqualValues(t, 2, s.used.Load(), "the second attempt is on the connection of the other request")
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
	assert.EqualValues(t, 2, s.used.Load())
	close(more)
	assert.Equal(t, "first second", read(t, stream))
	<-closed // the first connection, with its last stream
}

// TestFirstByte: an attempt that ran out of time after the first byte of an answer says nothing against its connection. HTTP/2
// goes on with it; HTTP/1 has lost that one, and goes on with one that was idle.
func TestFirstByte(t *testing.T) {
	for name, tc := range map[string]struct {
		start func(*httptest.Server)
		used  int32
	}{"HTTP/1": {(*httptest.Server).Start, 2}, "HTTP/2": {startHTTP2, 1}} {
		t.Run(name, func(t *testing.T) {
			clk := retrytest.NewClock()
			transport := retryhttp.NewTransport(nil, atOnce, retry.WithClock(clk), retry.WithAttemptTimeout(time.Second))
			var warm sync.WaitGroup
			warm.Add(2)
			s := startServer(t, transport, tc.start, func(n int, w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/warm":
					if warm.Done(); r.ProtoMajor == 1 {
						warm.Wait()
					}
				case n == 3:
					w.WriteHeader(http.StatusEarlyHints)
					<-r.Context().Done()
				}
			})
			trust(s)
			var all sync.WaitGroup
			if name == "HTTP/1" {
				for range 2 {
					all.Go(func() {
						response, err := s.client.Get(s.URL + "/warm")
						if assert.NoError(t, err) {
							assert.Empty(t, read(t, response))
						}
					})
				}
			} else {
				for range 2 {
					response, err := s.client.Get(s.URL + "/warm")
					require.NoError(t, err)
					assert.Empty(t, read(t, response))
				}
			}
			all.Wait()
			hints := &httptrace.ClientTrace{Got1xxResponse: func(int, textproto.MIMEHeader) error { clk.Advance(time.Second); return nil }}
			response, err := s.client.Do(newRequest(t, "GET", s.URL, nil).WithContext(httptrace.WithClientTrace(t.Context(), hints)))
			require.NoError(t, err)
			assert.Empty(t, read(t, response))
			assert.EqualValues(t, 4, s.requests.Load())
			assert.Equal(t, tc.used, s.used.Load())
		})
	}
}

// TestCanceledSaysNothing: a call that its caller ended says nothing against its connection.
func TestCanceledSaysNothing(t *testing.T) {
	transport := retryhttp.NewTransport(nil, atOnce, retry.WithAttemptTimeout(time.Hour))
	ctx, cancel := context.WithCancel(t.Context())
	s := startServer(t, transport, startHTTP2, func(n int, _ http.ResponseWriter, r *http.Request) {
		if n == 1 {
			cancel()
			<-r.Context().Done()
		}
	})
	trust(s)
	_, err := s.client.Do(newRequest(t, "GET", s.URL, nil).WithContext(ctx))
	require.ErrorIs(t, err, context.Canceled)
	response, err := s.client.Get(s.URL)
	require.NoError(t, err)
	assert.Empty(t, read(t, response))
	assert.EqualValues(t, 1, s.used.Load())
}

// TestLastSilentAttempt: the connection is left after the last attempt of a call too, whether the attempt, the call or net/http
// ran out of time: the next call would suffer the same.
func TestLastSilentAttempt(t *testing.T) {
	for name, opts := range map[string][]retry.Option{
		"attempt": {retry.WithAttemptTimeout(time.Second)}, "call": nil, "net/http": nil,
	} {
		t.Run(name, func(t *testing.T) {
			clk := retrytest.NewClock()
			ctx := t.Context()
			transport := retryhttp.NewTransport(nil, append(opts, atOnce, retry.WithClock(clk), retry.WithMaxAttempts(1))...)
			handler, _ := onFirst(func(n int32, _ http.ResponseWriter, r *http.Request) {
				clk.Advance(time.Second)
				<-r.Context().Done()
			})
			s := startServer(t, transport, startHTTP2, handler)
			trust(s)
			switch name {
			case "call":
				var cancel context.CancelFunc
				ctx, cancel = clk.WithTimeout(ctx, time.Second)
				defer cancel()
			case "net/http":
				s.base.ResponseHeaderTimeout = time.Millisecond
			}
			_, err := s.client.Do(newRequest(t, "GET", s.URL, nil).WithContext(ctx))
			var timeout net.Error
			require.ErrorAs(t, err, &timeout)
			require.True(t, timeout.Timeout())
			if name == "net/http" {
				s.base.ResponseHeaderTimeout = 0
			}
			response, err := s.client.Get(s.URL)
			require.NoError(t, err)
			assert.Equal(t, "found ", read(t, response))
			assert.EqualValues(t, 2, s.used.Load())
		})
	}
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
			assert.EqualValues(t, 2, s.used.Load())
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
				assert.EqualValues(t, 2, s.used.Load())
			})
		}
	}
}

// TestMisdirectedAndDown: a POST whose header went to a connection that was closed for it beforehand has not been seen by the
// server: it is repeated though the attempt then got no other connection.
func TestMisdirectedAndDown(t *testing.T) {
	transport := retryhttp.NewTransport(nil, atOnce)
	transport.DrainTime = time.Minute
	handler, _ := onFirst(func(_ int32, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMisdirectedRequest) })
	s := newServer(t, transport, handler)
	dials := 0
	s.base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if dials++; dials == 2 {
			return nil, errBoom
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return &lingering{Conn: conn}, err
	}
	response, err := s.client.Post(s.URL, "text/plain", newReader("x"))
	require.NoError(t, err)
	assert.Equal(t, "found x", read(t, response))
	assert.Equal(t, 3, dials)
}

// lingering is a connection whose end is seen by who writes to it first.
type lingering struct {
	net.Conn
	closed atomic.Bool
}

func (c *lingering) Close() error {
	if c.closed.Swap(true) {
		return c.Conn.Close()
	}
	return nil
}

func (c *lingering) Write(p []byte) (int, error) {
	if c.closed.Load() {
		_ = c.Conn.Close()
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}
