package alibaba

import (
	"fmt"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// Values of a Control's zero fields.
const (
	DefaultMaxAttempts = 4 // the SDK's three retries
	DefaultMaxDelay    = 2 * time.Minute
	DefaultSlack       = 100 * time.Millisecond
)

// The waits of the SDK's EqualJitter: it doubles base once before the first retry.
const (
	firstDelay = 200 * time.Millisecond
	mostDelay  = 2 * time.Minute
)

// Control is the throttling control of one API of Alibaba Cloud for one account: whose quotas the calls use up, and where
// the cool-downs are kept. It is a value; a copy with another Action is the Control of another API. Nothing changes it, so
// it is safe for concurrent use.
type Control struct {
	// Gate keeps the cool-downs of all Controls that share it. Required, unless Disabled. Its MaxCooldown caps them, its
	// Spread says how those that were held back are released.
	Gate *throttle.Gate
	// Account is the access key ID that the calls are signed with, or whatever else names the account. It is hashed before
	// it is kept anywhere. Empty: anonymous calls, for which there is no account dimension.
	Account string `json:"-"`
	// Product, Version, Action and Region name the API, such as "Ecs", "2014-05-26", "DescribeInstances", "cn-hangzhou".
	Product, Version, Action, Region string

	// Disabled switches the control off: no cool-down is read or written, and told waits are not heeded. What is left are
	// the retries of the SDK's policy.
	Disabled bool
	// Debug makes SetHeader ask for the quota headers in answers that were not throttled, too.
	Debug bool
	// OnSuccess makes a successful attempt start a cool-down, too, if its Signal says that it used up a quota. Without
	// it, the next call finds out.
	OnSuccess bool
	// ConditionsDecide leaves it to condition.Alibaba whether a throttled answer is worth a retry, as the Java SDK does.
	// Without it, every answer whose quota is used up is, whatever its status, such as 400.
	ConditionsDecide bool

	// MaxAttempts is the number of attempts, the first included. 0: DefaultMaxAttempts.
	MaxAttempts int
	// MaxDelay is the longest wait before an attempt. A cool-down that lasts longer ends the call at once, and is kept. It
	// also caps the waits of the policy's own curve. 0: DefaultMaxDelay.
	MaxDelay time.Duration
	// Slack is added to every told wait, because the gateway's clock is not ours. 0: DefaultSlack; negative: none.
	Slack time.Duration
}

// Validate returns a *throttle.ConfigError for the first field that cannot be used: a Gate that is missing while the
// control is on, or that is invalid itself, and a negative MaxAttempts or MaxDelay.
func (c Control) Validate() error {
	switch {
	case c.MaxAttempts < 0:
		return &throttle.ConfigError{Field: "alibaba.Control.MaxAttempts", Value: c.MaxAttempts, Problem: "must not be negative"}
	case c.MaxDelay < 0:
		return &throttle.ConfigError{Field: "alibaba.Control.MaxDelay", Value: c.MaxDelay, Problem: "must not be negative"}
	case c.Disabled:
		return nil
	case c.Gate == nil:
		return &throttle.ConfigError{Field: "alibaba.Control.Gate", Value: nil, Problem: "must be given, unless Disabled"}
	}
	return c.Gate.Validate()
}

// Options returns the options that make a policy of c:
//
//	WithThrottle   waits for the later of both keys' cool-downs, records those that an attempt is told; not if Disabled
//	WithStrategy   EqualJitter{Base: 200ms, Max: 2m}: 100..200 ms, 200..400 ms, 400..800 ms; capped at MaxDelay
//	WithCondition  Only: answers whose quota is used up (not if Disabled or ConditionsDecide), and condition.Alibaba
//	WithHint       Ignore: the throttle heeds told waits, for every call that shares the Gate
//	WithMaxAttempts, WithMaxDelay, WithMaxHint
//
// After a failure the wait is the longest of one draw, the rest of the account's cool-down and the rest of the API's; told
// waits are exact for the first to come, and others that were held back follow as Gate says, but never later than MaxDelay
// from when they asked. A call that would have to wait longer than MaxDelay ends at once, with an error that matches
// retry.ErrHintTooLong and holds the *throttle.Error of the cool-down beside the operation's error.
//
// Options that follow win; a strategy of one's own, though, makes MaxDelay be compared with what a cool-down adds to that
// strategy's wait, not with the sum. A condition of one's own must stand before them, since these decide always. What c
// does not allow is the *retry.ConfigError of whoever gets the options, and wraps that of Validate.
func (c Control) Options() []retry.Option {
	invalid := c.Validate()
	maxDelay := max(c.MaxDelay, 0)
	if maxDelay == 0 {
		maxDelay = DefaultMaxDelay
	}
	attempts := max(c.MaxAttempts, 0)
	if attempts == 0 {
		attempts = DefaultMaxAttempts
	}
	waits := curve{EqualJitter: strategy.EqualJitter{Base: firstDelay, Max: mostDelay}, invalid: invalid}
	worth := condition.Alibaba()
	var options []retry.Option
	if !c.Disabled {
		h := c.hold(maxDelay, invalid)
		options = append(options, retry.WithThrottle(h))
		waits.hold = h
		if !c.ConditionsDecide {
			worth = condition.Any(condition.Func(throttled), worth)
		}
	}
	return append(options,
		retry.WithStrategy(waits),
		retry.WithCondition(condition.Only(worth)),
		retry.WithHint(throttle.Ignore()),
		retry.WithMaxAttempts(attempts),
		retry.WithMaxDelay(maxDelay),
		retry.WithMaxHint(maxDelay),
	)
}

// Observe records what an answer said, as the throttle of Options does: for calls that are made without the executor, and
// for hooks that see answers which the operation hides, such as an SDK's HTTP client. now is the time of the answer and err
// what the answer was to the caller, nil if unknown. Nothing is recorded if c is Disabled or has no Gate.
func (c Control) Observe(now time.Time, s throttle.Signal, err error) {
	if !c.Disabled {
		c.hold(0, nil).observe(now, &s, err)
	}
}

// String names the API and, by its hash, the account.
func (c Control) String() string {
	_, api := c.Keys()
	return "alibaba(" + string(api) + ")"
}

// Format writes String for every verb, so that printing a Control does not show the Account. Package fmt does not call it
// for a Control in an unexported field of what is printed.
func (c Control) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }
