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
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/throttle"
)

// recWaitsForContext is an operation that takes as long as its context lets it.
func recWaitsForContext(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// TestAttemptTimeoutDeadline is the earlier of the attempt's own and the parent's.
func TestAttemptTimeoutDeadline(t *testing.T) {
	for _, tc := range []struct {
		name   string
		parent time.Duration
		opts   []retry.Option
		want   time.Duration // 0: none
	}{
		{"none", 0, nil, 0},
		{"0", 0, []retry.Option{retry.WithAttemptTimeout(0)}, 0},
		{"own", 0, []retry.Option{retry.WithAttemptTimeout(time.Second)}, time.Second},
		{"own is earlier", time.Minute, []retry.Option{retry.WithAttemptTimeout(time.Second)}, time.Second},
		{"parent is earlier", time.Second, []retry.Option{retry.WithAttemptTimeout(time.Minute)}, time.Second},
		{"parent only", time.Second, []retry.Option{retry.WithAttemptTimeout(0)}, time.Second},
		{"later wins", 0, []retry.Option{retry.WithAttemptTimeout(time.Minute), retry.WithAttemptTimeout(time.Second)}, time.Second},
		{"taken away", 0, []retry.Option{retry.WithAttemptTimeout(time.Minute), retry.WithAttemptTimeout(0)}, 0},
		{"largest", time.Second, []retry.Option{retry.WithAttemptTimeout(recForever)}, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tc.parent > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.parent)
					defer cancel()
				}
				require.NoError(t, retry.Run(ctx, func(ctx context.Context) error {
					require.NoError(t, ctx.Err())
					deadline, ok := ctx.Deadline()
					require.Equal(t, tc.want > 0, ok)
					if ok {
						require.Equal(t, tc.want, time.Until(deadline))
					}
					return nil
				}, tc.opts...))
			})
		})
	}
}

// TestAttemptTimeoutIsRetried: each attempt has its own, and the caller's deadline is not mistaken for it (P37).
func TestAttemptTimeoutIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		log := newRecLog()
		o := &recObserver{log: log, name: "o"}
		var causes []error
		err := retry.Run(ctx, func(ctx context.Context) error {
			err := recWaitsForContext(ctx)
			causes = append(causes, context.Cause(ctx))
			return err
		}, retry.WithAttemptTimeout(time.Second), retry.WithMaxAttempts(3), recEvery(5*time.Second), retry.WithObserver(o))
		require.Equal(t, []error{retry.ErrAttemptTimeout, retry.ErrAttemptTimeout, retry.ErrAttemptTimeout}, causes)
		e := recError(t, err)
		require.Equal(t, retry.ErrExhausted, e.Reason)
		require.ErrorIs(t, e.Last, retry.ErrAttemptTimeout)
		require.ErrorIs(t, e.Last, context.DeadlineExceeded)
		require.EqualError(t, e.Last, "context deadline exceeded", "the operation's own text")
		require.Equal(t, 12*time.Second, e.Elapsed)
		require.Len(t, o.events, 3)
		for _, event := range o.events {
			require.Equal(t, throttle.Timeout, event.Class)
			require.Equal(t, time.Second, event.Duration)
			require.ErrorIs(t, event.Err, retry.ErrAttemptTimeout)
		}
		for _, ctx := range o.contexts {
			require.Error(t, ctx.Err(), "an attempt's context ends with it")
		}
	})
}

