package condition

import (
	"context"
	"database/sql/driver"
	"net"
	"strings"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// NotSent returns a Condition that says Retry for a failure from before anything was sent, that may pass: the server
// has not seen the operation, so that even one that must not run twice can be tried again. It is Unknown for any other,
// and where it cannot be certain. In the error's tree it looks for
//
//   - a method SafeToRetry() bool that is true, as pgx has it for what failed before its first byte, and may be had by
//     any error that knows. Where it is false, what is below it is not looked at;
//   - a *net.OpError with Op "dial", or "proxyconnect" or "socks connect" to a proxy, for which Network says Retry;
//   - ECONNREFUSED, unless it is inside of a *net.OpError with another Op;
//   - a *net.DNSError with IsTimeout or IsTemporary, but not IsNotFound;
//   - driver.ErrBadConn, which a driver of database/sql must not return if the server may have done the work.
//
// Joined errors count together: next to one of these, any failure that comes later than the first byte makes it Unknown
// (another failure of the network, a timeout, an answer of the server such as an HTTP status or an SQLSTATE). So does
// context.Canceled. An error that says nothing either way does not count. It does not look inside the error of an inner
// retried call, whose earlier attempts may have been sent.
//
// Not covered, because no type tells: an HTTP request that failed in the TLS handshake or on a reused connection. Whether
// its headers were written is known by net/http/httptrace alone.
//
// It allocates nothing, and is safe for concurrent use.
func NotSent() Condition {
	return notSent{}
}

type notSent struct{}

func (notSent) Check(err error) Verdict {
	if sent(err) == sentNever {
		return Retry
	}
	return Unknown
}

// sending is what a failure tells about how far the operation got.
type sending uint8

const (
	sentUnknown sending = iota
	sentNever
	sentMaybe
)

// sent looks at err and at all below it. What is below counts more than what is above: a wrapper with a status or a
// timeout of its own, such as an application's error, describes it for somebody else.
func sent(err error) sending {
	if errtree.IsNil(err) {
		return sentUnknown
	}
	switch e := err.(type) {
	case errtree.Opaque:
		return sentMaybe
	case interface{ SafeToRetry() bool }:
		if e.SafeToRetry() && !find(err, isCanceled) {
			return sentNever
		}
		return sentMaybe
	case *net.OpError:
		if !isConnecting(e.Op) {
			return sentMaybe
		}
		if find(err, isNetwork) && !find(err, isCanceled) {
			return sentNever
		}
		return sentUnknown
	case *net.DNSError:
		if isNetwork(err) {
			return sentNever
		}
		return sentUnknown
	}
	if below := sentBelow(err); below != sentUnknown {
		return below
	}
	switch {
	case is(err, driver.ErrBadConn) || isOneOf(err, refusals):
		return sentNever
	case isNetwork(err) || isTimeout(err) || isCanceled(err) || isAnswer(err):
		return sentMaybe
	}
	return sentUnknown
}

func sentBelow(err error) sending {
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		return sent(x.Unwrap())
	case interface{ Unwrap() []error }:
		all := sentUnknown
		for _, e := range x.Unwrap() {
			all = max(all, sent(e))
		}
		return all
	}
	return sentUnknown
}

// isConnecting reports whether op, of a *net.OpError, comes before the first byte of a request. Besides package net, the
// names are of net/http and of the SOCKS client in it.
func isConnecting(op string) bool {
	return strings.EqualFold(op, "dial") || op == "proxyconnect" || op == "socks connect"
}

// isAnswer reports whether err is what a server said, in any of the forms that this package knows: it has then seen something.
func isAnswer(err error) bool {
	switch err.(type) {
	case interface{ SQLState() string }, interface{ RedisError() }, interface{ HasErrorLabel(string) bool }:
		return true
	}
	return ownStatus(err) != 0 || ownCode(err) != "" || mysqlNumber(err) != 0
}

func isCanceled(err error) bool { return is(err, context.Canceled) }
