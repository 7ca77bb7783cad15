package retry_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

type recForeign struct{ retry.Option }

// Values whose Validate method says no.
type (
	recBadStrategy  struct{ recRude }
	recBadCondition struct{ condition.Func }
	recBadThrottle  struct{ throttle.Func }
	recBadBudget    struct{ recRefusing }
	recBadObserver  struct{ recObserver }
	recBadClock     struct{ recClock }
)

var errRecBad = errors.New("bad: no")

func (recBadStrategy) Validate() error  { return errRecBad }
func (recBadCondition) Validate() error { return errRecBad }
func (recBadThrottle) Validate() error  { return errRecBad }
func (recBadBudget) Validate() error    { return errRecBad }
func (*recBadObserver) Validate() error { return errRecBad }
func (*recBadClock) Validate() error    { return errRecBad }

const recNotNil = "must not be nil"

// recConfigErrors are the options that cannot be used.
var recConfigErrors = []struct {
	name    string
	option  retry.Option
	field   string
	value   any
	problem string
}{
	{"nil option", nil, "Option", nil, recNotNil},
	{"foreign option", recForeign{retry.WithName("x")}, "Option", "retry_test.recForeign", "is not an option of this package"},
	{"foreign option around nil", recForeign{}, "Option", "retry_test.recForeign", "is not an option of this package"},
	{"pointer to a foreign option", &recForeign{}, "Option", "*retry_test.recForeign", "is not an option of this package"},
	{"foreign option around a policy", recForeign{retry.MustNew()}, "Option", "retry_test.recForeign", "is not an option of this package"},
	{"nil policy", (*retry.Policy)(nil), "Policy", nil, recNotNil},

	{"attempts 0", retry.WithMaxAttempts(0), "WithMaxAttempts", 0, "must be at least 1; WithUnlimitedAttempts takes the limit away"},
	{"attempts -1", retry.WithMaxAttempts(-1), "WithMaxAttempts", -1, "must be at least 1; WithUnlimitedAttempts takes the limit away"},
	{"attempts least", retry.WithMaxAttempts(math.MinInt), "WithMaxAttempts", math.MinInt, "must be at least 1; WithUnlimitedAttempts takes the limit away"},
	{"elapsed", retry.WithMaxElapsed(-1), "WithMaxElapsed", time.Duration(-1), "must not be negative"},
	{"elapsed least", retry.WithMaxElapsed(math.MinInt64), "WithMaxElapsed", time.Duration(math.MinInt64), "must not be negative"},
	{"retry elapsed", retry.WithMaxRetryElapsed(-1), "WithMaxRetryElapsed", time.Duration(-1), "must not be negative"},
	{"attempt timeout", retry.WithAttemptTimeout(-time.Second), "WithAttemptTimeout", -time.Second, "must not be negative"},
	{"max delay", retry.WithMaxDelay(-1), "WithMaxDelay", time.Duration(-1), "must not be negative"},
	{"max hint", retry.WithMaxHint(-1), "WithMaxHint", time.Duration(-1), "must not be negative"},
	{"initial delay", retry.WithInitialDelay(-1, nil), "WithInitialDelay", time.Duration(-1), "must not be negative"},
	{"reset after", retry.WithResetAfter(-1), "WithResetAfter", time.Duration(-1), "must not be negative"},
	{"history", retry.WithErrorHistory(-1), "WithErrorHistory", -1, "must not be negative"},

	{"nil strategy", retry.WithStrategy(nil), "WithStrategy", nil, recNotNil},
	{"typed nil strategy", retry.WithStrategy((*strategy.Exponential)(nil)), "WithStrategy", nil, recNotNil},
	{"nil strategy func", retry.WithStrategy(strategy.Func(nil)), "WithStrategy", nil, recNotNil},
	{"nil jitter", retry.WithJitter(nil), "WithJitter", nil, recNotNil},
	{"nil retryIf", retry.WithRetryIf(nil), "WithRetryIf", nil, recNotNil},
	{"nil condition", retry.WithCondition(nil), "WithCondition", nil, recNotNil},
	{"nil element of conditions", retry.WithCondition(condition.Hopeless(), nil), "WithCondition", nil, recNotNil},
	{"typed nil condition", retry.WithCondition((*recBadCondition)(nil)), "WithCondition", nil, recNotNil},
	{"nil condition func", retry.WithCondition(condition.Func(nil)), "WithCondition", nil, recNotNil},
	{"nil throttle", retry.WithThrottle(nil), "WithThrottle", nil, recNotNil},
	{"nil element of throttles", retry.WithThrottle(recOpen, nil), "WithThrottle", nil, recNotNil},
	{"typed nil throttle", retry.WithThrottle((*recThrottle)(nil)), "WithThrottle", nil, recNotNil},
	{"nil budget", retry.WithBudget(nil), "WithBudget", nil, recNotNil},
	{"typed nil budget", retry.WithBudget((*recBudget)(nil)), "WithBudget", nil, recNotNil},
	{"nil observer", retry.WithObserver(nil), "WithObserver", nil, recNotNil},
	{"typed nil observer", retry.WithObserver((*recObserver)(nil)), "WithObserver", nil, recNotNil},
	{"nil onRetry", retry.WithOnRetry(nil), "WithOnRetry", nil, recNotNil},
	{"nil beforeRetry", retry.WithBeforeRetry(nil), "WithBeforeRetry", nil, recNotNil},
	{"nil logger", retry.WithLogger((*slog.Logger)(nil)), "WithLogger", nil, recNotNil},
	{"nil clock", retry.WithClock(nil), "WithClock", nil, recNotNil},
	{"typed nil clock", retry.WithClock((*recClock)(nil)), "WithClock", nil, recNotNil},
	{"nil rand", retry.WithRand(nil), "WithRand", nil, recNotNil},
	{"nil retryResult", retry.WithRetryResult[int](nil), "WithRetryResult", nil, recNotNil},
	{"nil fallback", retry.WithFallback[int](nil), "WithFallback", nil, recNotNil},

	{"strategy says no", retry.WithStrategy(recBadStrategy{}), "WithStrategy", recBadStrategy{}, "bad: no"},
	{"condition says no", retry.WithCondition(condition.Hopeless(), recBadCondition{}), "WithCondition", recBadCondition{}, "bad: no"},
	{"throttle says no", retry.WithThrottle(recBadThrottle{}), "WithThrottle", recBadThrottle{}, "bad: no"},
	{"budget says no", retry.WithBudget(recBadBudget{}), "WithBudget", recBadBudget{}, "bad: no"},
	{"observer says no", retry.WithObserver(&recBadObserver{}), "WithObserver", &recBadObserver{}, "bad: no"},
	{"clock says no", retry.WithClock(&recBadClock{}), "WithClock", &recBadClock{}, "bad: no"},
	{"rule says no", retry.WithHint(throttle.Clamp(-1)), "WithHint", throttle.Clamp(-1), throttle.Clamp(-1).Validate().Error()},
	{"strategy's field", retry.WithStrategy(strategy.Constant{Delay: -1}), "WithStrategy", strategy.Constant{Delay: -1}, strategy.Constant{Delay: -1}.Validate().Error()},
}

var recOpen = throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, nil })

// recRequireConfig wants a *ConfigError, of the given content.
func recRequireConfig(t *testing.T, err error, option string, value any, problem string) {
	t.Helper()
	require.ErrorIs(t, err, retry.ErrConfig)
	e, ok := err.(*retry.ConfigError)
	require.True(t, ok, "%T", err)
	assert.Equal(t, option, e.Option)
	if reflect.TypeOf(value) != nil && reflect.TypeOf(value).Kind() == reflect.Struct {
		assert.IsType(t, value, e.Value) // a struct with a func cannot be compared
	} else {
		assert.Equal(t, value, e.Value)
	}
	assert.Equal(t, problem, e.Problem)
	assert.NotErrorIs(t, err, retry.ErrExhausted)
	assert.Contains(t, err.Error(), "retry: "+option+"(")
	assert.Contains(t, err.Error(), "): "+problem)
}

// TestConfigErrors: wherever such an option is given, the operation does not run and nobody is told of a call.
func TestConfigErrors(t *testing.T) {
	for _, tc := range recConfigErrors {
		t.Run(tc.name, func(t *testing.T) {
			check := func(err error) {
				t.Helper()
				recRequireConfig(t, err, tc.field, tc.value, tc.problem)
			}
			_, err := retry.New(tc.option)
			check(err)
			require.PanicsWithError(t, err.Error(), func() { retry.MustNew(tc.option) })

			log := newRecLog()
			opts := []retry.Option{
				retry.WithObserver(&recObserver{log: log, name: "o"}), retry.WithBudget(&recBudget{log: log}),
				retry.WithThrottle(&recThrottle{log: log, name: "a"}),
			}
			if _, policy := tc.option.(*retry.Policy); policy {
				opts = nil
			}
			opts = append(opts, tc.option)
			v, err := retry.Do(t.Context(), func(context.Context) (int, error) { t.Error("fn was called"); return 1, nil }, opts...)
			check(err)
			require.Zero(t, v)
			check(retry.Run(t.Context(), func(context.Context) error { t.Error("fn was called"); return nil }, opts...))
			loop := retry.NewLoop(t.Context(), opts...)
			for range loop.Tries() {
				t.Error("a try")
			}
			check(loop.Err())
			require.Empty(t, log.lines)
			if len(opts) == 1 {
				return
			}
			// A later, valid one does not heal it.
			_, err = retry.New(append(opts, retry.WithMaxAttempts(1), retry.WithMaxElapsed(1), retry.WithStrategy(strategy.Constant{}))...)
			check(err)
		})
	}
}

