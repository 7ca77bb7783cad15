package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

var errShutdownCause = errors.New("pod is going away")

// kbHidden is a context that keeps its deadline to itself, so that nobody can stop before it.
type kbHidden struct{ context.Context }

func (kbHidden) Deadline() (time.Time, bool) { return time.Time{}, false }

// kbRun runs an operation that always fails with err, and returns what came of it.
func kbRun(ctx context.Context, err error, opts ...retry.Option) (calls int, got error) {
	got = retry.Run(ctx, func(context.Context) error { calls++; return err }, opts...)
	return calls, got
}

func kbError(t *testing.T, err error) *retry.Error {
	t.Helper()
	var e *retry.Error
	require.ErrorAs(t, err, &e)
	for _, inner := range e.Unwrap() {
		require.NotNil(t, inner)
	}
	require.NotContains(t, e.Error(), "<nil>")
	return e
}

func TestP06OperationErrorKeptOnCancel(t *testing.T) {
	wait := retry.WithStrategy(strategy.Constant{Delay: time.Second})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()

		start := time.Now()
		calls, err := kbRun(kbHidden{ctx}, errKnown, wait, retry.WithUnlimitedAttempts())
		require.Equal(t, 3, calls)
		require.Equal(t, 2500*time.Millisecond, time.Since(start), "timed out in the wait")
		require.ErrorIs(t, err, errKnown)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		e := kbError(t, err)
		require.Equal(t, errKnown, e.Last)
		require.Equal(t, context.DeadlineExceeded, e.Reason)
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()

		start := time.Now()
		calls, err := kbRun(ctx, errKnown, wait, retry.WithUnlimitedAttempts())
		require.Equal(t, 3, calls)
		require.Equal(t, 2*time.Second, time.Since(start), "the wait that would time out is not begun")
		require.ErrorIs(t, err, errKnown)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, retry.ErrDeadline)
	})
}

func TestP07ReasonOfACancelledWait(t *testing.T) {
	for name, run := range map[string]func(context.Context, func() error, ...retry.Option) error{
		"run": func(ctx context.Context, fn func() error, opts ...retry.Option) error {
			return retry.Run(ctx, func(context.Context) error { return fn() }, opts...)
		},
		"do": func(ctx context.Context, fn func() error, opts ...retry.Option) error {
			_, err := retry.Do(ctx, func(context.Context) (int, error) { return 0, fn() }, opts...)
			return err
		},
		"loop": func(ctx context.Context, fn func() error, opts ...retry.Option) error {
			loop := retry.NewLoop(ctx, opts...)
			for try := range loop.Tries() {
				try.Fail(fn())
			}
			return loop.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(500*time.Millisecond, func() { cancel(errShutdownCause) })
				start, calls := time.Now(), 0
				err := run(ctx, func() error { calls++; return errKnown }, retry.WithStrategy(strategy.Constant{Delay: 10 * time.Second}))
				require.Equal(t, 500*time.Millisecond, time.Since(start))
				require.Equal(t, 1, calls)
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, errShutdownCause)
				require.ErrorIs(t, err, errKnown)
				require.EqualError(t, err, "known (retry: gave up after 1 attempt, 500ms after the first failure: context canceled: pod is going away)")
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // without a cause of its own
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(500*time.Millisecond, cancel)
		_, err := kbRun(ctx, errKnown, retry.WithStrategy(strategy.Constant{Delay: 10 * time.Second}))
		require.Equal(t, context.Canceled, kbError(t, err).Reason)
	})
}

