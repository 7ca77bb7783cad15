package condition

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"reflect"
	"strings"
)

// RetryableHTTP returns a Condition with the rules of go-retryablehttp's DefaultRetryPolicy, for those who come from there.
// It always decides, so that nothing behind it in a list is asked:
//
//	Stop       a *url.Error that net/http's client made because of a loop of redirects ("stopped after 10 redirects"), an
//	           unsupported protocol scheme, an invalid header, or a certificate (*tls.CertificateVerificationError directly
//	           in it, or "certificate is not trusted")
//	Retry      any other *url.Error
//	Throttled  an error with status 429
//	Retry      an error with a status of 500 or above, except 501
//	Stop       an error with any other status
//	Retry      any other error, whatever it is
//
// As in the original, the *url.Error has to be the error itself, not below another one, where it is any other error; an
// unknown host, context.Canceled and a bug in the operation are retried; and a POST is no different from a GET. The status
// is read as HTTPStatus reads it: there, responses have it, here, the errors that an operation makes of them. Texts are read
// below the *url.Error, in errors made by errors.New, as net/http's are.
//
// Any(Hopeless(), RetryableHTTP()) sees through wrapping. The waits of the original are those of strategy.Exponential{Base:
// time.Second, Max: 30 * time.Second}, with at most four retries (WithMaxAttempts(5)) and any Retry-After of a 429 or 503
// taken as it is (WithHint(throttle.Exact())).
//
// It allocates nothing, and is safe for concurrent use. Source: hashicorp/go-retryablehttp v0.7.8.
func RetryableHTTP() Condition {
	return retryableHTTP{}
}

type retryableHTTP struct{}

func (retryableHTTP) Check(err error) Verdict {
	if err == nil {
		return Unknown
	}
	if e, ok := err.(*url.Error); ok {
		if e != nil && isHTTPRefusal(e.Err) {
			return Stop
		}
		return Retry
	}
	switch status := statusOf(err); {
	case status == http.StatusTooManyRequests:
		return Throttled
	case status == 0, status >= 500 && status != http.StatusNotImplemented:
		return Retry
	}
	return Stop
}

// Decides says that nothing behind it in a list is ever asked.
func (retryableHTTP) Decides() bool { return true }

// isHTTPRefusal reports whether net/http's client gave up because of err. It has a type for the certificate only; other
// than the original, texts are read nowhere but where net/http's can be, in what errors.New has made.
func isHTTPRefusal(err error) bool {
	if _, ok := err.(*tls.CertificateVerificationError); ok {
		return true
	}
	return find(err, func(err error) bool {
		if reflect.TypeOf(err) != plain {
			return false
		}
		text := err.Error()
		return isRedirectLoop(text) || strings.Contains(text, "unsupported protocol scheme") ||
			strings.Contains(text, "invalid header") || strings.Contains(text, "certificate is not trusted")
	})
}

// isRedirectLoop reports whether text ends with "stopped after N redirects".
func isRedirectLoop(text string) bool {
	text, ok := strings.CutSuffix(text, " redirects")
	if !ok {
		return false
	}
	before := strings.TrimRight(text, "0123456789")
	return len(before) < len(text) && strings.HasSuffix(before, "stopped after ")
}
