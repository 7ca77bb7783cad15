package drivertest_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"

	openapi "github.com/alibabacloud-go/darabonba-openapi/v2/client"
	"github.com/alibabacloud-go/tea/dara"
	"github.com/alibabacloud-go/tea/tea"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// modeled is an error for which an API has a type of its own.
type modeled struct{ smithy.GenericAPIError }

// awsAnswer is an error as an operation of the SDK returns it.
func awsAnswer(status int, err error) error {
	response := &smithyhttp.Response{Response: &http.Response{StatusCode: status}}
	return &smithy.OperationError{
		ServiceID: "S3", OperationName: "PutObject",
		Err: &awshttp.ResponseError{ResponseError: &smithyhttp.ResponseError{Response: response, Err: err}, RequestID: "1"},
	}
}

func awsCode(code string) *smithy.GenericAPIError {
	return &smithy.GenericAPIError{Code: code, Message: "m"}
}

func awsSend(err error) error {
	return &smithy.OperationError{ServiceID: "S3", Err: &smithyhttp.RequestSendError{Err: &url.Error{Op: "Put", URL: "http://127.0.0.1", Err: err}}}
}

func awsErrors() map[string]error {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	all := map[string]error{
		"refused":               awsSend(dial(os.NewSyscallError("connect", syscall.ECONNREFUSED))),
		"refused, bare":         dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
		"refused in url.Error":  &url.Error{Op: "Get", Err: syscall.ECONNREFUSED},
		"reset":                 awsSend(&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}),
		"reset, bare":           &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)},
		"closed":                &net.OpError{Op: "read", Err: net.ErrClosed},
		"EOF":                   awsSend(io.EOF),
		"EOF, bare":             io.EOF,
		"timeout":               &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
		"no such host":          awsSend(dial(&net.DNSError{Err: "no such host", IsNotFound: true})),
		"DNS temporary":         awsSend(dial(&net.DNSError{IsTemporary: true})),
		"DNS, neither, bare":    &net.DNSError{Err: "misbehaving"},
		"canceled":              &smithy.OperationError{Err: &aws.RequestCanceledError{Err: context.Canceled}},
		"canceled by smithy":    &smithy.CanceledError{Err: context.Canceled},
		"deadline":              context.DeadlineExceeded,
		"canceled, bare":        context.Canceled,
		"plain":                 errors.New("plain"),
		"429":                   awsAnswer(429, awsCode("Whatever")),
		"429, no code":          awsAnswer(429, errors.New("empty")),
		"429, modeled":          awsAnswer(429, &modeled{*awsCode("QuotaExceeded")}),
		"429, modeled, limited": awsAnswer(429, &modeled{*awsCode("TooManyRequestsException")}),
		"deserialization":       &smithy.DeserializationError{Err: io.ErrUnexpectedEOF},
		"max attempts":          &retry.MaxAttemptsError{Attempt: 3, Err: awsAnswer(503, awsCode("SlowDown"))},
	}
	for _, status := range []int{200, 301, 400, 403, 404, 408, 409, 500, 501, 502, 503, 504, 505, 599} {
		all[fmt.Sprint(status)] = awsAnswer(status, awsCode("InternalError"))
	}
	for _, codes := range []map[string]struct{}{retry.DefaultThrottleErrorCodes, retry.DefaultRetryableErrorCodes, {"AccessDenied": {}, "": {}}} {
		for code := range codes {
			all["code "+code] = awsAnswer(400, awsCode(code))
			all["code of the API "+code] = awsAnswer(400, &modeled{*awsCode(code)})
			all["code, bare "+code] = awsCode(code)
		}
	}
	return all
}

