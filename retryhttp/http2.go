package retryhttp

import (
	"errors"
	"reflect"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Error codes of HTTP/2 (RFC 9113, section 7) that say more than that the attempt failed.
const (
	protocolError      = 1
	refusedStream      = 7 // the server has done nothing
	enhanceYourCalm    = 11
	inadequateSecurity = 12
	http11Required     = 13
)

// http2StreamError mirrors the StreamError of golang.org/x/net/http2, and of the copy of it in net/http that cannot be
// named: their As method fills in any struct of this shape.
type http2StreamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e http2StreamError) Error() string { return "stream error" }

// http2Code returns the code by which a server ended the stream, or with GOAWAY the connection. net/http itself repeats
// what a server that goes away has not begun; what is left of GOAWAY is of unknown outcome.
func http2Code(err error) (code uint64, ok bool) {
	var stream http2StreamError
	if errors.As(err, &stream) {
		return uint64(stream.Code), true
	}
	errtree.Walk(err, func(err error) bool {
		code, ok = goAwayCode(err)
		return !ok
	})
	return code, ok
}

// goAwayCode reads a GoAwayError, which has no As method, by the names of its fields.
func goAwayCode(err error) (uint64, bool) {
	v := reflect.ValueOf(err)
	if v.Kind() != reflect.Struct || !v.FieldByName("LastStreamID").IsValid() {
		return 0, false
	}
	if code := v.FieldByName("ErrCode"); code.IsValid() && code.CanUint() {
		return code.Uint(), true
	}
	return 0, false
}

// hopelessCode reports whether the server will never take the request in this form.
func hopelessCode(code uint64) bool {
	return code == protocolError || code == inadequateSecurity || code == http11Required
}
