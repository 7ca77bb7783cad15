package condition

import (
	"reflect"
	"slices"
	"strings"
)

// isHTTP2Loss reports whether err itself is how net/http or golang.org/x/net/http2 says that a stream or its connection
// was lost. The types are in packages that cannot be named or must not be imported, and are known by their fields; where
// there is none, the text of what errors.New returned is all there is.
func isHTTP2Loss(err error) bool {
	t := reflect.TypeOf(err)
	switch {
	case t == plain:
		return isLossText(err.Error())
	case t.Kind() != reflect.Struct || !strings.HasSuffix(t.PkgPath(), "/http2") && t.PkgPath() != "net/http":
		return false
	}
	v, name := reflect.ValueOf(err), "Code" // of a StreamError
	if field(v, "LastStreamID").IsValid() {
		name = "ErrCode" // of a GoAwayError
	}
	code := field(v, name)
	return code.IsValid() && code.CanUint() && !slices.Contains(http2Final, code.Uint())
}

// http2Final are the codes that another attempt of the same form would get too: PROTOCOL_ERROR, INADEQUATE_SECURITY,
// HTTP_1_1_REQUIRED (RFC 9113, section 7).
var http2Final = []uint64{1, 12, 13}

var lossTexts = []string{
	"http2: client connection lost", // no answer to a ping
	"http2: client connection force closed via ClientConn.Close",
	"http2: client conn could not be established",
	"http2: client conn is closed",
	"http2: client conn not usable",
	"http2: Transport received Server's graceful shutdown GOAWAY",
	"http: server closed idle connection",
}

// isLossText reports whether text is one of lossTexts, or says which code a server went away with, or that its refusal
// came after a body that cannot be had again.
func isLossText(text string) bool {
	if code, ok := strings.CutPrefix(text, "http2: Transport received GOAWAY from server ErrCode:"); ok {
		return !isFinalName(code)
	}
	if cause, ok := strings.CutPrefix(text, "http2: Transport: cannot retry err ["); ok {
		return !isFinalName(cause)
	}
	return slices.Contains(lossTexts, text)
}

func isFinalName(text string) bool {
	return strings.Contains(text, "PROTOCOL_ERROR") || strings.Contains(text, "INADEQUATE_SECURITY") || strings.Contains(text, "HTTP_1_1_REQUIRED")
}
