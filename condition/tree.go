package condition

import "github.com/seed-89b3229b/retry/internal/errtree"

// find visits err and every error below it, in the order of errors.Is and errors.As, until match says true. Unlike
// those it passes over typed nils, whose Unwrap, Is and As methods would panic. Unlike errtree.Walk it looks inside the
// error of an inner call too: what happened there is of interest, only its markers are not.
func find(err error, match func(error) bool) bool {
	for !errtree.IsNil(err) {
		if match(err) {
			return true
		}
		switch x := err.(type) {
		case interface{ Unwrap() error }:
			err = x.Unwrap()
		case interface{ Unwrap() []error }:
			for _, e := range x.Unwrap() {
				if find(e, match) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}

// is reports whether err itself matches target, as errors.Is decides it for one error. target must be comparable.
func is(err, target error) bool {
	return err == target || isByMethod(err, target)
}

func isByMethod(err, target error) bool {
	x, ok := err.(interface{ Is(error) bool })
	return ok && x.Is(target)
}

// isOneOf reports whether err itself matches one of targets, which must be comparable.
func isOneOf(err error, targets []error) bool {
	for _, target := range targets {
		if err == target {
			return true
		}
	}
	if x, ok := err.(interface{ Is(error) bool }); ok {
		for _, target := range targets {
			if x.Is(target) {
				return true
			}
		}
	}
	return false
}

// as reports whether err itself is an E, as errors.As decides it for one error.
func as[E error](err error) (e E, ok bool) {
	if e, ok = err.(E); ok {
		return e, true
	}
	if x, ok := err.(interface{ As(any) bool }); ok {
		var target E // moves to the heap, so not before it is needed
		if x.As(&target) && !errtree.IsNil(target) {
			return target, true
		}
	}
	return e, false
}

// first returns the E that errors.As would find.
func first[E error](err error) (e E, ok bool) {
	find(err, func(x error) bool {
		e, ok = as[E](x)
		return ok
	})
	return e, ok
}
