package retryhttp

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
)

// probe finds out whether the server may have seen one attempt's request, and on which connection. Its hooks run in other
// goroutines, and may run after the attempt is over.
type probe struct {
	asked     atomic.Bool // for a connection
	connected atomic.Bool
	wrote     atomic.Bool
	answered  atomic.Bool // one byte at least
	closely   bool        // asked and connected are kept
	watching  bool        // connected, answered and conn are kept
	trace     httptrace.ClientTrace

	keepAway keepAway
	mu       sync.Mutex // guards what follows
	asking   time.Time  // when a connection was last asked for
	conn     net.Conn   // the last one that the request was given
	since    time.Time  // when that was
	dropped  bool       // that one was closed here
}

// attach returns ctx with the probe's trace, which calls the hooks of a trace in ctx too. It looks closely where the
// answer decides whether the request may be repeated. Each trace serves one attempt: httptrace makes it call the hooks
// of the other, and does so anew if it is used again.
func (p *probe) attach(ctx context.Context, closely bool) context.Context {
	p.trace.WroteHeaders = p.wroteHeaders
	if p.closely = closely; closely || p.keepAway.on {
		p.trace.GetConn = p.getConn
	}
	if p.watching {
		p.trace.GotFirstResponseByte = p.firstByte
	}
	if closely || p.watching || p.keepAway.on {
		p.trace.GotConn = p.gotConn
	}
	return httptrace.WithClientTrace(ctx, &p.trace)
}

func (p *probe) wroteHeaders() { p.wrote.Store(true) }
func (p *probe) firstByte()    { p.answered.Store(true) }

func (p *probe) getConn(string) {
	p.asked.Store(true)
	if p.keepAway.on {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asking = time.Now()
		if p.dropped {
			p.wrote.Store(false) // the header went to a connection that was closed here before
		}
	}
}

// gotConn is called for each connection that net/http tries: it goes to the next by itself if one turns out to be closed.
func (p *probe) gotConn(info httptrace.GotConnInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn, p.since = info.Conn, time.Now()
	p.connected.Store(true)
	p.answered.Store(false)
	if p.dropped = p.keepAway.from(info, p.asking); p.dropped {
		sever(info.Conn)
	}
}

// silent reports whether the attempt's request was sent, or may have been, and not a byte of an answer came; on which
// connection, and since when. An attempt that was not watched has no connection here.
func (p *probe) silent() (conn net.Conn, since time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watching {
		return p.conn, p.since, p.connected.Load() && !p.answered.Load()
	}
	return nil, time.Now(), p.wrote.Load()
}

// sent reports whether the server may have seen the request; ended says that its context has ended. Without its header
// the server has not seen it. But over HTTP/2 a RoundTrip whose context has ended does not wait for the goroutine that
// writes the header: all that is certain then is that nothing goes out without a connection.
func (p *probe) sent(ended bool) bool {
	return p.wrote.Load() || ended && (p.connected.Load() || !p.closely)
}
