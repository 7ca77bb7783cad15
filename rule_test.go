package retry_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

var (
	errRuAuth     = errors.New("unauthorized")
	errRuNotFound = errors.New("not found")
	errRuInternal = errors.New("internal")

	ruAuth     = condition.Is(errRuAuth)
	ruNotFound = condition.Is(errRuNotFound)
	ruInternal = condition.Is(errRuInternal)
)

// ruThree is the policy of three kinds: auth refresh once and at once, not found 20 times, internal within a minute.
func ruThree(more ...retry.Option) []retry.Option {
	return append([]retry.Option{
		recEvery(time.Second),
		retry.WithRule(ruAuth, retry.WithMaxAttempts(2), recAtOnce),
		retry.WithRule(ruNotFound, retry.WithMaxAttempts(20), recEvery(10*time.Second)),
		retry.WithRule(ruInternal, retry.WithMaxElapsed(time.Minute), recEvery(7*time.Second)),
	}, more...)
}

// ruPlay lets a flow fail with the errors in turn, and returns the waits and the end.
func ruPlay(t *testing.T, errs []error, opts ...retry.Option) (waits []time.Duration, end retry.Step) {
	t.Helper()
	s := newRecSteps(t, opts...)
	for _, err := range errs {
		if end = s.fails(err); end.Action == retry.Done {
			break
		}
		waits = append(waits, end.Delay)
	}
	return waits, end
}

func ruTimes(n int, err error) (errs []error) {
	for range n {
		errs = append(errs, err)
	}
	return errs
}

func ruJoin(parts ...[]error) (errs []error) {
	for _, p := range parts {
		errs = append(errs, p...)
	}
	return errs
}

// TestRulesCountApart: three kinds in one policy, and what has no rule.
func TestRulesCountApart(t *testing.T) {
	auth, missing, internal, other := ruTimes(1, errRuAuth), ruTimes(19, errRuNotFound), ruTimes(8, errRuInternal), ruTimes(4, errRec)
	for _, tc := range []struct {
		name     string
		errs     []error
		opts     []retry.Option
		attempts int // 0: it is not over
		want     error
	}{
		{"auth once", auth, nil, 0, nil},
		{"auth twice", ruTimes(9, errRuAuth), nil, 2, retry.ErrExhausted},
		{"auth, again later", ruJoin(auth, other, missing, auth), nil, 1 + 4 + 19 + 1, retry.ErrExhausted},
		{"not found 19 times", missing, nil, 0, nil},
		{"not found 20 times", ruTimes(99, errRuNotFound), nil, 20, retry.ErrExhausted},
		{"not found 20 times, among others", ruJoin(missing, auth, other, ruTimes(1, errRuNotFound)), nil, 25, retry.ErrExhausted},
		{"internal within a minute", internal, nil, 0, nil},
		{"internal for a minute", ruTimes(99, errRuInternal), nil, 9, retry.ErrMaxElapsed},
		{"a minute from its own first failure", ruJoin(missing, ruTimes(99, errRuInternal)), nil, 19 + 9, retry.ErrMaxElapsed},
		{"a minute passes among others too", ruJoin(ruTimes(1, errRuInternal), missing, ruTimes(1, errRuInternal)), nil, 21, retry.ErrMaxElapsed},
		{"others by default", ruTimes(9, errRec), nil, 5, retry.ErrExhausted},
		{"others among rules", ruJoin(auth, missing, other, ruTimes(5, errRuInternal), ruTimes(1, errRec)), nil, 1 + 19 + 4 + 5 + 1, retry.ErrExhausted},
		{"all that is permitted", ruJoin(auth, missing, other, ruTimes(8, errRuInternal)), nil, 0, nil},

		{"an outer limit of attempts", missing, []retry.Option{retry.WithMaxAttempts(3)}, 3, retry.ErrExhausted},
		{"the outer limit counts all", ruJoin(auth, ruTimes(1, errRec), missing), []retry.Option{retry.WithMaxAttempts(3)}, 3, retry.ErrExhausted},
		{"an outer limit of five", missing, []retry.Option{retry.WithMaxAttempts(5)}, 5, retry.ErrExhausted},
		{"an outer limit above", ruTimes(99, errRuNotFound), []retry.Option{retry.WithMaxAttempts(50)}, 20, retry.ErrExhausted},
		{"no outer limit", ruTimes(9, errRuAuth), []retry.Option{retry.WithUnlimitedAttempts()}, 2, retry.ErrExhausted},
		{"an outer limit of time", missing, []retry.Option{retry.WithMaxElapsed(30 * time.Second)}, 3, retry.ErrMaxElapsed},
		{"of retries' time", missing, []retry.Option{retry.WithMaxRetryElapsed(30 * time.Second)}, 3, retry.ErrMaxElapsed},
		{"a shorter one than the rule's", internal, []retry.Option{retry.WithMaxElapsed(30 * time.Second)}, 5, retry.ErrMaxElapsed},
		{"a budget", missing, []retry.Option{retry.WithBudget(recRefusing{})}, 1, retry.ErrBudget},
	} {
		_, end := ruPlay(t, tc.errs, ruThree(tc.opts...)...)
		if tc.want == nil {
			require.Equal(t, retry.Wait, end.Action, tc.name)
			continue
		}
		require.Equal(t, tc.want, end.Reason, tc.name)
		require.Equal(t, tc.attempts, recError(t, end.Err).Attempts, tc.name)
	}
}