func TestConfigErrorOfFn(t *testing.T) {
	_, err := retry.Do[int](t.Context(), nil)
	recRequireConfig(t, err, "fn", nil, recNotNil)
	_, err = retry.Do[int](t.Context(), nil, retry.MustNew())
	recRequireConfig(t, err, "fn", nil, recNotNil)
	recRequireConfig(t, retry.Run(t.Context(), nil), "fn", nil, recNotNil)
	recRequireConfig(t, retry.Run(t.Context(), nil, retry.WithMaxAttempts(1)), "fn", nil, recNotNil)
}

func TestConfigErrorMisplacedPolicy(t *testing.T) {
	policy := retry.MustNew(retry.WithName("orders"))
	for _, opts := range [][]retry.Option{
		{retry.WithMaxAttempts(1), policy},
		{policy, policy},
		{policy, retry.WithName("x"), policy},
		{&retry.Policy{}, policy},
	} {
		_, err := retry.New(opts...)
		recRequireConfig(t, err, "Policy", "orders", "must be the first option: it would undo those before it")
		recRequireConfig(t, recRun(opts...), "Policy", "orders", "must be the first option: it would undo those before it")
	}
	_, err := retry.New(retry.WithName("x"), (*retry.Policy)(nil))
	recRequireConfig(t, err, "Policy", nil, recNotNil)
	require.EqualError(t, recRun(retry.WithName("x"), policy), `retry: Policy("orders"): must be the first option: it would undo those before it`)
}

