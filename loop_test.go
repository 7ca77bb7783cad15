package retry_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// recLoop goes through a loop; body says whether to go on.
func recLoop(l *retry.Loop, body func(*retry.Try) bool) (numbers []int) {
	for try := range l.Tries() {
		numbers = append(numbers, try.Number())
		if !body(try) {
			break
		}
	}
	return numbers
}

func TestLoopEnds(t *testing.T) {
	errOther := errors.New("other")
	for _, tc := range []struct {
		name  string
		body  func(*retry.Try) bool
		tries int
		want  error // nil: none; ErrExhausted: an *Error with that reason
	}{
		{"success", func(try *retry.Try) bool { try.Fail(nil); return true }, 1, nil},
		{"always fails", func(try *retry.Try) bool { try.Fail(errRec); return true }, 3, retry.ErrExhausted},
		{"fails twice", func(try *retry.Try) bool {
			if try.Number() == 3 {
				return false
			}
			try.Fail(errRec)
			return true
		}, 3, nil},
		{"Fail(nil)", func(try *retry.Try) bool { try.Fail(nil); return true }, 1, nil},
		{"the last Fail counts: nil", func(try *retry.Try) bool { try.Fail(errRec); try.Fail(nil); return true }, 1, nil},
		{"the last Fail counts: error", func(try *retry.Try) bool { try.Fail(nil); try.Fail(errOther); try.Fail(errRec); return true }, 3, retry.ErrExhausted},
		{"break", func(*retry.Try) bool { return false }, 1, nil},
		{"Fail and break", func(try *retry.Try) bool { try.Fail(errRec); return false }, 1, errRec},
		{"Fail, then Fail and break", func(try *retry.Try) bool { try.Fail(errRec); return try.Number() < 2 }, 2, errRec},
		{"Fail(nil) and break", func(try *retry.Try) bool { try.Fail(errRec); try.Fail(nil); return false }, 1, nil},
		{"Fail, then break", func(try *retry.Try) bool {
			if try.Number() == 1 {
				try.Fail(errRec)
				return true
			}
			return false
		}, 2, nil},
		{"permanent", func(try *retry.Try) bool { try.Fail(retry.Permanent(errRec)); return true }, 1, errRec},
		{"permanent and break", func(try *retry.Try) bool { try.Fail(retry.Permanent(errRec)); return false }, 1, errRec},
		{"told and break", func(try *retry.Try) bool { try.Fail(retry.After(time.Hour, errRec)); return false }, 1, errRec},
	} {
		t.Run(tc.name, func(t *testing.T) {
			loop := retry.NewLoop(t.Context(), retry.WithMaxAttempts(3), recAtOnce)
			require.NoError(t, loop.Err(), "nil until the loop has ended")
			numbers := recLoop(loop, func(try *retry.Try) bool {
				require.NoError(t, loop.Err())
				require.NoError(t, try.Context().Err())
				return tc.body(try)
			})
			require.Equal(t, []int{1, 2, 3}[:tc.tries], numbers)
			if tc.want == retry.ErrExhausted {
				require.Equal(t, tc.want, recError(t, loop.Err()).Reason)
				require.Equal(t, errRec, recError(t, loop.Err()).Last)
				require.Equal(t, 3, recError(t, loop.Err()).Attempts)
			} else {
				require.Equal(t, tc.want, loop.Err())
			}
			want := loop.Err()
			require.Empty(t, recLoop(loop, tc.body), "a second use yields nothing")
			require.Equal(t, want, loop.Err())
		})
	}
}

// TestLoopBreakOfASuccess is told as the success that it is.
func TestLoopBreakOfASuccess(t *testing.T) {
	var told throttle.Class
	loop := retry.NewLoop(t.Context(), retry.WithThrottle(recTold{&told}))
	recLoop(loop, func(*retry.Try) bool { return false })
	require.NoError(t, loop.Err())
	require.Equal(t, throttle.Success, told)
}