// TestRuleLimits: which rules the default of 5 attempts counts.
func TestRuleLimits(t *testing.T) {
	for _, tc := range []struct {
		name  string
		rule  []retry.Option
		outer []retry.Option
		want  int // attempts; 0: more than 99
	}{
		{"no limit of its own", nil, nil, 5},
		{"a strategy is no limit", []retry.Option{recAtOnce}, nil, 5},
		{"MaxElapsed 0 is no limit", []retry.Option{retry.WithMaxElapsed(0)}, nil, 5},
		{"attempts", []retry.Option{retry.WithMaxAttempts(7)}, nil, 7},
		{"fewer attempts", []retry.Option{retry.WithMaxAttempts(3)}, nil, 3},
		{"one attempt", []retry.Option{retry.WithMaxAttempts(1)}, nil, 1},
		{"unlimited", []retry.Option{retry.WithUnlimitedAttempts()}, nil, 0},
		{"later wins", []retry.Option{retry.WithMaxAttempts(7), retry.WithUnlimitedAttempts(), retry.WithMaxAttempts(8)}, nil, 8},
		{"time", []retry.Option{retry.WithMaxElapsed(10 * time.Second)}, nil, 10},
		{"no time", []retry.Option{retry.WithMaxElapsed(1)}, nil, 1},
		{"unlimited under a limit", []retry.Option{retry.WithUnlimitedAttempts()}, []retry.Option{retry.WithMaxAttempts(6)}, 6},
		{"unlimited both", nil, []retry.Option{retry.WithUnlimitedAttempts()}, 0},
		{"limited under none", []retry.Option{retry.WithMaxAttempts(7)}, []retry.Option{retry.WithUnlimitedAttempts()}, 7},
		{"a policy's rule", nil, []retry.Option{retry.MustNew(retry.WithRule(condition.Is(errRec), retry.WithMaxAttempts(8)))}, 8},
	} {
		opts := append(tc.outer, recEvery(time.Second), retry.WithRule(condition.Is(errRec), tc.rule...))
		waits, end := ruPlay(t, ruTimes(100, errRec), opts...)
		if tc.want == 0 {
			require.Equal(t, retry.Wait, end.Action, tc.name)
			continue
		}
		require.Equal(t, retry.Done, end.Action, tc.name)
		require.Len(t, waits, tc.want-1, tc.name)
	}
}

