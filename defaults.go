package retry

import (
	"math"
	"time"

	"github.com/seed-89b3229b/retry/strategy"
)

// The defaults. Without a success, the default policy's waits last 1.5 s on average and 3.0 s at most.
const (
	defaultMaxAttempts = 5
	defaultBase        = 200 * time.Millisecond
	defaultMax         = 20 * time.Second
	defaultMaxHint     = 60 * time.Second
)

var (
	defaultStrategy    strategy.Strategy = strategy.FullJitter{Base: defaultBase, Max: defaultMax}
	defaultExponential strategy.Strategy = strategy.Exponential{Base: defaultBase, Max: defaultMax}
)

// attempts is the limit of attempts. A limit on time that is stated takes the place of the default; but for Poll, which may
// fail so many times in a row within the time that it is given.
func (c *config) attempts() int {
	switch {
	case c.maxAttempts != 0:
		return c.maxAttempts
	case c.supervised, c.interval == 0 && (c.maxElapsed > 0 || c.maxRetryElapsed > 0):
		return Unlimited
	}
	return defaultMaxAttempts
}

// curve is the strategy in force under some terms, which are the configuration's or a rule's.
func (c *config) curve(t *terms) strategy.Strategy {
	switch {
	case t.strategy != nil:
		return t.strategy
	case t.jitter != nil && c.supervised:
		return superviseExponential
	case t.jitter != nil:
		return defaultExponential
	case c.supervised:
		return superviseStrategy
	}
	return defaultStrategy
}

// hintLimit is the longest told wait.
func (c *config) hintLimit() time.Duration {
	if c.maxHintSet {
		return c.maxHint
	}
	return defaultMaxHint
}

// delayLimit is the cap on policy waits as a jitter wants it.
func (t *terms) delayLimit() time.Duration {
	if t.maxDelay > 0 {
		return t.maxDelay
	}
	return math.MaxInt64
}

// rebase makes the default strategy with a Base of its own. Nothing is made anew that is there already, for the sake of
// options of a single call.
func (c *config) rebase() {
	most := c.ceilingOfBase()
	switch {
	case c.jitter != nil:
		if s := (strategy.Exponential{Base: c.base, Max: most}); c.strategy != s {
			c.strategy = s
		}
	case c.supervised:
		c.strategy = strategy.EqualJitter{Base: c.base, Max: most}
	default:
		if s := (strategy.FullJitter{Base: c.base, Max: most}); c.strategy != s {
			c.strategy = s
		}
	}
}

// ceilingOfBase is the Max of a default strategy with a Base of its own. It is not capped below what was asked for: the
// default Max only keeps doubling in bounds.
func (c *config) ceilingOfBase() time.Duration {
	if c.supervised {
		return max(superviseMax, c.base, c.maxDelay)
	}
	return max(defaultMax, c.base, c.maxDelay)
}

// goesOn says that a call outlives what a budget refuses: Supervise and Poll wait, and begin anew with the budget.
func (c *config) goesOn() bool { return c.supervised || c.interval > 0 }
