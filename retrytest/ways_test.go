package retrytest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
)

// The three ways of the package documentation, on the same call.

func TestWayBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		op := retrytest.NewScript(t, nil, retrytest.Steps[int]{{Err: errDown, Times: 2}, {Value: 42}})
		got, err := retry.Do(t.Context(), op.Do, seconds)
		require.NoError(t, err)
		assert.Equal(t, 42, got)
		assert.Equal(t, 3*time.Second, time.Since(begun))
		assert.Equal(t, []time.Duration{0, time.Second, 3 * time.Second}, op.Starts())
	})
}

func TestWayMock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mock, done := clock.NewMock(), make(chan error, 1)
		op := retrytest.NewScript(t, nil, retrytest.Steps[any]{{Err: errDown, Times: 2}, {}})
		go func() { done <- retry.Run(t.Context(), op.Run, seconds, retry.WithClock(mock)) }()
		for i, wait := range []time.Duration{time.Second, 2 * time.Second} {
			synctest.Wait() // the call is in its wait
			mock.Add(wait - 1)
			synctest.Wait()
			op.RequireCalls(t, i+1)
			mock.Add(1)
		}
		require.NoError(t, <-done)
		op.RequireDone(t)
	})
}

func TestWayClock(t *testing.T) {
	clk := retrytest.NewClock()
	op := retrytest.NewScript(t, clk, retrytest.Steps[int]{{Err: errDown, Times: 2}, {Value: 42}})
	got, err := retry.Do(t.Context(), op.Do, seconds, retry.WithClock(clk))
	require.NoError(t, err)
	assert.Equal(t, 42, got)
	clk.RequireWaits(t, time.Second, 2*time.Second)
}

// A throttle.Gate used by hand waits on the clock of its context, and so does everything below that looks there.
func TestClockReachesNestedCalls(t *testing.T) {
	clk := retrytest.NewClock()
	ctx := retry.ContextWithClock(t.Context(), clk)
	err := retry.Run(ctx, func(ctx context.Context) error {
		return retry.Run(ctx, func(context.Context) error { return errDown }, seconds, retry.WithMaxAttempts(2))
	}, seconds, retry.WithMaxAttempts(2))
	require.ErrorIs(t, err, errDown)
	clk.RequireWaits(t, time.Second, time.Second, time.Second)
}
