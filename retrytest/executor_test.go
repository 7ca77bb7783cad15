package retrytest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

var seconds = retry.WithStrategy(strategy.Exponential{Base: time.Second})

// injected are the two ways to give a call its clock.
var injected = map[string]func(ctx context.Context, clk *retrytest.Clock) (context.Context, retry.Option){
	"WithClock": func(ctx context.Context, clk *retrytest.Clock) (context.Context, retry.Option) {
		return ctx, retry.WithClock(clk)
	},
	"ContextWithClock": func(ctx context.Context, clk *retrytest.Clock) (context.Context, retry.Option) {
		return retry.ContextWithClock(ctx, clk), retry.WithName("")
	},
}

func TestExecutorWaits(t *testing.T) {
	half := retry.WithRand(func() float64 { return 0.5 })
	for name, tc := range map[string]struct {
		options []retry.Option
		want    []time.Duration
	}{
		"exponential": {[]retry.Option{seconds}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}},
		"default":     {[]retry.Option{half}, []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond}},
		"sequence": {
			[]retry.Option{retry.WithStrategy(strategy.Sequence{Delays: []time.Duration{time.Hour, 1}, Repeat: true})},
			[]time.Duration{time.Hour, 1, 1, 1},
		},
		"no wait": {[]retry.Option{retry.WithStrategy(strategy.Constant{})}, nil},
		"initial": {
			[]retry.Option{seconds, retry.WithMaxAttempts(2), retry.WithInitialDelay(time.Minute, nil)},
			[]time.Duration{time.Minute, time.Second},
		},
	} {
		for way, inject := range injected {
			t.Run(name+"/"+way, func(t *testing.T) {
				clk := retrytest.NewClock()
				ctx, clock := inject(t.Context(), clk)
				op := retrytest.NewScript(t, clk, retrytest.Steps[any]{{Err: errDown, Times: retrytest.Forever}})
				err := retry.Run(ctx, op.Run, append(tc.options, clock)...)
				require.ErrorIs(t, err, retry.ErrExhausted)
				require.ErrorIs(t, err, errDown)
				clk.RequireWaits(t, tc.want...)
				var sum time.Duration
				for _, d := range tc.want {
					sum += d
				}
				clk.RequireElapsed(t, sum)
				op.RequireCalls(t, len(op.Starts()))
				assert.Zero(t, clk.Pending())
			})
		}
	}
}

func TestExecutorThrottleWait(t *testing.T) {
	clk, gate := retrytest.NewClock(), new(throttle.Gate)
	gate.Block(clk.Now(), 10*time.Second, "acme")
	op := retrytest.NewScript(t, clk, retrytest.Steps[int]{{Err: retry.After(20*time.Second, errDown)}, {Value: 42}})
	got, err := retry.Do(t.Context(), op.Do, retry.WithClock(clk), retry.WithThrottle(gate.For("acme")), retry.WithHint(throttle.Exact()))
	require.NoError(t, err)
	assert.Equal(t, 42, got)
	assert.Equal(t, []time.Duration{10 * time.Second, 30 * time.Second}, op.Starts())
	clk.RequireWaits(t, 10*time.Second, 20*time.Second)
}

// P37: every attempt times out by itself, in virtual time; the caller's own deadline is far.
func TestExecutorAttemptTimeout(t *testing.T) {
	for way, inject := range injected {
		t.Run(way, func(t *testing.T) {
			clk := retrytest.NewClock()
			ctx, cancel := clk.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			ctx, clock := inject(ctx, clk)
			op := retrytest.NewScript(t, clk, retrytest.Steps[any]{
				{Blocks: true},
				{Takes: 5 * time.Second},
				{Func: func(ctx context.Context) (any, error) {
					ctx, cancel := context.WithCancel(context.WithValue(ctx, key{}, 1)) // as libraries do
					defer cancel()
					return nil, clk.Sleep(ctx, time.Hour)
				}},
			})
			err := retry.Run(ctx, op.Run, clock, seconds, retry.WithMaxAttempts(3), retry.WithAttemptTimeout(time.Second), retry.WithAttemptInfo())
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, retry.ErrAttemptTimeout)
			require.ErrorIs(t, err, retry.ErrExhausted)
			assert.Equal(t, []time.Duration{0, 2 * time.Second, 5 * time.Second}, op.Starts())
			clk.RequireWaits(t, time.Second, 2*time.Second)
			clk.RequireElapsed(t, 6*time.Second)
			for _, call := range op.Calls() {
				assert.Equal(t, time.Second, call.Timeout)
				assert.Equal(t, time.Second, call.Took)
				assert.Equal(t, context.DeadlineExceeded, call.Err)
				assert.Equal(t, retry.Attempt{Number: call.Number, Max: 3}, call.Attempt)
			}
			assert.Equal(t, 1, clk.OpenContexts(), "the test's own")
			cancel()
			assert.Zero(t, clk.OpenContexts())
		})
	}
}

