package retry

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// Option is a setting of a Policy or of one call. The set of options is closed: the With functions of this package, Config
// and *Policy. Of two options that set the same thing the later wins; those that say so add. Options are values to hand
// over: safe for concurrent use, not to be compared.
//
// An option with a value that cannot be used makes a *ConfigError, before the operation runs, and several make an errors.Join
// of all, a line for each.
type Option interface{ option() }

// Each option is a named type, applied by one type switch (config.apply): an option that were a function, or had an
// apply method, would move the configuration of every call to the heap.
type (
	nameOption                string
	maxAttemptsOption         int
	unlimitedAttemptsOption   struct{}
	maxElapsedOption          time.Duration
	maxRetryElapsedOption     time.Duration
	attemptTimeoutOption      time.Duration
	maxDelayOption            time.Duration
	maxHintOption             time.Duration
	resetAfterOption          time.Duration
	errorHistoryOption        int
	attemptInfoOption         struct{}
	attemptTimeoutShareOption struct {
		fraction float64
		min      time.Duration
	}
	strategyOption     struct{ strategy.Strategy }
	jitterOption       strategy.Jitter
	initialDelayOption struct {
		delay  time.Duration
		jitter strategy.Jitter
	}
	hintOption    throttle.Rule
	retryIfOption func(error) bool
	ruleOption    struct {
		rule *rule
		err  error
	}
	conditionOption   []condition.Condition
	throttleOption    []throttle.Throttle
	budgetOption      struct{ throttle.Budget }
	observerOption    struct{ Observer }
	onRetryOption     func(context.Context, Event)
	beforeRetryOption func(context.Context, Event) error
	loggerOption      struct{ *slog.Logger }
	summaryOption     struct{ *Summary }
	stopOption        <-chan struct{}
	clockOption       struct{ Clock }
	randOption        func() float64
)

func (nameOption) option()                {}
func (maxAttemptsOption) option()         {}
func (unlimitedAttemptsOption) option()   {}
func (maxElapsedOption) option()          {}
func (maxRetryElapsedOption) option()     {}
func (attemptTimeoutOption) option()      {}
func (maxDelayOption) option()            {}
func (maxHintOption) option()             {}
func (resetAfterOption) option()          {}
func (errorHistoryOption) option()        {}
func (attemptInfoOption) option()         {}
func (attemptTimeoutShareOption) option() {}
func (strategyOption) option()            {}
func (jitterOption) option()              {}
func (initialDelayOption) option()        {}
func (hintOption) option()                {}
func (retryIfOption) option()             {}
func (ruleOption) option()                {}
func (conditionOption) option()           {}
func (throttleOption) option()            {}
func (budgetOption) option()              {}
func (observerOption) option()            {}
func (onRetryOption) option()             {}
func (beforeRetryOption) option()         {}
func (loggerOption) option()              {}
func (summaryOption) option()             {}
func (stopOption) option()                {}
func (clockOption) option()               {}
func (randOption) option()                {}

// WithName names the policy in errors, logs and telemetry. Default: "".
func WithName(name string) Option { return nameOption(name) }

// WithMaxAttempts limits the attempts of a call to n, the first included (attempts = retries + 1); where there are resets
// (WithResetAfter, Restart) those since the last one; for Poll and Supervise, failures in a row. n must be at least 1: "no
// limit" is Unlimited, or
// WithUnlimitedAttempts. Default: 5; with WithMaxElapsed or WithMaxRetryElapsed, and for Supervise, no limit.
func WithMaxAttempts(n int) Option { return maxAttemptsOption(n) }

// WithUnlimitedAttempts takes the limit of attempts away. Every other reason to stop still holds. Default: off.
func WithUnlimitedAttempts() Option { return unlimitedAttemptsOption{} }

