package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

const recForever = time.Duration(math.MaxInt64)

var (
	recExact  = throttle.Exact()
	recAtOnce = retry.WithStrategy(strategy.Constant{})
)

func recEvery(d time.Duration) retry.Option { return retry.WithStrategy(strategy.Constant{Delay: d}) }

// recElapsed makes a call that always fails at once, and returns its attempts, the time it took and its reason.
func recElapsed(t *testing.T, opts ...retry.Option) (calls int, took time.Duration, reason error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := retry.Run(t.Context(), func(context.Context) error { calls++; return errRec }, opts...)
		took, reason = time.Since(began), recError(t, err).Reason
	})
	return calls, took, reason
}

func TestOptionMaxAttempts(t *testing.T) {
	for _, tc := range []struct {
		name string
		opts []retry.Option
		want int
	}{
		{"default", nil, 5},
		{"1", []retry.Option{retry.WithMaxAttempts(1)}, 1},
		{"2", []retry.Option{retry.WithMaxAttempts(2)}, 2},
		{"3", []retry.Option{retry.WithMaxAttempts(3)}, 3},
		{"later wins", []retry.Option{retry.WithMaxAttempts(3), retry.WithMaxAttempts(2)}, 2},
		{"after unlimited", []retry.Option{retry.WithUnlimitedAttempts(), retry.WithMaxAttempts(2)}, 2},
		{"override of a policy", []retry.Option{retry.MustNew(retry.WithMaxAttempts(7)), retry.WithMaxAttempts(4)}, 4},
		{"kept by a policy", []retry.Option{retry.MustNew(retry.WithMaxAttempts(7)), retry.WithName("x")}, 7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			calls, took, reason := recElapsed(t, append(tc.opts, recEvery(time.Second))...)
			require.Equal(t, tc.want, calls)
			require.Equal(t, time.Duration(tc.want-1)*time.Second, took, "one wait less than attempts")
			require.Equal(t, retry.ErrExhausted, reason)
		})
	}
}

func TestOptionUnlimitedAttempts(t *testing.T) {
	for name, opt := range map[string][]retry.Option{
		"unlimited":     {retry.WithUnlimitedAttempts()},
		"after a limit": {retry.WithMaxAttempts(2), retry.WithUnlimitedAttempts()},
		"largest limit": {retry.WithMaxAttempts(math.MaxInt)},
	} {
		calls := 0
		_, err := retry.Do(t.Context(), func(context.Context) (int, error) {
			if calls++; calls < 10_000 {
				return 0, errRec
			}
			return 1, nil
		}, append(opt, recAtOnce)...)
		require.NoError(t, err, name)
		require.Equal(t, 10_000, calls, name)
	}
	// Every other stop still holds.
	for reason, opt := range map[error]retry.Option{
		retry.ErrMaxElapsed: retry.WithMaxElapsed(10 * time.Second),
		retry.ErrNoDelay:    retry.WithStrategy(strategy.Sequence{Delays: []time.Duration{time.Second}}),
		retry.ErrBudget:     retry.WithBudget(recRefusing{}),
	} {
		_, _, got := recElapsed(t, retry.WithUnlimitedAttempts(), recEvery(time.Second), opt)
		require.Equal(t, reason, got)
	}
}

type recRefusing struct{}

func (recRefusing) Start(time.Time)                                         {}
func (recRefusing) Charge(time.Time, throttle.Class, int, bool) (int, bool) { return 0, false }
func (recRefusing) Settle(time.Time, bool, int)                             {}

