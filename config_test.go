package retry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
)

var errCfg = errors.New("unavailable")

// cfgHalf makes draws exact: half of every range.
var cfgHalf = retry.WithRand(func() float64 { return 0.5 })

// cfgCall makes a call that always fails at once, in virtual time. It returns the waits between attempts and why it ended.
func cfgCall(t *testing.T, opts ...retry.Option) (waits []time.Duration, reason error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var last time.Time
		err := retry.Run(t.Context(), func(context.Context) error {
			if !last.IsZero() {
				waits = append(waits, time.Since(last))
			}
			last = time.Now()
			return errCfg
		}, append(slices.Clone(opts), cfgHalf)...)
		var gaveUp *retry.Error
		require.ErrorAs(t, err, &gaveUp)
		reason = gaveUp.Reason
	})
	return waits, reason
}

func cfgTimes(unit time.Duration, ns ...float64) (times []time.Duration) {
	for _, n := range ns {
		times = append(times, time.Duration(n*float64(unit)))
	}
	return times
}

func TestConfigTakesEffect(t *testing.T) {
	const s = time.Second
	type options []retry.Option
	nine := retry.WithStrategy(strategy.Constant{Delay: 9 * s})
	equal := retry.WithJitter(strategy.Equal)
	for _, tc := range []struct {
		name   string
		opts   options
		waits  []time.Duration
		reason error
	}{
		{"zero", options{retry.Config{}}, cfgTimes(s, 0.1, 0.2, 0.4, 0.8), retry.ErrExhausted},
		{"zero keeps what was there", options{retry.WithMaxAttempts(3), nine, retry.WithMaxDelay(4 * s), retry.Config{}}, cfgTimes(s, 4, 4), retry.ErrExhausted},
		{"attempts", options{retry.Config{MaxAttempts: 3}}, cfgTimes(s, 0.1, 0.2), retry.ErrExhausted},
		{"one attempt", options{retry.Config{MaxAttempts: 1}}, nil, retry.ErrExhausted},
		{"later attempts win", options{retry.Config{MaxAttempts: 3}, retry.WithMaxAttempts(2)}, cfgTimes(s, 0.1), retry.ErrExhausted},
		{"of two, the later wins", options{retry.Config{MaxAttempts: 2, BaseDelay: 2 * s}, retry.Config{MaxAttempts: 3}}, cfgTimes(s, 1, 2), retry.ErrExhausted},
		{"unlimited, and elapsed", options{retry.WithMaxAttempts(2), retry.Config{MaxAttempts: retry.Unlimited, MaxElapsed: 5 * s}}, cfgTimes(s, 0.1, 0.2, 0.4, 0.8, 1.6), retry.ErrMaxElapsed},
		{"elapsed stops on equality", options{nine, retry.Config{MaxElapsed: 18 * s}}, cfgTimes(s, 9), retry.ErrMaxElapsed},

		{"base", options{retry.Config{BaseDelay: s}}, cfgTimes(s, 0.5, 1, 2, 4), retry.ErrExhausted},
		{"base, doubled up to 20s", options{retry.Config{BaseDelay: 8 * s}}, cfgTimes(s, 4, 8, 10, 10), retry.ErrExhausted},
		{"base above 20s", options{retry.Config{BaseDelay: 30 * s}}, cfgTimes(s, 15, 15, 15, 15), retry.ErrExhausted},
		{"base and a short cap", options{retry.Config{BaseDelay: s, MaxDelay: 3 * s}}, cfgTimes(s, 0.5, 1, 1.5, 1.5), retry.ErrExhausted},
		{"base and a long cap", options{retry.Config{BaseDelay: 8 * s, MaxDelay: 50 * s}}, cfgTimes(s, 4, 8, 16, 25), retry.ErrExhausted},
		{"base and an earlier cap", options{retry.WithMaxDelay(50 * s), retry.Config{BaseDelay: 8 * s}}, cfgTimes(s, 4, 8, 16, 25), retry.ErrExhausted},
		{"base and a later cap", options{retry.MustNew(retry.Config{BaseDelay: 8 * s}), retry.Config{MaxDelay: 50 * s}}, cfgTimes(s, 4, 8, 16, 25), retry.ErrExhausted},
		{"base above the cap", options{retry.Config{BaseDelay: 30 * s, MaxDelay: 2 * s}}, cfgTimes(s, 1, 1, 1, 1), retry.ErrExhausted},
		{"largest base", options{retry.Config{BaseDelay: math.MaxInt64, MaxDelay: 2 * s}}, cfgTimes(s, 1, 1, 1, 1), retry.ErrExhausted},
		{"cap alone", options{retry.Config{MaxDelay: 300 * time.Millisecond}}, cfgTimes(s, 0.1, 0.15, 0.15, 0.15), retry.ErrExhausted},
		{"cap of another strategy", options{nine, retry.Config{MaxDelay: 4 * s}}, cfgTimes(s, 4, 4, 4, 4), retry.ErrExhausted},

		{"base, then jitter", options{retry.Config{BaseDelay: s}, equal}, cfgTimes(s, 0.75, 1.5, 3, 6), retry.ErrExhausted},
		{"jitter, then base", options{equal, retry.Config{BaseDelay: s}}, cfgTimes(s, 0.75, 1.5, 3, 6), retry.ErrExhausted},
		{"base of a policy, then jitter", options{retry.MustNew(retry.Config{BaseDelay: s}), equal}, cfgTimes(s, 0.75, 1.5, 3, 6), retry.ErrExhausted},
		{"jitter of a policy, then base", options{retry.MustNew(equal), retry.Config{BaseDelay: s}}, cfgTimes(s, 0.75, 1.5, 3, 6), retry.ErrExhausted},
		{"base, jitter and caps", options{retry.Config{BaseDelay: 8 * s, MaxDelay: 40 * s}, equal}, cfgTimes(s, 6, 12, 24, 30), retry.ErrExhausted},

		{"base replaces a strategy", options{nine, retry.Config{BaseDelay: s}}, cfgTimes(s, 0.5, 1, 2, 4), retry.ErrExhausted},
		{"base replaces a policy's strategy", options{retry.MustNew(nine), retry.Config{BaseDelay: s}}, cfgTimes(s, 0.5, 1, 2, 4), retry.ErrExhausted},
		{"base replaces a starter", options{retry.WithStrategy(cfgStarter{}), retry.Config{BaseDelay: s}}, cfgTimes(s, 0.5, 1, 2, 4), retry.ErrExhausted},
		{"base replaces a strategy that draws", options{retry.Config{Strategy: "equaljitter"}, retry.Config{BaseDelay: s}, equal}, cfgTimes(s, 0.75, 1.5, 3, 6), retry.ErrExhausted},
		{"strategy replaces base", options{retry.Config{BaseDelay: s}, nine}, cfgTimes(s, 9, 9, 9, 9), retry.ErrExhausted},
		{"strategy replaces a policy's base", options{retry.MustNew(retry.Config{BaseDelay: s}), nine}, cfgTimes(s, 9, 9, 9, 9), retry.ErrExhausted},
		{"strategy replaces base, jitter stays", options{retry.MustNew(retry.Config{BaseDelay: s}, equal), nine}, cfgTimes(s, 6.75, 6.75, 6.75, 6.75), retry.ErrExhausted},

		{"strategy", options{retry.Config{Strategy: "linear(initial=1s, increment=3s, max=6s)"}}, cfgTimes(s, 1, 4, 6, 6), retry.ErrExhausted},
		{"strategy that ends", options{retry.Config{Strategy: "sequence(delays=[1s, 3s])"}}, cfgTimes(s, 1, 3), retry.ErrNoDelay},
		{"strategy in any case, with spaces", options{retry.Config{Strategy: " Constant( Delay = 2s ) "}}, cfgTimes(s, 2, 2, 2, 2), retry.ErrExhausted},
		{"strategy and jitter", options{equal, retry.Config{Strategy: "constant(delay=2s)"}}, cfgTimes(s, 1.5, 1.5, 1.5, 1.5), retry.ErrExhausted},
		{"strategy and cap", options{retry.Config{Strategy: "exponential(base=1s)", MaxDelay: 3 * s}}, cfgTimes(s, 1, 2, 3, 3), retry.ErrExhausted},
		{"strategy after a strategy", options{nine, retry.Config{Strategy: "constant(delay=2s)"}}, cfgTimes(s, 2, 2, 2, 2), retry.ErrExhausted},
		{"strategy after another's base", options{retry.Config{BaseDelay: s}, retry.Config{Strategy: "constant(delay=2s)"}}, cfgTimes(s, 2, 2, 2, 2), retry.ErrExhausted},
		{"base after another's strategy", options{retry.Config{Strategy: "constant(delay=2s)"}, retry.Config{BaseDelay: s}}, cfgTimes(s, 0.5, 1, 2, 4), retry.ErrExhausted},
		{"strategy of spaces is not set", options{nine, retry.Config{Strategy: " \t"}, retry.WithMaxAttempts(2)}, cfgTimes(s, 9), retry.ErrExhausted},
		{"base beside a strategy of spaces", options{retry.Config{BaseDelay: s, Strategy: " "}}, cfgTimes(s, 0.5, 1, 2, 4), retry.ErrExhausted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			waits, reason := cfgCall(t, tc.opts...)
			assert.Equal(t, tc.waits, waits)
			assert.Equal(t, tc.reason, reason)
			policy, err := retry.New(tc.opts...)
			require.NoError(t, err)
			waits, reason = cfgCall(t, policy)
			assert.Equal(t, tc.waits, waits, "as a policy")
			assert.Equal(t, tc.reason, reason)
		})
	}
}

