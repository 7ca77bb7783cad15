package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Permanent marks err as not worth another attempt; nil stays nil. The call returns err itself, without the mark. Found
// anywhere below other errors (fmt.Errorf with %w, errors.Join) it still ends the call, which then keeps the whole error
// in an *Error whose Reason is ErrNotRetryable. Marks within an inner call's *Error do not count; one at the top of what an
// inner call returns is gone with that call, so mark again what the outer call must not retry either.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// After marks err with the wait d that must pass before the next attempt, as a server told it (Retry-After): a
// throttle.Signal with that delay. It says when to try again, not whether: conditions still decide that. WithHint says how it
// is used, WithMaxHint how long it may be. A nil err stays nil; a negative d is no told wait. At the top of an error the mark
// is removed from what the call returns, observes and keeps.
func After(d time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &afterError{err, d}
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return textOf(e.err) }
func (e *permanentError) Unwrap() error { return e.err }

// RetryMark makes it an errtree.Mark, as all marks are: unmark goes by that alone.
func (e *permanentError) RetryMark() errtree.Marked { return errtree.Marked{Err: e.err} }

type afterError struct {
	err  error
	told time.Duration
}

func (e *afterError) Error() string             { return textOf(e.err) }
func (e *afterError) Unwrap() error             { return e.err }
func (e *afterError) RetryMark() errtree.Marked { return errtree.Marked{Err: e.err} }
func (e *afterError) RetryAfter() time.Duration { return e.told }

// attemptTimeout is the error of an attempt whose own deadline passed: the operation's text, and ErrAttemptTimeout.
type attemptTimeout struct{ err error }

func (e *attemptTimeout) Error() string { return textOf(e.err) }
func (e *attemptTimeout) Timeout() bool { return true }
func (e *attemptTimeout) Unwrap() error { return e.err }
func (e *attemptTimeout) Is(target error) bool {
	return target == ErrAttemptTimeout || target == context.DeadlineExceeded
}

// timedOut makes err match ErrAttemptTimeout if the attempt's own deadline has passed.
func timedOut(err error, expired bool) error {
	if !expired || err == nil || traitsOf(err).attemptTimeout {
		return err
	}
	return &attemptTimeout{err}
}

// unmark removes the marks at the top of err and says whether one of them was Permanent.
func unmark(err error) (bare error, permanent bool) {
	for {
		switch e := err.(type) {
		case errtree.Mark:
			_, is := e.(*permanentError)
			err, permanent = e.RetryMark().Err, permanent || is
		case *attemptTimeout:
			if _, marked := e.err.(errtree.Mark); !marked {
				return err, permanent
			}
			bare, inner := unmark(e.err)
			return &attemptTimeout{bare}, permanent || inner
		default:
			return err, permanent
		}
	}
}

// traits is what the tree of an error says to the executor.
type traits struct{ permanent, restart, attemptTimeout, canceled, timeout bool }

func traitsOf(err error) (t traits) {
	errtree.Walk(err, func(err error) bool {
		switch e := err.(type) {
		case *permanentError:
			t.permanent = true
		case *restartError:
			t.restart = true
		case *attemptTimeout:
			t.attemptTimeout = true
		case *timeoutSentinel:
			t.attemptTimeout = t.attemptTimeout || error(e) == ErrAttemptTimeout
		}
		t.timeout = t.timeout || errtree.TimedOut(err)
		if err == context.Canceled {
			t.canceled = true
		} else if e, ok := err.(interface{ Is(error) bool }); ok && !t.canceled {
			t.canceled = e.Is(context.Canceled)
		}
		return true
	})
	return t
}
