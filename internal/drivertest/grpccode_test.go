package drivertest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed-89b3229b/retry/internal/grpccode"
)

// TestGRPCCodes: the codes of grpc's own errors are found without its import.
func TestGRPCCodes(t *testing.T) {
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		err := status.Error(code, "no")
		got, ok := grpccode.Of(err)
		require.True(t, ok)
		require.Equal(t, uint32(code), got)
		got, _ = grpccode.Of(fmt.Errorf("load: %w", err))
		require.Equal(t, uint32(code), got)
		var back codes.Code // from the name as gRPC writes it
		require.NoError(t, back.UnmarshalJSON([]byte(`"`+grpccode.Name(got)+`"`)))
		require.Equal(t, code, back)
	}
}