// TestRuleWaits: whose strategy, jitter, cap and way with told waits is in force, and whose numbers it gets.
func TestRuleWaits(t *testing.T) {
	curve := func(base time.Duration) retry.Option { return retry.WithStrategy(strategy.Exponential{Base: base}) }
	plus := func(d time.Duration) retry.Option {
		return retry.WithJitter(func(delay, limit time.Duration, _ float64) time.Duration { return min(delay+d, limit) })
	}
	a, b := errRuAuth, errRec // a has the rule
	told := retry.After(100, a)
	for _, tc := range []struct {
		name        string
		outer, rule []retry.Option
		errs        []error
		want        []time.Duration
	}{
		{"the policy's curve, counted apart", []retry.Option{curve(1)}, nil, []error{a, b, a, b, a}, []time.Duration{1, 1, 2, 2, 4}},
		{"its own", []retry.Option{curve(1)}, []retry.Option{curve(100)}, []error{a, b, a, b, a}, []time.Duration{100, 1, 200, 2, 400}},
		{"the policy's jitter", []retry.Option{curve(1), plus(10)}, nil, []error{a, b, a}, []time.Duration{11, 11, 12}},
		{"its own jitter", []retry.Option{curve(1), plus(10)}, []retry.Option{plus(20)}, []error{a, b, a}, []time.Duration{21, 11, 22}},
		{"its own strategy, and no jitter", []retry.Option{curve(1), plus(10)}, []retry.Option{curve(100)}, []error{a, b, a}, []time.Duration{100, 11, 200}},
		{"both its own", []retry.Option{curve(1), plus(10)}, []retry.Option{curve(100), plus(5)}, []error{a, b, a}, []time.Duration{105, 11, 205}},
		{"a drawing strategy under a jitter", []retry.Option{curve(1), plus(10), retry.WithRand(recDraws(0))}, []retry.Option{retry.WithStrategy(strategy.EqualJitter{Base: 100})}, []error{a, b}, []time.Duration{50, 11}},
		{"the policy's cap", []retry.Option{curve(1), retry.WithMaxDelay(3)}, []retry.Option{curve(100)}, []error{a, b, a}, []time.Duration{3, 1, 3}},
		{"a shorter cap", []retry.Option{curve(4), retry.WithMaxDelay(8)}, []retry.Option{retry.WithMaxDelay(5)}, []error{a, a, b, b, b}, []time.Duration{4, 5, 4, 8, 8}},
		{"a longer cap", []retry.Option{curve(4), retry.WithMaxDelay(5)}, []retry.Option{retry.WithMaxDelay(8)}, []error{a, a, a}, []time.Duration{4, 5, 5}},
		{"a cap where there is none", []retry.Option{curve(4)}, []retry.Option{retry.WithMaxDelay(5)}, []error{a, a, b, b}, []time.Duration{4, 5, 4, 8}},
		{"a cap on a jitter", []retry.Option{curve(4), plus(10)}, []retry.Option{retry.WithMaxDelay(5)}, []error{a, b}, []time.Duration{5, 14}},
		{"the policy's way with told waits", []retry.Option{curve(1), retry.WithHint(recExact)}, nil, []error{told, told}, []time.Duration{100, 100}},
		{"its own way", []retry.Option{curve(1), retry.WithHint(recExact)}, []retry.Option{retry.WithHint(throttle.Ignore())}, []error{told, told}, []time.Duration{1, 2}},
		{"its own only", []retry.Option{curve(1), retry.WithHint(throttle.Ignore())}, []retry.Option{retry.WithHint(recExact)}, []error{told, retry.After(100, b)}, []time.Duration{100, 1}},
		{"the default's jittered curve", []retry.Option{retry.WithRand(recDraws(0.5))}, nil, []error{a, b, a}, []time.Duration{100e6, 100e6, 200e6}},
		{"a jitter on a base", []retry.Option{retry.WithRand(recDraws(0.5)), retry.Config{BaseDelay: 4 * time.Second}}, []retry.Option{retry.WithJitter(strategy.Equal)}, []error{a, b, a, b}, kbSeconds(3, 2, 6, 4)},
		{"a jitter on a base under a cap", []retry.Option{retry.WithRand(recDraws(0.5)), retry.Config{BaseDelay: 40 * time.Second, MaxDelay: 50 * time.Second}}, []retry.Option{retry.WithJitter(strategy.Equal)}, []error{a, a, b}, []time.Duration{30e9, 37500e6, 20e9}},
		{"a base under the policy's jitter", []retry.Option{retry.WithRand(recDraws(0.5)), retry.Config{BaseDelay: 4 * time.Second}, retry.WithJitter(strategy.Full)}, nil, []error{a, b, a}, kbSeconds(2, 2, 4)},
		{"a jitter on the default", []retry.Option{retry.WithRand(recDraws(0.5))}, []retry.Option{retry.WithJitter(strategy.Equal)}, []error{a, b, a}, []time.Duration{150e6, 100e6, 300e6}},
	} {
		waits, _ := ruPlay(t, tc.errs, append(tc.outer, retry.WithUnlimitedAttempts(), retry.WithRule(ruAuth, tc.rule...))...)
		require.Equal(t, tc.want, waits, tc.name)
	}
}

// TestRuleOfASupervision: a jitter without a strategy works on the curve of Supervise.
func TestRuleOfASupervision(t *testing.T) {
	half := retry.WithRand(recDraws(0.5))
	waits, err := svWaits(t, svTimes(7, svRan{0, errRec}), half, retry.WithRule(condition.Is(errRec), retry.WithJitter(strategy.Equal)))
	require.Same(t, errSvEnd, err)
	require.Equal(t, []time.Duration{750e6, 1500e6, 3e9, 6e9, 12e9, 24e9, 45e9}, waits)
	waits, err = svWaits(t, svTimes(5, svRan{0, errRec}), half, retry.Config{BaseDelay: 4 * time.Second}, retry.WithRule(condition.Is(errRec), retry.WithJitter(strategy.Equal)))
	require.Same(t, errSvEnd, err)
	require.Equal(t, kbSeconds(3, 6, 12, 24, 45), waits)
	_, err = svWaits(t, svTimes(30, svRan{0, errRec}), retry.WithRule(condition.Is(errRec), retry.WithMaxAttempts(20)))
	require.Equal(t, 20, recError(t, err).Attempts)
}

// TestRuleState is the kind's own.
func TestRuleState(t *testing.T) {
	var states []string
	note := func(name string) retry.Option {
		return retry.WithStrategy(strategy.Func(func(s strategy.State) (time.Duration, bool) {
			states = append(states, fmt.Sprint(name, " ", s.Number, s.Prev, s.Elapsed, s.Limit, s.Throttled, s.Err))
			return time.Duration(s.Number) * time.Second, true
		}))
	}
	refused := condition.Func(func(err error) condition.Verdict {
		if err == errRuInternal {
			return condition.Throttled
		}
		return condition.Stop // is no match
	})
	ruPlay(t, []error{errRuInternal, errRuAuth, errRuInternal, errRec, errRuInternal, errRuAuth}, note("policy"), retry.WithMaxDelay(time.Hour), retry.WithMaxAttempts(9),
		retry.WithRule(refused, note("rule"), retry.WithMaxDelay(time.Minute)), retry.WithRule(ruAuth))
	require.Equal(t, []string{
		"rule 1 0s 0s 1m0s true internal",
		"policy 1 0s 0s 1h0m0s false unauthorized",
		"rule 2 1s 2s 1m0s true internal",
		"policy 1 0s 4s 1h0m0s false boom", // since the call's first failure
		"rule 3 2s 5s 1m0s true internal",
		"policy 2 1s 7s 1h0m0s false unauthorized",
	}, states)
}

