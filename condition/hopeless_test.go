package condition_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// second returns the error of a call with two results.
func second[T any](_ T, err error) error { return err }

func TestHopelessStops(t *testing.T) {
	var number struct{ N int }
	for name, err := range map[string]error{
		"certificate":           &tls.CertificateVerificationError{Err: errA},
		"authority":             x509.UnknownAuthorityError{},
		"host name":             x509.HostnameError{Certificate: &x509.Certificate{}, Host: "a"},
		"expired":               x509.CertificateInvalidError{Reason: x509.Expired},
		"roots":                 x509.SystemRootsError{},
		"constraint":            x509.ConstraintViolationError{},
		"extension":             x509.UnhandledCriticalExtension{},
		"algorithm":             x509.InsecureAlgorithmError(x509.MD5WithRSA),
		"record header":         tls.RecordHeaderError{},
		"record header pointer": &tls.RecordHeaderError{},
		"alert, bad":            tls.AlertError(42),
		"alert, required":       fmt.Errorf("quic: %w", tls.AlertError(116)),
		"scheme mismatch":       &url.Error{Op: "Get", Err: http.ErrSchemeMismatch},
		"url":                   second(url.Parse("http://[::1")),
		"url escape":            second(url.QueryUnescape("%zz")),
		"url host":              second(url.Parse("http://a b/")),
		"network":               second(net.Dial("tcpx", "127.0.0.1:1")),
		"json syntax":           json.Unmarshal([]byte("<html>"), &number),
		"json type":             json.Unmarshal([]byte(`{"N":"x"}`), &number),
		"json target":           json.Unmarshal([]byte("{}"), any(nil)),
		"json unsupported type": second(json.Marshal(func() {})),
		"json NaN":              second(json.Marshal(math.NaN())),
		"json garbage behind":   json.Unmarshal([]byte("{} x"), &number),
		"no rows":               sql.ErrNoRows,
		"no rows by Is":         late{sql.ErrNoRows},
		"transaction done":      fmt.Errorf("commit: %w", sql.ErrTxDone),
		"unsupported":           errors.ErrUnsupported,
		"unsupported by errno":  os.NewSyscallError("fallocate", syscall.ENOSYS),
		"unsupported by http":   http.ErrNotSupported,
		"joined":                errors.Join(syscall.ECONNREFUSED, fmt.Errorf("load: %w", sql.ErrNoRows)),
		"bad method":            second(http.NewRequest("A B", "http://127.0.0.1/", nil)),
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, err)
			require.Equal(t, stop, condition.Hopeless().Check(err), "%T", err)
			require.Equal(t, stop, condition.Hopeless().Check(fmt.Errorf("outer: %w", err)))
		})
	}
}

func TestHopelessLeavesOpen(t *testing.T) {
	var number struct{ N int }
	for name, err := range map[string]error{
		"nil":                  nil,
		"plain":                errA,
		"refused":              &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		"url.Error":            &url.Error{Op: "Get", Err: io.EOF},
		"cut short":            json.NewDecoder(strings.NewReader(`{"N":`)).Decode(&number),
		"cut short, Unmarshal": json.Unmarshal([]byte(`{"N":`), &number),
		"empty, Unmarshal":     json.Unmarshal(nil, &number),
		"json by name only":    otherSyntaxError(),
		"empty":                json.NewDecoder(strings.NewReader("")).Decode(&number),
		"marshaler":            second(json.Marshal(passing{})),
		"host not found":       &net.DNSError{Err: "no such host", IsNotFound: true},
		"file not found":       second(os.Stat("/no/such/file")),
		"permission":           fs.ErrPermission,
		"number":               second(strconv.Atoi("x")),
		"time":                 second(time.Parse(time.RFC3339, "x")),
		"deadline":             context.DeadlineExceeded,
		"canceled":             context.Canceled,
		"connection done":      sql.ErrConnDone,
		"alert, internal":      tls.AlertError(80),
		"remote error, other":  &net.OpError{Op: "remote error", Err: foreignAlert(42)},
		"remote error, hollow": &net.OpError{Op: "remote error"},
		"status":               withStatus(400),
		"text elsewhere":       &fault{err: errors.New("a: unsupported protocol scheme")},
		"text of another type": texted(`unsupported protocol scheme "x"`),
		"inner call":           opaque{sql.ErrNoRows},
		"inner call, wrapped":  fmt.Errorf("outer: %w", opaque{&tls.CertificateVerificationError{Err: errA}}),
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, unknown, condition.Hopeless().Check(err), "%T", err) })
	}
}

// foreignAlert looks like crypto/tls's alert, and is not.
type foreignAlert uint8

func (foreignAlert) Error() string { return "tls: bad certificate" }

// otherSyntaxError has the name of encoding/json's, and is of another package.
func otherSyntaxError() error {
	type SyntaxError struct{ error }
	return &SyntaxError{errA}
}

type texted string

func (t texted) Error() string { return string(t) }

// passing fails to marshal for a reason that may pass.
type passing struct{}

func (passing) MarshalJSON() ([]byte, error) { return nil, io.ErrUnexpectedEOF }

// TestHopelessBesideInnerCall: an inner call's error hides only its own inside.
func TestHopelessBesideInnerCall(t *testing.T) {
	require.Equal(t, stop, condition.Hopeless().Check(errors.Join(opaque{errA}, sql.ErrNoRows)))
}
