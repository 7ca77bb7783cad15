package retryhttp

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// probe finds out whether the server may have seen one attempt's request. Its hooks run in other goroutines, and may run
// after the attempt is over.
type probe struct {
	asked     atomic.Bool // for a connection
	connected atomic.Bool
	wrote     atomic.Bool
	closely   bool // asked and connected are kept
	trace     httptrace.ClientTrace
}

// attach returns ctx with the probe's trace, which calls the hooks of a trace in ctx too. It looks closely where the
// answer decides whether the request may be repeated. Each trace serves one attempt: httptrace makes it call the hooks
// of the other, and does so anew if it is used again.
func (p *probe) attach(ctx context.Context, closely bool) context.Context {
	p.trace.WroteHeaders = p.wroteHeaders
	if p.closely = closely; closely {
		p.trace.GetConn, p.trace.GotConn = p.getConn, p.gotConn
	}
	return httptrace.WithClientTrace(ctx, &p.trace)
}

func (p *probe) getConn(string)                { p.asked.Store(true) }
func (p *probe) gotConn(httptrace.GotConnInfo) { p.connected.Store(true) }
func (p *probe) wroteHeaders()                 { p.wrote.Store(true) }

// sent reports whether the server may have seen the request; ended says that its context has ended. Without its header
// the server has not seen it. But over HTTP/2 a RoundTrip whose context has ended does not wait for the goroutine that
// writes the header: all that is certain then is that nothing goes out without a connection.
func (p *probe) sent(ended bool) bool {
	return p.wrote.Load() || ended && (p.connected.Load() || !p.closely)
}