// TestLoopUnsaid: an iteration that is left by continue, or at the bottom of its body, and has not said how it went is no
// success, is not repeated, and is nobody's failure but the body's.
func TestLoopUnsaid(t *testing.T) {
	const text = "retry: an iteration of the loop ended without Fail, Again or break, so it has neither failed nor succeeded"
	for _, failures := range []int{0, 1} {
		log, n := newRecLog(), 0
		var told []throttle.Class
		budget := &recBudget{log: log}
		o := &recObserver{log: log, name: "o"}
		loop := retry.NewLoop(t.Context(), recAtOnce, retry.WithThrottle(recToldAll{&told}), retry.WithBudget(budget), retry.WithObserver(o))
		for try := range loop.Tries() {
			if n++; n <= failures {
				try.Fail(errRec)
			}
			continue
		}
		require.EqualError(t, loop.Err(), text)
		require.Equal(t, failures+1, n)
		require.Equal(t, throttle.Canceled, told[failures], "it says nothing about the dependency")
		require.Equal(t, []int{failures, 1}, []int{budget.charged, budget.settled})
		require.Equal(t, 1, log.seen["budget.Settle"])
		require.Equal(t, retry.EndAborted, o.ends[0].Ending)
	}
	loop := retry.NewLoop(t.Context())
	next, stop := iter.Pull(loop.Tries())
	defer stop()
	_, ok := next()
	require.True(t, ok)
	_, ok = next()
	require.False(t, ok)
	require.EqualError(t, loop.Err(), text)
}

// recToldAll lets everything pass, and notes what became of it.
type recToldAll struct{ classes *[]throttle.Class }

func (recToldAll) Admit(context.Context, time.Time, throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	return nil, 0, nil
}

func (r recToldAll) Done(_ context.Context, _ time.Time, _ throttle.Ticket, o throttle.Outcome) {
	*r.classes = append(*r.classes, o.Class)
}

// TestLoopReturn from the middle of the body.
func TestLoopReturn(t *testing.T) {
	log := newRecLog()
	budget := &recBudget{log: log}
	var loop *retry.Loop
	f := func() int {
		loop = retry.NewLoop(t.Context(), recAtOnce, retry.WithBudget(budget), retry.WithThrottle(&recThrottle{log: log, name: "a"}))
		for try := range loop.Tries() {
			try.Fail(errRec)
			if try.Number() == 2 {
				return 7
			}
		}
		return 0
	}
	require.Equal(t, 7, f())
	require.Equal(t, errRec, loop.Err())
	require.Equal(t, []int{1, 1, 1}, []int{budget.started, budget.charged, budget.settled})
	require.Equal(t, 2, log.seen["a.Done"])
}

// TestLoopBreakIsTold: what is left early ends in order, and nothing of a retry happens.
func TestLoopBreakIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		loop := retry.NewLoop(t.Context(), k.options()...)
		for try := range loop.Tries() {
			k.add("fn", time.Now(), try.Number())
			try.Fail(errRec)
			if try.Number() == 2 {
				break
			}
		}
		require.Equal(t, errRec, loop.Err())
		k.require(t, recRetried+`
			beforeRetry 1
			a.Admit @1s go
			b.Admit @1s go
			a.Attach a2
			obs.Attempt @1s 2
			fn @1s 2
			a.Done @1s a2 transient 2
			b.Done @1s b2 transient 2
			budget.Settle @1s failure 10
			obs.AttemptDone @1s 2 transient
			logger DEBUG not retried
			obs.Done @1s 2 aborted`)
		require.Equal(t, retry.ErrNotRetryable, k.observer.ends[0].Reason)
	})
}

// TestLoopWaits between iterations, as Do does.
func TestLoopWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		loop := retry.NewLoop(t.Context(), retry.MustNew(retry.WithStrategy(recCurve{log: newRecLog()})), retry.WithMaxAttempts(4))
		for try := range loop.Tries() {
			at = append(at, time.Since(began))
			try.Fail(errRec)
		}
		require.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second}, at)
		require.Equal(t, 6*time.Second, recError(t, loop.Err()).Elapsed)
	})
}

// TestLoopContext: the attempt's context, with its facts and its timeout.
func TestLoopContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var contexts []context.Context
		loop := retry.NewLoop(context.WithValue(t.Context(), recKey("caller"), "yes"), recAtOnce, retry.WithName("job"), retry.WithMaxAttempts(2),
			retry.WithAttemptInfo(), retry.WithAttemptTimeout(time.Second))
		for try := range loop.Tries() {
			ctx := try.Context()
			contexts = append(contexts, ctx)
			attempt, ok := retry.AttemptFrom(ctx)
			require.True(t, ok)
			require.Equal(t, retry.Attempt{Number: try.Number(), Max: 2, Name: "job"}, attempt)
			require.Equal(t, "yes", ctx.Value(recKey("caller")))
			try.Fail(recWaitsForContext(ctx))
		}
		require.ErrorIs(t, loop.Err(), retry.ErrAttemptTimeout)
		for _, ctx := range contexts {
			require.Error(t, ctx.Err())
		}
	})
}