// TestConfigErrorJitterOnDraws: two draws on top of each other are refused, in any order and however they meet.
func TestConfigErrorJitterOnDraws(t *testing.T) {
	const problem = "the strategy draws its delays itself: leave one of the two out"
	plain, draws := strategy.Constant{Delay: 1}, strategy.FullJitter{}
	jitter := retry.WithJitter(strategy.Full)
	for _, s := range []strategy.Strategy{
		draws, &strategy.FullJitter{}, strategy.EqualJitter{}, strategy.Decorrelated{},
		strategy.ByThrottled{Normal: draws, Throttled: plain}, strategy.ByThrottled{Normal: plain, Throttled: draws},
		strategy.ByThrottled{Normal: plain, Throttled: strategy.ByThrottled{Normal: plain, Throttled: strategy.EqualJitter{}}},
	} {
		for _, opts := range [][]retry.Option{
			{retry.WithStrategy(s), jitter},
			{jitter, retry.WithStrategy(s)},
			{retry.MustNew(jitter), retry.WithStrategy(s)},
			{retry.MustNew(retry.WithStrategy(s)), jitter},
		} {
			_, err := retry.New(opts...)
			recRequireConfig(t, err, "WithJitter", s, problem)
			err = retry.Run(t.Context(), func(context.Context) error { t.Error("fn was called"); return nil }, opts...)
			recRequireConfig(t, err, "WithJitter", s, problem)
		}
	}
	for _, s := range []strategy.Strategy{plain, strategy.Exponential{}, strategy.ByThrottled{Normal: plain, Throttled: plain}, recRude{}} {
		_, err := retry.New(retry.WithStrategy(s), jitter)
		require.NoError(t, err)
	}
	// What is replaced later does not count.
	_, err := retry.New(retry.WithStrategy(draws), jitter, retry.WithStrategy(plain))
	require.NoError(t, err)
}

// TestConfigErrorTypes: options for results of another type, and for results where there are none.
func TestConfigErrorTypes(t *testing.T) {
	type mine int
	for name, option := range map[string]retry.Option{
		"WithResults":     retry.WithResults(retry.Results[int]{}),
		"WithRetryResult": retry.WithRetryResult(func(int) bool { return false }),
		"WithFallback":    retry.WithFallback(func(context.Context, error) (int, error) { return 0, nil }),
	} {
		of := "is for results of type int, and cannot serve "
		for _, opts := range [][]retry.Option{{option}, {retry.MustNew(option)}, {retry.MustNew(option), retry.WithMaxAttempts(1)}} {
			value := reflect.TypeFor[int]()
			_, err := retry.Do(t.Context(), func(context.Context) (string, error) { t.Error("fn was called"); return "", nil }, opts...)
			recRequireConfig(t, err, name, value, of+"a call that returns string")
			_, err = retry.Do(t.Context(), func(context.Context) (mine, error) { t.Error("fn was called"); return 0, nil }, opts...)
			recRequireConfig(t, err, name, value, of+"a call that returns retry_test.mine")
			_, err = retry.Do(t.Context(), func(context.Context) (any, error) { t.Error("fn was called"); return 0, nil }, opts...)
			recRequireConfig(t, err, name, value, of+"a call that returns interface {}")
			err = retry.Run(t.Context(), func(context.Context) error { t.Error("fn was called"); return nil }, opts...)
			recRequireConfig(t, err, name, value, of+"Run, which has no result")
			loop := retry.NewLoop(t.Context(), opts...)
			for range loop.Tries() {
				t.Error("a try")
			}
			recRequireConfig(t, loop.Err(), name, value, of+"a Loop, which has no result")

			v, err := retry.Do(t.Context(), func(context.Context) (int, error) { return 7, nil }, opts...)
			require.NoError(t, err)
			require.Equal(t, 7, v)
		}
	}
}

// TestConfigErrorUnwraps to the error of the value's own Validate.
func TestConfigErrorUnwraps(t *testing.T) {
	_, err := retry.New(retry.WithStrategy(strategy.ByThrottled{Normal: strategy.Constant{Delay: -time.Second}, Throttled: strategy.Constant{}}))
	var own *strategy.ConfigError
	require.ErrorAs(t, err, &own)
	require.Equal(t, "ByThrottled.Normal.Delay", own.Field)
	require.Equal(t, own, errors.Unwrap(err))
	require.ErrorContains(t, err, "ByThrottled.Normal.Delay = -1s: must not be negative")

	_, err = retry.New(retry.WithBudget(recBadBudget{}))
	require.ErrorIs(t, err, errRecBad)
	_, err = retry.New(retry.WithMaxAttempts(0))
	require.NoError(t, errors.Unwrap(err))
}

