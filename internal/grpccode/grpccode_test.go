package grpccode_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry/internal/grpccode"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// code and status have the shapes of codes.Code and *status.Status.
type (
	code     uint32
	status   struct{ c code }
	rpcError struct{ s *status }
	byValue  struct{ c code }
	coded    interface{ Code() code }
	viaIface struct{ s coded }
	promoted struct{ *rpcError }
	panics   struct{}
	badArity struct{}
	badCode  struct{}
	intCode  struct{}
	opaque   struct{ error }
)

func (s *status) Code() code {
	if s == nil {
		return 0
	}
	return s.c
}
func (e *rpcError) Error() string       { return "rpc error: " + e.s.text() }
func (s *status) text() string          { return fmt.Sprint(s.c) }
func (e *rpcError) GRPCStatus() *status { return e.s }
func (e byValue) Error() string         { return "by value" }
func (e byValue) GRPCStatus() *status   { return &status{e.c} }
func (e viaIface) Error() string        { return "interface" }
func (e viaIface) GRPCStatus() coded    { return e.s }
func (e panics) Error() string          { return "panics" }
func (e panics) GRPCStatus() *status    { panic("no status") }
func (badArity) Error() string          { return "arity" }
func (badArity) GRPCStatus(int) *status { return &status{14} }
func (badCode) Error() string           { return "no code" }
func (badCode) GRPCStatus() error       { return errors.New("x") }
func (intCode) Error() string           { return "int" }
func (intCode) GRPCStatus() intStatus   { return intStatus{} }
func (o opaque) OpaqueRetry()           {}
func (o opaque) Unwrap() error          { return o.error }

type intStatus struct{}

func (intStatus) Code() int { return 14 }

func rpc(c code) error { return &rpcError{&status{c}} }

func TestOf(t *testing.T) {
	for name, x := range map[string]struct {
		err  error
		want uint32 // OK: none
	}{
		"nil":                      {nil, grpccode.OK},
		"foreign":                  {errors.New("x"), grpccode.OK},
		"itself":                   {rpc(14), grpccode.Unavailable},
		"a value":                  {byValue{8}, grpccode.ResourceExhausted},
		"an interface":             {viaIface{&status{3}}, grpccode.InvalidArgument},
		"an interface that is nil": {viaIface{}, grpccode.OK},
		"a typed nil in it":        {viaIface{(*status)(nil)}, grpccode.OK},
		"wrapped":                  {fmt.Errorf("call: %w", rpc(5)), grpccode.NotFound},
		"joined, the first":        {errors.Join(errors.New("x"), rpc(16), rpc(5)), grpccode.Unauthenticated},
		"OK, then another":         {errors.Join(rpc(0), rpc(5)), grpccode.NotFound},
		"beyond the list":          {rpc(99), 99},
		"typed nil":                {(*rpcError)(nil), grpccode.OK},
		"nil status":               {&rpcError{}, grpccode.OK},
		"promoted from nil":        {promoted{}, grpccode.OK},
		"promoted":                 {promoted{&rpcError{&status{10}}}, grpccode.Aborted},
		"panics":                   {panics{}, grpccode.OK},
		"panics, then another":     {errors.Join(panics{}, rpc(13)), grpccode.Internal},
		"takes an argument":        {badArity{}, grpccode.OK},
		"a status without a code":  {badCode{}, grpccode.OK},
		"a code that is an int":    {intCode{}, grpccode.OK},
		"of an inner call":         {opaque{rpc(14)}, grpccode.OK},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // the second time the type is known
				got, ok := grpccode.Of(x.err)
				require.Equal(t, x.want, got)
				require.Equal(t, x.want != grpccode.OK, ok)
			}
		})
	}
}

// TestNames: those of https://github.com/grpc/grpc/blob/master/doc/statuscodes.md, by number.
func TestNames(t *testing.T) {
	require.Equal(t, "OK", grpccode.Name(grpccode.OK))
	require.Equal(t, "CANCELLED", grpccode.Name(1))
	require.Equal(t, "DEADLINE_EXCEEDED", grpccode.Name(grpccode.DeadlineExceeded))
	require.Equal(t, "FAILED_PRECONDITION", grpccode.Name(9))
	require.Equal(t, "UNAVAILABLE", grpccode.Name(grpccode.Unavailable))
	require.Equal(t, "UNAUTHENTICATED", grpccode.Name(16))
	require.Equal(t, "CODE(17)", grpccode.Name(17))
	require.Equal(t, "CODE(4294967295)", grpccode.Name(1<<32-1))
}

func TestForeignErrorsDoNotAllocate(t *testing.T) {
	err := fmt.Errorf("x: %w", errors.New("y"))
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = grpccode.Of(err) }))
}
