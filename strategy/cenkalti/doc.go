// Package cenkalti is github.com/cenkalti/backoff/v4 on this module's engine: its functions with its names and signatures,
// its types and constants themselves. Moving begins with one changed import, and everything else stays as it is:
//
//	import backoff "github.com/seed-89b3229b/retry/strategy/cenkalti" // was "github.com/cenkalti/backoff/v4"
//
//	policy := backoff.WithMaxRetries(backoff.NewExponentialBackOff(), 4)
//	user, err := backoff.RetryWithData(func() (User, error) {
//		user, err := api.User(id)
//		if errors.Is(err, ErrNoSuchUser) {
//			return user, backoff.Permanent(err)
//		}
//		return user, err
//	}, backoff.WithContext(policy, ctx))
//
// The types are v4's own, so packages that have moved and packages that have not can hand each other policies, timers and
// errors. The policy decides as before how long to wait and when to stop; told waits (retry.After and the like) change
// nothing, and what retry.Do calls hopeless is repeated.
//
// # What a call returns
//
// What v4 would return, for the ordinary ends: the value of the last attempt, and nil, or the operation's error itself where
// the policy stopped, or the error inside a PermanentError. Comparisons such as err == io.EOF go on working. As in v4, text
// around a PermanentError, and errors joined to it, are lost.
//
// # What is different
//
//   - A context that ends the call makes a *retry.Error, through which errors.Is finds the context's error, its cause and
//     the operation's last error. v4 returns the context's error alone, so err == context.Canceled has to become
//     errors.Is(err, context.Canceled).
//   - A wait that would not end before the context's deadline is not begun: the call ends at once, with a *retry.Error that
//     matches context.DeadlineExceeded and retry.ErrDeadline. Where a Timer was given, whose time nobody knows, v4's way
//     holds: the wait ends at the deadline.
//   - A context that ends during an attempt, in Notify, or at the moment a wait ends, is always noticed before the next
//     attempt. v4 tosses a coin where timer and context are both ready.
//   - Every negative wait stops the call, not -1 alone: v4's ExponentialBackOff overflows into negative waits near the
//     largest interval, which v4 takes for no wait at all.
//   - retry.Permanent stops a call too. retry.ContextWithClock and retry.ContextWithoutRetry hold for the context in the
//     policy.
//   - A nil policy, which panics in v4, makes one attempt; a nil operation is a *retry.ConfigError; a nil pointer to a
//     PermanentError is a failure like any other.
//   - Ticker.Stop returns when the channel is closed: no tick comes after it. A context that is done closes the channel also
//     while a tick waits to be received, except for the first. The timer is stopped with the ticker.
//
// # Which function
//
// Code that shall change no more than its import: the functions named as in v4.
//
// New code that still has a v4 policy: retry.Do with Policy. Every end but a permanent failure is then a *retry.Error with
// the reason, the operation gets a context, and all options are there.
//
// New code: retry.Do with a strategy; docs/migrating.md maps v4 line by line.
package cenkalti
