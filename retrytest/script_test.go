package retrytest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
)

// fakeT is a test that may fail.
type fakeT struct {
	testing.TB
	text string
}

func (f *fakeT) Helper()           {}
func (f *fakeT) Error(args ...any) { f.text += fmt.Sprint(args...) }
func (f *fakeT) Fatalf(format string, args ...any) {
	f.text += fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failure returns what the test that f runs in says when it fails; "" if it passes.
func failure(f func(t testing.TB)) string {
	fake, done := new(fakeT), make(chan struct{})
	go func() {
		defer close(done)
		f(fake)
	}()
	<-done
	return strings.TrimRight(fake.text, "\n")
}

func TestScriptPlaysItsSteps(t *testing.T) {
	clk := retrytest.NewClock()
	clk.Advance(time.Hour)
	op := retrytest.NewScript(t, clk, retrytest.Steps[string]{
		{Err: errDown, Times: 2},
		{Value: "partial", Err: errCause, Takes: time.Second},
		{Func: func(context.Context) (string, error) { return "func", nil }, Takes: time.Second, Times: -1},
		{},
		{Value: "last", Times: retrytest.Forever},
	})
	for i, want := range []struct {
		value string
		err   error
	}{{"", errDown}, {"", errDown}, {"partial", errCause}, {"func", nil}, {}, {"last", nil}, {"last", nil}} {
		value, err := op.Do(t.Context())
		assert.Equal(t, want.value, value, i)
		assert.Equal(t, want.err, err, i)
	}
	assert.Equal(t, []time.Duration{0, 0, 0, time.Second, 2 * time.Second, 2 * time.Second, 2 * time.Second}, op.Starts())
	op.RequireDone(t)
	op.RequireCalls(t, 7)
	third := op.Calls()[2]
	assert.Equal(t, retrytest.Call{
		Number: 3, Start: start.Add(time.Hour), Context: t.Context(), Ended: true, Took: time.Second, Err: errCause,
	}, third)
}

func TestScriptCopiesItsSteps(t *testing.T) {
	steps := retrytest.Steps[int]{{Value: 1}}
	op := retrytest.NewScript(t, nil, steps)
	steps[0].Value = 2
	v, err := op.Do(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, v)
	op.Calls()[0].Number = 7
	assert.Equal(t, 1, op.Calls()[0].Number)
}

func TestScriptHeedsItsContext(t *testing.T) {
	for name, tc := range map[string]struct {
		step retrytest.Step[int]
		err  error
		took time.Duration
	}{
		"takes less":      {retrytest.Step[int]{Takes: time.Second, Err: errDown}, errDown, time.Second},
		"takes more":      {retrytest.Step[int]{Takes: time.Minute, Err: errDown}, context.DeadlineExceeded, 2 * time.Second},
		"deaf":            {retrytest.Step[int]{Takes: time.Minute, Err: errDown, Deaf: true}, errDown, time.Minute},
		"blocks":          {retrytest.Step[int]{Blocks: true, Value: 1}, context.DeadlineExceeded, 2 * time.Second},
		"blocks with err": {retrytest.Step[int]{Blocks: true, Err: errDown}, errDown, 2 * time.Second},
		"takes, blocks":   {retrytest.Step[int]{Takes: time.Second, Blocks: true}, context.DeadlineExceeded, 2 * time.Second},
		"takes nothing":   {retrytest.Step[int]{Takes: -time.Second, Err: errDown}, errDown, 0},
	} {
		check := func(t *testing.T, ctx context.Context, clk *retrytest.Clock) {
			op := retrytest.NewScript(t, clk, retrytest.Steps[int]{tc.step})
			v, err := op.Do(ctx)
			assert.Equal(t, tc.err, err)
			assert.Zero(t, v)
			call := op.Calls()[0]
			assert.Equal(t, tc.took, call.Took)
			assert.Equal(t, 2*time.Second, call.Timeout)
			assert.Equal(t, tc.err, call.Err)
			assert.False(t, call.Panicked)
		}
		t.Run(name, func(t *testing.T) {
			clk := retrytest.NewClock()
			ctx, cancel := clk.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			check(t, ctx, clk)
			clk.RequireWaits(t)
		})
		t.Run(name+"/synctest", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				check(t, ctx, nil)
			})
		})
	}
}

func TestScriptBlocksOnWhatCannotEnd(t *testing.T) {
	for _, clk := range []*retrytest.Clock{nil, retrytest.NewClock()} {
		op := retrytest.NewScript(t, clk, retrytest.Steps[int]{{Blocks: true, Err: errDown, Times: 2}})
		assert.ErrorContains(t, op.Run(context.Background()), "cannot end")
		assert.ErrorContains(t, op.Run(nil), "cannot end") //nolint:staticcheck // a nil context is the background
	}
}

func TestScriptPanics(t *testing.T) {
	op := retrytest.NewScript(t, retrytest.NewClock(), retrytest.Steps[int]{
		{Panic: "boom"},
		{Func: func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }},
	})
	assert.PanicsWithValue(t, "boom", func() { _ = retry.Run(t.Context(), op.Run) })
	assert.Empty(t, failure(func(testing.TB) { _ = op.Run(t.Context()) }))
	for _, call := range op.Calls() {
		assert.True(t, call.Ended)
		assert.True(t, call.Panicked)
	}
}

// A call too many fails the test and ends the loop.
func TestScriptEnds(t *testing.T) {
	var err error
	clk := retrytest.NewClock()
	text := failure(func(t testing.TB) {
		op := retrytest.NewScript(t, clk, retrytest.Steps[int]{{Err: errDown, Times: 2}})
		_, err = retry.Do(context.Background(), op.Do, retry.WithClock(clk), seconds)
	})
	assert.Equal(t, "retrytest: script ended: call 3, where 2 were planned", text)
	require.EqualError(t, err, text)
	require.ErrorIs(t, err, retrytest.ErrScript)
	clk.RequireWaits(t, time.Second, 2*time.Second)

	op := retrytest.NewScript[int](nil, nil, nil)
	err = fmt.Errorf("wrapped: %w", op.Run(t.Context()))
	require.ErrorIs(t, err, retrytest.ErrScript)
	err = retry.Run(t.Context(), func(context.Context) error { return err })
	require.ErrorIs(t, err, retry.ErrNotRetryable)
}

func TestScriptSeesAttempts(t *testing.T) {
	clk := retrytest.NewClock()
	op := retrytest.NewScript(t, clk, retrytest.Steps[int]{{Err: errors.Join(errDown)}, {Value: 1}})
	_, err := retry.Do(context.WithValue(t.Context(), key{}, "v"), op.Do, retry.WithClock(clk), seconds,
		retry.WithName("orders"), retry.WithAttemptInfo())
	require.NoError(t, err)
	second := op.Calls()[1]
	assert.Equal(t, retry.Attempt{Number: 2, Max: 5, Name: "orders"}, second.Attempt)
	assert.Equal(t, "v", second.Context.Value(key{}))
	assert.Zero(t, second.Timeout)
}
