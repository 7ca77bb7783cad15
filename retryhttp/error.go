package retryhttp

import (
	"context"
	"errors"

	"github.com/seed-89b3229b/retry"
)

// surface makes an error what callers of net/http expect. What is not worth another attempt comes back as Base returned
// it: http.Client looks at the types of some errors. And an error for lack of time says so itself, since url.Error asks
// only the one that it holds.
func surface(err error) error {
	switch e := err.(type) {
	case *Failure:
		return e.Err
	case *retry.Error:
		var last *Failure
		if errors.Is(e, context.DeadlineExceeded) || errors.As(e.Last, &last) && last.Timeout() {
			return &timeoutError{e}
		}
	}
	return err
}

type timeoutError struct{ err *retry.Error }

func (e *timeoutError) Error() string   { return e.err.Error() }
func (e *timeoutError) Unwrap() error   { return e.err }
func (e *timeoutError) Timeout() bool   { return true }
func (e *timeoutError) Temporary() bool { return true }

// bodyError is an error after which the request would be sent again if its body could be.
type bodyError struct{ err error }

func (e *bodyError) Error() string {
	return e.err.Error() + " (not sent again: the request body was used up and has no GetBody)"
}

func (e *bodyError) Unwrap() error        { return e.err }
func (e *bodyError) Is(target error) bool { return target == ErrBody }
