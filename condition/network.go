package condition

import (
	"context"
	"io"
	"net"
	"net/url"
	"slices"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Network returns a Condition that says Retry for a failure of the network that may pass, and is Unknown for any other.
// It reads types and values, and texts only where net/http has nothing else. In the error's tree it looks for
//
//   - the system's ECONNREFUSED, ECONNRESET, ECONNABORTED, EPIPE, ETIMEDOUT, EHOSTUNREACH, EHOSTDOWN, ENETUNREACH,
//     ENETDOWN and ENETRESET, and what Windows has in their place;
//   - io.EOF and io.ErrUnexpectedEOF: the peer closed the connection before or within its answer. A bare io.EOF is also
//     how a stream ends as it should; an operation must not return that one as its failure;
//   - net.ErrClosed: this process closed the connection, which happens to requests on a pooled connection. It is also
//     what a connection or listener gives that was closed on purpose; waiting does not open that one again;
//   - a *net.OpError or any other net.Error with Timeout() true, but not a context's deadline by itself, wrapped in a
//     *url.Error or not: that is Timeout's;
//   - a stream or connection of HTTP/2 that the server or the network ended: the StreamError and GoAwayError of net/http and
//     golang.org/x/net/http2, but for the codes PROTOCOL_ERROR, INADEQUATE_SECURITY and HTTP_1_1_REQUIRED; and, among errors made
//     by errors.New, "http2: client connection lost" (no answer to a ping) and the others of net/http which say that a
//     connection was lost, closed or refused to go on;
//   - a *net.DNSError with IsTimeout or IsTemporary. One with IsNotFound is Unknown: the answer was that there is no such
//     name.
//
// A failed certificate or a refused protocol is none of these, and context.Canceled never is. Whether the server got the
// request is not asked: an operation that must not run twice needs more than this.
//
// The Condition is safe for concurrent use.
func Network() Condition {
	return network{}
}

type network struct{}

func (network) Check(err error) Verdict {
	if find(err, isNetwork) {
		return Retry
	}
	return Unknown
}

// networkErrors are matched as errors.Is does; errnos are the platform's.
var networkErrors = slices.Concat([]error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed}, errnos)

func isNetwork(err error) bool {
	switch e := err.(type) {
	case *net.DNSError:
		return !e.IsNotFound && (e.IsTimeout || e.IsTemporary)
	case *net.OpError:
		return errtree.TimedOut(e)
	case *url.Error:
		// Its Timeout passes on what is below, a context's deadline included; what is below is visited anyway.
		return false
	}
	if isOneOf(err, networkErrors) || isHTTP2Loss(err) {
		return true
	}
	e, ok := err.(net.Error)
	return ok && err != context.DeadlineExceeded && e.Timeout()
}
