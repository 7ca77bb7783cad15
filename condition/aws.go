package condition

import (
	"context"
	"net"
	"net/url"
	"strings"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// AWS returns a Condition that judges errors of the AWS SDK for Go as the SDK's own standard retryer does. In this order:
//
//	Unknown    CanceledError() true because of a deadline: Timeout's business
//	Stop       CanceledError() true
//	Stop       RetryableError() false
//	Stop       *net.DNSError with IsNotFound, unless RetryableError() true
//	Throttled  one of the codes below; status 429 unless the API has an error type of its own for it
//	Retry      RetryableError() true
//	Retry      code RequestTimeout or RequestTimeoutException; status 500, 502, 503 or 504
//	Retry      connections: ConnectionError() true, a *net.OpError with Op "dial", Temporary() or Timeout() true,
//	           net.ErrClosed, the system's errors that Network lists
//	Unknown    everything else, which the SDK does not repeat: Only(AWS())
//
//	BandwidthLimitExceeded  EC2ThrottledException  LimitExceededException  PriorRequestNotComplete
//	ProvisionedThroughputExceededException  RequestLimitExceeded  RequestThrottled  RequestThrottledException  SlowDown
//	ThrottledException  Throttling  ThrottlingException  TooManyRequestsException  TransactionInProgressException
//
// Of each method, of HTTPStatusCode() int and of ErrorCode() string, the outermost error that has it is asked. It differs
// from the SDK in that it leaves a failure of the connection that Hopeless stops, such as a certificate, to that; and in
// that it tells a refused, reset or closed connection by its type instead of its text, others of the kind included.
//
// The SDK makes three attempts by itself (aws.Config.RetryMaxAttempts): set that to 1, or the attempts multiply.
//
// It allocates nothing, and is safe for concurrent use. Source: aws-sdk-go-v2 v1.48.0, aws/retry.
func AWS() Condition {
	return aws{}
}

// Sorted, from DefaultThrottleErrorCodes, DefaultRetryableErrorCodes and DefaultRetryableHTTPStatusCodes of
// aws-sdk-go-v2 v1.48.0, aws/retry.
var (
	awsThrottling = []string{
		"BandwidthLimitExceeded", "EC2ThrottledException", "LimitExceededException", "PriorRequestNotComplete",
		"ProvisionedThroughputExceededException", "RequestLimitExceeded", "RequestThrottled", "RequestThrottledException",
		"SlowDown", "ThrottledException", "Throttling", "ThrottlingException", "TooManyRequestsException",
		"TransactionInProgressException",
	}
	awsTransient = []string{"RequestTimeout", "RequestTimeoutException"}
	awsStatuses  = []int{500, 502, 503, 504}
)

type aws struct{}

func (aws) Check(err error) Verdict {
	var f awsFacts
	find(err, func(err error) bool {
		f.add(err)
		return false
	})
	switch {
	case f.canceled == yes && f.deadline:
		return Unknown
	case f.canceled == yes, f.retryable == no, f.noHost && f.retryable != yes:
		return Stop
	case among(awsThrottling, f.code), f.status == 429 && !f.modeled:
		return Throttled
	case f.retryable == yes, among(awsTransient, f.code), among(awsStatuses, f.status):
		return Retry
	case f.connection && hopeless{}.Check(err) == Unknown:
		return Retry
	}
	return Unknown
}

// awsFacts is what the tree says. The first error that has a method answers for all.
type awsFacts struct {
	canceled, retryable                 said
	deadline, noHost, connection, coded bool
	modeled                             bool
	status                              int
	code                                string
}

type said uint8 // nothing, yes, no

const (
	yes said = iota + 1
	no
)

func (s *said) hear(answer bool) {
	switch {
	case *s != 0:
	case answer:
		*s = yes
	default:
		*s = no
	}
}

func (f *awsFacts) add(err error) {
	if e, ok := err.(interface{ CanceledError() bool }); ok {
		f.canceled.hear(e.CanceledError())
	}
	if e, ok := err.(interface{ RetryableError() bool }); ok {
		f.retryable.hear(e.RetryableError())
	}
	if e, ok := err.(interface{ HTTPStatusCode() int }); ok && f.status == 0 {
		f.status = e.HTTPStatusCode()
	}
	if e, ok := err.(interface{ ErrorCode() string }); ok && !f.coded {
		f.code, f.coded = e.ErrorCode(), true
		f.modeled = !isGenericAPIError(err)
	}
	if e, ok := err.(*net.DNSError); ok && e.IsNotFound {
		f.noHost = true
	}
	f.deadline = f.deadline || is(err, context.DeadlineExceeded)
	f.connection = f.connection || isAWSConnection(err)
}

// isGenericAPIError reports whether err is what smithy-go makes of an error for which the API has no type.
func isGenericAPIError(err error) bool {
	v, ok := structOf(err, "GenericAPIError")
	return ok && strings.HasPrefix(v.Type().PkgPath(), "github.com/aws/")
}

// isAWSConnection looks at err itself. The standard library's wrappers, which ask what is below them, are passed over:
// what is below is visited anyway.
func isAWSConnection(err error) bool {
	if e, ok := err.(interface{ ConnectionError() bool }); ok && e.ConnectionError() {
		return true
	}
	switch e := err.(type) {
	case *net.OpError:
		return strings.EqualFold(e.Op, "dial")
	case *url.Error:
		return false
	case interface{ Temporary() bool }:
		if e.Temporary() {
			return true
		}
	}
	return errtree.TimedOut(err) || is(err, net.ErrClosed) || isOneOf(err, errnos)
}
