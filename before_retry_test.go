package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
)

// recBefore is a BeforeRetry that writes to a log.
func recBefore(log *recLog, name string) retry.Option {
	return retry.WithBeforeRetry(func(_ context.Context, e retry.Event) error {
		log.add(name, e.Number)
		return nil
	})
}

// TestBeforeRetryOncePerRetry: after the retry's own wait, and not again after those of throttles.
func TestBeforeRetryOncePerRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		k.a.admit = recAnswers(nil, time.Second, time.Second)
		_, err := k.do(t.Context(), recTimes(1), recBefore(k.recLog, "second"))
		require.NoError(t, err)
		k.require(t, recRetried+`
			beforeRetry 1
			second 1
			a.Admit @1s 1s
			obs.Pause @1s 2 1s throttle
			a.Admit @2s 1s
			obs.Pause @2s 2 1s throttle
			a.Admit @3s go
			b.Admit @3s go
			a.Attach a4
			obs.Attempt @3s 2
			fn @3s 2
			a.Done @3s a4 success 2
			b.Done @3s b2 success 2
			curve.Succeed
			budget.Settle @3s success 10
			obs.AttemptDone @3s 2 success
			logger INFO succeeded after 2 attempts
			obs.Done @3s 2 success`)
	})
}

// TestBeforeRetryNotBeforeAttempt1: throttle waits and an initial delay before it are no retries.
func TestBeforeRetryNotBeforeAttempt1(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		k.a.admit = recAnswers(time.Second)
		_, err := k.do(t.Context(), nil, retry.WithInitialDelay(time.Second, nil))
		require.NoError(t, err)
		require.Zero(t, k.seen["beforeRetry"])
		require.Zero(t, k.seen["onRetry"])
	})
}

// TestBeforeRetryOfAnEndedCall: it is not called where no attempt can follow, nor is the next one.
func TestBeforeRetryOfAnEndedCall(t *testing.T) {
	for _, how := range []string{"cancel", "stop"} {
		for _, tc := range []struct {
			event string
			first int
		}{{"onRetry", 0}, {"obs.Pause", 0}, {"beforeRetry", 1}} {
			t.Run(how+" "+tc.event, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					stop := make(chan struct{})
					k := newRecKit()
					k.on[tc.event] = map[string]func(){"cancel": cancel, "stop": func() { close(stop) }}[how]
					_, err := k.do(ctx, recTimes(9), recBefore(k.recLog, "second"), retry.WithStop(stop))
					require.ErrorIs(t, err, map[string]error{"cancel": context.Canceled, "stop": retry.ErrShutdown}[how])
					require.Equal(t, tc.first, k.seen["beforeRetry"])
					require.Zero(t, k.seen["second"])
				})
			})
		}
	}
}

// TestBeforeRetryTimeIsSeen: the attempt begins after it, whoever looks.
func TestBeforeRetryTimeIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		o, err := recObserved(t, t.Context(), recTimes(1),
			retry.WithBeforeRetry(func(context.Context, retry.Event) error { time.Sleep(300 * time.Millisecond); return nil }))
		require.NoError(t, err)
		require.Equal(t, began.Add(1400*time.Millisecond), o.starts[1].At)
		require.Equal(t, 100*time.Millisecond, o.events[1].Duration)
		require.Equal(t, time.Second, o.ends[0].TotalDelay)
	})
}

// TestBeforeRetryTime: what it takes is part of the call, with an error too, and of the limits that follow.
func TestBeforeRetryTime(t *testing.T) {
	slow := func(err error) retry.Option {
		return retry.WithBeforeRetry(func(context.Context, retry.Event) error { time.Sleep(300 * time.Millisecond); return err })
	}
	fails := func(context.Context) error { return errRec }
	synctest.Test(t, func(t *testing.T) {
		err := retry.Run(t.Context(), fails, recEvery(time.Second), slow(errRecCause))
		require.Equal(t, 1300*time.Millisecond, recError(t, err).Elapsed)
		require.Equal(t, errRecCause, recError(t, err).Reason)

		// 1.3 s have passed when the throttle asks for its wait: it would end at the limit.
		a := &recThrottle{log: newRecLog(), name: "a", admit: recAnswers(nil, 200*time.Millisecond)}
		err = retry.Run(t.Context(), fails, recEvery(time.Second), slow(nil), retry.WithThrottle(a), retry.WithMaxElapsed(1500*time.Millisecond))
		require.Equal(t, retry.ErrMaxElapsed, recError(t, err).Reason)
		require.Equal(t, 1, recError(t, err).Attempts)
		require.Equal(t, 200*time.Millisecond, recError(t, err).Delay)
	})
}