func TestP08ContextDoneBefore(t *testing.T) {
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errShutdownCause)
	expired, release := context.WithDeadlineCause(t.Context(), time.Unix(1, 0), errShutdownCause)
	defer release()
	open := throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, nil })

	for ctx, reason := range map[context.Context]error{cancelled: context.Canceled, expired: context.DeadlineExceeded} {
		for name, opts := range map[string][]retry.Option{
			"default": nil,
			"policy":  {retry.MustNew(retry.WithMaxAttempts(2))},
			"options": {retry.WithMaxAttempts(2)},
			"busy":    {retry.WithMaxElapsed(time.Second), retry.WithAttemptInfo(), retry.WithAttemptTimeout(time.Second)},
			"waits":   {retry.WithInitialDelay(time.Hour, nil), retry.WithThrottle(open)},
		} {
			calls, err := kbRun(ctx, nil, opts...)
			v, doErr := retry.Do(ctx, func(context.Context) (int, error) { calls++; return 7, nil }, opts...)
			require.Zero(t, v)
			loop := retry.NewLoop(ctx, opts...)
			for range loop.Tries() {
				calls++
			}
			for _, err := range []error{err, doErr, loop.Err()} {
				e := kbError(t, err)
				require.ErrorIs(t, err, reason, name)
				require.ErrorIs(t, err, errShutdownCause, name)
				require.NoError(t, e.Last, name)
				require.Zero(t, e.Attempts, name)
				require.EqualError(t, err, "retry: not attempted: "+reason.Error()+": pod is going away", name)
			}
			require.Zero(t, calls, name)
		}
		flow := new(retry.Policy).Begin(time.Time{}, time.Time{}, nil)
		require.Equal(t, retry.Done, flow.Next(ctx, time.Time{}).Action)
	}
}

func TestP12WrappedPermanent(t *testing.T) {
	marked := retry.Permanent(errKnown)
	for name, err := range map[string]error{
		"bare":        marked,
		"errorf":      fmt.Errorf("load: %w", marked),
		"join":        errors.Join(errFlaky, marked),
		"both":        fmt.Errorf("a: %w", errors.Join(errFlaky, fmt.Errorf("b: %w", marked))),
		"several %w":  fmt.Errorf("%w and %w", errFlaky, marked),
		"with a hint": retry.After(time.Second, marked),
		"of a hint":   retry.Permanent(retry.After(time.Second, errKnown)),
	} {
		// Neither a condition nor RetryIf is asked about it.
		for _, opts := range [][]retry.Option{nil, {retry.WithRetryIf(func(error) bool { return true })}, {retry.WithCondition(condition.Is(errKnown))}} {
			calls, got := kbRun(t.Context(), err, opts...)
			require.Equal(t, 1, calls, name)
			require.ErrorIs(t, got, errKnown, name)
		}
	}
	_, got := kbRun(t.Context(), marked)
	require.True(t, got == errKnown, "the mark is removed: %#v", got)
	require.NoError(t, retry.Permanent(nil))
}

func TestP13PermanentKeepsWhatIsAround(t *testing.T) {
	errA, errB := errors.New("A"), errors.New("B")
	for _, tc := range []struct {
		err  error
		text string
		is   []error
	}{
		{errors.Join(errA, retry.Permanent(errB)), "A\nB", []error{errA, errB}},
		{fmt.Errorf("x: %w", retry.Permanent(errB)), "x: B", []error{errB}},
		{fmt.Errorf("x: %w", errors.Join(errA, fmt.Errorf("y: %w", retry.Permanent(errB)))), "x: A\ny: B", []error{errA, errB}},
		{retry.Permanent(fmt.Errorf("x: %w", errors.Join(errA, errB))), "x: A\nB", []error{errA, errB}},
	} {
		calls, err := kbRun(t.Context(), tc.err)
		require.Equal(t, 1, calls)
		for _, target := range tc.is {
			require.ErrorIs(t, err, target, tc.text)
		}
		require.Contains(t, err.Error(), tc.text)
		var e *retry.Error
		if errors.As(err, &e) { // the mark is below the top
			require.Equal(t, retry.ErrNotRetryable, e.Reason)
			require.True(t, e.Last == tc.err)
			require.EqualError(t, err, tc.text+" (retry: gave up after 1 attempt: not retryable)")
		} else {
			require.EqualError(t, err, tc.text)
		}
	}
}

