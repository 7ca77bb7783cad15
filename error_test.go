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
	"github.com/seed-89b3229b/retry/throttle"
)

func TestErrorText(t *testing.T) {
	refused := errors.New("connection refused")
	cooling := &throttle.Error{Key: "acme", Remaining: 30 * time.Second}
	for _, tc := range []struct {
		want string
		err  retry.Error
	}{
		{`connection refused (retry "orders": gave up after 4 attempts, 1.2s after the first failure: attempts exhausted)`,
			retry.Error{Name: "orders", Attempts: 4, Elapsed: 1200 * time.Millisecond, Reason: retry.ErrExhausted, Last: refused}},
		{`connection refused (retry: gave up after 4 attempts, 1.2s after the first failure: attempts exhausted)`,
			retry.Error{Attempts: 4, Elapsed: 1200 * time.Millisecond, Reason: retry.ErrExhausted, Last: refused}},
		{`connection refused (retry "orders": gave up after 1 attempt: retry budget used up)`,
			retry.Error{Name: "orders", Attempts: 1, Reason: retry.ErrBudget, Last: refused}},
		{`connection refused (retry: gave up after 2 attempts: time budget used up)`,
			retry.Error{Attempts: 2, Reason: retry.ErrMaxElapsed, Last: refused}},
		{`connection refused (retry: gave up after 1 attempt: no time left before the deadline)`,
			retry.Error{Attempts: 1, Reason: retry.ErrDeadline, Last: refused}},
		{`retry "orders": not attempted: shut down`, retry.Error{Name: "orders", Reason: retry.ErrShutdown}},
		{`retry: not attempted: context canceled`, retry.Error{Reason: context.Canceled}},
		{`retry "a\"b\n": not attempted: shut down`, retry.Error{Name: "a\"b\n", Reason: retry.ErrShutdown}},
		{`x (retry: gave up after 1 attempt: throttle: "acme" is cooling down for 30s)`,
			retry.Error{Attempts: 1, Reason: cooling, Last: errors.New("x")}},
		{`x (retry: gave up after 1 attempt: strategy ended)`, retry.Error{Attempts: 1, Reason: retry.ErrNoDelay, Last: errors.New("x")}},
		{`x (retry: gave up after 1 attempt: not retryable)`, retry.Error{Attempts: 1, Reason: retry.ErrNotRetryable, Last: errors.New("x")}},
		{`x (retry: gave up after 1 attempt: asked to wait too long)`, retry.Error{Attempts: 1, Reason: retry.ErrHintTooLong, Last: errors.New("x")}},
		{`x (retry: gave up after 1 attempt)`, retry.Error{Attempts: 1, Last: errors.New("x")}},
		{`retry: not attempted`, retry.Error{}},
		{`retry: unacceptable result (retry: gave up after 2 attempts: attempts exhausted)`,
			retry.Error{Attempts: 2, Reason: retry.ErrExhausted, Last: retry.ErrUnacceptable}},
	} {
		require.EqualError(t, &tc.err, tc.want)
	}
}

// TestErrorTextElapsed: four digits are enough to read.
func TestErrorTextElapsed(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1:                                "1ns",
		999:                              "999ns",
		1500:                             "1.5µs",
		12345678:                         "12.35ms",
		1200 * time.Millisecond:          "1.2s",
		time.Second:                      "1s",
		90*time.Second + 1:               "1m30s",
		time.Hour + 90*time.Second + 5e8: "1h1m31s",
		50*time.Hour + 3*time.Second + 1: "50h0m3s",
	} {
		e := &retry.Error{Attempts: 1, Elapsed: d, Reason: retry.ErrExhausted}
		require.EqualError(t, e, "retry: gave up after 1 attempt, "+want+" after the first failure: attempts exhausted", d)
	}
}

// TestErrorOfACall: the documented text, from a call.
func TestErrorOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		err := retry.Run(t.Context(), func(context.Context) error {
			calls++
			return fmt.Errorf("dial %d: connection refused", calls)
		}, retry.WithName("orders"), retry.WithMaxAttempts(4), recEvery(400*time.Millisecond))
		require.EqualError(t, err, `dial 4: connection refused (retry "orders": gave up after 4 attempts, 1.2s after the first failure: attempts exhausted)`)
		last := recError(t, err).Last
		require.EqualError(t, last, "dial 4: connection refused")
		require.Equal(t, &retry.Error{Name: "orders", Attempts: 4, Elapsed: 1200 * time.Millisecond, Reason: retry.ErrExhausted, Last: last}, err)
	})
}