// With Results.Keep the context outlives the timeout, which is as exact.
func TestExecutorAttemptTimeoutKept(t *testing.T) {
	for way, inject := range injected {
		t.Run(way, func(t *testing.T) {
			clk := retrytest.NewClock()
			ctx, clock := inject(t.Context(), clk)
			var kept context.Context
			var free context.CancelFunc
			results := retry.WithResults(retry.Results[int]{Keep: func(v int, release context.CancelFunc) int {
				free = release
				return v
			}})
			options := []retry.Option{clock, retry.WithMaxAttempts(1), retry.WithAttemptTimeout(time.Second), results}
			_, err := retry.Do(ctx, func(ctx context.Context) (int, error) {
				kept = ctx
				return 0, clk.Sleep(ctx, 5*time.Second)
			}, options...)
			require.ErrorIs(t, err, retry.ErrAttemptTimeout)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			clk.RequireElapsed(t, time.Second)
			assertEnded(t, kept, context.DeadlineExceeded, retry.ErrAttemptTimeout)

			_, err = retry.Do(ctx, func(ctx context.Context) (int, error) {
				kept = ctx
				return 0, clk.Sleep(ctx, time.Second-1)
			}, options...)
			require.NoError(t, err)
			clk.Advance(time.Hour)
			assertOpen(t, kept)
			free()
			assertEnded(t, kept, context.Canceled, context.Canceled)
		})
	}
}

// An operation that does not heed its context comes back late, and has still timed out.
func TestExecutorDeafOperation(t *testing.T) {
	clk := retrytest.NewClock()
	op := retrytest.NewScript(t, clk, retrytest.Steps[int]{{Takes: 5 * time.Second, Deaf: true, Err: errDown}, {Value: 1}})
	_, err := retry.Do(t.Context(), op.Do, retry.WithClock(clk), seconds, retry.WithAttemptTimeout(time.Second))
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{0, 6 * time.Second}, op.Starts())
}

// P10: a wait that does not fit before the deadline is not begun, and one that fits exactly neither.
func TestExecutorDeadline(t *testing.T) {
	for _, wait := range []time.Duration{10 * time.Second, time.Second} {
		clk := retrytest.NewClock()
		ctx, cancel := clk.WithTimeout(t.Context(), time.Second)
		defer cancel()
		op := retrytest.NewScript(t, clk, retrytest.Steps[any]{{Err: errDown}})
		err := retry.Run(ctx, op.Run, retry.WithClock(clk), retry.WithStrategy(strategy.Constant{Delay: wait}))
		require.ErrorIs(t, err, errDown)
		require.ErrorIs(t, err, retry.ErrDeadline)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		clk.RequireElapsed(t, 0)
		clk.RequireWaits(t)
	}
}

// interruptions end a call in the middle of its wait.
var interruptions = map[string]struct {
	prepare func(ctx context.Context, clk *retrytest.Clock) (context.Context, context.CancelFunc, retry.Option)
	reason  []error
}{
	"cancel": {
		func(ctx context.Context, clk *retrytest.Clock) (context.Context, context.CancelFunc, retry.Option) {
			ctx, cancel := context.WithCancelCause(ctx)
			clk.AfterFunc(500*time.Millisecond, func() { cancel(errCause) })
			return ctx, func() { cancel(nil) }, retry.WithName("")
		}, []error{context.Canceled, errCause},
	},
	"cancel far above": {
		func(ctx context.Context, clk *retrytest.Clock) (context.Context, context.CancelFunc, retry.Option) {
			ctx, cancel := context.WithCancel(ctx)
			clk.AfterFunc(500*time.Millisecond, cancel)
			ctx, cancelTimeout := clk.WithTimeout(ctx, time.Hour)
			ctx, cancelChild := context.WithCancel(context.WithValue(ctx, key{}, 1))
			return ctx, func() { cancelChild(); cancelTimeout() }, retry.WithName("")
		}, []error{context.Canceled},
	},
	"stop": {
		func(ctx context.Context, clk *retrytest.Clock) (context.Context, context.CancelFunc, retry.Option) {
			stop := make(chan struct{})
			clk.AfterFunc(500*time.Millisecond, func() { close(stop) })
			return ctx, func() {}, retry.WithStop(stop)
		}, []error{retry.ErrShutdown},
	},
}

