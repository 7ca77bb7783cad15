package retryhttp

import (
	"net/http"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/throttle"
)

// Repeat says whether a request is sent again after an answer. The defaults:
//
//	RepeatAlways      421, 425, 429, 521, 522, 523, 529: the server has done nothing
//	                  503 and 403 that name a wait
//	RepeatIdempotent  408, 500, 502, 503, 504, 520, 524: nobody knows what the server has done
//	                  413 and every other code from 500 on, if they name a wait
//	RepeatNever       all others
//
// A 409 Conflict is repeated too if the request has an Idempotency-Key and it is not known what became of an earlier attempt:
// the server may still be at work on that one. The 409 of a first attempt is final.
//
// A server that says itself whether to try again (X-Should-Retry) is believed, whatever the status.
//
// The codes from 520 on are Cloudflare's, but for 529 (overloaded), which is Anthropic's. 403 with a wait is GitHub's.
// Source: RFC 9110, RFC 6585, RFC 8470, draft-ietf-httpapi-idempotency-key-header (section 2.7), the documentation of
// those.
type Repeat uint8

const (
	// RepeatNever makes it a plain answer. It is the zero value.
	RepeatNever Repeat = iota
	// RepeatIdempotent repeats idempotent requests only.
	RepeatIdempotent
	// RepeatAlways repeats any request: the server has not done it.
	RepeatAlways
)

// String returns the name in lower case.
func (r Repeat) String() string {
	switch r {
	case RepeatNever:
		return "never"
	case RepeatIdempotent:
		return "idempotent"
	case RepeatAlways:
		return "always"
	}
	return "invalid"
}

// failing reports whether an answer is a failure, which conditions and observers are told of.
func (t *Transport) failing(code int) bool {
	return code >= 400 || t.Statuses != nil && t.Statuses[code] != RepeatNever
}

// failing is the same of the flight's answer. What a fetch reads are successes only, or what it says it takes.
func (f *flight) failing() bool {
	code := f.response.StatusCode
	if f.fetch == nil {
		return f.t.failing(code)
	}
	if takes := f.fetch.takes; takes != nil && takes(code) {
		return false
	}
	return code < 200 || code > 299 || f.t.failing(code)
}

func (t *Transport) repeat(code int, s *throttle.Signal) Repeat {
	if r, ok := t.Statuses[code]; ok {
		return r
	}
	switch code {
	case http.StatusMisdirectedRequest, http.StatusTooEarly, http.StatusTooManyRequests, 521, 522, 523, 529:
		return RepeatAlways
	case http.StatusServiceUnavailable:
		if s.HasDelay {
			return RepeatAlways
		}
		return RepeatIdempotent
	case http.StatusForbidden:
		if s.HasDelay {
			return RepeatAlways
		}
	case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout, 520, 524:
		return RepeatIdempotent
	}
	if s.HasDelay && (code == http.StatusRequestEntityTooLarge || code >= 500 && code <= 599) {
		return RepeatIdempotent // what says when is temporary (RFC 9110, sections 10.2.3 and 15.5.14)
	}
	return RepeatNever
}

// keyInUse reports whether an answer says that the server still works on an attempt of the same request.
func (f *flight) keyInUse(code int) bool {
	if _, told := f.t.Statuses[code]; told {
		return false
	}
	return code == http.StatusConflict && f.unknown && (f.key != "" || keyed(f.request))
}

// turnedAway reports whether the server asked for less.
func turnedAway(code int, s *throttle.Signal) bool {
	return code == http.StatusTooManyRequests || code == 529 || s.HasDelay
}

// table is the last condition of every policy: what is worth another attempt where nobody before it has decided.
type table struct{}

func (table) Check(err error) condition.Verdict {
	if f, ok := err.(*Failure); ok { // it is all that the executor asks about
		return f.verdict
	}
	return condition.Unknown
}
