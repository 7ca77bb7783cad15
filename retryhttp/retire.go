package retryhttp

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

const (
	retireTime  = 100 * time.Millisecond // for a connection on which another request is stuck in its first write
	retireLimit = 100                    // connections
)

// retire takes a connection of HTTP/2 out of the pool; nil: each that the pool has for the request. Its streams run on, and
// with the last of them it is closed. It reports whether the pool gives the connection to no further request.
//
// Request.Close is how net/http is told not to use a connection for another request. Here a request says so that is never
// written: net/http refuses the trailer. Its context has ended already unless it gets the connection in question, so that
// for its sake none is opened.
func retire(pool *http.Transport, r *http.Request, conn net.Conn) bool {
	for range retireLimit {
		ctx := &endedUntilMet{}
		header := make(http.Header)
		trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
			if conn != nil && info.Conn != conn {
				delete(header, "Connection") // net/http goes on to another if that one cannot be used any more
				return
			}
			header["Connection"] = []string{"close"}
			ctx.meet()
		}}
		response, err := pool.RoundTrip((&http.Request{
			Method: http.MethodOptions, URL: r.URL, Host: r.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: header, Trailer: http.Header{"Content-Length": nil},
		}).WithContext(httptrace.WithClientTrace(ctx, trace)))
		if err == nil {
			closeBody(response.Body)
		}
		switch {
		case !ctx.met.Load():
			return true // the pool does not have it any more
		case ctx.leave():
			return false
		case conn != nil:
			return true
		}
	}
	return false
}

// endedUntilMet is a context that has ended until it is met, and then has retireTime.
type endedUntilMet struct {
	met    atomic.Bool
	limit  context.Context
	cancel context.CancelFunc
}

func (c *endedUntilMet) meet() {
	if c.met.Load() {
		return
	}
	c.limit, c.cancel = context.WithTimeout(context.Background(), retireTime)
	c.met.Store(true)
}

// leave ends it for good, and reports whether its time was up.
func (c *endedUntilMet) leave() (late bool) {
	late = c.limit.Err() != nil
	c.cancel()
	return late
}

func (c *endedUntilMet) now() context.Context {
	if c.met.Load() {
		return c.limit
	}
	return ended
}

func (c *endedUntilMet) Deadline() (time.Time, bool) { return time.Time{}, false }
func (c *endedUntilMet) Done() <-chan struct{}       { return c.now().Done() }
func (c *endedUntilMet) Err() error                  { return c.now().Err() }
func (c *endedUntilMet) Value(key any) any           { return c.now().Value(key) }

var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
