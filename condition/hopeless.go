package condition

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Hopeless returns a Condition that says Stop for what waiting cannot change, and is Unknown for anything else. The
// executor asks it last, for a failure that nothing else decided, and repeats what it leaves open; so it lists only what
// is certain:
//
//   - certificates: *tls.CertificateVerificationError and the x509 errors behind it, and the alert by which a server
//     turns the client's certificate or protocol version down; but not a certificate that is not yet valid;
//   - a plain-text answer where TLS was expected: tls.RecordHeaderError, http.ErrSchemeMismatch;
//   - addresses: a *url.Error with Op "parse", url.EscapeError, url.InvalidHostError, net.UnknownNetworkError;
//   - JSON: *json.SyntaxError, *json.UnmarshalTypeError, *json.InvalidUnmarshalError, *json.UnsupportedTypeError,
//     *json.UnsupportedValueError; but not a document cut short, which is an io.ErrUnexpectedEOF from a json.Decoder and a
//     *json.SyntaxError from json.Unmarshal. Where an overloaded proxy answers with a page in HTML, put a condition for that in
//     front;
//   - gRPC: errors with a method GRPCStatus whose code is INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED,
//     UNAUTHENTICATED, FAILED_PRECONDITION, OUT_OF_RANGE or UNIMPLEMENTED, and CANCELLED, which somebody wanted;
//   - sql.ErrNoRows, sql.ErrTxDone and errors.ErrUnsupported, matched as errors.Is does;
//   - requests that net/http refuses to send, for which it has no types: an unsupported scheme, no host, an invalid
//     method, header or trailer, a body that is not as long as its Content-Length, and a loop of redirects; and a proxy
//     that does not take the client's password. Only these are told by their text, and only in errors made by
//     errors.New, as net/http's are.
//
// Not listed, because a second attempt may find it changed: a host name that was not found, a file that does not exist,
// a number or time that cannot be parsed, missing permission.
//
// It does not look inside the error of an inner retried call, allocates nothing but for errors with a GRPCStatus, and is safe for
// concurrent use.
func Hopeless() Condition {
	return hopeless{}
}

type hopeless struct{}

func (hopeless) Check(err error) Verdict {
	if errtree.Walk(err, mayPass) {
		return Unknown
	}
	return Stop
}

// unchanging are matched as errors.Is does. pgx's own ErrNoRows, for one, has an Is method for database/sql's.
//
// Sentinels are known by identity only, which is what the imports are for. With Go 1.26, database/sql adds two packages
// and about 4 KB at most to a program, since nothing of it is called. net/http is the heavy one (23 packages, 0.9 MB); it
// is worth it because the parsers of the throttle package take an http.Header, so that every program which imports the
// root has it anyway.
var unchanging = [...]error{sql.ErrNoRows, sql.ErrTxDone, errors.ErrUnsupported, http.ErrSchemeMismatch}

// mayPass reports whether err itself, not what is below it, leaves hope. One type switch, since it is asked of every
// error in the tree of every failure that nothing else decides.
func mayPass(err error) bool {
	switch e := err.(type) {
	case *url.Error:
		return e.Op != "parse"
	case *net.OpError:
		return e.Op != "remote error" || !refusesClient(e.Err)
	case tls.AlertError:
		return !refusesClient(e)
	case *tls.CertificateVerificationError:
		return notYetValid(e.Err)
	case x509.CertificateInvalidError:
		return notYetValid(e)
	case tls.RecordHeaderError, *tls.RecordHeaderError,
		x509.UnknownAuthorityError, x509.HostnameError, x509.SystemRootsError,
		x509.ConstraintViolationError, x509.UnhandledCriticalExtension, x509.InsecureAlgorithmError,
		url.EscapeError, url.InvalidHostError, net.UnknownNetworkError:
		return false
	case errtree.Opaque:
		return true
	}
	for _, target := range unchanging {
		if err == target {
			return false
		}
	}
	if reflect.TypeOf(err) == plain {
		return !isRefusal(err.Error())
	}
	if isBadJSON(err) || isHopelessCall(err) {
		return false
	}
	if x, ok := err.(interface{ Is(error) bool }); ok {
		for _, target := range unchanging {
			if x.Is(target) {
				return false
			}
		}
	}
	return true
}

// refusesClient reports whether err is a TLS alert that says: not with this certificate, or not in this version. In an
// OpError the alert has a type that crypto/tls does not export, of the same numbers (RFC 8446, section 6).
func refusesClient(err error) bool {
	v := reflect.ValueOf(err)
	if v.Kind() != reflect.Uint8 || v.Type().PkgPath() != "crypto/tls" {
		return false
	}
	switch v.Uint() {
	case 42, 43, 44, 45, 46, 48, 116: // bad, unsupported, revoked, expired, unknown, of an unknown authority, missing
		return true
	case alertVersion:
		return true
	}
	return false
}

const alertVersion = 70 // a protocol version that the server does not speak

// plain is the type of what errors.New returns, and fmt.Errorf without %w.
var plain = reflect.TypeOf(errors.New(""))

// refusalBegins are the beginnings of texts that go on with what was refused.
var refusalBegins = []string{
	"unsupported protocol scheme ", "net/http: invalid header ", "net/http: invalid trailer ", "net/http: invalid method ",
	"http: ContentLength=", "http: Request.ContentLength=",
}

// isRefusal reports whether text is one of those by which net/http refuses a request.
func isRefusal(text string) bool {
	switch text {
	case "http: no Host in request URL", "http: invalid Host header", "net/http: can't write control character in Request.URL",
		"http2: request body larger than specified content length", "stopped after 10 redirects",
		http.StatusText(http.StatusProxyAuthRequired): // all that is left of a proxy's answer to CONNECT
		return true
	}
	for _, begin := range refusalBegins {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}
