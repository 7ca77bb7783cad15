package retry

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// config is a policy's content. Zero fields are unset: each entry point fills in its own defaults.
type config struct {
	terms
	name            string
	history         int
	maxRetryElapsed time.Duration
	attemptTimeout  time.Duration
	timeoutShare    float64 // 0: none
	minTimeout      time.Duration
	maxHint         time.Duration
	resetAfter      time.Duration
	interval        time.Duration // of Poll; 0: another call
	initialDelay    time.Duration
	initialJitter   strategy.Jitter
	base            time.Duration // of the default strategy, if Config sets it: strategy is then made by rebase
	retryIf         func(error) bool
	rules           []*rule
	conditions      []condition.Condition
	throttles       []throttle.Throttle
	budget          throttle.Budget
	observer        Observer
	onRetry         []func(context.Context, Event)
	beforeRetry     []func(context.Context, Event) error
	logger          *slog.Logger
	summary         *Summary // of one call
	results         typedResults
	fallback        typedFallback
	stop            <-chan struct{}
	clock           Clock
	rand            func() float64
	maxHintSet      bool
	resetAfterSet   bool
	attemptInfo     bool
	supervised      bool // by Supervise, with its defaults
	busy            bool // something must be asked or told even if the first attempt succeeds
	clocked         bool // the time of a call's start matters to somebody
	timed           bool // attempts are timed
}

// merge applies options in order, then checks them together. It reports every one that cannot be used.
func (c *config) merge(opts []Option) error {
	var problems problems
	for i, o := range opts {
		if p, ok := o.(*Policy); ok {
			switch {
			case p == nil:
				problems.add(invalid("Policy", nil, "must not be nil"))
			case i > 0:
				problems.add(invalid("Policy", p.config.name, "must be the first option: it would undo those before it"))
			default:
				*c = p.config
			}
			continue
		}
		problems.add(c.apply(o))
	}
	if c.base > 0 {
		c.rebase()
	}
	if c.jitter != nil {
		problems.add(c.drawOnce())
	}
	learns := c.learner != nil
	if len(c.rules) > 0 {
		learned, err := c.checkRules()
		problems.add(err)
		learns = learns || learned
	}
	if c.timeoutShare > 0 && c.attemptTimeout > 0 {
		problems.add(invalid("WithAttemptTimeoutShare", c.timeoutShare, "cannot be set together with WithAttemptTimeout"))
	}
	for i := range max(len(c.conditions)-1, 0) {
		if d, ok := c.conditions[i].(interface{ Decides() bool }); ok && d.Decides() {
			problems.add(invalid("WithCondition", c.conditions[i+1],
				fmt.Sprintf("would never be asked: number %d of the conditions, the one before it, always decides, as condition.Only does", i+1)))
		}
	}
	c.timed = len(c.throttles) > 0 || c.observer != nil || learns || c.resetAfter > 0
	c.clocked = c.timed || c.budget != nil || c.maxElapsed > 0 || c.initialDelay > 0 || c.timeoutShare > 0 || c.summary != nil
	c.busy = c.clocked || c.stop != nil || c.attemptInfo || c.results != nil || c.fallback != nil || c.attemptTimeout > 0
	return problems.err()
}

