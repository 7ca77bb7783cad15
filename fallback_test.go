package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestFallback has the last word for every failing end: it gets the error that the call would have returned.
func TestFallback(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	later := make(chan struct{})
	permanent := retry.Permanent(errRec)
	refuses := throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, errRecCause })
	for _, tc := range []struct {
		name   string
		err    error
		opts   []retry.Option
		reason error // nil: the operation's error as it is
	}{
		{"exhausted", errRec, []retry.Option{retry.WithMaxAttempts(2)}, retry.ErrExhausted},
		{"bare", permanent, nil, nil},
		{"stop channel", errRec, []retry.Option{retry.WithStop(stop)}, retry.ErrShutdown},
		{"stop channel in the wait", errRec, []retry.Option{retry.WithStop(later), retry.WithOnRetry(func(context.Context, retry.Event) { close(later) })}, retry.ErrShutdown},
		{"refused", errRec, []retry.Option{retry.WithThrottle(refuses)}, retry.ErrRefused},
		{"elapsed", errRec, []retry.Option{retry.WithMaxElapsed(1)}, retry.ErrMaxElapsed},
		{"budget", errRec, []retry.Option{retry.WithBudget(recRefusing{})}, retry.ErrBudget},
		{"before retry", errRec, []retry.Option{retry.WithBeforeRetry(func(context.Context, retry.Event) error { return errRecCause })}, errRecCause},
		{"told too long", retry.After(time.Hour, errRec), nil, retry.ErrHintTooLong},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []error
				v, err := retry.Do(t.Context(), func(context.Context) (int, error) { return 1, tc.err }, append(tc.opts, recEvery(time.Second),
					retry.WithFallback(func(_ context.Context, err error) (int, error) { got = append(got, err); return 9, nil }))...)
				require.NoError(t, err)
				require.Equal(t, 9, v)
				require.Len(t, got, 1)
				if tc.reason == nil {
					require.Same(t, errRec, got[0])
				} else {
					require.ErrorIs(t, recError(t, got[0]).Reason, tc.reason)
				}
			})
		})
	}
}

// TestFallbackMayFail: what it returns is what Do returns, unwrapped.
func TestFallbackMayFail(t *testing.T) {
	for _, answer := range []error{errRecCause, retry.Permanent(errRecCause)} {
		v, err := retry.Do(t.Context(), fail, recAtOnce, retry.WithFallback(func(context.Context, error) (int, error) { return 7, answer }))
		require.Equal(t, answer, err)
		require.Equal(t, 7, v)
	}
	v, err := retry.Do(t.Context(), fail, recAtOnce, retry.WithFallback(func(_ context.Context, err error) (int, error) { return 7, err }))
	require.Equal(t, retry.ErrExhausted, recError(t, err).Reason)
	require.Equal(t, 7, v)
}

// TestFallbackIsNotAsked: for a success, for a configuration that cannot be used, and where the parent is done.
func TestFallbackIsNotAsked(t *testing.T) {
	never := retry.WithFallback(func(context.Context, error) (int, error) { t.Error("asked"); return 9, nil })
	v, err := retry.Do(t.Context(), succeed, never)
	require.NoError(t, err)
	require.Equal(t, 42, v)
	_, err = retry.Do(t.Context(), succeed, never, retry.WithMaxAttempts(0))
	require.ErrorIs(t, err, retry.ErrConfig)
	_, err = retry.Do[int](t.Context(), nil, never)
	require.ErrorIs(t, err, retry.ErrConfig)

	ctx, cancel := context.WithCancel(t.Context())
	v, err = retry.Do(ctx, func(context.Context) (int, error) { cancel(); return 1, errRec }, never)
	require.Equal(t, context.Canceled, recError(t, err).Reason)
	require.Equal(t, 1, v)
	_, err = retry.Do(ctx, succeed, never)
	require.Equal(t, context.Canceled, recError(t, err).Reason)

	// The operation's own failure stands, where the parent ends while it is dealt with.
	ctx, cancel = context.WithCancel(t.Context())
	v, err = retry.Do(ctx, func(context.Context) (int, error) { return 1, retry.Permanent(errRec) }, never,
		retry.WithObserver(recAtEnd{cancel}))
	require.Same(t, errRec, err)
	require.Equal(t, 1, v)
}

// recAtEnd is an observer that does something at the end of every attempt.
type recAtEnd struct{ do func() }

func (r recAtEnd) Start(context.Context, retry.Call) (context.Context, retry.Observation) {
	return nil, r
}
func (recAtEnd) Attempt(context.Context, retry.AttemptStart) context.Context { return nil }
func (r recAtEnd) AttemptDone(context.Context, retry.Event)                  { r.do() }
func (recAtEnd) Pause(context.Context, retry.Pause)                          {}
func (recAtEnd) Done(context.Context, retry.Summary)                         {}

// TestFallbackAfterTheDeadlineIsPredicted: the parent is not done yet, so there is a last word.
func TestFallbackAfterTheDeadlineIsPredicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := retry.Do(ctx, fail, recEvery(time.Second), retry.WithFallback(func(ctx context.Context, err error) (int, error) {
			require.NoError(t, ctx.Err())
			require.ErrorIs(t, err, retry.ErrDeadline)
			return 0, errors.Join(err, errRecCause)
		}))
		require.ErrorIs(t, err, errRecCause)
	})
}