// TestRuleMemory: a Starter's memory is the kind's own, and told to restart, only the kind's curve does.
func TestRuleMemory(t *testing.T) {
	log, outer, inner := newRecLog(), 0, 0
	ruPlay(t, []error{errRuAuth, errRec, errRuAuth, errRec}, retry.WithStrategy(recStarter{log, &outer}), retry.WithRule(ruAuth, retry.WithStrategy(recStarter{log, &inner})))
	require.Equal(t, []int{1, 1}, []int{outer, inner})

	log, outer = newRecLog(), 0
	ruPlay(t, []error{errRuAuth, errRec, errRuAuth, errRec}, retry.WithStrategy(recStarter{log, &outer}), retry.WithRule(ruAuth))
	require.Equal(t, 2, outer, "one for each kind")

	s := newRecSteps(t, retry.WithStrategy(strategy.Exponential{Base: 1}), retry.WithRule(ruAuth), retry.WithMaxAttempts(9))
	for _, err := range []error{errRuAuth, errRuAuth, errRec, errRec} {
		s.fails(err)
	}
	step := s.next().reports(0, throttle.Outcome{Err: errRuAuth, Signal: throttle.Signal{RestartCurve: true}})
	require.Equal(t, time.Duration(4), step.Delay)
	require.Equal(t, time.Duration(1), s.fails(errRuAuth).Delay)
	require.Equal(t, time.Duration(4), s.fails(errRec).Delay)
}

// TestRuleAndReset: a reset sets back every kind, and the kind that failed is the first again.
func TestRuleAndReset(t *testing.T) {
	log, started := newRecLog(), 0
	rule := retry.WithRule(ruAuth, retry.WithMaxAttempts(3), retry.WithMaxElapsed(8*time.Second), retry.WithStrategy(recStarter{log, &started}))
	opts := []retry.Option{retry.WithUnlimitedAttempts(), recEvery(time.Second), rule}
	restart := retry.Restart(errRuAuth)
	waits, end := ruPlay(t, []error{errRuAuth, errRuAuth, restart, errRuAuth, restart, errRuAuth, errRuAuth}, opts...)
	require.Equal(t, kbSeconds(1, 2, 1, 2, 1, 2), waits)
	require.Equal(t, retry.ErrExhausted, end.Reason)
	require.Equal(t, 3, started)
	_, end = ruPlay(t, []error{errRuAuth, errRuAuth, retry.Restart(errRec), errRuAuth, errRuAuth}, opts...)
	require.Equal(t, retry.Wait, end.Action, "by another kind too")
	s := newRecSteps(t, opts...)
	s.fails(errRuAuth)
	s.now = s.now.Add(time.Hour)
	require.Equal(t, retry.Wait, s.fails(restart).Action)
	s.now = s.now.Add(6 * time.Second)
	require.Equal(t, retry.ErrMaxElapsed, s.fails(errRuAuth).Reason)
}

// TestRuleLimitsEveryWait: the time of the kind that failed last counts for a throttle's wait too, and no other kind's.
func TestRuleLimitsEveryWait(t *testing.T) {
	gate := &fzHolding{}
	opts := []retry.Option{recAtOnce, retry.WithThrottle(gate), retry.WithRule(ruAuth, retry.WithMaxElapsed(10*time.Second))}
	gate.waits = []time.Duration{0, 10*time.Second - 1, 1}
	s := newRecSteps(t, opts...)
	s.fails(errRuAuth)
	step := s.flow.Next(t.Context(), s.now)
	require.Equal(t, retry.Step{Action: retry.Wait, Delay: 10*time.Second - 1, Source: retry.SourceThrottle}, step)
	s.now = s.now.Add(step.Delay)
	step = s.flow.Next(t.Context(), s.now)
	require.Equal(t, retry.ErrMaxElapsed, step.Reason)
	require.Equal(t, time.Duration(1), recError(t, step.Err).Delay)

	gate.waits = []time.Duration{0, 0, time.Minute}
	s = newRecSteps(t, opts...)
	s.fails(errRuAuth)
	s.fails(errRec)
	require.Equal(t, retry.Wait, s.flow.Next(t.Context(), s.now).Action, "another kind's failure was the last")
	s.flow.Abort(t.Context(), s.now, throttle.Canceled)
}

