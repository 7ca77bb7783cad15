package condition_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

func TestAlibaba(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want condition.Verdict
	}{
		{"throttled", &daraError{code: ptr("Throttling"), status: ptr(400)}, throttled},
		{"throttled user", &daraError{code: ptr("Throttling.User"), status: ptr(400)}, throttled},
		{"throttled API", &SDKError{Code: ptr("Throttling.Api"), StatusCode: ptr(400)}, throttled},
		{"throttled with 503", &SDKError{Code: ptr("Throttling"), StatusCode: ptr(503)}, throttled},
		{"429", &SDKError{Code: ptr("Whatever"), StatusCode: ptr(429)}, throttled},
		{"no dot", &SDKError{Code: ptr("ThrottlingX"), StatusCode: ptr(400)}, unknown},
		{"503", &SDKError{StatusCode: ptr(503)}, again},
		{"408", &daraError{status: ptr(408)}, again},
		{"501", &daraError{status: ptr(501)}, unknown},
		{"denied", &SDKError{Code: ptr("Forbidden.RAM"), StatusCode: ptr(403)}, unknown},
		{"nothing", &SDKError{}, unknown},
		{"nothing by methods", &daraError{}, unknown},
		{"refused", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, again},
		{"timeout", os.ErrDeadlineExceeded, again},
		{"the strongest of all", errors.Join(io.EOF, &SDKError{Code: ptr("Forbidden.RAM")}, &daraError{code: ptr("Throttling")}), throttled},
		{"wherever it is", fmt.Errorf("%w: %w", &SDKError{StatusCode: ptr(404)}, io.EOF), again},
		{"something else", errA, unknown},

		// Any failure of input or output, but no certificate.
		{"no such host", &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}}, again},
		{"no such host, bare", fmt.Errorf("endpoint: %w", &net.DNSError{Err: "no such host", IsNotFound: true}), again},
		{"any errno", &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EMSGSIZE)}, again},
		{"alert, internal error", tls.AlertError(80), again},
		{"alert, protocol version", tls.AlertError(70), again},
		{"plain text", tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, again},
		{"alert, unknown authority", tls.AlertError(48), unknown},
		{"alert, certificate required", fmt.Errorf("x: %w", tls.AlertError(116)), unknown},
		{"certificate", &net.OpError{Op: "dial", Err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}, unknown},
		{"certificate, host", &net.OpError{Op: "read", Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: "a"}}, unknown},
		{"not valid", x509.CertificateInvalidError{Reason: x509.Expired}, unknown},
		{"canceled", &net.OpError{Op: "dial", Err: context.Canceled}, unknown},
		{"no such network", func() error { _, err := net.Dial("tcpx", "127.0.0.1:1"); return err }(), unknown},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, condition.Alibaba().Check(tt.err)) })
	}
}

// TestAlibabaFieldsElsewhere: what has only fields is read by HTTPStatus and its like as well.
func TestAlibabaFieldsElsewhere(t *testing.T) {
	err := fmt.Errorf("describe instances: %w", &SDKError{Code: ptr("ServiceUnavailable"), StatusCode: ptr(503)})
	require.Equal(t, again, condition.HTTPStatus(503).Check(err))
	require.Equal(t, again, condition.HTTPDefault().Check(err))
	require.Equal(t, again, condition.ErrorCode("Service*").Check(err))
	for _, empty := range []error{&SDKError{}, otherFields()} {
		require.Equal(t, unknown, condition.HTTPStatus(503).Check(empty))
		require.Equal(t, unknown, condition.ErrorCode("Service*").Check(empty))
	}
}

// otherFields has the name and the fields, but of other types.
func otherFields() error {
	type SDKError struct {
		errText
		Code       string
		StatusCode *string
	}
	return &SDKError{"other fields", "ServiceUnavailable", ptr("503")}
}
