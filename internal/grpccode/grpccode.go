// Package grpccode finds the gRPC status code of an error without importing gRPC.
package grpccode

import (
	"reflect"
	"strconv"
	"sync"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// The status codes of gRPC, https://github.com/grpc/grpc/blob/master/doc/statuscodes.md.
const (
	OK uint32 = iota
	Canceled
	Unknown
	InvalidArgument
	DeadlineExceeded
	NotFound
	AlreadyExists
	PermissionDenied
	ResourceExhausted
	FailedPrecondition
	Aborted
	OutOfRange
	Unimplemented
	Internal
	Unavailable
	DataLoss
	Unauthenticated
)

var names = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE",
	"DATA_LOSS", "UNAUTHENTICATED",
}

// Name returns a code's name as gRPC and OpenTelemetry write it, such as DEADLINE_EXCEEDED; CODE(99) for one without.
func Name(code uint32) string {
	if code < uint32(len(names)) {
		return names[code]
	}
	return "CODE(" + strconv.FormatUint(uint64(code), 10) + ")"
}

// Of returns the code of the first error in the tree that has one, in the order of errtree.Walk. It does not look into an
// inner call's error. It never panics.
func Of(err error) (code uint32, ok bool) {
	errtree.Walk(err, func(err error) bool {
		code, ok = At(err)
		return !ok
	})
	return code, ok
}

// At returns the code of err itself, from a method GRPCStatus whose result has a method Code, as *status.Status of
// google.golang.org/grpc has it. ok is false if there is no such method, if it returns nil or OK, which says nothing about a
// failure, and if it panics. An error without the method costs one look-up of its type and no allocation.
func At(err error) (code uint32, ok bool) {
	if errtree.IsNil(err) || !has(reflect.TypeOf(err)) {
		return OK, false
	}
	defer func() {
		if recover() != nil {
			code, ok = OK, false
		}
	}()
	status := reflect.ValueOf(err).MethodByName("GRPCStatus").Call(nil)[0]
	if errtree.IsNil(status.Interface()) {
		return OK, false
	}
	code = uint32(status.MethodByName("Code").Call(nil)[0].Uint())
	return code, code != OK
}

// known remembers which types have the method. A program has so many types, and no more.
var known sync.Map // reflect.Type -> bool

func has(t reflect.Type) bool {
	if found, ok := known.Load(t); ok {
		return found.(bool)
	}
	found := shaped(t)
	known.Store(t, found)
	return found
}

// shaped asks for methods by constant names only: by others, the linker would have to keep every method of the program.
func shaped(t reflect.Type) bool {
	m, ok := t.MethodByName("GRPCStatus")
	if !ok || m.Type.NumIn() != 1 || m.Type.NumOut() != 1 {
		return false
	}
	of, ok := m.Type.Out(0).MethodByName("Code")
	receivers := 1
	if m.Type.Out(0).Kind() == reflect.Interface {
		receivers = 0 // an interface's method has no receiver among its parameters
	}
	return ok && of.Type.NumIn() == receivers && of.Type.NumOut() == 1 && of.Type.Out(0).Kind() == reflect.Uint32
}