// TestOptionTimeLimits: limits are predicted, and stop on equality.
func TestOptionTimeLimits(t *testing.T) {
	const s = time.Second
	for _, tc := range []struct {
		name  string
		opts  []retry.Option
		calls int
		took  time.Duration
		want  error
	}{
		{"elapsed 0 is none", []retry.Option{retry.WithMaxElapsed(0)}, 5, 4 * s, retry.ErrExhausted},
		{"elapsed largest", []retry.Option{retry.WithMaxElapsed(recForever), retry.WithMaxAttempts(5)}, 5, 4 * s, retry.ErrExhausted},
		{"elapsed equal", []retry.Option{retry.WithMaxElapsed(2 * s)}, 2, s, retry.ErrMaxElapsed},
		{"elapsed above", []retry.Option{retry.WithMaxElapsed(2*s + 1)}, 3, 2 * s, retry.ErrMaxElapsed},
		{"elapsed below the first wait", []retry.Option{retry.WithMaxElapsed(1)}, 1, 0, retry.ErrMaxElapsed},
		{"elapsed later wins", []retry.Option{retry.WithMaxElapsed(2 * s), retry.WithMaxElapsed(3 * s)}, 3, 2 * s, retry.ErrMaxElapsed},
		{"elapsed taken away", []retry.Option{retry.WithMaxElapsed(2 * s), retry.WithMaxElapsed(0)}, 5, 4 * s, retry.ErrExhausted},
		{"retry elapsed 0 is none", []retry.Option{retry.WithMaxRetryElapsed(0)}, 5, 4 * s, retry.ErrExhausted},
		{"retry elapsed largest", []retry.Option{retry.WithMaxRetryElapsed(recForever), retry.WithMaxAttempts(5)}, 5, 4 * s, retry.ErrExhausted},
		{"retry elapsed equal", []retry.Option{retry.WithMaxRetryElapsed(2 * s)}, 2, s, retry.ErrMaxElapsed},
		{"retry elapsed above", []retry.Option{retry.WithMaxRetryElapsed(2*s + 1)}, 3, 2 * s, retry.ErrMaxElapsed},
		{"retry elapsed below the first wait", []retry.Option{retry.WithMaxRetryElapsed(1)}, 1, 0, retry.ErrMaxElapsed},
		{"retry elapsed later wins", []retry.Option{retry.WithMaxRetryElapsed(2 * s), retry.WithMaxRetryElapsed(0)}, 5, 4 * s, retry.ErrExhausted},
		{"elapsed in place of the default of 5", []retry.Option{retry.WithMaxElapsed(2 * time.Minute)}, 120, 119 * s, retry.ErrMaxElapsed},
		{"retry elapsed in place of the default of 5", []retry.Option{retry.WithMaxRetryElapsed(2 * time.Minute)}, 120, 119 * s, retry.ErrMaxElapsed},
		{"elapsed beside stated attempts", []retry.Option{retry.WithMaxElapsed(2 * time.Minute), retry.WithMaxAttempts(5)}, 5, 4 * s, retry.ErrExhausted},
		{"elapsed of a Config", []retry.Option{retry.Config{MaxElapsed: 2 * time.Minute}}, 120, 119 * s, retry.ErrMaxElapsed},
		{"elapsed of a Config beside its attempts", []retry.Option{retry.Config{MaxElapsed: 2 * time.Minute, MaxAttempts: 3}}, 3, 2 * s, retry.ErrExhausted},
		{"elapsed of a policy beside attempts of the call", []retry.Option{retry.MustNew(retry.WithMaxElapsed(2 * time.Minute)), retry.WithMaxAttempts(3)}, 3, 2 * s, retry.ErrExhausted},
		{"both, the first", []retry.Option{retry.WithMaxElapsed(2 * s), retry.WithMaxRetryElapsed(3 * s)}, 2, s, retry.ErrMaxElapsed},
		{"both, the second", []retry.Option{retry.WithMaxElapsed(3 * s), retry.WithMaxRetryElapsed(2 * s)}, 2, s, retry.ErrMaxElapsed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			calls, took, reason := recElapsed(t, append(tc.opts, recEvery(time.Second))...)
			require.Equal(t, tc.want, reason)
			require.Equal(t, tc.calls, calls)
			require.Equal(t, tc.took, took)
		})
	}
}

