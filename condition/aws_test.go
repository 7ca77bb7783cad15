package condition_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// withCode is an API's error in its response, as the SDK nests them.
func withCode(status int, code string) error { return answered{status, &apiError{code}} }

type answered struct {
	status int
	err    error
}

func (answered) Error() string         { return "match answered" }
func (e answered) HTTPStatusCode() int { return e.status }
func (e answered) Unwrap() error       { return e.err }

func TestAWS(t *testing.T) {
	op := func(name string, err error) error { return &net.OpError{Op: name, Net: "tcp", Err: err} }
	for _, tt := range []struct {
		name string
		err  error
		want condition.Verdict
	}{
		{"throttled", withCode(400, "ThrottlingException"), throttled},
		{"throttled with 503", withCode(503, "SlowDown"), throttled},
		{"429 without a code", answered{429, errA}, throttled},
		{"429 with an error type of the API", withCode(429, "ServiceQuotaExceededException"), unknown},
		{"429 and a look-alike", answered{429, &GenericAPIError{apiError{"Whatever"}}}, unknown},
		{"timeout code", withCode(400, "RequestTimeout"), again},
		{"timeout code, exception", withCode(400, "RequestTimeoutException"), again},
		{"500", withCode(500, "InternalFailure"), again},
		{"502", answered{502, nil}, again},
		{"503", answered{503, nil}, again},
		{"504", answered{504, nil}, again},
		{"501", answered{501, nil}, unknown},
		{"denied", withCode(403, "AccessDenied"), unknown},
		{"the outermost code", errors.Join(withCode(400, "ValidationError"), &apiError{"Throttling"}), unknown},
		{"the outermost code is empty", errors.Join(&apiError{}, &apiError{"Throttling"}), unknown},

		{"retryable", awsRetryable(true), again},
		{"retryable and throttled", errors.Join(awsRetryable(true), &apiError{"Throttling"}), throttled},
		{"not retryable", awsRetryable(false), stop},
		{"not retryable wins", errors.Join(awsRetryable(false), withCode(503, "SlowDown")), stop},
		{"the outermost retryable", errors.Join(awsRetryable(true), awsRetryable(false)), again},
		{"canceled", awsCanceled{context.Canceled}, stop},
		{"canceled wins", errors.Join(awsCanceled{errA}, awsRetryable(true)), stop},
		{"canceled by a deadline", awsCanceled{context.DeadlineExceeded}, unknown},

		{"connection", awsConnection{errA}, again},
		{"connection, end of stream", awsConnection{&url.Error{Op: "Put", Err: io.EOF}}, again},
		{"connection, no such host", awsConnection{op("dial", &net.DNSError{IsNotFound: true})}, stop},
		{"no such host but retryable", errors.Join(awsRetryable(true), &net.DNSError{IsNotFound: true}), again},
		{"connection, certificate", awsConnection{&url.Error{Op: "Put", Err: &tls.CertificateVerificationError{Err: errA}}}, unknown},
		{"certificate", &tls.CertificateVerificationError{Err: errA}, unknown},
		{"dial of any kind", op("dial", &net.AddrError{Err: "no port"}), again},
		{"dial, hollow", op("dial", nil), again},
		{"dial, unknown network", op("dial", net.UnknownNetworkError("tpc")), unknown},
		{"refused", &url.Error{Op: "Put", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, again},
		{"reset", op("read", syscall.ECONNRESET), again},
		{"closed", op("read", net.ErrClosed), again},
		{"temporary DNS", &net.DNSError{IsTemporary: true}, again},
		{"temporary", later{false}, again},
		{"timeout", slow(true), again},
		{"no timeout", slow(false), unknown},
		{"deadline", context.DeadlineExceeded, again},
		{"end of stream by itself", io.EOF, unknown},
		{"canceled by somebody else", context.Canceled, unknown},
		{"something else", errA, unknown},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, condition.AWS().Check(tt.err)) })
	}
}
