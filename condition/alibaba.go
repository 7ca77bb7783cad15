package condition

import (
	"net"
	"net/http"
	"reflect"
	"strings"
)

// Alibaba returns a Condition that judges errors of the Alibaba Cloud SDKs as their own default policies do:
//
//	Throttled  code Throttling, or one that begins with "Throttling.", such as Throttling.User and Throttling.Api
//	Throttled  status 429
//	Retry      status 408, 500, 502, 503 or 504
//	Retry      what Network or Timeout retries, and every other failure of input or output: a *net.OpError, a *net.DNSError
//	           (a name that was not found included), what crypto/tls says of a connection. Not where a certificate, of either
//	           side, or context.Canceled is in the tree
//	Unknown    everything else, which the SDKs do not repeat: Only(Alibaba())
//
// Every error in the tree is asked, and the first of these lines that fits any of them counts. The code is read through the
// method GetCode() *string, the status through GetStatusCode() *int, as ThrottlingError, ClientError and ServerError of
// darabonba-openapi have them, or in any other way that ErrorCode and HTTPStatus know. What a generated client returns in
// the end is a *tea.SDKError, which has no methods for them; there it is the fields Code and StatusCode.
//
// The statuses are those of the Java SDK's RetryPolicy, and so is the rule that any IOException is worth a retry; the codes are
// those for which the Go SDK makes a ThrottlingError. The Java SDK by itself does not repeat a throttled call that was answered
// with another status, such as 400, looks one cause deep for an IOException, and repeats the failures of certificates too.
//
// Its waits are those of strategy.EqualJitter{Base: 200 * time.Millisecond, Max: 2 * time.Minute}, three retries at most
// (WithMaxAttempts(4)). With the Go SDK's option AutoRetry on, attempts multiply.
//
// It allocates nothing for errors other than SDKError, and is safe for concurrent use. Source: aliyun-java-sdk-core
// (RetryPolicy), alibabacloud-go/tea v1.5.4 (dara), darabonba-openapi v2.1.13.
func Alibaba() Condition {
	return alibaba{}
}

// alibabaStatuses is sorted; 429 is apart.
var alibabaStatuses = []int{408, 500, 502, 503, 504}

type alibaba struct{}

func (alibaba) Check(err error) (answer Verdict) {
	find(err, func(err error) bool {
		answer = max(answer, alibabaVerdict(err))
		return answer == Throttled
	})
	if answer == Unknown && find(err, isIO) && !find(err, isCertificate) && !find(err, isCanceled) {
		return Retry
	}
	return answer
}

func alibabaVerdict(err error) Verdict {
	if code := ownCode(err); code == "Throttling" || strings.HasPrefix(code, "Throttling.") {
		return Throttled
	}
	switch status := ownStatus(err); {
	case status == http.StatusTooManyRequests:
		return Throttled
	case among(alibabaStatuses, status), isNetwork(err), isTimeout(err):
		return Retry
	}
	return Unknown
}

// isIO reports whether err itself is a failure of a connection or of what it needs, that may pass or not.
func isIO(err error) bool {
	switch e := err.(type) {
	case *net.OpError:
		_, misspelt := e.Err.(net.UnknownNetworkError)
		return !misspelt
	case *net.DNSError:
		return true
	}
	return pathOf(err) == "crypto/tls"
}

// isCertificate reports whether err itself is about a certificate, ours or the other side's.
func isCertificate(err error) bool {
	switch v := reflect.ValueOf(err); {
	case pathOf(err) == "crypto/x509":
		return true
	case pathOf(err) != "crypto/tls":
		return false
	case v.Kind() == reflect.Uint8: // an alert (RFC 8446, section 6)
		return v.Uint() != alertVersion && refusesClient(err)
	default:
		return reflect.Indirect(v).Type().Name() == "CertificateVerificationError"
	}
}

// pathOf returns the path of the package that err's type is from.
func pathOf(err error) string {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}

// teaFields returns the error code and HTTP status in the fields of an Alibaba Cloud *tea.SDKError or *dara.SDKError. Not
// all that their methods promise can be called: a dara.SDKError's GetName is that of an embedded interface, which is nil.
func teaFields(err error) (code string, status int) {
	v, ok := structOf(err, "SDKError")
	if !ok {
		return "", 0
	}
	if f := pointee(field(v, "Code")); f.Kind() == reflect.String {
		code = f.String()
	}
	if f := pointee(field(v, "StatusCode")); f.Kind() == reflect.Int {
		status = int(f.Int())
	}
	return code, status
}
