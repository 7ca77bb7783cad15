package condition_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// rpc is a gRPC code in the shape of *status.Error, as far as it is asked.
type rpc uint32

func (rpc) Error() string     { return "rpc" }
func (c rpc) GRPCStatus() rpc { return c }
func (c rpc) Code() rpc       { return c }

// toldWait names a wait.
type toldWait struct {
	error
	wait time.Duration
}

func (t toldWait) Unwrap() error             { return t.error }
func (t toldWait) RetryAfter() time.Duration { return t.wait }

// TestGRPC goes through the codes of https://github.com/grpc/grpc/blob/master/doc/statuscodes.md.
func TestGRPC(t *testing.T) {
	want := [17]condition.Verdict{0: unknown, 4: again, 14: again}
	for code := range want {
		if code != 0 && want[code] == unknown {
			want[code] = stop
		}
		require.Equal(t, want[code], condition.GRPC().Check(rpc(code)), code)
		require.Equal(t, want[code], condition.GRPC().Check(fmt.Errorf("orders: %w", rpc(code))), code)
	}
	for _, tt := range []struct {
		name string
		err  error
		want condition.Verdict
	}{
		{"beyond the list", rpc(99), stop},
		{"quota with a wait", toldWait{rpc(8), time.Second}, throttled},
		{"quota with a wait below", errors.Join(rpc(8), toldWait{errA, time.Second}), throttled},
		{"quota with no wait", toldWait{rpc(8), 0}, stop},
		{"aborted with a wait", toldWait{rpc(10), time.Second}, stop},
		{"unavailable with a wait", toldWait{rpc(14), time.Second}, again},
		{"the first of two", errors.Join(rpc(14), rpc(3)), again},
		{"OK is none", errors.Join(rpc(0), rpc(3)), stop},
		{"of an inner call", opaque{rpc(14)}, again},
		{"none", errA, unknown},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, condition.GRPC().Check(tt.err)) })
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { condition.GRPC().Check(errA) }))
}

// TestHopelessOfGRPC: what the same call would be told again, and nothing else.
func TestHopelessOfGRPC(t *testing.T) {
	final := map[rpc]bool{1: true, 3: true, 5: true, 6: true, 7: true, 9: true, 11: true, 12: true, 16: true}
	for code := range rpc(20) {
		want := unknown
		if final[code] {
			want = stop
		}
		require.Equal(t, want, condition.Hopeless().Check(code), uint32(code))
		require.Equal(t, want, condition.Hopeless().Check(fmt.Errorf("orders: %w", code)), uint32(code))
		require.Equal(t, unknown, condition.Hopeless().Check(opaque{code}), "an inner call's")
	}
}