// TestOptionElapsedAndLongAttempts: the one limit counts the first attempt, the other does not; neither interrupts it.
func TestOptionElapsedAndLongAttempts(t *testing.T) {
	long := func(opts ...retry.Option) (calls int, took time.Duration, err error) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			err = retry.Run(t.Context(), func(ctx context.Context) error {
				calls++
				_, limited := ctx.Deadline()
				require.False(t, limited)
				time.Sleep(2 * time.Second)
				return errRec
			}, append(opts, recEvery(100*time.Millisecond))...)
			took = time.Since(began)
		})
		return calls, took, err
	}
	calls, took, err := long(retry.WithMaxElapsed(time.Second))
	require.ErrorIs(t, err, retry.ErrMaxElapsed)
	require.Equal(t, 1, calls)
	require.Equal(t, 2*time.Second, took)

	calls, took, err = long(retry.WithMaxRetryElapsed(time.Second))
	require.ErrorIs(t, err, retry.ErrMaxElapsed)
	require.Equal(t, 2, calls)
	require.Equal(t, 4100*time.Millisecond, took)
}

func TestOptionMaxDelay(t *testing.T) {
	for _, tc := range []struct {
		name string
		opts []retry.Option
		want []time.Duration
	}{
		{"caps", []retry.Option{retry.WithStrategy(strategy.Exponential{Base: 1, Factor: 3}), retry.WithMaxDelay(5)}, []time.Duration{1, 3, 5, 5}},
		{"0 is none", []retry.Option{recEvery(7), retry.WithMaxDelay(0)}, []time.Duration{7, 7, 7, 7}},
		{"later wins", []retry.Option{recEvery(7), retry.WithMaxDelay(3), retry.WithMaxDelay(5)}, []time.Duration{5, 5, 5, 5}},
		{"taken away", []retry.Option{recEvery(7), retry.WithMaxDelay(3), retry.WithMaxDelay(0)}, []time.Duration{7, 7, 7, 7}},
		{"largest", []retry.Option{recEvery(recForever), retry.WithMaxDelay(recForever), retry.WithMaxAttempts(2)}, []time.Duration{recForever}},
		{"jitter too", []retry.Option{recEvery(7), retry.WithMaxDelay(5), retry.WithJitter(strategy.Proportional(1)), retry.WithRand(recDraws(recMost))}, []time.Duration{5, 5, 5, 5}},
		{"jitter after the cap", []retry.Option{recEvery(70), retry.WithMaxDelay(50), retry.WithJitter(strategy.Equal), retry.WithRand(recDraws(0))}, []time.Duration{25, 25, 25, 25}},
		{"before the draw", []retry.Option{retry.WithStrategy(strategy.FullJitter{Base: 1000}), retry.WithMaxDelay(100), retry.WithRand(recDraws(0.5))}, []time.Duration{50, 50, 50, 50}},
		{"a strategy that ignores Limit", []retry.Option{retry.WithStrategy(recRude{9}), retry.WithMaxDelay(5)}, []time.Duration{5, 5, 5, 5}},
		{"a negative delay", []retry.Option{retry.WithStrategy(recRude{-9})}, []time.Duration{0, 0, 0, 0}},
		{"a jitter that ignores limit", []retry.Option{recEvery(7), retry.WithMaxDelay(5), retry.WithJitter(func(time.Duration, time.Duration, float64) time.Duration { return 99 })}, []time.Duration{5, 5, 5, 5}},
		{"a negative jitter", []retry.Option{recEvery(7), retry.WithJitter(func(time.Duration, time.Duration, float64) time.Duration { return -99 })}, []time.Duration{0, 0, 0, 0}},
	} {
		waits, _ := recWaits(t, tc.opts...)
		require.Equal(t, tc.want, waits, tc.name)
	}
}

// recRude does not look at the State.
type recRude struct{ d time.Duration }