// TestLoopOfADoneContext has no iteration.
func TestLoopOfADoneContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errRecCause)
	loop := retry.NewLoop(ctx)
	require.Empty(t, recLoop(loop, func(*retry.Try) bool { return true }))
	require.ErrorIs(t, loop.Err(), context.Canceled)
	require.ErrorIs(t, loop.Err(), errRecCause)
	require.Zero(t, recError(t, loop.Err()).Attempts)
}

// TestLoopCanceled in the body, and in the wait.
func TestLoopCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, after := range []time.Duration{0, 300 * time.Millisecond} {
			ctx, cancel := context.WithCancel(t.Context())
			began := time.Now()
			loop := retry.NewLoop(ctx, recEvery(time.Second))
			numbers := recLoop(loop, func(try *retry.Try) bool {
				time.AfterFunc(after, cancel)
				if after == 0 {
					cancel()
				}
				try.Fail(errRec)
				return true
			})
			require.Equal(t, []int{1}, numbers)
			require.Equal(t, after, time.Since(began))
			require.Equal(t, context.Canceled, recError(t, loop.Err()).Reason)
			require.Equal(t, errRec, recError(t, loop.Err()).Last)
		}
	})
}

// TestLoopPanic passes through the loop; Err says nothing, since it did not end.
func TestLoopPanic(t *testing.T) {
	for _, event := range []string{"panic", "goexit"} {
		synctest.Test(t, func(t *testing.T) {
			k := newRecKit()
			var ctx context.Context
			loop := retry.NewLoop(t.Context(), k.options(retry.WithAttemptTimeout(time.Minute))...)
			body := func() {
				for try := range loop.Tries() {
					if ctx = try.Context(); try.Number() == 2 {
						map[string]func(){"panic": recBlowUp, "goexit": runtime.Goexit}[event]()
					}
					try.Fail(errRec)
				}
			}
			if event == "panic" {
				require.Same(t, errRecPanic, recPanics(t, body))
			} else {
				require.True(t, recExits(body))
			}
			require.EqualError(t, loop.Err(), "retry: loop left by a panic")
			require.Error(t, ctx.Err())
			k.requireEnded(t, retry.EndPanicked)
			require.Empty(t, recLoop(loop, func(*retry.Try) bool { return true }))
		})
	}
}

// TestLoopPulled: by iter.Pull, and stopped early.
func TestLoopPulled(t *testing.T) {
	log := newRecLog()
	gate := &recThrottle{log: log, name: "a"}
	loop := retry.NewLoop(t.Context(), recAtOnce, retry.WithThrottle(gate))
	next, stop := iter.Pull(loop.Tries())
	for n := 1; n <= 2; n++ {
		try, ok := next()
		require.True(t, ok)
		require.Equal(t, n, try.Number())
		try.Fail(errRec)
	}
	stop()
	require.Equal(t, errRec, loop.Err())
	require.Equal(t, 2, gate.returned)
	require.False(t, gate.out)
}

// TestLoopLeavesNothingBehind: a thousand early ends (P29).
func TestLoopLeavesNothingBehind(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := runtime.NumGoroutine()
	clock := new(recTimerClock)
	for i := range 1000 {
		opts := []retry.Option{recAtOnce, retry.WithAttemptTimeout(time.Hour)}
		if i%2 == 0 {
			opts = append(opts, retry.WithClock(clock))
		}
		for try := range retry.NewLoop(ctx, opts...).Tries() {
			try.Fail(errRec)
			if try.Number() > i%3 {
				break
			}
		}
	}
	require.Zero(t, clock.pending.Load())
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// TestLoopHistory: every failing end is an *Error then, also after a break.
func TestLoopHistory(t *testing.T) {
	loop := retry.NewLoop(t.Context(), retry.WithErrorHistory(1))
	recLoop(loop, func(try *retry.Try) bool { try.Fail(errRec); return false })
	require.Equal(t, []error{errRec}, recError(t, loop.Err()).History)
	require.Equal(t, retry.ErrNotRetryable, recError(t, loop.Err()).Reason)
}

// TestLoopThrottledSignal: an iteration's told wait is obeyed.
func TestLoopThrottledSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		loop := retry.NewLoop(t.Context(), retry.WithHint(throttle.Exact()), retry.WithMaxAttempts(2))
		recLoop(loop, func(try *retry.Try) bool { try.Fail(retry.After(time.Minute, errRec)); return true })
		require.Equal(t, time.Minute, time.Since(began))
	})
}
