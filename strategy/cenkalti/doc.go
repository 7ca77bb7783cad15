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
// What v4.3.0 returns: the value of the last attempt, and nil; or the operation's error itself where the policy stopped; or
// the context's error itself where the context in the policy ended the call; or the error inside a PermanentError. So
// comparisons such as err == io.EOF or err == context.Canceled, and texts that are printed or compared, stay as they are. As
// in v4, a context's end hides the operation's error, and the text around a PermanentError and errors joined to it are lost;
// a deadline is waited for, even if no attempt can follow; a negative wait other than Stop is no wait. retry.Run is better in
// each of these: see below.
//
// # What is left to chance in v4, or panics there
//
//   - Where a wait is over and the context is done at the same moment, v4 goes either way. Here the call ends.
//   - A nil policy makes one attempt, a nil operation is a *retry.ConfigError, a nil pointer to a PermanentError is a failure
//     like any other, a nil context in a policy is none. A nil pointer given as policy or Timer is called, as in v4.
//   - When Ticker.Stop has returned, the channel is closed: no tick comes after it. The timer is stopped with the ticker.
//
// What only code that knows this module can do: retry.Permanent stops a call too; retry.ContextWithClock and
// retry.ContextWithoutRetry hold for the context in the policy.
//
// # Which function
//
// Code that shall change no more than its import: the functions named as in v4.
//
// New code that still has a v4 policy: retry.Do with Policy. Every end but a permanent failure is then a *retry.Error with
// the reason and the operation's error, no wait is begun that cannot end before the deadline, the operation gets a context,
// and all options are there.
//
// New code: retry.Do with a strategy; docs/migrating.md maps v4 line by line.
package cenkalti
