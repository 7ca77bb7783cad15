package retry_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

const ruOnly = "a rule takes WithMaxAttempts, WithUnlimitedAttempts, WithMaxElapsed, WithMaxDelay, WithStrategy, WithJitter and WithHint only"

// TestRuleTakesSevenOptions: every other is a mistake, found before the operation runs.
func TestRuleTakesSevenOptions(t *testing.T) {
	good := []retry.Option{
		retry.WithMaxAttempts(2), retry.WithUnlimitedAttempts(), retry.WithMaxElapsed(time.Second), retry.WithMaxDelay(time.Second),
		recEvery(time.Second), retry.WithJitter(strategy.Full), retry.WithHint(recExact),
	}
	_, err := retry.New(retry.WithRule(ruAuth, good...))
	require.NoError(t, err)
	for value, o := range map[string]retry.Option{
		"WithName":                retry.WithName("x"),
		"WithMaxRetryElapsed":     retry.WithMaxRetryElapsed(1),
		"WithAttemptTimeout":      retry.WithAttemptTimeout(1),
		"WithAttemptTimeoutShare": retry.WithAttemptTimeoutShare(1, 1),
		"WithMaxHint":             retry.WithMaxHint(1),
		"WithInitialDelay":        retry.WithInitialDelay(1, nil),
		"WithResetAfter":          retry.WithResetAfter(1),
		"WithErrorHistory":        retry.WithErrorHistory(1),
		"WithAttemptInfo":         retry.WithAttemptInfo(),
		"WithRetryIf":             retry.WithRetryIf(func(error) bool { return true }),
		"WithCondition":           retry.WithCondition(),
		"WithRule":                retry.WithRule(ruAuth),
		"WithThrottle":            retry.WithThrottle(),
		"WithBudget":              retry.WithBudget(recRefusing{}),
		"WithObserver":            retry.WithObserver(&recObserver{}),
		"WithOnRetry":             retry.WithOnRetry(func(context.Context, retry.Event) {}),
		"WithBeforeRetry":         retry.WithBeforeRetry(func(context.Context, retry.Event) error { return nil }),
		"WithStop":                retry.WithStop(nil),
		"WithRand":                retry.WithRand(recDraws(0)),
		"retry.Config":            retry.Config{},
		"*retry.Policy":           retry.MustNew(),
		"WithResults":             retry.WithResults(retry.Results[int]{}),
		"WithFallback":            retry.WithFallback(func(context.Context, error) (int, error) { return 0, nil }),
		"retry_test.recForeign":   recForeign{},
	} {
		_, err := retry.New(retry.WithRule(ruAuth, append(good, o)...))
		recRequireConfig(t, err, "WithRule", value, ruOnly)
	}
}

// TestRuleConfigErrors are those of the options within, and of a rule that has nothing to ask.
func TestRuleConfigErrors(t *testing.T) {
	for _, tc := range []struct {
		name    string
		option  retry.Option
		field   string
		value   any
		problem string
	}{
		{"nil", retry.WithRule(nil), "WithRule", nil, recNotNil},
		{"typed nil", retry.WithRule((*recBadCondition)(nil)), "WithRule", nil, recNotNil},
		{"nil func", retry.WithRule(condition.Func(nil)), "WithRule", nil, recNotNil},
		{"condition says no", retry.WithRule(recBadCondition{}), "WithRule", recBadCondition{}, "bad: no"},
		{"nil option", retry.WithRule(ruAuth, nil), "Option", nil, recNotNil},
		{"attempts", retry.WithRule(ruAuth, retry.WithMaxAttempts(0)), "WithMaxAttempts", 0, "must be at least 1; WithUnlimitedAttempts takes the limit away"},
		{"elapsed", retry.WithRule(ruAuth, retry.WithMaxElapsed(-1)), "WithMaxElapsed", time.Duration(-1), "must not be negative"},
		{"delay", retry.WithRule(ruAuth, retry.WithMaxDelay(-1)), "WithMaxDelay", time.Duration(-1), "must not be negative"},
		{"strategy", retry.WithRule(ruAuth, retry.WithStrategy(nil)), "WithStrategy", nil, recNotNil},
		{"jitter", retry.WithRule(ruAuth, retry.WithJitter(nil)), "WithJitter", nil, recNotNil},
		{"hint", retry.WithRule(ruAuth, retry.WithHint(throttle.Clamp(-1))), "WithHint", throttle.Clamp(-1), throttle.Clamp(-1).Validate().Error()},
	} {
		_, err := retry.New(tc.option, retry.WithRule(ruAuth))
		recRequireConfig(t, err, tc.field, tc.value, tc.problem)
		recRequireConfig(t, retry.Run(t.Context(), func(context.Context) error { t.Error("fn was called"); return nil }, tc.option), tc.field, tc.value, tc.problem)
	}
}

// TestRuleDrawsOnce: two draws on top of each other are refused where the rule's jitter meets a strategy, its own or the policy's.
func TestRuleDrawsOnce(t *testing.T) {
	const problem = "the strategy draws its delays itself: leave one of the two out"
	draws, jitter := strategy.EqualJitter{}, retry.WithJitter(strategy.Full)
	for _, opts := range [][]retry.Option{
		{retry.WithRule(ruAuth, jitter, retry.WithStrategy(draws))},
		{retry.WithStrategy(draws), retry.WithRule(ruAuth, jitter)},
		{retry.WithRule(ruAuth), retry.WithRule(ruAuth, jitter), retry.WithStrategy(draws)},
		{retry.MustNew(retry.WithRule(ruAuth, jitter)), retry.WithStrategy(draws)},
	} {
		_, err := retry.New(opts...)
		recRequireConfig(t, err, "WithJitter", draws, problem)
	}
	for _, opts := range [][]retry.Option{
		{jitter, retry.WithRule(ruAuth, retry.WithStrategy(draws))},
		{jitter, retry.WithRule(ruAuth, jitter)},
		{retry.WithStrategy(draws), retry.WithRule(ruAuth, jitter, recAtOnce)},
		{retry.WithRule(ruAuth, jitter)},
	} {
		_, err := retry.New(opts...)
		require.NoError(t, err)
	}
}

// TestRuleIsCopied: neither the caller's slice nor a derived policy changes the rules of another.
func TestRuleIsCopied(t *testing.T) {
	within := []retry.Option{retry.WithMaxAttempts(2)}
	base := retry.MustNew(recAtOnce, retry.WithRule(ruAuth, within...))
	within[0] = retry.WithMaxAttempts(3)
	derived := [2]*retry.Policy{}
	for i := range derived {
		derived[i] = retry.MustNew(base, retry.WithRule(ruNotFound, retry.WithMaxAttempts(10+i)))
	}
	for p, want := range map[*retry.Policy][2]int{base: {2, 5}, derived[0]: {2, 10}, derived[1]: {2, 11}} {
		for i, err := range []error{errRuAuth, errRuNotFound} {
			_, end := ruPlay(t, ruTimes(20, err), p)
			require.Equal(t, want[i], recError(t, end.Err).Attempts)
		}
	}
}
