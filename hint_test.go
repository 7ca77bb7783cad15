package retry_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestHintRules: every rule against a planned wait of 1 s.
func TestHintRules(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	atLeast, exact, clamp, ignore := throttle.AtLeast(), throttle.Exact(), throttle.Clamp(s/2), throttle.Ignore()
	server, policy := retry.SourceServer, retry.SourcePolicy
	for _, tc := range []struct {
		rule   throttle.Rule
		told   time.Duration
		r      float64
		want   time.Duration
		source retry.Source
	}{
		{atLeast, 0, 0.5, s, policy},
		{atLeast, 500 * ms, 0.5, s, policy},
		{atLeast, s, 0, s, policy},
		{atLeast, s, 0.5, 1050 * ms, server},
		{atLeast, 950 * ms, 0.9, 1035500 * time.Microsecond, server},
		{atLeast, 2 * s, 0, 2 * s, server},
		{atLeast, 2 * s, 0.5, 2100 * ms, server},
		{atLeast, 20 * s, 0.5, 20500 * ms, server},
		{atLeast, 20 * s, recMost, 21*s - 1, server},
		{atLeast, recForever, recMost, recForever, server},
		{exact, 0, 0.5, 0, server},
		{exact, 500 * ms, 0.5, 500 * ms, server},
		{exact, 2 * s, 0.5, 2 * s, server},
		{exact, recForever, 0.5, recForever, server},
		{clamp, 0, 0.5, s, policy},
		{clamp, 500 * ms, 0.5, s, policy},
		{clamp, 1200 * ms, 0.5, 1200 * ms, server},
		{clamp, 1500 * ms, 0.5, 1500 * ms, server},
		{clamp, 9 * s, 0.5, 1500 * ms, server},
		{clamp, recForever, 0.5, 1500 * ms, server},
		{ignore, 0, 0.5, s, policy},
		{ignore, recForever, 0.5, s, policy},
	} {
		opts := []retry.Option{recEvery(s), retry.WithMaxHint(recForever), retry.WithRand(recDraws(tc.r)), retry.WithMaxDelay(s)}
		want := retry.Step{Action: retry.Wait, Delay: tc.want, Source: tc.source, Class: throttle.Throttled}
		signal := throttle.Signal{Delay: tc.told, HasDelay: true, Rule: tc.rule}
		check := func(step retry.Step) {
			t.Helper()
			step.Err = nil
			require.Equal(t, want, step, "%v of %v", tc.rule, tc.told)
		}
		check(newRecSteps(t, opts...).fails(recCarrier{signal}))
		check(newRecSteps(t, opts...).next().reports(0, throttle.Outcome{Err: errRec, Signal: signal}))
		check(newRecSteps(t, append(opts, retry.WithHint(tc.rule))...).fails(retry.After(tc.told, errRec)))
		signal.Rule = throttle.Ignore() // WithHint wins over the signal's own rule
		check(newRecSteps(t, append(opts, retry.WithHint(throttle.Clamp(1)), retry.WithHint(tc.rule))...).fails(recCarrier{signal}))
	}
}

// TestHintSignals: what counts as a told wait. The planned one is an hour, so that Exact tells them apart.
func TestHintSignals(t *testing.T) {
	ms := int64(1500)
	negative := int64(-1)
	for _, tc := range []struct {
		name string
		err  error
		told bool
		want time.Duration
	}{
		{"After", retry.After(time.Second, errRec), true, time.Second},
		{"After 0", retry.After(0, errRec), true, 0},
		{"After -1", retry.After(-1, errRec), false, 0},
		{"After -1 over After", retry.After(-1, retry.After(time.Second, errRec)), true, time.Second},
		{"After over After", retry.After(time.Second, retry.After(2*time.Second, errRec)), true, time.Second},
		{"below", fmt.Errorf("x: %w", retry.After(time.Second, errRec)), true, time.Second},
		{"RetryAfter", recRetryAfter(time.Second), true, time.Second},
		{"GetRetryAfter", recGetRetryAfter{&ms}, true, 1500 * time.Millisecond},
		{"GetRetryAfter nil", recGetRetryAfter{}, false, 0},
		{"GetRetryAfter -1", recGetRetryAfter{&negative}, false, 0},
		{"typed nil", fmt.Errorf("x: %w", (*recNilHint)(nil)), false, 0},
		{"carrier without a wait", recCarrier{throttle.Signal{Delay: time.Second, Source: "x"}}, false, 0},
		{"inside an inner call's error", &retry.Error{Last: retry.After(time.Second, errRec), Reason: retry.ErrExhausted}, false, 0},
		{"around an inner call's error", retry.After(time.Second, &retry.Error{Last: retry.After(time.Minute, errRec)}), true, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			step := newRecSteps(t, recEvery(time.Hour), retry.WithHint(throttle.Exact())).fails(tc.err)
			want := retry.Step{Action: retry.Wait, Delay: time.Hour, Class: throttle.Transient, Err: step.Err}
			if tc.told {
				want.Delay, want.Source, want.Class = tc.want, retry.SourceServer, throttle.Throttled
			}
			require.Equal(t, want, step)
		})
	}
}