// cfgStarter and cfgLearner are strategies with the optional methods.
type cfgStarter struct{ strategy.Constant }

func (cfgStarter) Start() strategy.Strategy { return strategy.Constant{Delay: time.Hour} }

type cfgLearner struct {
	strategy.Constant
	told *int
}

func (l cfgLearner) Failed(strategy.State) { *l.told++ }
func (l cfgLearner) Succeed()              { *l.told++ }

func TestConfigBaseDelayForgetsLearner(t *testing.T) {
	told := 0
	waits, _ := cfgCall(t, retry.WithStrategy(cfgLearner{told: &told}), retry.Config{BaseDelay: 2 * time.Second, MaxAttempts: 2})
	require.Equal(t, cfgTimes(time.Second, 1), waits)
	require.Zero(t, told)
}

func TestConfigAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, calls := time.Now(), 0
		err := retry.Run(t.Context(), func(ctx context.Context) error {
			calls++
			<-ctx.Done()
			return ctx.Err()
		}, retry.Config{AttemptTimeout: 3 * time.Second, MaxAttempts: 2, Strategy: "constant(delay=1s)"})
		require.ErrorIs(t, err, retry.ErrAttemptTimeout)
		require.Equal(t, 2, calls)
		require.Equal(t, 7*time.Second, time.Since(began))
	})
}