func (c *config) apply(o Option) error {
	switch o := o.(type) {
	case nil:
		return invalid("Option", nil, "must not be nil")
	case nameOption:
		c.name = string(o)
	case maxAttemptsOption:
		if o < 1 {
			return invalid("WithMaxAttempts", int(o), "must be at least 1; WithUnlimitedAttempts takes the limit away")
		}
		c.maxAttempts = int(o)
	case unlimitedAttemptsOption:
		c.maxAttempts = Unlimited
	case maxElapsedOption:
		return setDuration(&c.maxElapsed, "WithMaxElapsed", time.Duration(o))
	case maxRetryElapsedOption:
		return setDuration(&c.maxRetryElapsed, "WithMaxRetryElapsed", time.Duration(o))
	case attemptTimeoutOption:
		if o == 0 { // none is none, a share of the time left too
			c.timeoutShare, c.minTimeout = 0, 0
		}
		return setDuration(&c.attemptTimeout, "WithAttemptTimeout", time.Duration(o))
	case attemptTimeoutShareOption:
		if !(o.fraction > 0 && o.fraction <= 1) {
			return invalid("WithAttemptTimeoutShare", o.fraction, "the fraction must be above 0 and at most 1")
		}
		c.timeoutShare = o.fraction
		return setDuration(&c.minTimeout, "WithAttemptTimeoutShare", o.min)
	case maxDelayOption:
		return setDuration(&c.maxDelay, "WithMaxDelay", time.Duration(o))
	case maxHintOption:
		c.maxHintSet = true
		return setDuration(&c.maxHint, "WithMaxHint", time.Duration(o))
	case resetAfterOption:
		c.resetAfterSet = true
		return setDuration(&c.resetAfter, "WithResetAfter", time.Duration(o))
	case initialDelayOption:
		c.initialJitter = o.jitter
		return setDuration(&c.initialDelay, "WithInitialDelay", o.delay)
	case errorHistoryOption:
		if o < 0 {
			return invalid("WithErrorHistory", int(o), "must not be negative")
		}
		c.history = int(o)
	case attemptInfoOption:
		c.attemptInfo = true
	case strategyOption:
		return c.setStrategy(o.Strategy)
	case jitterOption:
		c.jitter = strategy.Jitter(o)
		return required("WithJitter", o == nil)
	case hintOption:
		c.hint, c.hintSet = throttle.Rule(o), true
		return check("WithHint", c.hint)
	case retryIfOption:
		c.retryIf = o
		return required("WithRetryIf", o == nil)
	case ruleOption:
		c.rules = join(c.rules, []*rule{o.rule})
		return o.err
	case conditionOption:
		c.conditions = join(c.conditions, o)
		return checkAll("WithCondition", o)
	case throttleOption:
		c.throttles = join(c.throttles, o)
		return checkAll("WithThrottle", o)
	case budgetOption:
		c.budget = o.Budget
		return check("WithBudget", o.Budget)
	case observerOption:
		return c.addObserver(o.Observer)
	case onRetryOption:
		c.onRetry = join(c.onRetry, []func(context.Context, Event){o})
		return required("WithOnRetry", o == nil)
	case beforeRetryOption:
		c.beforeRetry = join(c.beforeRetry, []func(context.Context, Event) error{o})
		return required("WithBeforeRetry", o == nil)
	case loggerOption:
		c.logger = o.Logger
		return required("WithLogger", o.Logger == nil)
	case summaryOption:
		c.summary = o.Summary
		return required("WithSummary", o.Summary == nil)
	case stopOption:
		c.stop = o
	case clockOption:
		c.clock = o.Clock
		return check("WithClock", o.Clock)
	case randOption:
		c.rand = o
		return required("WithRand", o == nil)
	case Config:
		return c.configure(o)
	case *Config:
		return invalid("Config", "*retry.Config", "must be the Config itself, not a pointer to it")
	case typedResults:
		c.results = o
		return checkTyped(o)
	case typedFallback:
		c.fallback = o
		return checkTyped(o)
	default:
		return invalid("Option", fmt.Sprintf("%T", o), "is not an option of this package")
	}
	return nil
}

func (c *config) setStrategy(s strategy.Strategy) error {
	if err := check("WithStrategy", s); err != nil {
		return err
	}
	if mutable, ok := s.(interface{ Clone() strategy.Strategy }); ok {
		s = mutable.Clone()
		if err := check("WithStrategy", s); err != nil {
			return &ConfigError{Option: "WithStrategy", Value: mutable, Problem: "its Clone method returned what cannot be used", err: err}
		}
	}
	c.strategy, c.base = s, 0
	c.starter, _ = c.strategy.(strategy.Starter)
	c.learner, _ = c.strategy.(strategy.Learner)
	return nil
}

func (c *config) addObserver(o Observer) error {
	if err := check("WithObserver", o); err != nil {
		return err
	}
	if off, ok := o.(interface{ Enabled() bool }); ok && !off.Enabled() {
		return nil // nobody looks, so nothing need be told
	}
	switch had := c.observer.(type) {
	case nil:
		c.observer = o
	case observers:
		c.observer = join(had, observers{o})
	default:
		c.observer = observers{had, o}
	}
	return nil
}

// measured says that the end of a successful attempt matters to somebody too.
func (c *config) measured() bool { return c.timed || c.budget != nil }
