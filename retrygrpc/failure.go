package retrygrpc

import (
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/throttle"
)

// Failure is how one attempt failed. It is what the policy's conditions, strategy and observers see, and what errors.As finds in
// the error of a call that gave up. It is read only. All methods answer for a nil *Failure too.
type Failure struct {
	// Method is the full name, such as "/pkg.Service/Method".
	Method string
	// Sent says that the server may have seen the request. It is false where gRPC had no transport for it.
	Sent bool
	// Trailer is what the server sent last; nil if it sent nothing.
	Trailer metadata.MD
	// Err is the attempt's error.
	Err error

	status  *status.Status // nil in a Failure that somebody else made: then it is that of Err
	signal  throttle.Signal
	verdict condition.Verdict // where the policy's conditions leave it open
}

func failureIn(err error) (*Failure, bool) {
	f, ok := errors.AsType[*Failure](err)
	return f, ok && f != nil
}

// statusOf is the status of an error, which never is OK.
func statusOf(err error) *status.Status {
	if err == nil {
		return status.New(codes.Unknown, "no error")
	}
	s, ok := status.FromError(err)
	if !ok {
		s = status.FromContextError(err)
	}
	if s.Code() == codes.OK {
		s = status.New(codes.Unknown, err.Error())
	}
	return s
}

func (f *Failure) code() codes.Code { return f.GRPCStatus().Code() }

// Error returns Err's text.
func (f *Failure) Error() string {
	if f == nil || f.Err == nil {
		return "retrygrpc: no failure"
	}
	return f.Err.Error()
}

// Unwrap returns Err.
func (f *Failure) Unwrap() error {
	if f == nil {
		return nil
	}
	return f.Err
}

// GRPCStatus returns the status of Err, so that status.Code and status.FromError understand a Failure. Err without a status has
// the code UNKNOWN, but for those of contexts.
func (f *Failure) GRPCStatus() *status.Status {
	switch {
	case f == nil:
		return nil
	case f.status == nil:
		return statusOf(f.Err)
	}
	return f.status
}

// ErrorType returns the canonical name of the code, such as "UNAVAILABLE", for telemetry (error.type); empty for nil.
func (f *Failure) ErrorType() string {
	if f == nil {
		return ""
	}
	return code.Code(f.code()).String()
}

// SafeToRetry reports whether the server has not seen the request, so that condition.NotSent says Retry.
func (f *Failure) SafeToRetry() bool { return f != nil && !f.Sent }

// Timeout reports whether the code is DEADLINE_EXCEEDED.
func (f *Failure) Timeout() bool { return f != nil && f.code() == codes.DeadlineExceeded }

// ThrottleSignal returns what the server said about trying again; ok false: nothing.
func (f *Failure) ThrottleSignal() (s throttle.Signal, ok bool) {
	if f == nil {
		return s, false
	}
	return f.signal, !f.signal.IsZero()
}

// RetryAfter returns the wait that the server asked for; negative if it did not.
func (f *Failure) RetryAfter() time.Duration {
	if f == nil || !f.signal.HasDelay {
		return -1
	}
	return f.signal.Delay
}
