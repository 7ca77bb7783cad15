package condition_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// rpcCode and the like have the shapes of google.golang.org/grpc/codes and status, which are a uint32 and a function.
type rpcCode uint32

const (
	rpcOK          rpcCode = 0
	rpcUnknown     rpcCode = 2
	rpcAborted     rpcCode = 10
	rpcUnavailable rpcCode = 14
)

type rpcError struct{ code rpcCode }

func (e *rpcError) Error() string { return fmt.Sprintf("rpc error: code = %d", e.code) }

func rpcCodeOf(err error) rpcCode {
	if err == nil {
		return rpcOK
	}
	if e, ok := errors.AsType[*rpcError](err); ok {
		return e.code
	}
	return rpcUnknown
}

func TestCode(t *testing.T) {
	c := condition.Code(rpcCodeOf, rpcUnavailable, rpcAborted) // C is inferred
	for _, tt := range []struct {
		err  error
		want condition.Verdict
	}{
		{&rpcError{rpcUnavailable}, again},
		{fmt.Errorf("call: %w", &rpcError{rpcAborted}), again},
		{&rpcError{rpcUnknown}, unknown},
		{errA, unknown},
		{nil, unknown},
	} {
		require.Equal(t, tt.want, c.Check(tt.err), "%v", tt.err)
	}
	require.Equal(t, unknown, condition.Code(rpcCodeOf, rpcOK).Check(nil), "nil has no code")
	require.Equal(t, again, condition.Code(rpcCodeOf, rpcUnknown).Check(errA), "as documented")
}

// TestCodeKinds: every comparable type will do, untyped constants included.
func TestCodeKinds(t *testing.T) {
	require.Equal(t, again, condition.Code(error.Error, "a", "b").Check(errA))
	require.Equal(t, again, condition.Code(func(error) int { return 7 }, 6, 7).Check(errA))
	require.Equal(t, again, condition.Code(func(error) [2]int { return [2]int{1, 2} }, [2]int{1, 2}).Check(errA))
	require.Equal(t, again, condition.Code(func(error) any { return 7 }, any(7)).Check(errA))
	require.Equal(t, unknown, condition.Code(func(error) any { return nil }, any(7)).Check(errA))
}