type (
	recRetryAfter    time.Duration
	recGetRetryAfter struct{ ms *int64 }
	recNilHint       struct{ d time.Duration }
)

func (recRetryAfter) Error() string               { return "told" }
func (e recRetryAfter) RetryAfter() time.Duration { return time.Duration(e) }
func (recGetRetryAfter) Error() string            { return "told" }
func (e recGetRetryAfter) GetRetryAfter() *int64  { return e.ms }
func (*recNilHint) Error() string                 { return "nil" }
func (e *recNilHint) RetryAfter() time.Duration   { return e.d }
func (e *recNilHint) ThrottleSignal() (_ throttle.Signal, _ bool) {
	return throttle.Signal{Delay: e.d}, true
}

// TestHintNegativeDelay: a Signal with a wait below 0 says "at once", as its documentation has it.
func TestHintNegativeDelay(t *testing.T) {
	for _, d := range []time.Duration{-1, math.MinInt64} {
		signal := throttle.Signal{Delay: d, HasDelay: true, Rule: throttle.Exact()}
		step := newRecSteps(t, recEvery(time.Hour)).next().reports(0, throttle.Outcome{Err: errRec, Signal: signal})
		require.Equal(t, retry.Step{Action: retry.Wait, Source: retry.SourceServer, Class: throttle.Throttled, Err: errRec}, step)
	}
}

// TestHintOfTheOutcome wins over the one that the error carries.
func TestHintOfTheOutcome(t *testing.T) {
	o := throttle.Outcome{Err: retry.After(time.Hour, errRec), Signal: throttle.Signal{Delay: 5, HasDelay: true, Rule: throttle.Exact()}}
	require.Equal(t, time.Duration(5), newRecSteps(t).next().reports(0, o).Delay)
	o.Signal = throttle.Signal{Quotas: []throttle.Quota{{Name: "x"}}} // it said something, but no wait
	require.Equal(t, time.Duration(7), newRecSteps(t, recEvery(7)).next().reports(0, o).Delay)
	o.Signal = throttle.Signal{}
	require.Equal(t, retry.ErrHintTooLong, newRecSteps(t, recEvery(7)).next().reports(0, o).Reason)
}

// TestHintTooLong: the demand is compared with MaxHint, equality passes.
func TestHintTooLong(t *testing.T) {
	const s = time.Second
	for _, tc := range []struct {
		name    string
		limit   time.Duration
		rule    throttle.Rule
		told    time.Duration
		tooLong bool
	}{
		{"equal", 2 * s, throttle.Exact(), 2 * s, false},
		{"above", 2 * s, throttle.Exact(), 2*s + 1, true},
		{"at least, equal", 2 * s, throttle.AtLeast(), 2 * s, false},
		{"at least, above", 2 * s, throttle.AtLeast(), 2*s + 1, true},
		{"at least, above but below the plan", 2 * s, throttle.AtLeast(), 3 * s, true},
		{"0, at once", 0, throttle.Exact(), 0, false},
		{"0", 0, throttle.Exact(), 1, true},
		{"largest", recForever, throttle.Exact(), recForever, false},
		{"clamp demands nothing", 2 * s, throttle.Clamp(s), time.Hour, false},
		{"ignore demands nothing", 0, throttle.Ignore(), time.Hour, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log := newRecLog()
			budget := &recBudget{log: log}
			step := newRecSteps(t, recEvery(10*s), retry.WithMaxHint(tc.limit), retry.WithHint(tc.rule), retry.WithBudget(budget),
				retry.WithThrottle(&recThrottle{log: log, name: "a"})).fails(retry.After(tc.told, errRec))
			if !tc.tooLong {
				require.Equal(t, retry.Wait, step.Action)
				return
			}
			require.Equal(t, retry.Done, step.Action)
			require.Equal(t, retry.ErrHintTooLong, step.Reason)
			require.Equal(t, retry.SourceServer, step.Source)
			require.Equal(t, tc.told, step.Delay)
			require.Equal(t, &retry.Error{Attempts: 1, Delay: tc.told, Reason: retry.ErrHintTooLong, Last: errRec}, recBare(t, step.Err))
			require.Equal(t, map[string]int{"budget.Start": 1, "a.Admit": 1, "a.Done": 1, "budget.Charge": 1, "budget.Settle": 1}, log.seen)
			require.Contains(t, log.lines[len(log.lines)-2], "last")
		})
	}
	// Later wins.
	require.Equal(t, retry.Wait, newRecSteps(t, retry.WithMaxHint(0), retry.WithMaxHint(time.Hour)).fails(retry.After(time.Hour, errRec)).Action)
}

