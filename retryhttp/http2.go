package retryhttp

import (
	"errors"
	"reflect"
	"strings"

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

// http2End is how a server ended a stream, or with GOAWAY the connection.
type http2End struct {
	code   uint64 // 0: by neither, or for no reason
	undone bool   // the server has not begun with the request
}

// http2EndOf finds it in an error. What a server that goes away has not begun is mostly repeated by net/http itself.
func http2EndOf(err error) (end http2End) {
	var stream http2StreamError
	if errors.As(err, &stream) {
		return http2End{uint64(stream.Code), stream.Code == refusedStream}
	}
	errtree.Walk(err, func(err error) bool {
		var ok bool
		end, ok = goAway(err)
		return !ok
	})
	return end
}

// goAway reads a GoAwayError, which has no As method, by the names of its fields; its stream may have been begun. For the
// first request of a connection that the server closes without having begun it, net/http has no type, only a text.
func goAway(err error) (end http2End, ok bool) {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "http2: Transport received GOAWAY from server ErrCode:"); ok {
		return http2End{http2Names[name], true}, true
	}
	// net/http would have repeated it, but for the body.
	if cause, ok := strings.CutPrefix(text, "http2: Transport: cannot retry err ["); ok {
		return http2End{undone: !strings.Contains(cause, "PROTOCOL_ERROR")}, true
	}
	v := reflect.ValueOf(err)
	if v.Kind() != reflect.Struct || !v.FieldByName("LastStreamID").IsValid() {
		return end, false
	}
	if code := v.FieldByName("ErrCode"); code.IsValid() && code.CanUint() {
		return http2End{code: code.Uint()}, true
	}
	return end, false
}

var http2Names = map[string]uint64{
	"PROTOCOL_ERROR":      protocolError,
	"ENHANCE_YOUR_CALM":   enhanceYourCalm,
	"INADEQUATE_SECURITY": inadequateSecurity,
	"HTTP_1_1_REQUIRED":   http11Required,
}

// hopeless reports whether the server will never take the request in this form.
func (e http2End) hopeless() bool {
	return e.code == protocolError || e.code == inadequateSecurity || e.code == http11Required
}
