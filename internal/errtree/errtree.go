// Package errtree walks error trees without allocating.
package errtree

import "reflect"

// Opaque marks an error whose inside is another call's business: an inner call's markers must not steer an outer one.
type Opaque interface{ OpaqueRetry() }

// Mark is an error that only says something about the error in it, to the executor: it has its text and its tree. At the top
// of a failure it is removed before anybody else sees the failure. Marked is of this package so that no other module has Marks:
// removing one must not change what the failure is.
type Mark interface {
	error
	RetryMark() Marked
}

// Marked is what a Mark is on.
type Marked struct{ Err error }

// Walk visits err and every error below it, depth first, until visit returns false; it then returns false itself. It
// passes over nil and typed-nil errors, and visits an Opaque error but nothing below it.
func Walk(err error, visit func(error) bool) bool {
	for err != nil && !IsNil(err) {
		if !visit(err) {
			return false
		}
		switch x := err.(type) {
		case Opaque:
			return true
		case interface{ Unwrap() error }:
			err = x.Unwrap()
		case interface{ Unwrap() []error }:
			for _, e := range x.Unwrap() {
				if !Walk(e, visit) {
					return false
				}
			}
			return true
		default:
			return true
		}
	}
	return true
}

// IsNil reports whether v is nil, or an interface that holds a nil pointer or function.
func IsNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func:
		return r.IsNil()
	}
	return false
}
