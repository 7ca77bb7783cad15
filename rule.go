package retry

import (
	"reflect"
	"time"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/saturate"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// WithRule adds a rule for one kind of failure: those that when wants retried (verdict Retry or Throttled; Unknown and Stop
// are no match). They are retried whatever the conditions say, with limits and waits of their own:
//
//	retry.WithRule(unauthorized, retry.WithMaxAttempts(2), retry.WithStrategy(strategy.Constant{})), // refresh once, at once
//	retry.WithRule(notFound, retry.WithMaxAttempts(20)), // not yet visible
//	retry.WithRule(internal, retry.WithMaxElapsed(time.Minute)), // within a minute of the first
//
// Rules are asked in order, those of a policy before those of a call, before WithRetryIf and the conditions; the first
// that matches wins. Each call counts for itself, and each of its kinds apart: State.Number, Prev and Elapsed, and a
// Starter's memory, are those of the kind, and the failures of a rule are not in the numbers of the others, nor in those of
// failures without a rule.
//
// These options are for rules; any other is a *ConfigError:
//
//   - WithMaxAttempts(n): the n-th failure of the kind ends the call, with ErrExhausted. Default, and WithUnlimitedAttempts: no
//     limit for the kind.
//   - WithMaxElapsed(d): no wait is started that would end d or more after the kind's first failure, while the last failure
//     is of the kind. It ends the call with ErrMaxElapsed. 0: no limit, the default.
//   - WithStrategy and WithJitter: the waits. Default: the policy's, and its jitter too if the rule has neither. A rule
//     with a strategy has the jitter that it says, or none.
//   - WithMaxDelay: the cap, the policy's where that is shorter. WithHint: how told waits are used. Default: the policy's.
//
// Limits that were set for the whole call hold over all kinds together. Only the default of 5 attempts does not count the
// failures of a rule that has a limit of its own, be it WithUnlimitedAttempts. A reset (WithResetAfter, Restart) sets all
// counts back. The first match of a call costs an allocation. Default: none.
func WithRule(when condition.Condition, opts ...Option) Option {
	r := &rule{when: when}
	return ruleOption{r, r.read(opts)}
}

// terms are what a policy and each of its rules can say for themselves.
type terms struct {
	maxAttempts int // unlimited: no limit
	maxElapsed  time.Duration
	maxDelay    time.Duration
	strategy    strategy.Strategy
	starter     strategy.Starter // strategy, if it is one
	learner     strategy.Learner // strategy, if it is one
	jitter      strategy.Jitter
	hint        throttle.Rule
	hintSet     bool
}

// drawOnce refuses a jitter on waits that are drawn.
func (t *terms) drawOnce() error {
	if s, ok := t.strategy.(interface{ Jittered() bool }); ok && t.jitter != nil && s.Jittered() {
		return invalid("WithJitter", t.strategy, "the strategy draws its delays itself: leave one of the two out")
	}
	return nil
}

// rule is a kind of failure, with its own terms. It is not changed once it is made.
type rule struct {
	terms
	when condition.Condition
}

func (r *rule) read(opts []Option) error {
	var c config
	var problems problems
	problems.add(check("WithRule", r.when))
	for _, o := range opts {
		switch o.(type) {
		case nil, maxAttemptsOption, unlimitedAttemptsOption, maxElapsedOption, maxDelayOption, strategyOption, jitterOption, hintOption:
			problems.add(c.apply(o))
		default:
			problems.add(invalid("WithRule", optionName(o), "a rule takes WithMaxAttempts, WithUnlimitedAttempts, WithMaxElapsed, WithMaxDelay, WithStrategy, WithJitter and WithHint only"))
		}
	}
	r.terms = c.terms
	return problems.err()
}

// checkRules checks the rules under the policy's terms, and says whether one has a strategy that learns.
func (c *config) checkRules() (learns bool, err error) {
	var problems problems
	for _, r := range c.rules {
		if r.strategy != nil || r.jitter != nil { // else it is the policy's problem, and reported there
			t := r.under(c)
			problems.add(t.drawOnce())
		}
		learns = learns || r.learner != nil
	}
	return learns, problems.err()
}

// limited says that the rule has a limit of its own, in place of the default.
func (r *rule) limited() bool { return r.maxAttempts != 0 || r.maxElapsed > 0 }

// under returns the rule's terms as they count under those of a policy: for waits. The limits are each one's own.
func (r *rule) under(c *config) terms {
	t := r.terms
	switch {
	case t.strategy != nil:
	case t.jitter != nil && c.base > 0: // as without a base, a jitter is on the curve that does not draw
		t.strategy = strategy.Exponential{Base: c.base, Max: c.ceilingOfBase()}
	default:
		t.strategy, t.starter, t.learner = c.strategy, c.starter, c.learner
		if t.jitter == nil {
			t.jitter = c.jitter
		}
	}
	if c.maxDelay > 0 && (t.maxDelay == 0 || t.maxDelay > c.maxDelay) {
		t.maxDelay = c.maxDelay
	}
	if !t.hintSet {
		t.hint, t.hintSet = c.hint, c.hintSet
	}
	return t
}

// memory is where a call stands on a curve.
type memory struct {
	number  int               // failures since the curve began: State.Number
	prev    time.Duration     // what the strategy returned last
	started strategy.Strategy // a Starter's memory of this call
}

// kind is what a call has seen of the failures of one rule, since the last reset.
type kind struct {
	terms // those in force
	memory
	failures int
	failed   time.Time // end of the first
}

// count takes a failure of a rule into the account of its kind.
func (f *flow) count(c *config, now time.Time) {
	if f.kinds == nil {
		f.kinds = make([]kind, len(c.rules))
	}
	r, k := c.rules[f.kind-1], &f.kinds[f.kind-1]
	if k.failures == 0 {
		k.terms, k.failed = r.under(c), now
	}
	k.failures++
	k.number++
	if c.maxAttempts == 0 && r.limited() && !f.noRetry {
		f.forgotten++
	}
}

// exhausted says whether the last permitted attempt was made: of all, or of the kind that failed last.
func (f *flow) exhausted(c *config) bool {
	if f.kind > 0 {
		if n := c.rules[f.kind-1].maxAttempts; n > 0 && f.kinds[f.kind-1].failures >= n {
			return true
		}
	}
	return f.attempts-f.forgotten >= f.maxAttempts(c)
}

// late says whether a wait would end at the limit on time of the kind that failed last, or beyond.
func (f *flow) late(c *config, now time.Time, wait time.Duration) bool {
	limit := c.rules[f.kind-1].maxElapsed
	return limit > 0 && saturate.Add(now.Sub(f.kinds[f.kind-1].failed), wait) >= limit
}

// succeed tells all learners of a success, each once.
func (c *config) succeed() {
	if c.learner != nil {
		c.learner.Succeed()
	}
	for i, r := range c.rules {
		if r.learner != nil && !same(r.learner, c.learner) && !sameAsOneOf(r.learner, c.rules[:i]) {
			r.learner.Succeed()
		}
	}
}

func sameAsOneOf(l strategy.Learner, rules []*rule) bool {
	for _, r := range rules {
		if same(l, r.learner) {
			return true
		}
	}
	return false
}

// same says whether a level is shared. Values that cannot be compared share none.
func same(a, b strategy.Learner) bool { return b != nil && reflect.ValueOf(a).Comparable() && a == b }