// WithMaxElapsed limits the whole call, measured from its start, waits included: no wait is started that would end at or
// after the limit. A reset (WithResetAfter, Restart) begins it anew. It does not interrupt a running attempt; a context
// with a deadline, or WithAttemptTimeout, does. It takes the place of the default limit of 5 attempts: without WithMaxAttempts
// the call is retried for as long as d; but for Poll, where 5 failures in a row still end the call. 0: no limit, the default.
func WithMaxElapsed(d time.Duration) Option { return maxElapsedOption(d) }

// WithMaxRetryElapsed is WithMaxElapsed measured from the end of the first failed attempt, so that a long first attempt
// does not use up the time for retries. Both may be set, and either takes the place of the default limit of attempts. 0: no
// limit, the default.
func WithMaxRetryElapsed(d time.Duration) Option { return maxRetryElapsedOption(d) }

// WithAttemptTimeout gives the context of every attempt a deadline d from its start, or the parent's where that is
// earlier. An attempt that ends by it fails with an error that matches ErrAttemptTimeout, and is retried unless a
// condition says otherwise. The operation must heed its context, and finish with what lives on that context: the body of an
// HTTP response is to be read before fn returns, or Results.Keep takes the context over. 0: no timeout, the default; it takes a
// WithAttemptTimeoutShare before it away too.
func WithAttemptTimeout(d time.Duration) Option { return attemptTimeoutOption(d) }

// WithAttemptTimeoutShare gives every attempt a timeout that is a share of the time left: max(min, fraction·left), left
// being what remains of WithMaxElapsed or until the context's deadline, whichever is less, when the attempt starts. Early
// attempts then have time to spare, and late ones still leave room for another. Waits are not shortened for it, and nothing
// is drawn. Without either limit there is no timeout. fraction must be above 0 and at most 1, min not negative; together
// with WithAttemptTimeout it is a *ConfigError. For the rest it is WithAttemptTimeout. Default: none. After RetryTimeouts
// for Perl.
func WithAttemptTimeoutShare(fraction float64, min time.Duration) Option {
	return attemptTimeoutShareOption{fraction, min}
}

// WithMaxDelay caps the waits that the policy itself asks for, jitter and the initial delay included. Strategies that
// draw cap before the draw, so that waits do not pile up at the cap. Waits that a server or throttle demands are
// WithMaxHint's. 0: no cap besides the strategy's own, the default.
func WithMaxDelay(d time.Duration) Option { return maxDelayOption(d) }

// WithMaxHint limits the wait that a server may demand (After, throttle.Signal) and the waits that throttles may demand
// before one attempt, together; the two are not added up. A longer demand ends the call at once with ErrHintTooLong;
// throttles have then been told, so a cool-down is remembered. 0: no told wait is accepted. Default: 60 s.
func WithMaxHint(d time.Duration) Option { return maxHintOption(d) }

// WithHint says how told waits are used, whatever the signal itself says. Default: the signal's own rule, which is
// throttle.AtLeast() unless set.
func WithHint(r throttle.Rule) Option { return hintOption(r) }

// WithStrategy sets how long to wait after each failure. Default: strategy.FullJitter{Base: 200 * time.Millisecond,
// Max: 20 * time.Second}; Supervise: strategy.EqualJitter{Base: time.Second, Max: time.Minute}.
func WithStrategy(s strategy.Strategy) Option { return strategyOption{s} }

// WithJitter randomises the strategy's waits, after the cap and within it: neither the strategy's Max nor WithMaxDelay is
// exceeded. Without WithStrategy it works on strategy.Exponential with the default's Base and Max. With a strategy that
// draws its waits itself (FullJitter, EqualJitter, Decorrelated, a ByThrottled with one of them) it is a *ConfigError.
// Default: none.
func WithJitter(j strategy.Jitter) Option { return jitterOption(j) }

// WithInitialDelay waits d before the first attempt, randomised by j if j is not nil, so that clients which start
// together do not call together. It counts against every limit on time. 0: none, the default.
func WithInitialDelay(d time.Duration, j strategy.Jitter) Option { return initialDelayOption{d, j} }

