package condition

import "github.com/seed-89b3229b/retry/internal/grpccode"

// GRPC returns a Condition for errors that carry a gRPC status code, with a usual answer for each:
//
//	Retry      UNAVAILABLE, DEADLINE_EXCEEDED
//	Throttled  RESOURCE_EXHAUSTED, where an error in the tree names a wait, as HTTPDefault reads it
//	Stop       RESOURCE_EXHAUSTED without a wait: a quota for good, or a message that is too large
//	           CANCELLED, ABORTED (the transaction is to be repeated, not the call), UNKNOWN, INTERNAL, DATA_LOSS
//	           every other code, those beyond the specification included
//	Unknown    no code
//
// The code is the outermost one in the error's tree, the first of joined ones, read through the method GRPCStatus that errors of
// google.golang.org/grpc have; OK is no code. Connect's errors have no such method: see Code. To answer otherwise for some
// codes, put Code in front: Any(Code(status.Code, codes.Aborted), GRPC()).
//
// Whether the method may be called twice is not asked: after UNAVAILABLE and DEADLINE_EXCEEDED the server may have done the
// work. The deadline of the caller's own context never gets here, so that DEADLINE_EXCEEDED is that of one attempt, or of
// something behind the server.
//
// It allocates nothing for errors without the method, and is safe for concurrent use. Source: gRPC's status codes, proposal A6.
func GRPC() Condition {
	return grpc{}
}

type grpc struct{}

func (grpc) Check(err error) Verdict {
	code, ok := uint32(0), false
	find(err, func(err error) bool {
		code, ok = grpccode.At(err)
		return ok
	})
	switch {
	case !ok:
		return Unknown
	case code == grpccode.Unavailable, code == grpccode.DeadlineExceeded:
		return Retry
	case code == grpccode.ResourceExhausted && find(err, namesWait):
		return Throttled
	}
	return Stop
}

// isHopelessCall reports whether err itself carries a gRPC code that the same call will get again, or that says that somebody
// called it off.
func isHopelessCall(err error) bool {
	switch code, _ := grpccode.At(err); code {
	case grpccode.InvalidArgument, grpccode.NotFound, grpccode.AlreadyExists, grpccode.PermissionDenied,
		grpccode.Unauthenticated, grpccode.FailedPrecondition, grpccode.OutOfRange, grpccode.Unimplemented, grpccode.Canceled:
		return true
	}
	return false
}