func TestConfigErrorText(t *testing.T) {
	for want, err := range map[string]error{
		`retry: WithMaxAttempts(0): must be at least 1`:    &retry.ConfigError{Option: "WithMaxAttempts", Value: 0, Problem: "must be at least 1"},
		`retry: Policy("a\"b"): bad`:                       &retry.ConfigError{Option: "Policy", Value: `a"b`, Problem: "bad"},
		`retry: fn(nil): must not be nil`:                  &retry.ConfigError{Option: "fn", Problem: "must not be nil"},
		`retry: WithMaxElapsed(-1s): must not be negative`: &retry.ConfigError{Option: "WithMaxElapsed", Value: -time.Second, Problem: "must not be negative"},
		`retry: WithX(1.5): bad`:                           &retry.ConfigError{Option: "WithX", Value: 1.5, Problem: "bad"},
		`retry: WithX(true): bad`:                          &retry.ConfigError{Option: "WithX", Value: true, Problem: "bad"},
		`retry: WithX(boom): bad`:                          &retry.ConfigError{Option: "WithX", Value: errRec, Problem: "bad"},
		`retry: invalid configuration`:                     (*retry.ConfigError)(nil),
	} {
		require.EqualError(t, err, want)
	}
	var none *retry.ConfigError
	require.NoError(t, none.Unwrap())
	require.ErrorIs(t, none, retry.ErrConfig)
	require.NotErrorIs(t, &retry.ConfigError{}, retry.ErrShutdown)
}

// TestConfigErrorBeforeContext: a mistake of the programmer is reported even if the context is done.
func TestConfigErrorBeforeContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, retry.Run(ctx, func(context.Context) error { return nil }, retry.WithMaxAttempts(0)), retry.ErrConfig)
	_, err := retry.Do(ctx, func(context.Context) (int, error) { return 0, nil }, retry.WithRetryResult(func(string) bool { return false }))
	require.ErrorIs(t, err, retry.ErrConfig)
}

// TestNilContextPanics with words, and not with a nil pointer somewhere below.
func TestNilContextPanics(t *testing.T) {
	var none context.Context
	run := func(context.Context) error { t.Error("fn was called"); return nil }
	for name, call := range map[string]func(){
		"Do":           func() { _, _ = retry.Do(none, func(context.Context) (int, error) { return 0, run(none) }) },
		"Do, options":  func() { _, _ = retry.Do(none, func(context.Context) (int, error) { return 0, run(none) }, recAtOnce) },
		"Run":          func() { _ = retry.Run(none, run) },
		"Run, options": func() { _ = retry.Run(none, run, retry.MustNew(), recAtOnce) },
		"Run, busy":    func() { _ = retry.Run(none, run, retry.WithMaxElapsed(1)) },
		"Poll": func() {
			_, _ = retry.Poll(none, 1, func(context.Context) (int, bool, error) { return 0, true, run(none) })
		},
		"Supervise":           func() { _ = retry.Supervise(none, run) },
		"Loop":                func() { recLoop(retry.NewLoop(none), func(*retry.Try) bool { t.Error("a try"); return false }) },
		"Flow.Next":           func() { f := retry.MustNew().Begin(recStart, recStart, nil); f.Next(none, recStart) },
		"Flow.Abort":          func() { f := retry.MustNew().Begin(recStart, recStart, nil); f.Abort(none, recStart, 0) },
		"ContextWithClock":    func() { retry.ContextWithClock(none, nil) },
		"ContextWithoutRetry": func() { retry.ContextWithoutRetry(none) },
	} {
		require.PanicsWithValue(t, "retry: nil Context", call, name)
	}
	_, ok := retry.AttemptFrom(none)
	require.False(t, ok, "a look is no use of it")
}