// P07, P30: the call returns at exactly the moment of the interruption, with other things due before and after it, and
// leaves nothing behind.
func TestExecutorInterruptedWait(t *testing.T) {
	for name, tc := range interruptions {
		for way, inject := range injected {
			t.Run(name+"/"+way, func(t *testing.T) {
				for range 50 {
					clk := retrytest.NewClock()
					before, after := 0, 0
					for range 3 {
						clk.AfterFunc(300*time.Millisecond, func() { before++ })
					}
					ctx, cancel, option := tc.prepare(t.Context(), clk)
					defer cancel()
					for d := 500 * time.Millisecond; d < time.Second; d += 100 * time.Millisecond {
						clk.AfterFunc(d+1, func() { after++ })
					}
					ctx, clock := inject(ctx, clk)
					err := retry.Run(ctx, func(context.Context) error { return errDown }, clock, option,
						retry.WithStrategy(strategy.Constant{Delay: 10 * time.Second}))
					clk.RequireElapsed(t, 500*time.Millisecond)
					require.ErrorIs(t, err, errDown)
					for _, reason := range tc.reason {
						require.ErrorIs(t, err, reason)
					}
					clk.RequireWaits(t, 10*time.Second)
					assert.Zero(t, clk.Pending())
					assert.Equal(t, 3, before)
					assert.Zero(t, after)
				}
			})
		}
	}
}

// What happens in a wait need not end it.
func TestExecutorUninterruptedWait(t *testing.T) {
	clk := retrytest.NewClock()
	var up bool
	clk.AfterFunc(1500*time.Millisecond, func() { up = true })
	clk.AfterFunc(2500*time.Millisecond, func() {})
	op := func(context.Context) error {
		if up {
			return nil
		}
		return errDown
	}
	require.NoError(t, retry.Run(t.Context(), op, retry.WithClock(clk), seconds))
	clk.RequireWaits(t, time.Second, 2*time.Second)
	clk.RequireElapsed(t, 3*time.Second)
	assert.Zero(t, clk.Pending())
}

// A cancellation while an operation sleeps ends the call there, without a wait.
func TestExecutorCanceledInAttempt(t *testing.T) {
	clk := retrytest.NewClock()
	ctx, cancel := context.WithCancel(t.Context())
	clk.AfterFunc(500*time.Millisecond, cancel)
	op := retrytest.NewScript(t, clk, retrytest.Steps[any]{{Takes: time.Minute}})
	err := retry.Run(ctx, op.Run, retry.WithClock(clk), seconds, retry.WithAttemptTimeout(time.Second))
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, errors.Is(err, retry.ErrAttemptTimeout))
	clk.RequireElapsed(t, 500*time.Millisecond)
	assert.Zero(t, clk.OpenContexts())
}

// P44: a budget of time ends the call on this clock too.
func TestExecutorMaxElapsed(t *testing.T) {
	clk := retrytest.NewClock()
	err := retry.Run(t.Context(), func(context.Context) error { return errDown }, retry.WithClock(clk), seconds,
		retry.WithUnlimitedAttempts(), retry.WithMaxElapsed(5*time.Second))
	require.ErrorIs(t, err, retry.ErrMaxElapsed)
	clk.RequireWaits(t, time.Second, 2*time.Second)
}

func TestExecutorLoop(t *testing.T) {
	clk := retrytest.NewClock()
	loop := retry.NewLoop(t.Context(), retry.WithClock(clk), seconds)
	for try := range loop.Tries() {
		clk.Advance(time.Minute)
		if try.Number() == 3 {
			break
		}
		try.Fail(errDown)
	}
	require.NoError(t, loop.Err())
	clk.RequireWaits(t, time.Second, 2*time.Second)
	clk.RequireElapsed(t, 3*time.Minute+3*time.Second)
}
