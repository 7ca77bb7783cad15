package retry_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

var errPace = errors.New("too many requests")

// paceRun makes calls until the script is used up, each attempt failing or not by its letter, and returns the seconds at
// which attempts began.
func paceRun(t *testing.T, script string, opts ...retry.Option) (starts []float64, err error) {
	start := time.Now()
	policy := retry.MustNew(opts...)
	for len(script) > 0 && err == nil {
		err = retry.Run(t.Context(), func(context.Context) error {
			starts = append(starts, time.Since(start).Seconds())
			fails := script[0] == 'f'
			script = script[1:]
			if fails {
				return errPace
			}
			return nil
		}, policy)
	}
	return starts, err
}

func pacePacer() *strategy.Pacer {
	return &strategy.Pacer{Strategy: &strategy.LIMD{Initial: 2 * time.Second, IncrementOnFailure: 4 * time.Second, MultipleOnSuccess: 0.2, Min: time.Second}}
}

// TestPaceExecutor is the seed system's sequence as waits between attempts: after a success the next call waits too.
func TestPaceExecutor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace := throttle.Pace(pacePacer())
		starts, err := paceRun(t, "fffssfs", retry.WithThrottle(pace), retry.WithStrategy(strategy.Constant{}))
		require.NoError(t, err)
		require.Equal(t, []float64{0, 2, 8, 18, 20, 21, 26}, starts, "waits of 2 6 10 2 1 5 s")
	})
}

// TestPaceExecutorLongerPolicy: the longer of both waits, not their sum.
func TestPaceExecutorLongerPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts, err := paceRun(t, "fffs", retry.WithThrottle(throttle.Pace(pacePacer())), retry.WithStrategy(strategy.Constant{Delay: 7 * time.Second}))
		require.NoError(t, err)
		require.Equal(t, []float64{0, 7, 14, 24}, starts)
	})
}

// TestPaceExecutorSource: the wait is a throttle's in telemetry, before a retry and before a first attempt.
func TestPaceExecutorSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sources []retry.Source
		_, err := paceRun(t, "ffs", retry.WithThrottle(throttle.Pace(pacePacer())), retry.WithStrategy(strategy.Constant{}),
			retry.WithOnRetry(func(_ context.Context, e retry.Event) { sources = append(sources, e.Source) }))
		require.NoError(t, err)
		require.Equal(t, []retry.Source{retry.SourceThrottle, retry.SourceThrottle}, sources)
	})
}

// TestPaceExecutorGivesUp: the pacer's limit ends the call with both errors, and later calls get single attempts.
func TestPaceExecutorGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pacer := &strategy.Pacer{Strategy: strategy.Constant{Delay: time.Second}, MaxAttempts: 3}
		opts := []retry.Option{retry.WithThrottle(throttle.Pace(pacer)), retry.WithStrategy(strategy.Constant{}), retry.WithUnlimitedAttempts()}
		starts, err := paceRun(t, "fffff", opts...)
		require.Equal(t, []float64{0, 1, 2}, starts)
		require.ErrorIs(t, err, retry.ErrRefused)
		require.ErrorIs(t, err, errPace)
		var refusal *throttle.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, time.Second, refusal.Remaining)

		starts, err = paceRun(t, "f", opts...)
		require.ErrorIs(t, err, retry.ErrRefused)
		require.Empty(t, starts, "so soon")
		time.Sleep(time.Second)
		starts, err = paceRun(t, "fs", opts...)
		require.ErrorIs(t, err, retry.ErrRefused)
		require.Len(t, starts, 1, "it finds out")
		time.Sleep(time.Second)
		starts, err = paceRun(t, "sfs", opts...)
		require.NoError(t, err)
		require.Equal(t, []float64{0, 0, 1}, starts)
	})
}

// TestPaceExecutorLimits: its waits are checked like any other.
func TestPaceExecutorLimits(t *testing.T) {
	slow := func() retry.Option {
		return retry.WithThrottle(throttle.Pace(&strategy.Pacer{Strategy: strategy.Constant{Delay: 90 * time.Second}, DelayOnSuccess: 90 * time.Second}))
	}
	synctest.Test(t, func(t *testing.T) {
		starts, err := paceRun(t, "fs", slow())
		require.ErrorIs(t, err, retry.ErrHintTooLong, "a minute unless set")
		var why *throttle.Error
		require.ErrorAs(t, err, &why)
		require.Len(t, starts, 1)
		starts, err = paceRun(t, "ss", slow())
		require.ErrorIs(t, err, retry.ErrHintTooLong)
		require.Len(t, starts, 1)
		starts, err = paceRun(t, "fss", slow(), retry.WithMaxHint(2*time.Minute))
		require.NoError(t, err)
		require.Equal(t, []float64{0, 90, 180}, starts)
		_, err = paceRun(t, "fs", slow(), retry.WithMaxHint(2*time.Minute), retry.WithMaxElapsed(time.Minute))
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
	})
}

// TestPaceExecutorCrowd: many calls at once start one by one.
func TestPaceExecutorCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pacer := &strategy.Pacer{DelayOnSuccess: time.Second}
		policy := retry.MustNew(retry.WithThrottle(throttle.Pace(pacer)))
		start := time.Now()
		var mu sync.Mutex
		var starts []time.Duration
		call := func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			starts = append(starts, time.Since(start))
			return nil
		}
		require.NoError(t, retry.Run(t.Context(), call, policy))
		var group sync.WaitGroup
		for range 30 {
			group.Go(func() {
				if err := retry.Run(t.Context(), call, policy); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		require.Len(t, starts, 31)
		for i, at := range starts {
			require.Equal(t, time.Duration(i)*time.Second, at)
		}
	})
}

// TestPaceExecutorNil: nothing to pace by.
func TestPaceExecutorNil(t *testing.T) {
	_, err := retry.New(retry.WithThrottle(throttle.Pace(nil)))
	require.ErrorIs(t, err, retry.ErrConfig)
	_, err = retry.New(retry.WithThrottle(throttle.Pace(&strategy.Pacer{JitterFactor: -1})))
	require.ErrorIs(t, err, retry.ErrConfig)
}