// TestConfigErrorsTogether: New and every call report all options that cannot be used, in their order.
func TestConfigErrorsTogether(t *testing.T) {
	only := condition.Only(condition.Is(errRec))
	opts := []retry.Option{
		retry.WithMaxAttempts(0), nil, retry.WithMaxElapsed(-1), retry.WithCondition(nil, recBadCondition{}, only, condition.Is(errRec)),
		retry.Config{MaxDelay: -1, BaseDelay: -2}, retry.WithRule(nil, retry.WithName("x"), retry.WithMaxElapsed(-1)), retry.MustNew(retry.WithName("late")),
		retry.WithStrategy(strategy.FullJitter{}), retry.WithJitter(strategy.Full),
	}
	want := []string{
		"retry: WithMaxAttempts(0): must be at least 1; WithUnlimitedAttempts takes the limit away",
		"retry: Option(nil): must not be nil",
		"retry: WithMaxElapsed(-1ns): must not be negative",
		"retry: WithCondition(nil): must not be nil",
		"retry: WithCondition(retry_test.recBadCondition): bad: no",
		"retry: Config.BaseDelay(-2ns): must not be negative (BASE_DELAY)",
		"retry: Config.MaxDelay(-1ns): must not be negative (MAX_DELAY)",
		"retry: WithRule(nil): must not be nil",
		`retry: WithRule("WithName"): ` + ruOnly,
		"retry: WithMaxElapsed(-1ns): must not be negative",
		`retry: Policy("late"): must be the first option: it would undo those before it`,
		"retry: WithJitter(fulljitter): the strategy draws its delays itself: leave one of the two out",
		"retry: WithCondition(one of package condition): would never be asked: number 3 of the conditions, the one before it, always decides, as condition.Only does",
	}
	_, err := retry.New(opts...)
	require.Equal(t, strings.Join(want, "\n"), err.Error())
	require.ErrorIs(t, err, retry.ErrConfig)
	var first *retry.ConfigError
	require.ErrorAs(t, err, &first)
	require.Equal(t, "WithMaxAttempts", first.Option)
	for _, got := range []error{
		retry.Run(t.Context(), func(context.Context) error { return nil }, opts...),
		retry.Supervise(t.Context(), func(context.Context) error { return nil }, opts...),
		func() error { l := retry.NewLoop(t.Context(), opts...); recLoop(l, nil); return l.Err() }(),
	} {
		require.EqualError(t, got, err.Error())
	}
	_, err = retry.Poll[int](t.Context(), 0, nil, retry.WithMaxAttempts(0))
	require.EqualError(t, err, "retry: fn(nil): must not be nil\nretry: interval(0s): must be above 0\n"+want[0])
}

// TestConfigErrorNames: no name that its reader has not written, or could not.
func TestConfigErrorNames(t *testing.T) {
	type inner struct{ condition.Func }
	only := condition.Only(condition.Is(errRec))
	for _, c := range []condition.Condition{
		condition.Is(errRec), condition.Any(condition.Network()), condition.All(condition.Network()), condition.Not(condition.Network()), only,
		condition.HTTPStatus(500), condition.Network(), condition.Timeout(), condition.SQLState("40001"), condition.AWS(), condition.Hopeless(),
	} {
		_, err := retry.New(retry.WithCondition(only, c))
		require.ErrorContains(t, err, "retry: WithCondition(one of package condition): would never be asked")
	}
	_, err := retry.New(retry.WithCondition(only, inner{}))
	require.ErrorContains(t, err, "retry: WithCondition(retry_test.inner): would never be asked", "one's own is a name to look for")
	_, err = retry.New(retry.WithCondition(only, condition.If(func(error) bool { return true })))
	require.NotRegexp(t, `condition\.[a-z]`, strings.ReplaceAll(err.Error(), "package condition", ""))
	for _, err := range []error{
		recRun(retry.WithThrottle(new(throttle.Gate).For("a"), (&throttle.Gate{MaxKeys: -1}).For("a"))),
		recRun(retry.WithThrottle((&throttle.Gate{MaxKeys: -1}).By(nil))),
	} {
		require.ErrorContains(t, err, "retry: WithThrottle(one of package throttle): throttle: Gate.MaxKeys = -1: must not be negative")
	}
	require.ErrorContains(t, recRun(retry.WithBudget(&throttle.TokenBudget{RetryCost: -1})), "retry: WithBudget(token(retrycost=-1)): throttle: TokenBudget.RetryCost = -1: must not be negative")
}