// TestRuleOrder: after those who decide alone, before the conditions; the first that matches wins.
func TestRuleOrder(t *testing.T) {
	var asked []string
	says := func(name string, v condition.Verdict) condition.Condition {
		return condition.Func(func(error) condition.Verdict { asked = append(asked, name); return v })
	}
	rule := func(name string, v condition.Verdict) retry.Option {
		return retry.WithRule(says(name, v), retry.WithMaxAttempts(2))
	}
	conditions := retry.WithCondition(says("condition", condition.Stop))
	for _, tc := range []struct {
		name  string
		opts  []retry.Option
		o     throttle.Outcome
		asked []string
		want  retry.Action
	}{
		{"a match", []retry.Option{rule("a", condition.Retry), rule("b", condition.Retry), conditions}, throttle.Outcome{Err: errRec}, []string{"a"}, retry.Wait},
		{"throttled is a match", []retry.Option{rule("a", condition.Throttled), conditions}, throttle.Outcome{Err: errRec}, []string{"a"}, retry.Wait},
		{"no match", []retry.Option{rule("a", condition.Unknown), rule("b", condition.Stop), rule("c", 77), conditions}, throttle.Outcome{Err: errRec}, []string{"a", "b", "c", "condition"}, retry.Done},
		{"a policy's first", []retry.Option{retry.MustNew(rule("a", condition.Unknown)), rule("b", condition.Retry)}, throttle.Outcome{Err: errRec}, []string{"a", "b"}, retry.Wait},
		{"permanent", []retry.Option{rule("a", condition.Retry)}, throttle.Outcome{Err: retry.Permanent(errRec)}, nil, retry.Done},
		{"decided", []retry.Option{rule("a", condition.Retry)}, throttle.Outcome{Err: errRec, Decided: throttle.No}, nil, retry.Done},
		{"decided for", []retry.Option{rule("a", condition.Retry)}, throttle.Outcome{Err: errRec, Decided: throttle.Yes}, nil, retry.Wait},
		{"the server", []retry.Option{rule("a", condition.Retry)}, throttle.Outcome{Err: errRec, Signal: throttle.Signal{Retry: throttle.No}}, nil, retry.Done},
		{"WithRetryIf", []retry.Option{rule("a", condition.Retry), retry.WithRetryIf(func(error) bool { return true })}, throttle.Outcome{Err: errRec}, []string{"a"}, retry.Wait},
		{"WithRetryIf says no", []retry.Option{rule("a", condition.Retry), retry.WithRetryIf(func(error) bool { return false })}, throttle.Outcome{Err: errRec}, []string{"a"}, retry.Wait},
		{"no match, WithRetryIf says no", []retry.Option{rule("a", condition.Unknown), conditions, retry.WithRetryIf(func(error) bool { return false })}, throttle.Outcome{Err: errRec}, []string{"a"}, retry.Done},
		{"a cancellation", []retry.Option{rule("a", condition.Retry)}, throttle.Outcome{Err: context.Canceled}, []string{"a"}, retry.Wait},
	} {
		asked = nil
		step := newRecSteps(t, tc.opts...).next().reports(0, tc.o)
		require.Equal(t, tc.want, step.Action, tc.name)
		require.Equal(t, tc.asked, asked, tc.name)
	}
	step := newRecSteps(t, rule("a", condition.Throttled)).fails(errRec)
	require.Equal(t, throttle.Throttled, step.Class)
	// The rule's own limit holds where WithRetryIf would go on, and its retry where WithRetryIf would stop.
	for _, goOn := range []bool{true, false} {
		_, end := ruPlay(t, ruTimes(9, errRec), rule("a", condition.Retry), retry.WithRetryIf(func(error) bool { return goOn }), recAtOnce)
		require.Equal(t, 2, recError(t, end.Err).Attempts)
	}
}