// TestConfigLeavesPoliciesAlone: what is derived from a policy does not change it.
func TestConfigLeavesPoliciesAlone(t *testing.T) {
	base := retry.MustNew(retry.Config{BaseDelay: time.Second, MaxAttempts: 3})
	_ = retry.MustNew(base, retry.WithJitter(strategy.Equal), retry.Config{MaxAttempts: 9, MaxDelay: time.Minute})
	_, _ = cfgCall(t, base, retry.Config{BaseDelay: 4 * time.Second})
	waits, _ := cfgCall(t, base)
	require.Equal(t, cfgTimes(time.Second, 0.5, 1), waits)
}

func TestConfigInLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		loop := retry.NewLoop(t.Context(), retry.Config{MaxAttempts: 3, Strategy: "constant(delay=2s)"})
		for try := range loop.Tries() {
			try.Fail(errCfg)
		}
		require.ErrorIs(t, loop.Err(), retry.ErrExhausted)
		require.Equal(t, 4*time.Second, time.Since(began))
	})
}

// cfgProblem is what a *ConfigError must hold.
type cfgProblem struct {
	field   string
	value   any
	problem string
}

const (
	cfgBadAttempts = `must be a whole number of at least 1, or "unlimited" (MAX_ATTEMPTS)`
	cfgNoUnit      = `must be text with a unit, such as "150ms" or "2m30s"`
	cfgNoDuration  = "must be a duration with a unit, such as 150ms or 2m30s"
)

// cfgRequire wants the one problem as a *ConfigError, or all of them joined.
func cfgRequire(t *testing.T, err error, want ...cfgProblem) {
	t.Helper()
	require.ErrorIs(t, err, retry.ErrConfig)
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	require.Len(t, all, len(want), "%v", err)
	for i, err := range all {
		e, ok := err.(*retry.ConfigError)
		require.True(t, ok, "%T", err)
		assert.Equal(t, want[i].field, e.Option)
		assert.Equal(t, want[i].value, e.Value)
		assert.Equal(t, want[i].problem, e.Problem)
	}
}

