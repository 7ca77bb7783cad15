package condition_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// later is a net.Error, as HTTP clients and others define their own.
type later struct{ timeout bool }

func (later) Error() string   { return "later" }
func (l later) Timeout() bool { return l.timeout }
func (later) Temporary() bool { return true }

func TestNetwork(t *testing.T) {
	network := condition.Network()
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, tt := range []struct {
		name string
		err  error
		want condition.Verdict
	}{
		{"EOF", io.EOF, again},
		{"cut short", fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), again},
		{"closed here", &net.OpError{Op: "read", Err: net.ErrClosed}, again},
		{"EOF by Is", late{io.EOF}, again},
		{"reset by Is", late{syscall.ECONNRESET}, again},
		{"op timeout", &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, again},
		{"op timeout of any kind", &net.OpError{Op: "read", Err: slow(true)}, again},
		{"op timeout of a context", &net.OpError{Op: "dial", Err: context.DeadlineExceeded}, again},
		{"net.Error that timed out", later{true}, again},
		{"and in a url.Error", &url.Error{Op: "Get", Err: later{true}}, again},
		{"DNS timeout", dial(&net.DNSError{IsTimeout: true}), again},
		{"DNS temporary", dial(&net.DNSError{IsTemporary: true}), again},
		{"after something else", errors.Join(errA, syscall.ECONNRESET), again},

		{"DNS not found", dial(&net.DNSError{Err: "no such host", IsNotFound: true}), unknown},
		{"DNS not found, temporary", dial(&net.DNSError{IsNotFound: true, IsTemporary: true}), unknown},
		{"DNS, neither", dial(&net.DNSError{Err: "server misbehaving"}), unknown},
		{"net.Error, temporary only", later{false}, unknown},
		{"no net.Error", slow(true), unknown},
		{"op, no reason", &net.OpError{Op: "dial"}, unknown},
		{"op, other reason", dial(&net.AddrError{Err: "missing port in address"}), unknown},
		{"context deadline", context.DeadlineExceeded, unknown},
		{"context deadline in url.Error", &url.Error{Op: "Get", Err: context.DeadlineExceeded}, unknown},
		{"canceled", context.Canceled, unknown},
		{"canceled in url.Error", &url.Error{Op: "Get", Err: context.Canceled}, unknown},
		{"canceled dial", dial(context.Canceled), unknown},
		{"certificate", &tls.CertificateVerificationError{Err: errA}, unknown},
		{"texts are not read", errors.New("connection reset by peer"), unknown},
		{"other errno", os.NewSyscallError("open", syscall.ENOENT), unknown},
		{"pipe in the process", io.ErrClosedPipe, unknown},
		{"a status", withStatus(503), unknown},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, network.Check(tt.err)) })
	}
}

func TestNetworkErrnos(t *testing.T) {
	for _, errno := range []syscall.Errno{
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT,
		syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.ENETRESET,
	} {
		require.Equal(t, again, condition.Network().Check(errno), errno)
		require.Equal(t, again, condition.Network().Check(&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", errno)}), errno)
	}
	for _, errno := range []syscall.Errno{0, syscall.ENOENT, syscall.EACCES, syscall.EINVAL} {
		require.Equal(t, unknown, condition.Network().Check(errno), errno)
	}
}
