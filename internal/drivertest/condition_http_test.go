package drivertest_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// statusError is what an operation makes of a response that it does not want.
type statusError struct {
	status int
	after  time.Duration // negative: nothing said
}

func (e statusError) Error() string             { return fmt.Sprintf("status %d", e.status) }
func (e statusError) StatusCode() int           { return e.status }
func (e statusError) RetryAfter() time.Duration { return e.after }

// TestConditionOfRetryableHTTP compares with the original's DefaultRetryPolicy.
func TestConditionOfRetryableHTTP(t *testing.T) {
	ask := func(response *http.Response, err error) bool {
		again, _ := retryablehttp.DefaultRetryPolicy(context.Background(), response, err)
		return again
	}
	retries := func(err error) bool {
		v := condition.RetryableHTTP().Check(err)
		require.NotEqual(t, condition.Unknown, v)
		return v != condition.Stop
	}
	for status := range 1000 {
		require.Equal(t, ask(&http.Response{StatusCode: status}, nil) || status > 0 && status < 100, retries(statusError{status, -1}), status)
	}
	causes := []error{
		io.EOF, context.Canceled, errors.New("stopped after 10 redirects"), errors.New("stopped after 010 redirects"), errors.New("stopped after redirects"),
		errors.New("stopped after 10 redirects "), errors.New("x stopped after 10 redirects"), errors.New(`unsupported protocol scheme "ftp"`),
		errors.New("net/http: invalid header field name"), errors.New("Invalid Header"), errors.New("x509: certificate is not trusted"),
		&tls.CertificateVerificationError{Err: errors.New("x")}, fmt.Errorf("outer: %w", &tls.CertificateVerificationError{Err: errors.New("x")}),
		x509.HostnameError{Certificate: &x509.Certificate{}, Host: "localhost"}, x509.UnknownAuthorityError{},
		&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}},
		fmt.Errorf("outer: %w", errors.New("stopped after 10 redirects")),
	}
	for _, cause := range causes {
		for _, err := range []error{
			cause, &url.Error{Op: "Get", URL: "http://127.0.0.1/", Err: cause},
			fmt.Errorf("outer: %w", &url.Error{Op: "Get", URL: "http://127.0.0.1/", Err: cause}),
			errors.Join(&url.Error{Op: "Get", URL: "http://127.0.0.1/", Err: cause}),
		} {
			require.Equal(t, ask(nil, err), retries(err), "%T: %v", err, err)
			require.Equal(t, ask(&http.Response{StatusCode: 200}, err), retries(err), "the error wins")
		}
	}
}

// TestRetryableHTTPContext: a context that is done ends the call, whatever the answer was.
func TestRetryableHTTPContext(t *testing.T) {
	for _, status := range []int{429, 503} {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		err := retry.Run(ctx, func(context.Context) error {
			calls++
			cancel()
			return statusError{status, -1}
		}, retry.WithCondition(condition.RetryableHTTP()))
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorAs(t, err, new(statusError))
		require.Equal(t, 1, calls)
	}
}

type backoffVector struct {
	Attempt    int
	Min        int64    `json:"min_ns"`
	Max        int64    `json:"max_ns"`
	RetryAfter []string `json:"retry_after"`
	Status     int
	Want       int64  `json:"want_ns"`
	Port       *int64 `json:"port_want_ns"`
}

// TestRetryableHTTPWaits runs the original's DefaultBackoff, and a policy with the same curve that takes what the server
// named as it is. Reading the header is the operation's part here: as the original does it, but without its overflow.
func TestRetryableHTTPWaits(t *testing.T) {
	named := 0
	for _, v := range readVectors[backoffVector](t, "../../strategy/testdata/original_waits.json", "retryablehttp_backoff") {
		if v.Min == 0 || v.Max == 0 || v.Attempt < 0 || v.Attempt > 100 {
			continue // not what a policy is made of; package strategy looks at these
		}
		header := http.Header{"Retry-After": v.RetryAfter}
		response := &http.Response{StatusCode: v.Status, Header: header}
		require.Equal(t, v.Want, int64(retryablehttp.DefaultBackoff(time.Duration(v.Min), time.Duration(v.Max), v.Attempt, response)), "%+v", v)

		want := v.Want
		if v.Port != nil {
			want = *v.Port
		}
		policy := retry.MustNew(
			retry.WithUnlimitedAttempts(), retry.WithCondition(condition.RetryableHTTP()),
			retry.WithStrategy(strategy.Exponential{Base: time.Duration(v.Min), Max: time.Duration(v.Max)}),
			retry.WithHint(throttle.Exact()), retry.WithMaxHint(math.MaxInt64),
		)
		last := statusError{v.Status, -1}
		if len(v.RetryAfter) > 0 && (v.Status == 429 || v.Status == 503) {
			last.after = retryAfter(v.RetryAfter[0])
		}
		if last.after >= 0 {
			named++
		}
		if v.Status < 500 && v.Status != 429 {
			last.status = 500 // no failure for the original's CheckRetry; its Backoff is asked all the same
		}
		ctx, now := context.Background(), time.Unix(0, 0)
		flow := policy.Begin(now, time.Time{}, nil)
		flow.Next(ctx, now)
		for range v.Attempt {
			require.Equal(t, retry.Wait, flow.Report(ctx, now, throttle.Outcome{Err: statusError{500, -1}}).Action)
			now = now.Add(24 * time.Hour * 365)
			require.Equal(t, retry.Go, flow.Next(ctx, now).Action)
		}
		step := flow.Report(ctx, now, throttle.Outcome{Err: last})
		require.Equal(t, retry.Wait, step.Action, "%+v: %+v", v, step)
		require.Equal(t, time.Duration(want), step.Delay, "%+v", v)
	}
	require.Equal(t, 11, named)
}

// retryAfter reads a header as the original does: whole seconds, or a date of one form. Negative: nothing said.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		if seconds > math.MaxInt64/int64(time.Second) {
			return math.MaxInt64
		}
		return time.Duration(seconds) * time.Second
	}
	if date, err := time.Parse(time.RFC1123, value); err == nil {
		return max(time.Until(date), 0)
	}
	return -1
}
