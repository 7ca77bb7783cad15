package retrytest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/throttle"
)

func TestRecorderEmpty(t *testing.T) {
	rec := new(retrytest.Recorder)
	assert.Empty(t, rec.Records())
	assert.Zero(t, rec.Attempts())
	assert.Equal(t, []error{}, rec.Errors())
	assert.Equal(t, []time.Duration{}, rec.Delays())
	assert.Equal(t, []retry.Ending{}, rec.Endings())
	assert.Empty(t, rec.String())
}

func TestRecorderRecords(t *testing.T) {
	clk, rec := retrytest.NewClock(), new(retrytest.Recorder)
	policy := retry.MustNew(retry.WithName("orders"), retry.WithClock(clk), seconds, retry.WithObserver(rec),
		retry.WithInitialDelay(time.Minute, nil))
	op := retrytest.NewScript(t, clk, retrytest.Steps[int]{
		{Err: errDown, Takes: 300 * time.Millisecond},
		{Err: retry.After(20*time.Second, errCause)},
		{Value: 1, Takes: time.Second},
		{Err: retry.Permanent(errDown)},
	})
	_, err := retry.Do(t.Context(), op.Do, policy, retry.WithHint(throttle.Exact()))
	require.NoError(t, err)
	_, err = retry.Do(t.Context(), op.Do, policy)
	require.Equal(t, errDown, err)

	assert.Equal(t, 4, rec.Attempts())
	assert.Equal(t, []error{errDown, errCause, nil, errDown}, rec.Errors())
	assert.Equal(t, []time.Duration{time.Minute, time.Second, 20 * time.Second, time.Minute}, rec.Delays())
	assert.Equal(t, []retry.Ending{retry.EndSucceeded, retry.EndAborted}, rec.Endings())
	assert.Equal(t, `call "orders"
  0s: wait 1m0s (policy)
  1m0s: attempt 1, 300ms: down
  1m0.3s: wait 1s (policy)
  1m1.3s: attempt 2: cause
  1m1.3s: wait 20s (server)
  1m21.3s: attempt 3, 1s: success
  1m22.3s: ended: success
call "orders"
  0s: wait 1m0s (policy)
  1m0s: attempt 1: down
  1m0s: ended: aborted
`, rec.String())

	first := rec.Records()[0]
	assert.Equal(t, retry.Call{Name: "orders", MaxAttempts: 5, Start: start}, first.Call)
	assert.True(t, first.Ended)
	assert.Equal(t, 82300*time.Millisecond, first.Summary.Elapsed)
	assert.Equal(t, 81*time.Second, first.Summary.TotalDelay)
	assert.Equal(t, retry.Pause{Before: 3, At: start.Add(61300 * time.Millisecond), Delay: 20 * time.Second, Source: retry.SourceServer}, first.Pauses[2])
	assert.Equal(t, retry.AttemptStart{Number: 1, At: start.Add(time.Minute)}, first.Starts[0])
	assert.Equal(t, throttle.Throttled, first.Events[1].Class)

	first.Starts[0].Number, first.Pauses[0].Before, first.Events[0].Number = 7, 7, 7
	assert.Equal(t, 1, rec.Records()[0].Starts[0].Number)
	assert.Equal(t, 1, rec.Records()[0].Pauses[0].Before)
	assert.Equal(t, 1, rec.Records()[0].Events[0].Number)
}

func TestRecorderUnfinished(t *testing.T) {
	clk, rec := retrytest.NewClock(), new(retrytest.Recorder)
	op := retrytest.NewScript(t, clk, retrytest.Steps[int]{
		{Err: errDown},
		{Func: func(context.Context) (int, error) {
			assert.Equal(t, "call\n  0s: attempt 1: down\n  0s: wait 1s (policy)\n  1s: attempt 2: did not return\n", rec.String())
			assert.Empty(t, rec.Endings())
			panic("boom")
		}},
	})
	assert.PanicsWithValue(t, "boom", func() {
		_ = retry.Run(t.Context(), op.Run, retry.WithClock(clk), seconds, retry.WithObserver(rec))
	})
	assert.Equal(t, "call\n  0s: attempt 1: down\n  0s: wait 1s (policy)\n  1s: attempt 2: did not return\n  1s: ended: panic\n", rec.String())
	rec.RequireErrors(t, errDown)
	rec.RequireAttempts(t, 2)
}

// A wait before an attempt that never came is shown too.
func TestRecorderWaitThatLedNowhere(t *testing.T) {
	clk, rec := retrytest.NewClock(), new(retrytest.Recorder)
	ctx, cancel := context.WithCancel(t.Context())
	clk.AfterFunc(500*time.Millisecond, cancel)
	err := retry.Run(ctx, func(context.Context) error { return errDown }, retry.WithClock(clk), seconds, retry.WithObserver(rec))
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, "call\n  0s: attempt 1: down\n  0s: wait 1s (policy)\n  500ms: ended: canceled\n", rec.String())
	rec.RequireDelays(t, time.Second)
}
