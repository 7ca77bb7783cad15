package retry

import (
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// WithResetAfter makes an attempt that ran for healthy or longer, and fails after that, the first failure of a new run:
// what it did before it failed is progress, and what came before says nothing any more. A reset sets back the count that
// WithMaxAttempts limits (the failed attempt is the first again), the time that WithMaxElapsed and WithMaxRetryElapsed
// limit (it counts from the end of that attempt), the counts and times of every WithRule, and what the strategy knows of
// the call (State.Number, State.Prev, the memory of a Starter): the next wait is that of a first failure. It does not set
// back the numbers of attempts (Event.Number, Attempt.Number, Error.Attempts), the budget, the error history, or a level
// that a strategy shares between calls. How long an attempt ran counts, not how long ago the last failure was: steady
// failure after 30 s each time is no health where healthy means a minute. An attempt that its own timeout ended ran as long
// as that: let healthy be longer where that means it hung. 0: never. Default: never; Supervise: a minute. Restart does the
// same where the operation knows better.
func WithResetAfter(healthy time.Duration) Option { return resetAfterOption(healthy) }

// Restart marks err as a failure after progress, such as that of a stream which had delivered something: the attempt counts
// as the first failure of a new run, as with WithResetAfter. Whether it is retried is for others to say. What always makes
// progress is limited by its context only. The mark may be anywhere below other errors, but not within an inner call's
// *Error, and is removed at the top. nil stays nil.
func Restart(err error) error {
	if err == nil {
		return nil
	}
	return &restartError{err}
}

type restartError struct{ err error }

func (e *restartError) Error() string             { return textOf(e.err) }
func (e *restartError) Unwrap() error             { return e.err }
func (e *restartError) RetryMark() errtree.Marked { return errtree.Marked{Err: e.err} }

// forget begins a new run of failures. Of the attempts so far, that many count no more.
func (f *flow) forget(attempts int) {
	f.forgotten, f.failing = attempts, false
	f.memory, f.kind = memory{}, 0
	clear(f.kinds)
}
