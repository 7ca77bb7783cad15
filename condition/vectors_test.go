package condition_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/throttle"
)

type originalRules struct {
	Alibaba []struct {
		Status   *int
		Kind     string `json:"error_kind"`
		Original bool   `json:"original_retry"`
		Port     bool   `json:"port_retry"`
		Deviates bool   `json:"port_deviates"`
	} `json:"alibaba_default_conditions"`
	Dara []struct {
		Attempted int
		Name      string `json:"error_name"`
		Code      string `json:"error_code"`
		Type      string `json:"go_type"`
		Retry     bool   `json:"want_retry"`
	} `json:"alibaba_go_should_retry"`
	HTTP []struct {
		Context string `json:"ctx"`
		Status  *int
		Kind    string `json:"error_kind"`
		Retry   any    // a bool, or "panic"
	} `json:"retryablehttp_check"`
}

func rules(t *testing.T) (v originalRules) {
	data, err := os.ReadFile("testdata/original_rules.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &v))
	require.Len(t, v.Alibaba, 30)
	require.Len(t, v.Dara, 30)
	require.Len(t, v.HTTP, 48)
	return v
}

// retries reports whether c alone, with nothing left open, retries err.
func retries(c condition.Condition, err error) bool {
	v := condition.Only(c).Check(err)
	return v == again || v == throttled
}

// TestVectorsOfAlibaba: an error of each kind as Go has it.
func TestVectorsOfAlibaba(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	kinds := map[string]error{
		"":                                       errA,
		"socket_timeout":                         &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
		"connect_refused":                        refused,
		"interrupted_io":                         io.ErrUnexpectedEOF,
		"runtime_caused_by_runtime_caused_by_io": fmt.Errorf("outer: %w", fmt.Errorf("inner: %w", refused)),
		// Of a call that a cool-down has held back before it was made.
		"throttling": &throttle.Error{Key: "user", Until: time.Unix(1, 0), Remaining: time.Second},
	}
	deviations := 0
	for _, v := range rules(t).Alibaba {
		err, ok := kinds[v.Kind]
		if v.Kind == "client" || v.Kind == "server" {
			err, ok = &daraError{code: ptr("InvalidParameter"), status: v.Status}, true
		}
		require.True(t, ok, v.Kind)
		want := v.Original
		if v.Deviates {
			want = v.Port
			deviations++
		}
		require.Equal(t, want, retries(condition.Alibaba(), err), "%+v", v)
	}
	require.Equal(t, 1, deviations)
}

// TestVectorsOfDara: its options are, in the words of this package, a list of conditions. That the first call is always
// made (no call attempted) and the third is the last is the executor's part.
func TestVectorsOfDara(t *testing.T) {
	named := func(name string) condition.Condition {
		return condition.Match(func(e *namedError) bool { return e.name == name })
	}
	worth := condition.Only(
		condition.Not(condition.Any(condition.ErrorCode("Fatal"), named("NoErr"))),
		named("ThrottlingError"), condition.ErrorCode("Throttling"),
	)
	for _, v := range rules(t).Dara {
		var err error
		switch v.Type {
		case "BaseError", "ResponseError":
			err = &namedError{daraError{code: &v.Code}, v.Name}
		case "*errors.errorString":
			err = errA
		case "*fmt.wrapError":
			err = fmt.Errorf("outer: %w", errA)
		}
		require.Equal(t, v.Retry, v.Attempted == 0 || v.Attempted < 3 && retries(worth, err), "%+v", v)
	}
	// The original looks at the error itself only.
	require.True(t, retries(worth, fmt.Errorf("outer: %w", &namedError{name: "ThrottlingError"})))
}

type namedError struct {
	daraError
	name string
}

// TestVectorsOfRetryableHTTP: that a context which is done ends the call is the executor's part, so its cases are not asked
// here.
func TestVectorsOfRetryableHTTP(t *testing.T) {
	text := func(kind string) error {
		if kind == "tls.CertificateVerificationError" {
			return &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
		}
		if kind == "x509.HostnameError" {
			return x509.HostnameError{Certificate: &x509.Certificate{}, Host: "localhost"}
		}
		return errors.New(kind)
	}
	asked := 0
	for _, v := range rules(t).HTTP {
		if v.Context != "live" {
			require.Equal(t, false, v.Retry)
			continue
		}
		asked++
		kind, wrapped := strings.CutPrefix(v.Kind, "wrapped ")
		inner, isURL := strings.CutPrefix(strings.TrimSuffix(kind, ")"), "url_error(")
		var err error
		switch {
		case isURL:
			err = &url.Error{Op: "Get", URL: "http://127.0.0.1/", Err: text(inner)}
			if wrapped {
				err = fmt.Errorf("outer: %w", err)
			}
		case strings.HasPrefix(kind, "context.Canceled"):
			err = context.Canceled
		case kind != "":
			err = text(strings.TrimPrefix(kind, "plain error: "))
		case v.Status != nil:
			err = withStatus(*v.Status)
		}
		if err == nil {
			require.Equal(t, "panic", v.Retry)
			require.Equal(t, unknown, condition.RetryableHTTP().Check(nil), "no failure")
			continue
		}
		require.Equal(t, v.Retry, retries(condition.RetryableHTTP(), err), "%+v: %v", v, err)
	}
	require.Equal(t, 45, asked)
}
