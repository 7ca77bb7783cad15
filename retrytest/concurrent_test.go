package retrytest_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
)

const callers = 50

// together runs f in many goroutines at once.
func together(f func()) {
	var all sync.WaitGroup
	for range callers {
		all.Go(f)
	}
	all.Wait()
}

// Each wait jumps: the waits of all calls together are what passes.
func TestConcurrentSafeJumps(t *testing.T) {
	clk := retrytest.NewClock()
	together(func() {
		clk.Wait(t.Context(), nil, time.Second)
		clk.Wait(t.Context(), nil, 2*time.Second)
	})
	clk.RequireElapsed(t, callers*3*time.Second)
	assert.Len(t, clk.Waits(), callers*2)
}

// The executor's waits count from the failure: what others let pass since then comes off.
func TestConcurrentSafeCalls(t *testing.T) {
	clk := retrytest.NewClock()
	policy := retry.MustNew(retry.WithClock(clk), seconds, retry.WithMaxAttempts(3))
	together(func() {
		err := retry.Run(t.Context(), func(context.Context) error { return errDown }, policy)
		assert.ErrorIs(t, err, retry.ErrExhausted)
	})
	assert.LessOrEqual(t, clk.Elapsed(), callers*3*time.Second)
	assert.GreaterOrEqual(t, clk.Elapsed(), 3*time.Second)
	assert.LessOrEqual(t, len(clk.Waits()), callers*2)
	assert.Zero(t, clk.Pending())
}

// meanwhile is a context that lets something happen each time it is looked at, as another goroutine could.
type meanwhile struct {
	context.Context
	happens func()
}

func (m meanwhile) Err() error {
	m.happens()
	return nil
}

// A wait counts from the move to its end.
func TestWaitComesAfterAnother(t *testing.T) {
	clk := retrytest.NewClock()
	clk.Wait(meanwhile{t.Context(), func() { clk.After(time.Second) }}, nil, time.Minute)
	clk.RequireElapsed(t, time.Minute+time.Second)
	clk.RequireWaits(t, time.Minute, time.Second)
}

// With an observer a wait is counted from the end of its attempt, so that what others let pass in between comes off it.
func TestConcurrentSafeRecords(t *testing.T) {
	clk, rec := retrytest.NewClock(), new(retrytest.Recorder)
	op := retrytest.NewScript(t, clk, retrytest.Steps[any]{{Err: errDown, Times: retrytest.Forever}})
	policy := retry.MustNew(retry.WithClock(clk), seconds, retry.WithMaxAttempts(3), retry.WithObserver(rec))
	together(func() { assert.ErrorIs(t, retry.Run(t.Context(), op.Run, policy), retry.ErrExhausted) })
	var sum time.Duration
	for _, d := range clk.Waits() {
		sum += d
	}
	clk.RequireElapsed(t, sum)
	assert.Zero(t, clk.Pending())
	op.RequireCalls(t, callers*3)
	for i, call := range op.Calls() {
		assert.Equal(t, i+1, call.Number)
	}
	rec.RequireAttempts(t, callers*3)
	for _, record := range rec.Records() { // P22: each call sees its own curve
		assert.Equal(t, time.Second, record.Events[0].Delay)
		assert.Equal(t, 2*time.Second, record.Events[1].Delay)
		assert.Equal(t, retry.EndExhausted, record.Summary.Ending)
		assert.GreaterOrEqual(t, record.Summary.Elapsed, 3*time.Second)
	}
}

// Timeouts, functions and waits of all kinds at once: nothing hangs, nothing is left, and time does not go back.
func TestConcurrentSafeEverything(t *testing.T) {
	clk := retrytest.NewClock()
	policy := retry.MustNew(retry.WithClock(clk), seconds, retry.WithMaxAttempts(3), retry.WithAttemptTimeout(time.Second))
	together(func() {
		before := clk.Now()
		ctx, cancel := clk.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		stop := clk.AfterFunc(1500*time.Millisecond, func() { clk.Waits() })
		err := retry.Run(ctx, func(ctx context.Context) error { return clk.Block(ctx) }, policy)
		stop()
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.False(t, clk.Now().Before(before))
	})
	assert.Zero(t, clk.Pending())
	assert.Zero(t, clk.OpenContexts())
}

// The clock works inside a bubble, beside the bubble's own time, and leaves nothing in it.
func TestClockInABubble(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			clk := retrytest.NewClock()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			clk.AfterFunc(1500*time.Millisecond, cancel)
			clk.AfterFunc(1600*time.Millisecond, func() {})
			err := retry.Run(ctx, func(context.Context) error { return errDown }, retry.WithClock(clk), seconds)
			assert.ErrorIs(t, err, context.Canceled)
			clk.RequireElapsed(t, 1500*time.Millisecond)
		})
	}
}
