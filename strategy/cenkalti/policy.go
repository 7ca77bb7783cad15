package cenkalti

import (
	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
)

// Policy is v4's policies and marks for retry.Do: waits and their end are those of the BackOff that factory makes for each
// call, attempts are not limited otherwise, and Condition is set. It is an option, the first:
//
//	policy := cenkalti.Policy(func() cenkalti.BackOff { return cenkalti.NewExponentialBackOff() })
//	user, err := retry.Do(ctx, fetch, policy, retry.WithLogger(logger))
//
// All else is retry.Do's: a cancelled context means no attempt, cancellations and hopeless failures are not repeated, told
// waits are heeded, and where the BackOff stops, the *retry.Error matches retry.ErrNoDelay. A context in the BackOff cannot
// interrupt a wait; ctx does. See strategy.FromBackOff for what else is, and is not, taken from a BackOff.
//
// A nil factory gives a nil *retry.Policy, which every call refuses. The Policy is safe for concurrent use if factory is.
func Policy(factory func() BackOff) *retry.Policy {
	if factory == nil {
		return nil
	}
	return retry.MustNew(
		retry.WithStrategy(strategy.FromBackOff(func() strategy.BackOff { return factory() })),
		retry.WithUnlimitedAttempts(),
		retry.WithCondition(Condition()),
	)
}
