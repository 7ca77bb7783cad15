package retrygrpc

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed-89b3229b/retry"
)

// surface makes an error what callers of gRPC expect: one that status.FromError understands. ctx is the caller's.
func surface(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	switch e := err.(type) {
	case *retry.Error:
		return &statusError{e, statusOfEnd(ctx, e)}
	case *retry.ConfigError:
		return &statusError{e, status.New(codes.Internal, e.Error())}
	}
	if f, ok := failureIn(err); ok {
		return f.Err // not worth another attempt: the very error
	}
	return err
}

// statusOfEnd is the status of a call that gave up: the context's, if that has ended the call, else the last attempt's.
func statusOfEnd(ctx context.Context, e *retry.Error) *status.Status {
	if end := ctx.Err(); end != nil && errors.Is(e.Reason, end) && !errors.Is(e.Reason, retry.ErrDeadline) {
		if end == context.DeadlineExceeded {
			return status.New(codes.DeadlineExceeded, e.Error())
		}
		return status.New(codes.Canceled, e.Error())
	}
	if f, ok := failureIn(e.Last); ok {
		p := f.GRPCStatus().Proto() // a copy, with the details
		p.Message = e.Error()
		return status.FromProto(p)
	}
	return status.New(codes.Unavailable, e.Error()) // nothing was attempted
}

// statusError is an error of package retry with a status.
type statusError struct {
	err    error
	status *status.Status
}

func (e *statusError) Error() string              { return e.err.Error() }
func (e *statusError) Unwrap() error              { return e.err }
func (e *statusError) GRPCStatus() *status.Status { return e.status }
