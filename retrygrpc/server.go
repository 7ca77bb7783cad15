package retrygrpc

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
)

const pushbackKey = "grpc-retry-pushback-ms"

// Pushback tells the client of a call, in the trailer grpc-retry-pushback-ms, to wait exactly d before it tries again; d is rounded
// up to milliseconds, and is about 24 days at most. Below 0 it tells the client not to try again. ctx is the handler's. Call it once: a second value
// is read as "do not". The handler still has to return an error. Its own error is that of grpc.SetTrailer.
//
// Source: gRPC proposal A6, "Pushback".
func Pushback(ctx context.Context, d time.Duration) error {
	ms := int64(-1)
	if d >= 0 {
		ms = int64(d / time.Millisecond)
		if d%time.Millisecond > 0 {
			ms++
		}
		ms = min(ms, math.MaxInt32)
	}
	return grpc.SetTrailer(ctx, metadata.Pairs(pushbackKey, strconv.FormatInt(ms, 10)))
}

// After returns err with a google.rpc.RetryInfo of d in its status, in place of any other: it tells the client to wait for d at
// least. The code is that of err, UNAVAILABLE if it has none; errors.Is and errors.As still reach err. A nil err stays nil, and with
// a negative d it is returned unchanged.
func After(d time.Duration, err error) error {
	if err == nil || d < 0 {
		return err
	}
	s, ok := status.FromError(err)
	if !ok || s.Code() == codes.OK {
		s = status.New(codes.Unavailable, err.Error())
	}
	info, e := anypb.New(&errdetails.RetryInfo{RetryDelay: durationpb.New(d)})
	if e != nil {
		return err
	}
	p := s.Proto() // a copy
	p.Details = slices.DeleteFunc(p.Details, func(a *anypb.Any) bool { return a.MessageIs(new(errdetails.RetryInfo)) })
	p.Details = append(p.Details, info)
	return &statusError{err, status.FromProto(p)}
}

// PreviousAttempts returns how many attempts the client says it made before this one (grpc-previous-rpc-attempts). 0 if it says
// nothing, or more than one thing, or no number from 0 to 1<<31-1. ctx is the handler's.
func PreviousAttempts(ctx context.Context) int {
	said := metadata.ValueFromIncomingContext(ctx, attemptsKey)
	if len(said) != 1 {
		return 0
	}
	n, err := strconv.ParseUint(said[0], 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}