// TestHintAgainstLimits: a told wait is a wait like any other (P19).
func TestHintAgainstLimits(t *testing.T) {
	exact := retry.WithHint(throttle.Exact())
	for _, tc := range []struct {
		name     string
		opts     []retry.Option
		deadline time.Duration
		want     error
	}{
		{"elapsed", []retry.Option{retry.WithMaxElapsed(10)}, 0, retry.ErrMaxElapsed},
		{"retry elapsed", []retry.Option{retry.WithMaxRetryElapsed(10)}, 0, retry.ErrMaxElapsed},
		{"deadline", nil, 10, retry.ErrDeadline},
		{"attempts", []retry.Option{retry.WithMaxAttempts(1)}, 0, retry.ErrExhausted},
		{"max delay is not for told waits", []retry.Option{retry.WithMaxDelay(1)}, 0, nil},
		{"room", []retry.Option{retry.WithMaxElapsed(11), retry.WithMaxRetryElapsed(11)}, 11, nil},
	} {
		deadline := time.Time{}
		if tc.deadline > 0 {
			deadline = recStart.Add(tc.deadline)
		}
		flow := retry.MustNew(append(tc.opts, recEvery(1), exact)...).Begin(recStart, deadline, nil)
		step := flow.Report(t.Context(), recStart, throttle.Outcome{Err: retry.After(10, errRec)})
		require.Equal(t, tc.want, step.Reason, tc.name)
		if tc.want != retry.ErrExhausted {
			require.Equal(t, time.Duration(10), step.Delay, tc.name)
			require.Equal(t, retry.SourceServer, step.Source, tc.name)
		}
		if tc.want != nil {
			require.ErrorIs(t, step.Err, errRec, tc.name) // P21
		}
	}
	step := newRecSteps(t, retry.WithStrategy(strategy.Sequence{Delays: []time.Duration{1}})).next().reports(0, throttle.Outcome{Err: errRec})
	require.Equal(t, retry.Wait, step.Action)
	ended := newRecSteps(t, retry.WithStrategy(recEnded{newRecLog()})).fails(retry.After(1, errRec))
	require.Equal(t, retry.ErrNoDelay, ended.Reason, "a told wait does not go on where the strategy ended")
	require.Zero(t, ended.Delay)
}

// TestHintRestartsCurve: Number, Prev and private memory begin again, attempts and time do not.
func TestHintRestartsCurve(t *testing.T) {
	log := newRecLog()
	log.began = recStart
	s := newRecSteps(t, retry.WithStrategy(recCurve{log: log}), retry.WithMaxAttempts(6))
	restart := recCarrier{throttle.Signal{Delay: 10 * time.Second, HasDelay: true, Rule: throttle.Exact(), RestartCurve: true}}
	for _, err := range []error{errRec, errRec, restart, errRec, errRec, errRec} {
		s.fails(err)
	}
	log.require(t, `
		curve.Next 1 0s 0s
		curve.Next 2 1s 1s
		curve.Next 3 2s 3s
		curve.Next 1 0s 13s
		curve.Next 2 1s 14s`)

	started := 0
	log = newRecLog()
	s = newRecSteps(t, retry.WithStrategy(recStarter{log, &started}), retry.WithMaxAttempts(5))
	for _, err := range []error{errRec, restart, errRec, errRec} {
		s.fails(err)
	}
	log.require(t, `
		starter.Start
		started1.Next 1 0s
		started1.Next 2 1s
		starter.Start
		started2.Next 1 0s
		started2.Next 2 1s`)
}

// TestHintRestartWithoutDelay: a signal may start the curve again without a wait of its own.
func TestHintRestartWithoutDelay(t *testing.T) {
	log := newRecLog()
	s := newRecSteps(t, retry.WithStrategy(recCurve{log: log}))
	s.fails(errRec)
	step := s.fails(recCarrier{throttle.Signal{RestartCurve: true}})
	require.Equal(t, 2*time.Second, step.Delay, "after this wait")
	require.Equal(t, time.Second, s.fails(errRec).Delay)
}

// TestStarterIsStartedWhenNeeded: not by a success, nor by a failure without a wait.
func TestStarterIsStartedWhenNeeded(t *testing.T) {
	for _, errs := range [][]error{nil, {retry.Permanent(errRec)}, {context.Canceled}} {
		log, started := newRecLog(), 0
		_, _ = retry.Do(t.Context(), log.script(errs...), retry.WithStrategy(recStarter{log, &started}))
		require.Zero(t, started)
	}
	log, started := newRecLog(), 0
	_, _ = retry.Do(t.Context(), log.script(errRec), retry.WithStrategy(recStarter{log, &started}), retry.WithMaxAttempts(1))
	require.Zero(t, started)

	policy := retry.MustNew(retry.WithStrategy(recStarter{log, &started}))
	for call := 1; call <= 2; call++ {
		flow := policy.Begin(recStart, time.Time{}, nil)
		for n := 1; n <= 3; n++ {
			require.Equal(t, time.Duration(n)*time.Second, flow.Report(t.Context(), recStart, throttle.Outcome{Err: errRec}).Delay)
			require.Equal(t, call, started, "once per call")
		}
	}
	require.Zero(t, log.seen["starter.Next"])
}
