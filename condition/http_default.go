package condition

import (
	"net/http"
	"time"
)

// HTTPDefault returns a Condition for errors that carry an HTTP status code, with a usual answer for each:
//
//	Throttled  429 Too Many Requests, 529 (overloaded, Anthropic)
//	           403 Forbidden, where an error in the tree names a wait (GitHub), by a method RetryAfter()
//	           time.Duration or GetRetryAfter() *int64
//	Retry      408 Request Timeout, 421 Misdirected Request, 425 Too Early
//	           500 Internal Server Error, 502 Bad Gateway, 503 Service Unavailable, 504 Gateway Timeout
//	           520 to 524 (Cloudflare: the origin failed, was not reached, or was late)
//	           413 Content Too Large and every code from 500 to 599, where a wait is named in the same way
//	Stop       otherwise: 501 Not Implemented, 505 HTTP Version Not Supported, 511 Network Authentication Required
//	           525, 526 (Cloudflare: TLS with the origin)
//	           every other code from 400 to 499
//	Unknown    any other code, no code
//
// The code is read as HTTPStatus reads it. 503 is Retry as it is there. To answer otherwise for some codes, put HTTPStatus
// in front: Any(HTTPStatus(409), HTTPDefault()).
//
// Nothing is known here of the request's method. After 408, 500, 502, 503, 504, 520 and 524 the server may have done the
// work. For a request that must not run twice, what is certain is
//
//	condition.Only(condition.NotSent(), condition.HTTPStatus(421, 425, 429, 521, 522, 523, 529))
//
// The Condition allocates nothing, and is safe for concurrent use. Source of the codes: RFC 9110, RFC 6585, RFC 8470, the
// documentation of Cloudflare, GitHub and Anthropic.
func HTTPDefault() Condition {
	return httpDefault{}
}

type httpDefault struct{}

func (httpDefault) Check(err error) Verdict {
	status := statusOf(err)
	switch status {
	case http.StatusTooManyRequests, 529:
		return Throttled
	case http.StatusRequestTimeout, http.StatusMisdirectedRequest, http.StatusTooEarly,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		520, 521, 522, 523, 524:
		return Retry
	case http.StatusForbidden:
		if find(err, namesWait) {
			return Throttled
		}
		return Stop
	case http.StatusRequestEntityTooLarge:
		if find(err, namesWait) {
			return Retry
		}
		return Stop
	}
	switch {
	case status >= 500 && status <= 599 && find(err, namesWait):
		return Retry // what says when is temporary
	case status >= 400 && status <= 499, status == http.StatusNotImplemented, status == http.StatusHTTPVersionNotSupported,
		status == http.StatusNetworkAuthenticationRequired, status == 525, status == 526:
		return Stop
	}
	return Unknown
}

// namesWait reports whether err itself says how long to wait. 0 is what many say that were not told.
func namesWait(err error) bool {
	switch e := err.(type) {
	case interface{ RetryAfter() time.Duration }:
		return e.RetryAfter() > 0
	case interface{ GetRetryAfter() *int64 }:
		ms := e.GetRetryAfter()
		return ms != nil && *ms > 0
	}
	return false
}