// TestConcurrentSafeRules: 50 goroutines with one policy, each call with its own counts.
func TestConcurrentSafeRules(t *testing.T) {
	policy := retry.MustNew(ruThree(recAtOnce, retry.WithRule(condition.Is(errKnown), retry.WithUnlimitedAttempts()))...)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			n := 0
			err := retry.Run(t.Context(), func(context.Context) error {
				switch n++; {
				case n == 1:
					return errRuAuth
				case n < 10:
					return errKnown
				case n < 14:
					return errRec
				}
				return errRuAuth
			}, policy)
			if n != 14 || !errors.Is(err, retry.ErrExhausted) || !errors.Is(err, errRuAuth) {
				t.Errorf("%d attempts: %v", n, err)
			}
		})
	}
	wg.Wait()
}

// TestRuleContextWithoutRetry: the first failure ends the call, whatever its rule permits.
func TestRuleContextWithoutRetry(t *testing.T) {
	for _, err := range []error{errRuAuth, errRuNotFound, errRuInternal, errRec} {
		calls := 0
		got := retry.Run(retry.ContextWithoutRetry(t.Context()), func(context.Context) error { calls++; return err }, ruThree()...)
		require.Equal(t, retry.ErrExhausted, recError(t, got).Reason)
		require.Equal(t, 1, calls)
	}
}

// TestRuleLearner: a level hears of its own kind's failures and of every success, once.
func TestRuleLearner(t *testing.T) {
	outer, inner := newRecLog(), newRecLog()
	level := retry.WithStrategy(&ruLevel{recLearner{recCurve{log: inner}}})
	s := newRecSteps(t, retry.WithMaxAttempts(9), retry.WithStrategy(recLearner{recCurve{log: outer}}),
		retry.WithRule(ruAuth, level), retry.WithRule(ruNotFound, level), retry.WithRule(ruInternal, recAtOnce), retry.WithRule(condition.Is(errKnown)))
	for _, err := range []error{errRuAuth, errRuNotFound, errRuInternal, errRec, errKnown} {
		s.fails(err)
	}
	s.next().reports(time.Second, throttle.Outcome{})
	require.Equal(t, map[string]int{"curve.Next": 2, "curve.Failed": 2, "curve.Succeed": 1}, inner.seen)
	require.Equal(t, map[string]int{"curve.Next": 2, "curve.Failed": 2, "curve.Succeed": 1}, outer.seen)

	shared, log := &ruLevel{recLearner{recCurve{log: newRecLog()}}}, retry.WithRule(ruAuth)
	s = newRecSteps(t, retry.WithStrategy(shared), log, retry.WithRule(ruNotFound, retry.WithStrategy(shared)))
	s.next().reports(0, throttle.Outcome{})
	require.Equal(t, map[string]int{"curve.Succeed": 1}, shared.log.seen, "one level, one success")

	odd := ruOdd{shared, []int{1}} // cannot be compared, so each is told
	s = newRecSteps(t, retry.WithStrategy(odd), retry.WithRule(ruAuth, retry.WithStrategy(odd)))
	s.next().reports(0, throttle.Outcome{})
	require.Equal(t, 3, shared.log.seen["curve.Succeed"])
}

type (
	ruLevel struct{ recLearner }
	ruOdd   struct {
		*ruLevel
		_ []int
	}
)

// TestRuleTimesAttempts: a level that only a rule has learns when attempts began.
func TestRuleTimesAttempts(t *testing.T) {
	level := &strategy.LIMD{Initial: time.Second, IncrementOnFailure: time.Second}
	var began time.Time
	_, err := retry.Do(t.Context(), failing(1), retry.WithRule(condition.Is(errFlaky), retry.WithStrategy(ruNotes{level, &began})))
	require.NoError(t, err)
	require.NotZero(t, began)
}

// ruNotes waits for nothing, and notes when the failed attempt began.
type ruNotes struct {
	*strategy.LIMD
	began *time.Time
}

func (n ruNotes) Next(s strategy.State) (time.Duration, bool) { *n.began = s.Began; return 0, true }