func TestConfigValidate(t *testing.T) {
	const s = time.Second
	const known = "known are constant, linear, exponential, fibonacci, sequence, fulljitter, equaljitter, decorrelated, lild, limd, mild, mimd, bythrottled"
	bases := func(d string) string {
		return "must not be set together with Strategy: the base belongs into its text, as in fulljitter(base=" + d + ") (BASE_DELAY, STRATEGY)"
	}
	for name, tc := range map[string]struct {
		config retry.Config
		want   []cfgProblem
	}{
		"zero":        {retry.Config{}, nil},
		"all":         {retry.Config{MaxAttempts: 4, BaseDelay: s, MaxDelay: s, MaxElapsed: s, AttemptTimeout: s}, nil},
		"largest":     {retry.Config{MaxAttempts: math.MaxInt, BaseDelay: math.MaxInt64, MaxDelay: math.MaxInt64, MaxElapsed: math.MaxInt64, AttemptTimeout: math.MaxInt64}, nil},
		"unlimited":   {retry.Config{MaxAttempts: retry.Unlimited, Strategy: "fulljitter"}, nil},
		"attempts -1": {retry.Config{MaxAttempts: -1}, []cfgProblem{{"Config.MaxAttempts", retry.Attempts(-1), cfgBadAttempts}}},
		"attempts":    {retry.Config{MaxAttempts: math.MinInt}, []cfgProblem{{"Config.MaxAttempts", retry.Attempts(math.MinInt), cfgBadAttempts}}},
		"base":        {retry.Config{BaseDelay: -s}, []cfgProblem{{"Config.BaseDelay", -s, "must not be negative (BASE_DELAY)"}}},
		"max":         {retry.Config{MaxDelay: math.MinInt64}, []cfgProblem{{"Config.MaxDelay", time.Duration(math.MinInt64), "must not be negative (MAX_DELAY)"}}},
		"elapsed":     {retry.Config{MaxElapsed: -1}, []cfgProblem{{"Config.MaxElapsed", time.Duration(-1), "must not be negative (MAX_ELAPSED)"}}},
		"timeout":     {retry.Config{AttemptTimeout: -s}, []cfgProblem{{"Config.AttemptTimeout", -s, "must not be negative (ATTEMPT_TIMEOUT)"}}},
		"strategy": {retry.Config{Strategy: "expo"}, []cfgProblem{
			{"Config.Strategy", "expo", `strategy: name = "expo": unknown strategy; ` + known + " (STRATEGY)"}}},
		"strategy's field": {retry.Config{Strategy: "constant(delay=-1s)"}, []cfgProblem{
			{"Config.Strategy", "constant(delay=-1s)", "strategy: Constant.Delay = -1s: must not be negative (STRATEGY)"}}},
		"strategy and base": {retry.Config{Strategy: "constant", BaseDelay: 1500 * time.Millisecond}, []cfgProblem{{"Config.BaseDelay", 1500 * time.Millisecond, bases("1.5s")}}},
		"everything": {retry.Config{-2, -s, -2 * s, -3 * s, -4 * s, "?"}, []cfgProblem{
			{"Config.MaxAttempts", retry.Attempts(-2), cfgBadAttempts},
			{"Config.BaseDelay", -s, "must not be negative (BASE_DELAY)"},
			{"Config.MaxDelay", -2 * s, "must not be negative (MAX_DELAY)"},
			{"Config.MaxElapsed", -3 * s, "must not be negative (MAX_ELAPSED)"},
			{"Config.AttemptTimeout", -4 * s, "must not be negative (ATTEMPT_TIMEOUT)"},
			{"Config.Strategy", "?", `strategy: name = "?": unknown strategy; ` + known + " (STRATEGY)"},
			{"Config.BaseDelay", -s, bases("-1s")},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.config.Validate()
			_, made := retry.New(tc.config)
			ran := retry.Run(t.Context(), func(context.Context) error {
				require.Empty(t, tc.want, "the operation ran")
				return nil
			}, retry.WithName("x"), tc.config)
			if len(tc.want) == 0 {
				require.NoError(t, err)
				require.NoError(t, made)
				require.NoError(t, ran)
				return
			}
			cfgRequire(t, err, tc.want...)
			require.Equal(t, err, made)
			require.Equal(t, err, ran)
		})
	}
}