// TestUnlimitedAsAnArgument: one word in a Config and in the option.
func TestUnlimitedAsAnArgument(t *testing.T) {
	require.Equal(t, retry.MustNew(retry.WithUnlimitedAttempts()), retry.MustNew(retry.WithMaxAttempts(retry.Unlimited)))
	require.Equal(t, retry.MustNew(retry.WithUnlimitedAttempts()), retry.MustNew(retry.Config{MaxAttempts: retry.Unlimited}))
}

// TestConfigErrorTextIsShort: an error of a text of 4 MB is not one of 4 MB.
func TestConfigErrorTextIsShort(t *testing.T) {
	long := strings.Repeat("x", 4<<20)
	var c retry.Config
	var a retry.Attempts
	_, parse := strategy.Parse(long)
	_, field := strategy.Parse("constant(" + long + "=1s)")
	_, value := strategy.Parse("constant(delay=" + long + ")")
	_, body := strategy.Parse("constant(((" + long + ")")
	_, nested := strategy.Parse("bythrottled(normal=" + long + ")")
	_, name := retry.New(retry.WithMaxAttempts(1), retry.MustNew(retry.WithName(long)))
	_, list := retry.New(retry.WithStrategy(strategy.Sequence{Delays: append(make([]time.Duration, 1<<20), -1)}))
	var selection pool.Selection
	_, budget := throttle.ParseBudget(long)
	_, budgetField := throttle.ParseBudget("token(" + long + "=" + long + ")")
	for what, err := range map[string]error{
		"strategy": parse, "field": field, "value": value, "body": body, "nested": nested, "name": name, "list": list,
		"config":          retry.Config{Strategy: long}.Validate(),
		"JSON":            c.UnmarshalJSON([]byte(`"` + long + `"`)),
		"JSON duration":   c.UnmarshalJSON([]byte(`{"max_delay":"` + long + `"}`)),
		"JSON number":     c.UnmarshalJSON([]byte(`{"max_delay":` + strings.Repeat("1", 4<<20) + `}`)),
		"JSON attempts":   c.UnmarshalJSON([]byte(`{"max_attempts":"` + long + `"}`)),
		"attempts":        a.UnmarshalText([]byte(long)),
		"error code":      recRun(retry.WithCondition(condition.ErrorCode(long + " "))),
		"SQL state":       recRun(retry.WithCondition(condition.SQLState(long))),
		"policy's name":   recRun(retry.WithName(long), retry.WithMaxAttempts(1)),
		"key":             &throttle.Error{Key: throttle.Key(long), Remaining: 1},
		"budget":          budget,
		"budget's field":  budgetField,
		"selection":       selection.UnmarshalText([]byte(long)),
		"option's string": &retry.ConfigError{Option: long, Value: recLong(long)},
	} {
		require.Error(t, err, what)
		require.Less(t, len(err.Error()), 700, what)
	}
}

type recLong string

func (s recLong) String() string { return string(s) }

// TestConditionBehindOnly: a condition that would never be asked is refused, wherever the two come from.
func TestConditionBehindOnly(t *testing.T) {
	only, other := condition.Only(condition.Is(errRec)), condition.Is(errRecCause)
	policy := retry.MustNew(retry.WithCondition(other, only))
	for _, opts := range [][]retry.Option{
		{retry.WithCondition(only, other)},
		{retry.WithCondition(only), retry.WithCondition(other)},
		{policy, retry.WithCondition(other)},
	} {
		err := retry.Run(t.Context(), func(context.Context) error { t.Error("called"); return nil }, opts...)
		var invalid *retry.ConfigError
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, "WithCondition", invalid.Option)
		require.Equal(t, other, invalid.Value)
		require.Contains(t, err.Error(), "would never be asked")
	}
	require.NoError(t, retry.Run(t.Context(), func(context.Context) error { return nil }, policy, retry.WithRetryIf(func(error) bool { return true })))
}