// TestErrorElapsedBeginsAtTheFirstFailure: what the first attempt took does not count, what later ones took does.
func TestErrorElapsedBeginsAtTheFirstFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := retry.Run(t.Context(), func(context.Context) error { time.Sleep(time.Minute); return errRec }, retry.WithMaxAttempts(2), recEvery(time.Second))
		require.Equal(t, time.Minute+time.Second, recError(t, err).Elapsed)
		err = retry.Run(t.Context(), func(context.Context) error { time.Sleep(time.Minute); return errRec }, retry.WithMaxAttempts(1))
		require.Zero(t, recError(t, err).Elapsed)
	})
}

func TestErrorUnwrap(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	for _, tc := range []struct {
		err  retry.Error
		want []error
	}{
		{retry.Error{}, []error{}},
		{retry.Error{Last: a}, []error{a}},
		{retry.Error{Reason: b}, []error{b}},
		{retry.Error{Last: a, Reason: b}, []error{a, b}},
		{retry.Error{Last: a, Reason: b, History: []error{nil, a, nil}}, []error{a, b, a}},
	} {
		require.Equal(t, tc.want, tc.err.Unwrap())
	}
	err := error(&retry.Error{Last: &recTyped{7}, Reason: retry.ErrExhausted, History: []error{a}})
	require.ErrorIs(t, err, retry.ErrExhausted)
	require.ErrorIs(t, err, a)
	require.NotErrorIs(t, err, retry.ErrDeadline)
	var typed *recTyped
	require.ErrorAs(t, err, &typed)
	require.Equal(t, 7, typed.code)
}

type recTyped struct{ code int }

func (e *recTyped) Error() string { return fmt.Sprint("code ", e.code) }

func TestErrorNilReceiver(t *testing.T) {
	var none *retry.Error
	require.EqualError(t, none, "retry: no error")
	require.Empty(t, none.Unwrap())
	require.NotPanics(t, none.OpaqueRetry)
	require.NotErrorIs(t, error(none), retry.ErrExhausted)
}

// TestSentinels: the texts, and which of them are timeouts.
func TestSentinels(t *testing.T) {
	for err, text := range map[error]string{
		retry.ErrExhausted:      "retry: attempts exhausted",
		retry.ErrMaxElapsed:     "retry: time budget used up",
		retry.ErrDeadline:       "retry: no time left before the deadline",
		retry.ErrRefused:        "retry: refused by a throttle",
		retry.ErrHintTooLong:    "retry: asked to wait too long",
		retry.ErrBudget:         "retry: retry budget used up",
		retry.ErrNoDelay:        "retry: strategy ended",
		retry.ErrNotRetryable:   "retry: not retryable",
		retry.ErrShutdown:       "retry: shut down",
		retry.ErrUnacceptable:   "retry: unacceptable result",
		retry.ErrAttemptTimeout: "retry: attempt timed out",
		retry.ErrConfig:         "retry: invalid configuration",
	} {
		require.EqualError(t, err, text)
		late := err == retry.ErrDeadline || err == retry.ErrAttemptTimeout
		require.Equal(t, late, errors.Is(err, context.DeadlineExceeded), text)
		timeout, ok := err.(interface{ Timeout() bool })
		require.Equal(t, late, ok && timeout.Timeout(), text)
	}
	require.NotErrorIs(t, retry.ErrDeadline, retry.ErrAttemptTimeout)
	require.NotErrorIs(t, retry.ErrAttemptTimeout, retry.ErrDeadline)
}