// TestConditionsOfAWS compares with the checks of the SDK's own retryer.
func TestConditionsOfAWS(t *testing.T) {
	original := retry.IsErrorRetryables(retry.DefaultRetryables)
	throttles := retry.IsErrorThrottles(retry.DefaultThrottles)
	for name, err := range awsErrors() {
		want := map[aws.Ternary]condition.Verdict{
			aws.UnknownTernary: condition.Unknown, aws.FalseTernary: condition.Stop, aws.TrueTernary: condition.Retry,
		}[original.IsErrorRetryable(err)]
		if want == condition.Retry && throttles.IsErrorThrottle(err) == aws.TrueTernary {
			want = condition.Throttled
		}
		require.Equal(t, want, condition.AWS().Check(err), "%s: %v", name, err)
		require.Equal(t, want, condition.AWS().Check(fmt.Errorf("orders: %w", err)), "%s: %v", name, err)
	}
	// Where it differs, as documented.
	certificate := awsSend(&tls.CertificateVerificationError{Err: errors.New("x")})
	late := &aws.RequestCanceledError{Err: context.DeadlineExceeded}
	pipe := &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)}
	require.Equal(t, aws.TrueTernary, original.IsErrorRetryable(certificate))
	require.Equal(t, aws.FalseTernary, original.IsErrorRetryable(late))
	require.Equal(t, aws.UnknownTernary, original.IsErrorRetryable(pipe))
	run(t, []judged{
		{"certificate", condition.AWS(), certificate, condition.Unknown},
		{"certificate, hopeless", condition.Hopeless(), certificate, condition.Stop},
		{"attempt ran out of time", condition.AWS(), late, condition.Unknown},
		{"attempt ran out of time, as a timeout", condition.Timeout(), late, condition.Retry},
		{"broken pipe", condition.AWS(), pipe, condition.Retry},
		{"code", condition.ErrorCode("SlowDown"), awsAnswer(503, awsCode("SlowDown")), condition.Throttled},
		{"status", condition.HTTPStatus(503), awsAnswer(503, awsCode("SlowDown")), condition.Retry},
		{"default status", condition.HTTPDefault(), awsAnswer(404, awsCode("NoSuchKey")), condition.Stop},
		{"not sent", condition.NotSent(), awsErrors()["refused"], condition.Retry},
		{"perhaps sent", condition.NotSent(), awsErrors()["reset"], condition.Unknown},
	})
}

func TestConditionsOfAlibaba(t *testing.T) {
	code := func(code string, status int) map[string]any {
		return map[string]any{"code": code, "statusCode": status, "message": "m"}
	}
	throttling := &openapi.ThrottlingError{Name: dara.String("ThrottlingError"), Code: dara.String("Throttling.User"), StatusCode: dara.Int(400), RetryAfter: dara.Int64(2000)}
	server := &openapi.ServerError{Name: dara.String("ServerError"), Code: dara.String("ServiceUnavailable"), StatusCode: dara.Int(503)}
	client := &openapi.ClientError{Name: dara.String("ClientError"), Code: dara.String("Forbidden.RAM"), StatusCode: dara.Int(403)}
	c := condition.Alibaba()
	run(t, []judged{
		{"throttling", c, throttling, condition.Throttled},
		{"throttling, as returned", c, dara.TeaSDKError(throttling), condition.Throttled},
		{"server", c, server, condition.Retry},
		{"server, as returned", c, dara.TeaSDKError(server), condition.Retry},
		{"client", c, client, condition.Unknown},
		{"client, as returned", c, dara.TeaSDKError(client), condition.Unknown},
		{"tea", c, tea.NewSDKError(code("Throttling", 400)), condition.Throttled},
		{"tea 429", c, tea.NewSDKError(code("Whatever", 429)), condition.Throttled},
		{"tea 504", c, tea.NewSDKError(code("Whatever", 504)), condition.Retry},
		{"tea 404", c, tea.NewSDKError(code("InvalidInstanceId.NotFound", 404)), condition.Unknown},
		{"tea, empty", c, &tea.SDKError{}, condition.Unknown},
		// Its GetName is that of a nil interface, and panics.
		{"dara", c, dara.NewSDKError(code("Throttling.Api", 400)), condition.Throttled},
		{"dara 503", c, dara.NewSDKError(code("Whatever", 503)), condition.Retry},
		{"dara, empty", c, &dara.SDKError{}, condition.Unknown},
		{"cast", c, dara.NewCastError(dara.String("m")), condition.Unknown},
		{"refused", c, &url.Error{Op: "Post", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, condition.Retry},

		{"code", condition.ErrorCode("Forbidden.*"), dara.TeaSDKError(client), condition.Retry},
		{"code by method", condition.ErrorCode("Forbidden.*"), client, condition.Retry},
		{"code, throttled", condition.ErrorCode("Throttling.*"), throttling, condition.Throttled},
		{"status", condition.HTTPStatus(503), dara.TeaSDKError(server), condition.Retry},
		{"status by method", condition.HTTPStatus(503), server, condition.Retry},
		{"default status", condition.HTTPDefault(), dara.TeaSDKError(client), condition.Stop},
	})
}