// TestAttemptTimeoutErrors: whatever the operation makes of the end of its context, it is an attempt timeout.
func TestAttemptTimeoutErrors(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("query: %w", err) }
	for _, tc := range []struct {
		name  string
		err   func(ctx context.Context) error
		calls int
		want  string
		is    []error
	}{
		{"context's error", func(ctx context.Context) error { return ctx.Err() }, 2, "context deadline exceeded", nil},
		{"its cause", context.Cause, 2, "retry: attempt timed out", nil},
		{"wrapped", func(ctx context.Context) error { return wrap(ctx.Err()) }, 2, "query: context deadline exceeded", nil},
		{"something else", func(context.Context) error { return errRec }, 2, "boom", []error{errRec}},
		{"canceled", func(context.Context) error { return wrap(context.Canceled) }, 2, "query: context canceled", []error{context.Canceled}},
		{"permanent", func(context.Context) error { return retry.Permanent(errRec) }, 1, "boom", []error{errRec}},
		{"told", func(context.Context) error { return retry.After(0, errRec) }, 2, "boom", []error{errRec}},
		{"told, permanent", func(context.Context) error { return retry.After(0, retry.Permanent(errRec)) }, 1, "boom", []error{errRec}},
		{"joined", func(ctx context.Context) error { return errors.Join(errRec, ctx.Err()) }, 2, "boom\ncontext deadline exceeded", []error{errRec}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				var seen error
				err := retry.Run(t.Context(), func(ctx context.Context) error {
					calls++
					<-ctx.Done()
					return tc.err(ctx)
				}, retry.WithAttemptTimeout(time.Second), retry.WithMaxAttempts(2), recAtOnce,
					retry.WithOnRetry(func(_ context.Context, e retry.Event) { seen = e.Err }))
				require.Equal(t, tc.calls, calls)
				if tc.calls == 1 {
					require.EqualError(t, err, tc.want, "as the operation returned it")
				} else {
					require.EqualError(t, seen, tc.want)
					require.EqualError(t, recError(t, err).Last, tc.want)
				}
				if tc.name == "its cause" {
					require.Same(t, retry.ErrAttemptTimeout, recError(t, err).Last, "it needs no second match")
				}
				for _, target := range append(tc.is, retry.ErrAttemptTimeout, context.DeadlineExceeded) {
					require.ErrorIs(t, err, target)
				}
				var timeout interface{ Timeout() bool }
				require.ErrorAs(t, err, &timeout)
				require.True(t, timeout.Timeout())
			})
		})
	}
}

// TestAttemptTimeoutMarks: the top mark comes off below the added match, and a told wait counts.
func TestAttemptTimeoutMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, calls := time.Now(), 0
		var permanent interface{ RetryAfter() time.Duration }
		err := retry.Run(t.Context(), func(ctx context.Context) error {
			calls++
			<-ctx.Done()
			return retry.After(time.Minute, errRec)
		}, retry.WithAttemptTimeout(time.Second), retry.WithMaxAttempts(2), retry.WithHint(throttle.Exact()))
		require.Equal(t, time.Minute+2*time.Second, time.Since(began))
		require.False(t, errors.As(recError(t, err).Last, &permanent))
	})
}

// TestAttemptTimeoutNotReached: an ordinary failure stays what it is, and a late success is a success.
func TestAttemptTimeoutNotReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := retry.Run(t.Context(), func(context.Context) error { time.Sleep(time.Second - 1); return errRec },
			retry.WithAttemptTimeout(time.Second), retry.WithMaxAttempts(1))
		require.Same(t, errRec, recError(t, err).Last)
		v, err := retry.Do(t.Context(), func(context.Context) (int, error) { time.Sleep(time.Minute); return 7, nil }, retry.WithAttemptTimeout(time.Second))
		require.NoError(t, err)
		require.Equal(t, 7, v)
	})
}

