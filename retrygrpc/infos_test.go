package retrygrpc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

func manyInfos(t *testing.T, waits ...time.Duration) error {
	s := status.New(codes.Unavailable, "down")
	for _, d := range waits {
		var err error
		s, err = s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(d)})
		require.NoError(t, err)
	}
	return s.Err()
}