func TestConfigErrorTexts(t *testing.T) {
	for want, c := range map[string]retry.Config{
		`retry: Config.MaxAttempts(-1): must be a whole number of at least 1, or "unlimited" (MAX_ATTEMPTS)`: {MaxAttempts: -1},
		"retry: Config.BaseDelay(-1s): must not be negative (BASE_DELAY)\nretry: Config.MaxElapsed(-1ns): must not be negative (MAX_ELAPSED)": {
			BaseDelay: -time.Second, MaxElapsed: -1},
		`retry: Config.Strategy("linear(max=5)"): strategy: Linear.Max = "5": must be a duration with a unit, such as 150ms or 2m30s (STRATEGY)`: {Strategy: "linear(max=5)"},
	} {
		require.EqualError(t, c.Validate(), want)
	}
	var own *strategy.ConfigError
	require.ErrorAs(t, retry.Config{Strategy: "linear(max=5)"}.Validate(), &own)
	require.Equal(t, "Linear.Max", own.Field)
}

func TestConfigOptionErrors(t *testing.T) {
	const pointer = "must be the Config itself, not a pointer to it"
	_, err := retry.New(&retry.Config{})
	cfgRequire(t, err, cfgProblem{"Config", "*retry.Config", pointer})
	_, err = retry.New((*retry.Config)(nil))
	cfgRequire(t, err, cfgProblem{"Config", "*retry.Config", pointer})

	for _, opts := range [][]retry.Option{ // WithJitter's own problem, as with WithStrategy
		{retry.Config{Strategy: "fulljitter(base=1s)"}, retry.WithJitter(strategy.Equal)},
		{retry.WithJitter(strategy.Equal), retry.Config{Strategy: "decorrelated"}},
		{retry.Config{BaseDelay: time.Second}, retry.WithStrategy(strategy.FullJitter{}), retry.WithJitter(strategy.Equal)},
	} {
		_, err := retry.New(opts...)
		var e *retry.ConfigError
		require.ErrorAs(t, err, &e)
		require.Equal(t, "WithJitter", e.Option)
	}
	_, err = retry.New(retry.Config{}, new(retry.Policy))
	require.ErrorIs(t, err, retry.ErrConfig, "a Policy must still be the first")
}

// TestConfigAllocations: a Config costs a call without a wait what any option does that is no constant, and in a policy nothing.
func TestConfigAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	ctx := t.Context()
	settings := retry.Config{MaxAttempts: 3, MaxDelay: time.Second, MaxElapsed: time.Minute}
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { sink, _ = retry.Do(ctx, succeed, settings) }), 1.0)
	policy := retry.MustNew(retry.Config{BaseDelay: time.Second})
	require.Zero(t, testing.AllocsPerRun(100, func() { sink, _ = retry.Do(ctx, succeed, policy) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { sink, _ = retry.Do(ctx, succeed, policy, retry.WithMaxAttempts(2)) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { sink, _ = retry.Do(ctx, succeed, policy, retry.WithMaxDelay(time.Second)) }))
}

func ExampleConfig() {
	var settings struct {
		Retry retry.Config `json:"retry"`
	}
	file := `{"retry": {"max_attempts": 3, "max_elapsed": "10s", "strategy": "exponential(base=5ms, max=1s)"}}`
	if err := json.Unmarshal([]byte(file), &settings); err != nil {
		fmt.Println(err)
		return
	}
	policy, err := retry.New(retry.WithMaxDelay(5*time.Second), settings.Retry) // what the file does not say stays
	if err != nil {
		fmt.Println(err)
		return
	}
	err = retry.Run(context.Background(), func(context.Context) error { return errors.New("unavailable") }, policy,
		retry.WithOnRetry(func(_ context.Context, e retry.Event) { fmt.Println("waiting", e.Delay) }))
	fmt.Println(errors.Is(err, retry.ErrExhausted))
	// Output:
	// waiting 5ms
	// waiting 10ms
	// true
}

func ExampleConfig_Validate() {
	settings := retry.Config{MaxAttempts: -1, MaxDelay: -time.Second, Strategy: "linear(max=5)"}
	fmt.Println(settings.Validate())
	// Output:
	// retry: Config.MaxAttempts(-1): must be a whole number of at least 1, or "unlimited" (MAX_ATTEMPTS)
	// retry: Config.MaxDelay(-1s): must not be negative (MAX_DELAY)
	// retry: Config.Strategy("linear(max=5)"): strategy: Linear.Max = "5": must be a duration with a unit, such as 150ms or 2m30s (STRATEGY)
}