// WithRetryIf decides in place of all conditions whether a failure is retried: true retries, false stops. Permanent marks,
// verdicts of Results.Classify and of the server, and rules that match (WithRule) come first. Default: none.
func WithRetryIf(f func(error) bool) Option { return retryIfOption(f) }

// WithCondition adds conditions: they are asked in order, those of a policy before those of a call, and the first that
// decides wins. A failure that none decides is retried unless it is a cancellation or hopeless (condition.Hopeless). A
// condition behind one that always decides (condition.Only) would never be asked, and is a *ConfigError: for one call,
// WithRetryIf decides instead of all conditions. Default: none.
func WithCondition(c ...condition.Condition) Option { return conditionOption(slices.Clone(c)) }

// WithThrottle adds throttles, asked in order before every attempt, the first included. Put those that only hold back,
// such as gates, before those that hand something out. Default: none.
func WithThrottle(t ...throttle.Throttle) Option { return throttleOption(slices.Clone(t)) }

// WithBudget sets the budget that is charged for every retry when it is decided, before its wait. Default: none.
func WithBudget(b throttle.Budget) Option { return budgetOption{b} }

// WithObserver adds an observer. One with a method Enabled() bool that says false is left out: calls then cost what they cost
// without it. Default: none.
func WithObserver(o Observer) Option { return observerOption{o} }

// WithOnRetry adds a function that is called after each failure that will be retried, before the wait, with the call's
// context. It is not called for the last failure. Default: none.
func WithOnRetry(f func(context.Context, Event)) Option { return onRetryOption(f) }

// WithBeforeRetry adds a function that is called between a retry's wait and its attempt, with the call's context and the
// failure's event: to refresh a token, roll back, sign again. An error ends the call with that error as the Reason beside
// the operation's. Default: none.
func WithBeforeRetry(f func(context.Context, Event) error) Option { return beforeRetryOption(f) }

// WithLogger writes one line per retry (level Info) and one when a call that was retried succeeds ("succeeded after 3 attempts",
// Info) or a call gives up (Warn; Info where it was cancelled; Debug for a failure that is not worth a retry), with the attempt's
// context. Durations are in seconds; docs/observability.md has the keys. An error with a method LogAttrs() []slog.Attr, itself or
// wrapped, adds those attributes to its line. A logger in a package variable is the one of before main: slog.Default() there is
// not what slog.SetDefault sets later. Default: none.
func WithLogger(l *slog.Logger) Option { return loggerOption{l} }

// WithStop ends calls in order once stop is closed: no new attempt starts, waits end at once, a running attempt finishes.
// A call whose failure would then be retried ends with ErrShutdown. The channel must be closed, not sent to: a value would
// end only the call that receives it. Nil: none, the default.
func WithStop(stop <-chan struct{}) Option { return stopOption(stop) }

// WithErrorHistory keeps the first n/2 and the last n-n/2 failures in Error.History, and their number between in
// Error.Dropped. Every failing end is then an *Error. 0: none, the default.
func WithErrorHistory(n int) Option { return errorHistoryOption(n) }

// WithAttemptInfo puts the attempt's number, the limit and the name into the context of every attempt, for AttemptFrom. It
// costs one allocation per attempt. Default: off.
func WithAttemptInfo() Option { return attemptInfoOption{} }

// WithClock sets the clock of the policy's own waits, limits, throttles and attempt timeouts. The context's deadline is read
// on it too. ContextWithClock wins over it.
// Default: the system's clock, which testing/synctest makes exact.
func WithClock(c Clock) Option { return clockOption{c} }

// WithRand sets the source of random numbers in [0, 1). It must be safe for concurrent use. Draws per failure, in order:
// the strategy's, the jitter's, the told wait's (only where it can matter). Default: math/rand/v2.
func WithRand(f func() float64) Option { return randOption(f) }
