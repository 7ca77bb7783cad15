package condition_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// slow says whether it timed out, and nothing else of a net.Error.
type slow bool

func (slow) Error() string   { return "slow" }
func (s slow) Timeout() bool { return bool(s) }

// late matches a deadline by its Is method only.
type late struct{ target error }

func (late) Error() string          { return "late" }
func (l late) Is(target error) bool { return target == l.target }

func TestTimeout(t *testing.T) {
	timeout := condition.Timeout()
	for _, tt := range []struct {
		name string
		err  error
		want condition.Verdict
	}{
		{"context", context.DeadlineExceeded, again},
		{"file or connection", os.ErrDeadlineExceeded, again},
		{"Timeout true", slow(true), again},
		{"Timeout false", slow(false), unknown},
		{"Is context", late{context.DeadlineExceeded}, again},
		{"Is os", late{os.ErrDeadlineExceeded}, again},
		{"ETIMEDOUT", &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ETIMEDOUT)}, again},
		{"DNS", &net.DNSError{IsTimeout: true}, again},
		{"url", &url.Error{Op: "Get", Err: slow(true)}, again},
		{"path", &fs.PathError{Op: "read", Err: os.ErrDeadlineExceeded}, again},
		{"below a false one", fmt.Errorf("%w: %w", slow(false), slow(true)), again},
		{"refused", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, unknown},
		{"canceled", context.Canceled, unknown},
		{"url canceled", &url.Error{Op: "Get", Err: context.Canceled}, unknown},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, timeout.Check(tt.err)) })
	}
}

// TestTimeoutOfHollowWrappers: the standard library's wrappers pass the question on, to a nil pointer too.
func TestTimeoutOfHollowWrappers(t *testing.T) {
	for _, inner := range append(typedNils(), nil) {
		for _, err := range []error{
			&url.Error{Op: "Get", Err: inner},
			&net.OpError{Op: "read", Err: inner},
			&os.SyscallError{Syscall: "read", Err: inner},
			&fs.PathError{Op: "read", Err: inner},
			&url.Error{Op: "Get", Err: &net.OpError{Op: "read", Err: &os.SyscallError{Syscall: "read", Err: inner}}},
		} {
			require.Equal(t, unknown, condition.Timeout().Check(err))
			require.Equal(t, unknown, condition.Network().Check(err))
			require.Equal(t, unknown, condition.Hopeless().Check(err))
			require.Equal(t, again, condition.Timeout().Check(errors.Join(err, context.DeadlineExceeded)))
		}
	}
}
