package retryhttp

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// A retry on a connection that has gone silent ends as the attempt before it did, and a second 421 on the connection that
// gave the first is no news. So an attempt that follows one of these must not share its connection. What there is to do
// differs:
//
//   - HTTP/1: net/http has closed the silent connection. Those that have been idle for as long may be as dead, and are
//     closed as soon as net/http picks one for an attempt, which then goes to the next or opens a new one.
//   - HTTP/2: the pool would go on to use the connection, and it cannot be closed, since other streams may make progress on
//     it. It is retired instead (retire.go). If that is not possible, the attempt gets a connection of its own (apart.go).
//   - A Base that is not known to have a *http.Transport below it: the attempt says Connection: close, so that at least no
//     attempt after it gets the same connection.

// detour is what the further attempts of a request do so as not to get the connections of earlier ones.
type detour struct {
	since time.Time // connections that have been idle from then on are not used; zero: all are
	apart bool      // a connection of its own
	close bool      // Connection: close
}

// keepAway tells for one attempt which connections it must not use.
type keepAway struct {
	on    bool
	since time.Time // those that have been idle from then on
}

// from reports whether a connection must not be used that was asked for at a time, a moment before net/http measured how long
// it had been idle. Only idle ones of HTTP/1 count: nobody else has those now.
func (k keepAway) from(info httptrace.GotConnInfo, asked time.Time) bool {
	return k.on && info.WasIdle && info.IdleTime >= asked.Sub(k.since) && !overTLS2(info.Conn)
}

// watch decides what the trace of the coming attempt looks at.
func (f *flight) watch() {
	f.probe.watching = f.mayRunOut()
	if since := f.detour.since; !since.IsZero() && f.rewinds() && !f.unencrypted2() {
		f.probe.keepAway = keepAway{true, since}
	}
}

// rewinds reports whether net/http can send the request on another connection if one turns out to be closed.
func (f *flight) rewinds() bool {
	return !hasBody(f.request) || f.request.GetBody != nil || f.t.BufferBody > 0
}

// mayRunOut reports whether the attempt may end for lack of time, on a connection that is worth knowing.
func (f *flight) mayRunOut() bool {
	pool := poolOf(f.t.base())
	if pool == nil {
		return false
	}
	_, limited := f.Deadline()
	return limited || f.ownContext() || pool.ResponseHeaderTimeout > 0
}

// leaveSilent is called after an attempt with an error. If that is for lack of time and there was not a byte of an answer,
// neither this request nor, where that is possible, any other is sent on the same connection again.
func (f *flight) leaveSilent(err error) {
	if !f.expired() && !errtree.TimedOut(err) {
		return
	}
	conn, since, ok := f.probe.silent()
	if !ok {
		return
	}
	f.detour.since = since
	f.leave(conn, overTLS2(conn))
}

// leaveMisdirected is called before an attempt that follows an answer 421 (RFC 9110, section 15.5.20).
func (f *flight) leaveMisdirected() {
	f.detour.since = time.Now() // the answer's connection is idle by now, or closed
	conn, _, _ := f.probe.silent()
	f.leave(conn, conn == nil || overTLS2(conn))
}

// leave keeps the attempts that follow from a connection; nil: from all that there are. That of HTTP/1 is closed, or will be.
func (f *flight) leave(conn net.Conn, multiplexed bool) {
	base := f.t.base()
	pool := poolOf(base)
	switch {
	case pool == nil:
		f.detour.close = true
	case f.unencrypted2(), multiplexed && !retire(pool, f.request, conn):
		// What wraps the pool must not be passed by.
		f.detour.apart = base == http.RoundTripper(pool)
		f.detour.close = !f.detour.apart
	}
}

// unencrypted2 reports whether the request may go over HTTP/2 without TLS, which looks like HTTP/1 from outside.
func (f *flight) unencrypted2() bool {
	if u := f.request.URL; u == nil || u.Scheme != "http" {
		return false
	}
	pool := poolOf(f.t.base())
	return pool != nil && pool.Protocols != nil && pool.Protocols.UnencryptedHTTP2()
}

// poolOf returns the *http.Transport that base is or wraps, nil if that is not known. Wrappers show what they wrap by a
// method Unwrap, or as those of Kubernetes' client do.
func poolOf(base http.RoundTripper) *http.Transport {
	for range 16 { // so that a ring ends
		switch b := base.(type) {
		case *http.Transport:
			return b
		case interface{ Unwrap() http.RoundTripper }:
			base = b.Unwrap()
		case interface{ WrappedRoundTripper() http.RoundTripper }:
			base = b.WrappedRoundTripper()
		default:
			return nil
		}
	}
	return nil
}

// overTLS2 reports whether conn speaks HTTP/2 over TLS.
func overTLS2(conn net.Conn) bool {
	c, ok := conn.(*tls.Conn)
	return ok && c.ConnectionState().NegotiatedProtocol == "h2"
}

// sever closes a connection without a farewell, for which the peer's silence would have to be waited out.
func sever(conn net.Conn) {
	if c, ok := conn.(*tls.Conn); ok {
		conn = c.NetConn()
	}
	_ = conn.Close()
}
