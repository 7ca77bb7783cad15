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

var errRecCause = errors.New("user left")

// recInterruptions are the places at which a call can be told to end, with what is seen of it then.
var recInterruptions = []struct {
	event    string
	attempts int
	at       time.Duration // when the call ends
	planned  bool          // a retry was planned, and the value thrown away
}{
	{"obs.Start", 0, 0, false},
	{"budget.Start", 0, 0, false},
	{"fn#1", 1, 0, false},
	{"condition#1", 1, 0, true},
	{"a.Done#1", 1, 0, true},
	{"curve.Next#1", 1, 0, true},
	{"jitter#1", 1, 0, true},
	{"budget.Charge#1", 1, 0, true},
	{"curve.Failed#1", 1, 0, true},
	{"obs.AttemptDone#1", 1, 0, true},
	{"logger#1", 1, 0, true},
	{"onRetry#1", 1, 0, true},
	{"Discard#1", 1, 0, true},
	{"obs.Pause#1", 1, 0, true},
	{"beforeRetry#1", 1, time.Second, true},
	{"fn#2", 2, time.Second, false},
	{"onRetry#2", 2, time.Second, true},
	{"beforeRetry#2", 2, 3 * time.Second, true},
}

// TestCanceledAnywhere: no further attempt, no further wait, both errors and the cause.
func TestCanceledAnywhere(t *testing.T) {
	for _, tc := range recInterruptions {
		t.Run(tc.event, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				k := newRecKit()
				k.on[tc.event] = func() { cancel(errRecCause) }
				v, err := k.do(ctx, recTimes(9), k.results(), k.fallback(), retry.WithStop(make(chan struct{})))
				require.Equal(t, tc.at, time.Since(k.began))
				e := recError(t, err)
				require.Equal(t, tc.attempts, e.Attempts)
				require.Equal(t, tc.attempts, k.seen["fn"])
				require.ErrorIs(t, e.Reason, context.Canceled)
				require.ErrorIs(t, e.Reason, errRecCause)
				require.EqualError(t, e.Reason, "context canceled: user left")
				if tc.attempts > 0 {
					require.Equal(t, errRec, e.Last)
					require.Equal(t, tc.at-(k.observer.starts[0].At.Sub(k.began)), e.Elapsed)
				} else {
					require.NoError(t, e.Last)
				}
				require.Equal(t, map[bool]int{true: 0, false: tc.attempts}[tc.planned], v)
				k.requireEnded(t, retry.EndCanceled)
				require.Zero(t, k.seen["fallback"], "not where the parent is done")
				if !tc.planned && tc.attempts > 0 {
					last := k.observer.events[tc.attempts-1]
					require.Equal(t, throttle.Canceled, last.Class)
					require.Equal(t, e.Reason, last.Reason)
					require.False(t, last.Retrying)
				}
			})
		})
	}
}

// requireEnded wants everything that was begun to have ended once.
func (k *recKit) requireEnded(t *testing.T, ending retry.Ending) {
	t.Helper()
	require.Empty(t, k.wrong)
	require.Equal(t, k.budget.started, k.budget.settled, "budget")
	for _, r := range []*recThrottle{k.a, k.b} {
		require.Equal(t, r.given, r.returned, r.name)
		require.False(t, r.out)
	}
	require.Len(t, k.observer.ends, 1)
	require.Equal(t, ending, k.observer.ends[0].Ending)
}

// TestStoppedAnywhere: as TestCanceledAnywhere, but contexts live on, and a fallback has the last word.
func TestStoppedAnywhere(t *testing.T) {
	for _, tc := range recInterruptions {
		t.Run(tc.event, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stop := make(chan struct{})
				k := newRecKit()
				k.on[tc.event] = func() { close(stop) }
				_, err := k.do(t.Context(), recTimes(9), k.results(), k.fallback(), retry.WithStop(stop))
				require.Equal(t, tc.at, time.Since(k.began))
				e := recError(t, err)
				require.Equal(t, tc.attempts, e.Attempts)
				require.Equal(t, tc.attempts, k.seen["fn"])
				require.Equal(t, retry.ErrShutdown, e.Reason)
				if tc.attempts > 0 {
					require.Equal(t, errRec, e.Last)
					require.Equal(t, throttle.Transient, k.observer.events[tc.attempts-1].Class)
				}
				require.Equal(t, 1, k.seen["fallback"])
				k.requireEnded(t, retry.EndCanceled)
				for _, ctx := range k.attempts {
					require.NoError(t, ctx.Err())
				}
				// At the latest when throttles have been told, stop is looked at: nothing more is planned.
				if tc.event == "fn#1" || tc.event == "condition#1" || tc.event == "a.Done#1" {
					require.Zero(t, k.seen["curve.Next"])
					require.Zero(t, k.seen["onRetry"])
					require.Zero(t, k.seen["budget.Charge"])
				}
			})
		})
	}
}

