package retrytest_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
)

const forever = time.Duration(math.MaxInt64)

var (
	errDown = errors.New("down")
	start   = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// The capabilities that the executor looks for.
var _ interface {
	retry.Clock
	NewTimer(d time.Duration) (<-chan time.Time, func() bool)
	WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
	AfterFunc(d time.Duration, f func()) (stop func() bool)
	Wait(ctx context.Context, stop <-chan struct{}, d time.Duration)
} = (*retrytest.Clock)(nil)

func TestClockStarts(t *testing.T) {
	for _, clk := range []*retrytest.Clock{retrytest.NewClock(), new(retrytest.Clock)} {
		assert.Equal(t, start, clk.Now())
		assert.Zero(t, clk.Elapsed())
		assert.Equal(t, []time.Duration{}, clk.Waits())
		assert.Zero(t, clk.Pending())
		assert.Zero(t, clk.OpenContexts())
	}
}

// Every way to let time pass is total.
func TestClockPasses(t *testing.T) {
	passed := map[time.Duration]time.Duration{
		0: 0, -1: 0, math.MinInt64: 0, 1: 1, time.Second: time.Second, forever: forever,
	}
	ways := []struct {
		name     string
		recorded bool
		pass     func(t *testing.T, clk *retrytest.Clock, d time.Duration)
	}{
		{"After", true, func(t *testing.T, clk *retrytest.Clock, d time.Duration) {
			assert.Equal(t, <-clk.After(d), clk.Now())
		}},
		{"NewTimer", true, func(t *testing.T, clk *retrytest.Clock, d time.Duration) {
			fired, stop := clk.NewTimer(d)
			assert.False(t, stop(), "it has fired")
			assert.Equal(t, <-fired, clk.Now())
		}},
		{"Wait", true, func(t *testing.T, clk *retrytest.Clock, d time.Duration) {
			clk.Wait(t.Context(), make(chan struct{}), d)
		}},
		{"Wait/nil", true, func(_ *testing.T, clk *retrytest.Clock, d time.Duration) {
			clk.Wait(nil, nil, d) //nolint:staticcheck // a nil context is never done
		}},
		{"Advance", false, func(_ *testing.T, clk *retrytest.Clock, d time.Duration) { clk.Advance(d) }},
		{"Sleep", false, func(t *testing.T, clk *retrytest.Clock, d time.Duration) {
			assert.NoError(t, clk.Sleep(t.Context(), d))
		}},
		{"Sleep/nil", false, func(t *testing.T, clk *retrytest.Clock, d time.Duration) {
			assert.NoError(t, clk.Sleep(nil, d)) //nolint:staticcheck // a nil context is never done
		}},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			for asked, want := range passed {
				clk := retrytest.NewClock()
				way.pass(t, clk, asked)
				clk.RequireElapsed(t, want)
				assert.Equal(t, start.Add(want), clk.Now())
				assert.Zero(t, clk.Pending())
				if way.recorded {
					clk.RequireWaits(t, asked)
				} else {
					clk.RequireWaits(t)
				}
			}
		})
	}
}

func TestClockSaturates(t *testing.T) {
	clk := retrytest.NewClock()
	for range 10 {
		before := clk.Now()
		clk.Advance(forever)
		assert.True(t, clk.Now().After(before))
		clk.RequireElapsed(t, forever)
	}
}

func TestWaitsIsACopy(t *testing.T) {
	clk := retrytest.NewClock()
	clk.After(time.Second)
	clk.Waits()[0] = 0
	clk.RequireWaits(t, time.Second)
}

