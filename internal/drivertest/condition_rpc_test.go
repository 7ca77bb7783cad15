package drivertest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed-89b3229b/retry/condition"
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
