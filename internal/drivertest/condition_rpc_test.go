package drivertest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
)

// TestConditionsOfGRPC: Code needs nothing but grpc's own function.
func TestConditionsOfGRPC(t *testing.T) {
	c := condition.Code(status.Code, codes.Unavailable, codes.Aborted)
	for _, tt := range []struct {
		err  error
		want condition.Verdict
	}{
		{status.Error(codes.Unavailable, "down"), condition.Retry},
		{fmt.Errorf("orders: %w", status.Error(codes.Unavailable, "down")), condition.Retry},
		{fmt.Errorf("orders: %w", fmt.Errorf("again: %w", status.Error(codes.Aborted, "lost"))), condition.Retry},
		{status.Error(codes.InvalidArgument, "no"), condition.Unknown},
		{errors.New("no status"), condition.Unknown},
	} {
		require.Equal(t, tt.want, c.Check(tt.err), tt.err)
	}
	// As documented: what is not gRPC's has a code too.
	require.Equal(t, condition.Retry, condition.Code(status.Code, codes.Unknown).Check(errors.New("no status")))
}

// TestVerdictsOfGRPC: the default policy and condition.GRPC, on gRPC's own errors.
func TestVerdictsOfGRPC(t *testing.T) {
	for code, attempts := range map[codes.Code]int{
		codes.InvalidArgument: 1, codes.NotFound: 1, codes.AlreadyExists: 1, codes.PermissionDenied: 1, codes.Unauthenticated: 1,
		codes.FailedPrecondition: 1, codes.OutOfRange: 1, codes.Unimplemented: 1, codes.Canceled: 1,
		codes.Unavailable: 5, codes.Internal: 5, codes.Unknown: 5, codes.ResourceExhausted: 5, codes.DeadlineExceeded: 5, codes.Aborted: 5,
	} {
		for _, err := range []error{status.Error(code, "m"), fmt.Errorf("orders: %w", status.Error(code, "m"))} {
			made := 0
			got := retry.Run(t.Context(), func(context.Context) error { made++; return err }, retry.WithStrategy(strategy.Constant{}))
			require.Equal(t, attempts, made, code)
			require.ErrorIs(t, got, err)
			want := condition.Stop
			if code == codes.Unavailable || code == codes.DeadlineExceeded {
				want = condition.Retry
			}
			require.Equal(t, want, condition.GRPC().Check(err), code)
		}
	}
}
