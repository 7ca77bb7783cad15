package retry

import (
	"context"

	"github.com/seed-89b3229b/retry/throttle"
)

// Results are hooks on the values that attempts return, for calls of Do and Poll with the same T. Each field is optional;
// each is called from the goroutine of the call, and the hooks of a shared Policy from many calls at once.
type Results[T any] struct {
	// Classify judges every attempt, successes too. The attempt has failed if and only if Outcome.Err is not nil: Classify
	// may turn a value down, and may accept one in spite of an error. That Err is what conditions, strategy, observers and
	// Error.Last see. An Outcome without a Signal takes the one that its Err carries, if any.
	Classify func(v T, err error) throttle.Outcome
	// Discard is told every value that is thrown away, because another attempt or a fallback follows, while its attempt's
	// context is still alive.
	Discard func(v T)
	// Keep is told the value that the call returns, with or without an error, where that value lives on the attempt's
	// context, as a response body does. With WithAttemptTimeout, which covers the operation only, the attempt's context then
	// ends when release is called or the parent ends; without it that context is the call's, and release does nothing. Do
	// returns what Keep returns. release may be called from anywhere, any number of times.
	Keep func(v T, release context.CancelFunc) T
}