// TestAttemptTimeoutAndParent: where the parent ends first it is no attempt timeout.
func TestAttemptTimeoutAndParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := retry.Run(ctx, recWaitsForContext, retry.WithAttemptTimeout(time.Minute))
		e := recError(t, err)
		require.Equal(t, context.DeadlineExceeded, e.Reason)
		require.Equal(t, context.DeadlineExceeded, e.Last)
		require.NotErrorIs(t, err, retry.ErrAttemptTimeout)
		require.Equal(t, 1, e.Attempts)

		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		err = retry.Run(ctx, recWaitsForContext, retry.WithAttemptTimeout(time.Minute))
		require.Equal(t, context.Canceled, recError(t, err).Reason)
		require.NotErrorIs(t, err, retry.ErrAttemptTimeout)
	})

	// Likewise where a clock made the attempt's context.
	ctx, cancel := context.WithCancel(t.Context())
	err := retry.Run(ctx, func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}, retry.WithAttemptTimeout(time.Minute), retry.WithClock(retrytest.NewClock()))
	require.Equal(t, context.Canceled, recError(t, err).Last)
	require.NotErrorIs(t, err, retry.ErrAttemptTimeout)
}

// TestAttemptTimeoutConditions may still say stop.
func TestAttemptTimeoutConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		err := retry.Run(t.Context(), func(ctx context.Context) error { calls++; return recWaitsForContext(ctx) },
			retry.WithAttemptTimeout(time.Second), retry.WithRetryIf(func(err error) bool { return !errors.Is(err, retry.ErrAttemptTimeout) }))
		require.Equal(t, 1, calls)
		require.EqualError(t, err, "context deadline exceeded")
		require.ErrorIs(t, err, retry.ErrAttemptTimeout)
	})
}

// TestAttemptTimeoutAndClassify: an error that a hook puts in the operation's place is still that of a timeout.
func TestAttemptTimeoutAndClassify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen error
		classify := retry.WithResults(retry.Results[int]{Classify: func(_ int, err error) throttle.Outcome {
			seen = err
			return throttle.Outcome{Err: errRec}
		}})
		_, err := retry.Do(t.Context(), func(ctx context.Context) (int, error) { return 0, recWaitsForContext(ctx) },
			retry.WithAttemptTimeout(time.Second), retry.WithMaxAttempts(2), recAtOnce, classify)
		require.ErrorIs(t, seen, retry.ErrAttemptTimeout)
		require.EqualError(t, seen, "context deadline exceeded")
		require.ErrorIs(t, recError(t, err).Last, retry.ErrAttemptTimeout)
		require.ErrorIs(t, recError(t, err).Last, errRec)
		require.EqualError(t, recError(t, err).Last, "boom")
	})
}

// TestAttemptTimeoutMarkedByClassify: marks above and below the added match come off.
func TestAttemptTimeoutMarkedByClassify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		classify := retry.WithResults(retry.Results[int]{Classify: func(_ int, err error) throttle.Outcome {
			return throttle.Outcome{Err: retry.Permanent(err)}
		}})
		calls := 0
		_, err := retry.Do(t.Context(), func(ctx context.Context) (int, error) {
			calls++
			<-ctx.Done()
			return 0, retry.After(0, errRec)
		}, retry.WithAttemptTimeout(time.Second), classify)
		require.Equal(t, 1, calls)
		require.EqualError(t, err, "boom", "as the operation returned it")
		require.ErrorIs(t, err, errRec)
		require.ErrorIs(t, err, retry.ErrAttemptTimeout)
		var mark interface{ RetryAfter() time.Duration }
		require.False(t, errors.As(err, &mark))
	})
}

// TestAttemptTimeoutNested: an inner call below an attempt that timed out has its parent done.
func TestAttemptTimeoutNested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer, inner := 0, 0
		err := retry.Run(t.Context(), func(ctx context.Context) error {
			outer++
			return retry.Run(ctx, func(ctx context.Context) error { inner++; return recWaitsForContext(ctx) })
		}, retry.WithAttemptTimeout(time.Second), retry.WithMaxAttempts(2), recAtOnce)
		require.Equal(t, []int{2, 2}, []int{outer, inner})
		e := recError(t, err)
		require.Equal(t, retry.ErrExhausted, e.Reason)
		require.ErrorIs(t, e.Last, retry.ErrAttemptTimeout)
		require.ErrorContains(t, e.Last, "(retry: gave up after 1 attempt: context deadline exceeded: retry: attempt timed out)")
	})
}