// TestInterruptedWaits: every kind of wait ends at once.
func TestInterruptedWaits(t *testing.T) {
	hold := func(k *recKit) { k.b.admit = recAnswers(time.Second) }
	holdRetry := func(k *recKit) { k.b.admit = recAnswers(nil, time.Second) }
	for _, tc := range []struct {
		name     string
		attempts int
		after    time.Duration
		spent    time.Duration
		prepare  func(k *recKit)
		opts     []retry.Option
	}{
		{"initial delay", 0, 300 * time.Millisecond, 300 * time.Millisecond, nil, []retry.Option{retry.WithInitialDelay(time.Second, nil)}},
		{"throttle before attempt 1", 0, 300 * time.Millisecond, 300 * time.Millisecond, hold, nil},
		{"retry", 1, 300 * time.Millisecond, 300 * time.Millisecond, nil, nil},
		{"throttle before a retry", 1, 1300 * time.Millisecond, 1300 * time.Millisecond, holdRetry, nil},
		{"second retry", 2, 1300 * time.Millisecond, 1300 * time.Millisecond, nil, nil},
	} {
		for _, how := range []string{"cancel", "stop"} {
			t.Run(tc.name+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					stop := make(chan struct{})
					k := newRecKit()
					if tc.prepare != nil {
						tc.prepare(k)
					}
					want := map[string]error{"cancel": context.Canceled, "stop": retry.ErrShutdown}[how]
					time.AfterFunc(tc.after, map[string]func(){"cancel": cancel, "stop": func() { close(stop) }}[how])
					_, err := k.do(ctx, recTimes(9), append(tc.opts, retry.WithStop(stop))...)
					cancel()
					require.Equal(t, tc.after, time.Since(k.began))
					e := recError(t, err)
					require.Equal(t, want, e.Reason)
					require.Equal(t, tc.attempts, e.Attempts)
					require.Zero(t, e.Delay)
					k.requireEnded(t, retry.EndCanceled)
					require.Equal(t, tc.spent, k.observer.ends[0].TotalDelay)
					require.Equal(t, tc.after, k.observer.ends[0].Elapsed)
				})
			})
		}
	}
}

// TestSuccessBeatsEverything: whatever has ended meanwhile, a success is a success.
func TestSuccessBeatsEverything(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stop := make(chan struct{})
	k := newRecKit()
	k.on["fn"] = func() { cancel(); close(stop) }
	v, err := k.do(ctx, nil, retry.WithStop(stop))
	require.NoError(t, err)
	require.Equal(t, 1, v)
	k.requireEnded(t, retry.EndSucceeded)

	ctx, cancel = context.WithCancel(t.Context())
	require.NoError(t, retry.Run(ctx, func(context.Context) error { cancel(); return nil }), "without anything to ask or tell")
}

// TestStopVerdictBeatsStopChannel: the failure comes back as it is.
func TestStopVerdictBeatsStopChannel(t *testing.T) {
	stop := make(chan struct{})
	err := retry.Run(t.Context(), func(context.Context) error { close(stop); return retry.Permanent(errRec) }, retry.WithStop(stop))
	require.Equal(t, errRec, err)
}

// TestContextBeatsStopChannel where both are over.
func TestContextBeatsStopChannel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stop := make(chan struct{})
	end := func() { cancel(); close(stop) }
	err := retry.Run(ctx, func(context.Context) error { end(); return errRec }, retry.WithStop(stop), recAtOnce)
	require.Equal(t, context.Canceled, recError(t, err).Reason)
	err = retry.Run(ctx, func(context.Context) error { t.Error("called"); return nil }, retry.WithStop(stop))
	require.Equal(t, &retry.Error{Reason: context.Canceled}, recError(t, err))
}

// TestDoneBefore: the operation is not called (P08).
func TestDoneBefore(t *testing.T) {
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(errRecCause)
	late, cancelLate := context.WithTimeout(t.Context(), 0)
	defer cancelLate()
	for _, opts := range [][]retry.Option{nil, {retry.MustNew()}, {retry.WithName("x")}, {retry.WithMaxElapsed(time.Hour)}, {retry.WithAttemptInfo()}} {
		fn := func(context.Context) (int, error) { t.Error("called"); return 1, nil }
		_, err := retry.Do(canceled, fn, opts...)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, errRecCause)
		require.Zero(t, recError(t, err).Attempts)
		require.NoError(t, recError(t, err).Last)
		_, err = retry.Do(late, fn, opts...)
		require.Equal(t, context.DeadlineExceeded, recError(t, err).Reason)
		err = retry.Run(canceled, func(context.Context) error { t.Error("called"); return nil }, opts...)
		require.ErrorIs(t, err, errRecCause)
	}
	k := newRecKit()
	_, err := k.do(late, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	k.requireEnded(t, retry.EndDeadline)
}

// TestDeadlinePassesInAttempt: the reason is the context's, and the failure is kept.
func TestDeadlinePassesInAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errRecCause)
		defer cancel()
		k := newRecKit()
		k.on["fn"] = func() { time.Sleep(2 * time.Second) }
		_, err := k.do(ctx, recTimes(9))
		e := recError(t, err)
		require.EqualError(t, e.Reason, "context deadline exceeded: user left")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, errRecCause)
		require.Equal(t, errRec, e.Last)
		k.requireEnded(t, retry.EndDeadline)
	})
}

// TestBothReady: a wait that is over and a context that is done at the same time make no further attempt (P09).
func TestBothReady(t *testing.T) {
	for range 1000 {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		err := retry.Run(ctx, func(context.Context) error { calls++; cancel(); return errRec }, recEvery(1))
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, errRec)
		require.Equal(t, 1, calls)
	}
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(time.Second, cancel)
			calls := 0
			err := retry.Run(ctx, func(context.Context) error { calls++; return errRec }, recEvery(time.Second))
			synctest.Wait()
			if calls > 1 { // the timer came first: then the context was not done yet
				require.ErrorIs(t, err, errRec)
				return
			}
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}