func (r recRude) Next(strategy.State) (time.Duration, bool) { return r.d, true }

func TestOptionStrategyLaterWins(t *testing.T) {
	waits, _ := recWaits(t, recEvery(7), recEvery(3))
	require.Equal(t, []time.Duration{3, 3, 3, 3}, waits)
}

func TestOptionJitterLaterWins(t *testing.T) {
	waits, _ := recWaits(t, recEvery(100), retry.WithJitter(strategy.Full), retry.WithJitter(strategy.Equal), retry.WithRand(recDraws(0)))
	require.Equal(t, []time.Duration{50, 50, 50, 50}, waits)
}

// TestOptionJitterArguments: the capped delay, the limit and one draw.
func TestOptionJitterArguments(t *testing.T) {
	for _, tc := range []struct{ limit, want time.Duration }{{0, recForever}, {5, 5}} {
		var got []string
		j := func(d, limit time.Duration, r float64) time.Duration {
			got = append(got, fmt.Sprint(d, limit == tc.want, r))
			return d
		}
		waits, _ := recWaits(t, recEvery(7), retry.WithMaxDelay(tc.limit), retry.WithJitter(j), retry.WithRand(recDraws(0.25)), retry.WithMaxAttempts(2))
		d := min(7, tc.want)
		require.Equal(t, []time.Duration{d}, waits)
		require.Equal(t, []string{fmt.Sprint(d, true, 0.25)}, got)
	}
}

// TestOptionJitterKeepsTheStrategysMax: a jitter that goes up stays within the strategy's own cap too (P04).
func TestOptionJitterKeepsTheStrategysMax(t *testing.T) {
	up := []retry.Option{retry.WithJitter(strategy.Proportional(0.5)), retry.WithRand(recDraws(recMost))}
	capped := strategy.Exponential{Base: 100, Max: 200}
	for _, tc := range []struct {
		opts []retry.Option
		want []time.Duration
	}{
		{[]retry.Option{retry.WithStrategy(capped)}, []time.Duration{150, 200, 200, 200}},
		{[]retry.Option{retry.WithStrategy(capped), retry.WithMaxDelay(120)}, []time.Duration{120, 120, 120, 120}},
		{[]retry.Option{retry.WithStrategy(strategy.ByThrottled{Normal: capped, Throttled: strategy.Constant{}})}, []time.Duration{150, 200, 200, 200}},
		{[]retry.Option{recEvery(100)}, []time.Duration{150, 150, 150, 150}},
	} {
		waits, _ := recWaits(t, append(tc.opts, up...)...)
		require.Equal(t, tc.want, waits)
	}
	waits, _ := recWaits(t, append(up, retry.WithMaxAttempts(10))...)
	require.Equal(t, []time.Duration{20 * time.Second, 20 * time.Second}, waits[7:], "the default's Max")
}

func TestOptionRetryIf(t *testing.T) {
	other := errors.New("other")
	calls := 0
	is := func(target error) func(error) bool {
		return func(err error) bool { calls++; return errors.Is(err, target) }
	}
	never := retry.WithCondition(condition.Func(func(error) condition.Verdict { t.Error("conditions are not asked"); return condition.Stop }))

	step := newRecSteps(t, retry.WithRetryIf(is(errRec)), never).fails(errRec)
	require.Equal(t, retry.Wait, step.Action)
	step = newRecSteps(t, retry.WithRetryIf(is(other)), never).fails(errRec)
	require.Equal(t, errRec, step.Err)
	require.Equal(t, 2, calls)
	step = newRecSteps(t, retry.WithRetryIf(is(other)), retry.WithRetryIf(is(errRec))).fails(errRec)
	require.Equal(t, retry.Wait, step.Action, "later wins")
	require.Equal(t, 3, calls)
}

