package retryhttp_test

import (
	"context"
	"io"
	"net"
	"net/http"
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

// TestStuckConnection: where another request is stuck in its first write, the connection cannot be retired, and its pool hands
// it out again. The attempt then has a connection of its own, which ends with the answer.
func TestStuckConnection(t *testing.T) {
	clk := retrytest.NewClock()
	transport := retryhttp.NewTransport(nil, atOnce, retry.WithClock(clk), retry.WithAttemptTimeout(time.Second))
	s := startServer(t, transport, startHTTP2, func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "found") })
	trust(s)
	var stuck atomic.Pointer[func()]
	var first *stuckConn
	var own *trackedConn
	s.base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil && first != nil {
			own = &trackedConn{Conn: conn}
			return own, nil
		}
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
	assert.EqualValues(t, 2, s.used.Load())
	assert.EqualValues(t, 2, s.requests.Load())
	assert.Positive(t, own.closes.Load())
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

// trackedConn counts how often it is closed.
type trackedConn struct {
	net.Conn
	closes atomic.Int32
}

func (c *trackedConn) Close() error { c.closes.Add(1); return c.Conn.Close() }

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
