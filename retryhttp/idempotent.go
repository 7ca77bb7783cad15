package retryhttp

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
)

const idempotencyKey = "Idempotency-Key"

// IsIdempotent reports whether a request may reach a server twice: its method is GET, HEAD, OPTIONS, TRACE, PUT, DELETE
// or QUERY, or it has a header field Idempotency-Key or X-Idempotency-Key. As in net/http, a field with no values counts
// and is not sent:
//
//	req.Header["Idempotency-Key"] = nil // this POST may be repeated
//
// Safe for concurrent use. Source: RFC 9110, section 9.2.2.
func IsIdempotent(r *http.Request) bool {
	if r == nil {
		return false
	}
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete, "QUERY":
		return true
	}
	return keyed(r)
}

func keyed(r *http.Request) bool {
	_, key := r.Header[idempotencyKey]
	_, other := r.Header["X-Idempotency-Key"]
	return key || other
}

func (t *Transport) idempotent(r *http.Request) bool {
	if t.Idempotent == nil {
		return IsIdempotent(r)
	}
	return t.Idempotent(r)
}

// NewKey returns a random key (a UUID of version 4) for any request, for Transport.IdempotencyKey. Safe for concurrent use.
func NewKey(*http.Request) string { return newID() }

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	var text [36]byte
	at := 0
	for i, part := range [...][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:]} {
		if i > 0 {
			text[at] = '-'
			at++
		}
		at += hex.Encode(text[at:], part)
	}
	return string(text[:])
}