// TestOptionConditionAdds: the first that decides wins, over both spellings.
func TestOptionConditionAdds(t *testing.T) {
	var asked []string
	says := func(name string, v condition.Verdict) condition.Condition {
		return condition.Func(func(error) condition.Verdict { asked = append(asked, name); return v })
	}
	step := newRecSteps(t, retry.WithCondition(says("a", condition.Unknown), says("b", condition.Verdict(77))), retry.WithCondition(),
		retry.WithCondition(says("c", condition.Stop), says("d", condition.Retry))).fails(errRec)
	require.Equal(t, []string{"a", "b", "c"}, asked)
	require.Equal(t, retry.ErrNotRetryable, step.Reason)
	require.Equal(t, errRec, step.Err)
}

func TestOptionInitialDelay(t *testing.T) {
	half := retry.WithRand(recDraws(0.5))
	for _, tc := range []struct {
		name string
		opts []retry.Option
		want time.Duration
	}{
		{"plain", []retry.Option{retry.WithInitialDelay(8, nil)}, 8},
		{"no jitter from WithJitter", []retry.Option{retry.WithInitialDelay(8, nil), retry.WithJitter(strategy.Full), half}, 8},
		{"jitter", []retry.Option{retry.WithInitialDelay(80, strategy.Equal), half}, 60},
		{"nil jitter of its type", []retry.Option{retry.WithInitialDelay(8, strategy.Jitter(nil)), half}, 8},
		{"capped", []retry.Option{retry.WithInitialDelay(80, nil), retry.WithMaxDelay(5)}, 5},
		{"capped before the draw", []retry.Option{retry.WithInitialDelay(80, strategy.Equal), retry.WithMaxDelay(40), half}, 30},
		{"later wins with its jitter", []retry.Option{retry.WithInitialDelay(80, strategy.Equal), retry.WithInitialDelay(8, nil), half}, 8},
		{"largest", []retry.Option{retry.WithInitialDelay(recForever, nil)}, recForever},
	} {
		s := newRecSteps(t, tc.opts...)
		require.Equal(t, retry.Step{Action: retry.Wait, Delay: tc.want}, s.flow.Next(t.Context(), s.now), tc.name)
		s.next()
		require.Equal(t, retry.Wait, s.reports(0, throttle.Outcome{Err: errRec}).Action)
		s.next() // once per call
	}
	newRecSteps(t, retry.WithInitialDelay(0, strategy.Full)).next()
	newRecSteps(t, retry.WithInitialDelay(5, nil), retry.WithInitialDelay(0, nil)).next()
}

// TestOptionInitialDelayAgainstLimits: it counts, and ends the call before the first attempt.
func TestOptionInitialDelayAgainstLimits(t *testing.T) {
	s := newRecSteps(t, retry.WithName("x"), retry.WithInitialDelay(5, nil), retry.WithMaxElapsed(5))
	step := s.flow.Next(t.Context(), s.now)
	require.Equal(t, retry.Done, step.Action)
	require.Equal(t, retry.ErrMaxElapsed, step.Reason)
	require.Equal(t, &retry.Error{Name: "x", Delay: 5, Reason: retry.ErrMaxElapsed}, recBare(t, step.Err))

	policy := retry.MustNew(retry.WithInitialDelay(5, nil))
	flow := policy.Begin(recStart, recStart.Add(5), nil)
	require.Equal(t, retry.ErrDeadline, flow.Next(t.Context(), recStart).Reason)

	s = newRecSteps(t, retry.WithInitialDelay(5, nil), retry.WithMaxRetryElapsed(5), recAtOnce)
	require.Equal(t, retry.Wait, s.flow.Next(t.Context(), s.now).Action, "there is no failure to count from")

	s = newRecSteps(t, retry.WithInitialDelay(5, nil), retry.WithMaxElapsed(10), recEvery(5))
	s.flow.Next(t.Context(), s.now)
	s.now = s.now.Add(5)
	require.Equal(t, retry.ErrMaxElapsed, s.fails(errRec).Reason, "it counts in the elapsed time")
}