func TestP14PermanentAtTheLimit(t *testing.T) {
	wrapped := fmt.Errorf("load: %w", retry.Permanent(errKnown))
	for _, attempts := range []int{1, 5} {
		calls, err := kbRun(t.Context(), retry.Permanent(errKnown), retry.WithMaxAttempts(attempts))
		require.Equal(t, 1, calls)
		require.True(t, err == errKnown, "%d: %#v", attempts, err)

		calls, err = kbRun(t.Context(), wrapped, retry.WithMaxAttempts(attempts))
		require.Equal(t, 1, calls)
		require.Equal(t, &retry.Error{Attempts: 1, Reason: retry.ErrNotRetryable, Last: wrapped}, err, "%d", attempts)
		require.NotErrorIs(t, err, retry.ErrExhausted)
	}
	// Also on the attempt that happens to be the last one.
	calls := 0
	err := retry.Run(t.Context(), func(context.Context) error {
		if calls++; calls == 3 {
			return retry.Permanent(errKnown)
		}
		return errFlaky
	}, retry.WithMaxAttempts(3), retry.WithStrategy(strategy.Constant{}))
	require.True(t, err == errKnown)
}

func TestP15NoNilInTheHistory(t *testing.T) {
	custom := &kbNumbered{n: 7}
	for _, history := range []int{0, 1, 10} {
		for _, op := range []error{retry.Permanent(custom), fmt.Errorf("x: %w", retry.Permanent(custom))} {
			calls, err := kbRun(t.Context(), op, retry.WithMaxAttempts(10), retry.WithErrorHistory(history))
			require.Equal(t, 1, calls)
			require.ErrorIs(t, err, custom)
			var found *kbNumbered
			require.ErrorAs(t, err, &found)
			require.True(t, found == custom)
			require.NotContains(t, err.Error(), "<nil>")

			var e *retry.Error
			if !errors.As(err, &e) {
				require.Zero(t, history)
				require.True(t, err == error(custom))
				continue
			}
			require.NotEmpty(t, e.Unwrap())
			require.NotContains(t, e.Unwrap(), nil)
			require.Len(t, e.History, min(history, 1))
			require.Zero(t, e.Dropped)
		}
	}
	_, err := kbRun(t.Context(), retry.Permanent(fmt.Errorf("x: %w", custom)), retry.WithMaxAttempts(10))
	require.True(t, errors.Unwrap(err) == error(custom))

	// Ends without any failure have nothing to show, and no nil either.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = kbRun(ctx, nil, retry.WithErrorHistory(10))
	require.Equal(t, []error{context.Canceled}, kbError(t, err).Unwrap())
}

func TestP21HintKeepsTheCause(t *testing.T) {
	for _, op := range []error{retry.After(time.Second, errKnown), fmt.Errorf("x: %w", retry.After(time.Second, errKnown))} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			calls, err := kbRun(t.Context(), op, retry.WithMaxAttempts(2),
				retry.WithStrategy(strategy.Constant{}), retry.WithRand(kbAlways(0)))
			require.Equal(t, 2, calls)
			require.Equal(t, time.Second, time.Since(start))
			require.ErrorIs(t, err, errKnown)
			require.ErrorIs(t, err, retry.ErrExhausted)
			require.Contains(t, err.Error(), op.Error())
		})
	}
	_, err := kbRun(t.Context(), retry.After(time.Second, errKnown), retry.WithMaxAttempts(1), retry.WithErrorHistory(2))
	e := kbError(t, err)
	require.True(t, e.Last == errKnown, "the mark is removed")
	require.Equal(t, []error{errKnown}, e.History)
}

func TestP26EarlierErrorsAreKept(t *testing.T) {
	errA, errB := errors.New("A"), errors.New("B")
	for _, last := range []error{errB, retry.Permanent(errB), fmt.Errorf("x: %w", retry.Permanent(errB))} {
		calls := 0
		err := retry.Run(t.Context(), func(context.Context) error {
			if calls++; calls < 3 {
				return errA
			}
			return last
		}, retry.WithErrorHistory(10), retry.WithStrategy(strategy.Constant{}), retry.WithCondition(condition.Not(condition.Is(errB))))
		require.Equal(t, 3, calls)
		require.ErrorIs(t, err, errA)
		require.ErrorIs(t, err, errB)
		e := kbError(t, err)
		require.Equal(t, 3, e.Attempts)
		require.Equal(t, retry.ErrNotRetryable, e.Reason)
		require.Equal(t, []error{errA, errA, e.Last}, e.History)
		require.Zero(t, e.Dropped)
	}
}
