package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestLoopAgain: an iteration that is not done is followed by another, after the wait of a first failure.
func TestLoopAgain(t *testing.T) {
	fail := func(try *retry.Try) { try.Fail(errRec) }
	again := func(try *retry.Try) { try.Again() }
	both := func(first, second func(*retry.Try)) func(*retry.Try) {
		return func(try *retry.Try) { first(try); second(try) }
	}
	done := func(try *retry.Try) { try.Fail(nil) }
	for _, tc := range []struct {
		name string
		body []func(*retry.Try)
		at   []int // seconds
		want error // the reason
	}{
		{"again and done", []func(*retry.Try){again, again, done}, []int{0, 1, 2}, nil},
		{"failures between", []func(*retry.Try){fail, fail, again, fail, again, done}, []int{0, 1, 3, 4, 5, 6}, nil},
		{"many times", append(many(again, 9), done), seq(0, 1, 10), nil},
		{"failures in a row", []func(*retry.Try){fail, fail, again, fail, fail, again, again, fail, fail, fail, done}, []int{0, 1, 3, 4, 5, 7, 8, 9, 10, 12}, retry.ErrExhausted},
		{"Again after Fail", append(many(both(fail, again), 4), done), seq(0, 1, 5), nil},
		{"Fail after Again", []func(*retry.Try){both(again, fail), both(again, fail), done}, []int{0, 1, 3}, nil},
		{"Fail(nil) after Again", []func(*retry.Try){both(again, func(try *retry.Try) { try.Fail(nil) })}, []int{0}, nil},
		{"the time of all", many(again, 99), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}, retry.ErrMaxElapsed},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var at []int
			loop := retry.NewLoop(t.Context(), retry.WithMaxAttempts(3), retry.WithStrategy(recCurveOf(1)), retry.WithMaxElapsed(19*time.Second),
				retry.WithRule(condition.Is(errKnown)))
			for try := range loop.Tries() {
				require.Equal(t, len(at)+1, try.Number(), tc.name)
				at = append(at, int(time.Since(began).Seconds()))
				tc.body[len(at)-1](try)
			}
			require.Equal(t, tc.at, at, tc.name)
			if tc.want == nil {
				require.NoError(t, loop.Err(), tc.name)
				return
			}
			require.Equal(t, tc.want, recError(t, loop.Err()).Reason, tc.name)
			require.Equal(t, tc.want == retry.ErrMaxElapsed, recError(t, loop.Err()).Last == nil, tc.name)
		})
	}
}

func many(f func(*retry.Try), n int) (all []func(*retry.Try)) {
	for range n {
		all = append(all, f)
	}
	return all
}

// TestLoopAgainAndBreak: who leaves is done.
func TestLoopAgainAndBreak(t *testing.T) {
	var told throttle.Class
	budget := &recBudget{log: newRecLog()}
	loop := retry.NewLoop(t.Context(), retry.WithThrottle(recTold{&told}), retry.WithBudget(budget))
	numbers := recLoop(loop, func(try *retry.Try) bool { try.Again(); return false })
	require.Equal(t, []int{1}, numbers)
	require.NoError(t, loop.Err())
	require.Equal(t, throttle.Success, told)
	require.Contains(t, budget.log.lines[1], "success")
}

// TestLoopAgainIsTold: nothing is learned, charged or written, and the throttles hear of a success.
func TestLoopAgainIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		loop := retry.NewLoop(t.Context(), k.options()...)
		for try := range loop.Tries() {
			k.add("fn", time.Now(), try.Number())
			if try.Number() == 2 {
				break
			}
			try.Again()
		}
		require.NoError(t, loop.Err())
		k.require(t, `
			obs.Start @0s job 3
			budget.Start @0s
			a.Admit @0s go
			b.Admit @0s go
			a.Attach a1
			obs.Attempt @0s 1
			fn @0s 1
			a.Done @0s a1 success 1
			b.Done @0s b1 success 1
			curve.Next 1 0s 0s
			rand
			jitter 1s 0.5
			obs.AttemptDone @0s 1 success
			obs.Pause @0s 2 1s policy
			a.Admit @1s go
			b.Admit @1s go
			a.Attach a2
			obs.Attempt @1s 2
			fn @1s 2
			a.Done @1s a2 success 2
			b.Done @1s b2 success 2
			curve.Succeed
			budget.Settle @1s success 0
			obs.AttemptDone @1s 2 success
			obs.Done @1s 2 success`)
	})
}

// TestFlowAgain is the same, in step form.
func TestFlowAgain(t *testing.T) {
	log, started := newRecLog(), 0
	s := newRecSteps(t, retry.WithStrategy(recStarter{log, &started}), retry.WithMaxAttempts(2), retry.WithMaxElapsed(30*time.Second), retry.WithThrottle(&recThrottle{log: log, name: "a"}))
	again := func() retry.Step {
		step := s.flow.Again(t.Context(), s.now)
		s.now = s.now.Add(step.Delay)
		return step
	}
	want := retry.Step{Action: retry.Wait, Delay: time.Second, Class: throttle.Success}
	require.Equal(t, want, func() retry.Step { s.next(); return again() }())
	require.Equal(t, want, again(), "unasked")
	require.Equal(t, time.Second, s.fails(errRec).Delay)
	require.Equal(t, want, func() retry.Step { s.next(); return again() }())
	require.Equal(t, time.Second, s.fails(errRec).Delay)
	end := s.fails(errRec)
	require.Equal(t, retry.ErrExhausted, end.Reason)
	require.Equal(t, 6, recError(t, end.Err).Attempts)
	require.Equal(t, time.Second, recError(t, end.Err).Elapsed)
	require.Equal(t, 5, started, "each wait of a first failure has a curve of its own")
	require.Equal(t, end, again(), "it stays over")

	s = newRecSteps(t, recEvery(time.Second), retry.WithMaxElapsed(3*time.Second))
	for range 2 {
		s.next()
		again()
	}
	s.next()
	end = again()
	require.Equal(t, retry.Done, end.Action)
	require.Equal(t, &retry.Error{Attempts: 3, Delay: time.Second, Reason: retry.ErrMaxElapsed}, recBare(t, end.Err), "the time goes on")

	var zero retry.Flow
	require.Equal(t, retry.Wait, zero.Again(t.Context(), recStart).Action)
	s = newRecSteps(t, retry.WithStrategy(strategy.Func(func(strategy.State) (time.Duration, bool) { return 0, false })))
	require.Equal(t, retry.ErrNoDelay, s.flow.Again(t.Context(), s.now).Reason)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s = newRecSteps(t)
	require.Equal(t, context.Canceled, s.flow.Again(ctx, s.now).Reason)
}

// TestFlowPoll: a million polls in one goroutine would each go like this.
func TestFlowPoll(t *testing.T) {
	s := newRecSteps(t, recEvery(10*time.Second), retry.WithRule(condition.Is(errRec), retry.WithMaxAttempts(3), retry.WithStrategy(recCurveOf(15))))
	var waits []time.Duration
	for _, err := range []error{nil, errRec, errRec, nil, errRec, errRec, errRec} {
		var step retry.Step
		if s.next(); err == nil {
			step = s.flow.Again(t.Context(), s.now)
		} else {
			step = s.flow.Report(t.Context(), s.now, throttle.Outcome{Err: err})
		}
		waits = append(waits, step.Delay)
		s.now = s.now.Add(step.Delay)
	}
	require.Equal(t, kbSeconds(10, 15, 30, 10, 15, 30, 0), waits)
}