// A wait ends at the event that ends it, and does not begin once it has been ended.
func TestWaitEndsEarly(t *testing.T) {
	for name, interrupt := range map[string]func(cancel func(), stop chan struct{}){
		"context": func(cancel func(), _ chan struct{}) { cancel() },
		"stop":    func(_ func(), stop chan struct{}) { close(stop) },
		"both":    func(cancel func(), stop chan struct{}) { cancel(); close(stop) },
	} {
		t.Run(name, func(t *testing.T) {
			clk, stop := retrytest.NewClock(), make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			inner, cancelInner := clk.WithTimeout(ctx, time.Hour)
			defer cancelInner()
			clk.AfterFunc(500*time.Millisecond, func() { interrupt(cancel, stop) })
			clk.AfterFunc(500*time.Millisecond, func() { assert.Fail(t, "behind the end") })
			for range 2 {
				clk.Wait(inner, stop, 10*time.Second)
				clk.RequireElapsed(t, 500*time.Millisecond)
			}
			clk.RequireWaits(t, 10*time.Second, 10*time.Second)
			assert.Zero(t, clk.Pending())
		})
	}
}

func TestPending(t *testing.T) {
	clk := retrytest.NewClock()
	var seen []int
	note := func() { seen = append(seen, clk.Pending()) }
	for range 2 {
		clk.AfterFunc(time.Second, func() { note(); clk.After(time.Second); note() })
	}
	clk.AfterFunc(5*time.Second, note)
	clk.Wait(t.Context(), nil, 3*time.Second)
	clk.Advance(3 * time.Second)
	assert.Equal(t, []int{1, 2, 2, 1, 0}, seen)
	assert.Zero(t, clk.Pending())
}

func TestSleepEndsWithContext(t *testing.T) {
	clk := retrytest.NewClock()
	ctx, cancel := context.WithCancel(t.Context())
	clk.AfterFunc(500*time.Millisecond, cancel)
	assert.Equal(t, context.Canceled, clk.Sleep(ctx, 10*time.Second))
	clk.RequireElapsed(t, 500*time.Millisecond)
	assert.Equal(t, context.Canceled, clk.Sleep(ctx, 10*time.Second), "done before")
	clk.RequireElapsed(t, 500*time.Millisecond)
}

func TestBlock(t *testing.T) {
	clk := retrytest.NewClock()
	ctx, cancel := clk.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var seen []time.Duration
	for _, d := range []time.Duration{2 * time.Minute, 2 * time.Second, time.Second} {
		clk.AfterFunc(d, func() { seen = append(seen, clk.Elapsed()) })
	}
	assert.Equal(t, context.DeadlineExceeded, clk.Block(ctx))
	clk.RequireElapsed(t, time.Minute)
	assert.Equal(t, []time.Duration{time.Second, 2 * time.Second}, seen)
	clk.RequireWaits(t)
}

func TestBlockOnWhatCannotEnd(t *testing.T) {
	clk := retrytest.NewClock()
	for _, ctx := range []context.Context{nil, context.Background(), context.WithoutCancel(t.Context())} {
		assert.ErrorContains(t, clk.Block(ctx), "cannot end")
	}
	clk.RequireElapsed(t, 0)
}

// Without an event in sight, Block waits for the outside: for the context, and for events that are made meanwhile.
func TestBlockWaitsForOthers(t *testing.T) {
	for name, rescue := range map[string]func(clk *retrytest.Clock, cancel func()){
		"cancel": func(_ *retrytest.Clock, cancel func()) { cancel() },
		"event":  func(clk *retrytest.Clock, cancel func()) { clk.AfterFunc(time.Second, cancel) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clk := retrytest.NewClock()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended := make(chan error, 2)
				for range 2 {
					go func() { ended <- clk.Block(ctx) }()
				}
				synctest.Wait()
				rescue(clk, cancel)
				require.Equal(t, context.Canceled, <-ended)
				require.Equal(t, context.Canceled, <-ended)
			})
		})
	}
}

// A Block that has ended takes nobody's turn.
func TestBlockAfterAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clk, ended := retrytest.NewClock(), make(chan error)
		var cancels []func()
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			cancels = append(cancels, cancel)
			go func() { ended <- clk.Block(ctx) }()
			synctest.Wait()
		}
		cancels[1]()
		require.Equal(t, context.Canceled, <-ended)
		clk.AfterFunc(time.Second, cancels[0])
		require.Equal(t, context.Canceled, <-ended)
		clk.RequireElapsed(t, time.Second)
	})
}