// TestContextCauseInOneLine: the context's error, and its cause if it has one of its own.
func TestContextCauseInOneLine(t *testing.T) {
	for _, tc := range []struct {
		cause error
		want  string
	}{
		{nil, "boom (retry: gave up after 1 attempt: context canceled)"},
		{errRecCause, "boom (retry: gave up after 1 attempt: context canceled: user left)"},
		{context.Canceled, "boom (retry: gave up after 1 attempt: context canceled)"},
		{retry.ErrShutdown, "boom (retry: gave up after 1 attempt: context canceled: retry: shut down)"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		err := retry.Run(ctx, func(context.Context) error { cancel(tc.cause); return errRec })
		require.EqualError(t, err, tc.want)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, errRec)
		if tc.cause != nil {
			require.ErrorIs(t, err, tc.cause)
		}
	}
}

// TestErrorHistory: the first n/2 and the last n-n/2, and how many between.
func TestErrorHistory(t *testing.T) {
	errs := make([]error, 8)
	for i := range errs {
		errs[i] = fmt.Errorf("e%d", i)
	}
	pick := func(at ...int) (picked []error) {
		for _, i := range at {
			picked = append(picked, errs[i])
		}
		return picked
	}
	for _, tc := range []struct {
		n, failures int
		want        []error
		dropped     int
	}{
		{0, 8, nil, 0},
		{1, 1, pick(0), 0},
		{1, 2, pick(1), 1},
		{1, 8, pick(7), 7},
		{2, 1, pick(0), 0},
		{2, 2, pick(0, 1), 0},
		{2, 8, pick(0, 7), 6},
		{3, 8, pick(0, 6, 7), 5},
		{5, 4, pick(0, 1, 2, 3), 0},
		{5, 5, pick(0, 1, 2, 3, 4), 0},
		{5, 6, pick(0, 1, 3, 4, 5), 1},
		{5, 7, pick(0, 1, 4, 5, 6), 2},
		{5, 8, pick(0, 1, 5, 6, 7), 3},
		{8, 8, errs, 0},
		{math.MaxInt, 8, errs, 0},
	} {
		s := newRecSteps(t, retry.WithErrorHistory(tc.n), retry.WithMaxAttempts(tc.failures), recAtOnce)
		var end retry.Step
		for _, err := range errs[:tc.failures] {
			end = s.fails(retry.After(0, err)) // kept without the mark
		}
		e := recError(t, end.Err)
		require.Equal(t, tc.want, e.History, "%d of %d", tc.n, tc.failures)
		require.Equal(t, tc.dropped, e.Dropped)
		require.Equal(t, errs[tc.failures-1], e.Last)
		for _, err := range tc.want {
			require.ErrorIs(t, e, err)
		}
	}
}

// TestErrorHistoryLaterWins, and may take it away.
func TestErrorHistoryLaterWins(t *testing.T) {
	for _, n := range []int{1, 0} {
		err := recRun(retry.WithErrorHistory(5), retry.WithErrorHistory(n))
		require.Len(t, recError(t, err).History, n)
	}
}

// TestErrorHistoryMakesEveryEndAnError: also those that come back as they are without it (P26).
func TestErrorHistoryMakesEveryEndAnError(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	for name, opt := range map[string]retry.Option{
		"retryIf": retry.WithRetryIf(func(err error) bool { return err == a }),
		"mark":    retry.WithName(""),
	} {
		s := newRecSteps(t, retry.WithErrorHistory(2), recAtOnce, opt)
		s.fails(a)
		s.fails(a)
		last := b
		if name == "mark" {
			last = retry.Permanent(b)
		}
		step := s.fails(last)
		require.Equal(t, &retry.Error{Attempts: 3, Reason: retry.ErrNotRetryable, Last: b, History: []error{a, b}, Dropped: 1}, recError(t, step.Err))
		require.Equal(t, retry.ErrNotRetryable, step.Reason)
	}
	step := newRecSteps(t, retry.WithErrorHistory(1)).fails(retry.Permanent(a))
	require.Equal(t, []error{a}, recError(t, step.Err).History)
	stop := make(chan struct{})
	close(stop)
	err := retry.Run(t.Context(), func(context.Context) error { return nil }, retry.WithErrorHistory(3), retry.WithStop(stop))
	require.Equal(t, &retry.Error{Reason: retry.ErrShutdown}, recError(t, err), "nothing to keep")
	require.NoError(t, retry.Run(t.Context(), func(context.Context) error { return nil }, retry.WithErrorHistory(3)))
}
