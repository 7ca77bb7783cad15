package retrytest_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-89b3229b/retry/retrytest"
)

// passing are the ways to let a minute pass, whatever happens on the way.
var passing = map[string]func(clk *retrytest.Clock){
	"Advance":  func(clk *retrytest.Clock) { clk.Advance(time.Minute) },
	"After":    func(clk *retrytest.Clock) { <-clk.After(time.Minute) },
	"Sleep":    func(clk *retrytest.Clock) { _ = clk.Sleep(context.Background(), time.Minute) },
	"NewTimer": func(clk *retrytest.Clock) { fired, _ := clk.NewTimer(time.Minute); <-fired },
	"Wait":     func(clk *retrytest.Clock) { clk.Wait(context.Background(), nil, time.Minute) },
	"steps": func(clk *retrytest.Clock) {
		for range 60 {
			clk.Advance(time.Second)
		}
	},
}

func TestEventsHappenInOrder(t *testing.T) {
	for name, pass := range passing {
		t.Run(name, func(t *testing.T) {
			clk := retrytest.NewClock()
			var seen []time.Duration
			var order []int
			for i, d := range []time.Duration{3, 1, 60, 3, 2, 61, 0, -1} {
				clk.AfterFunc(d*time.Second, func() {
					seen = append(seen, clk.Elapsed()/time.Second)
					order = append(order, i)
				})
			}
			assert.Empty(t, order, "nothing before time passes")
			pass(clk)
			assert.Equal(t, []time.Duration{0, 0, 1, 2, 3, 3, 60}, seen)
			assert.Equal(t, []int{6, 7, 1, 4, 0, 3, 2}, order)
			clk.RequireElapsed(t, time.Minute)
			clk.Advance(time.Second)
			assert.Len(t, order, 8)
		})
	}
}

// P40
func TestFunctionsMayUseTheClock(t *testing.T) {
	for name, pass := range passing {
		t.Run(name, func(t *testing.T) {
			clk := retrytest.NewClock()
			var seen []time.Duration
			note := func() { seen = append(seen, clk.Elapsed()) }
			var stopSelf func() bool
			stopOther := clk.AfterFunc(20*time.Second, func() { assert.Fail(t, "stopped") })
			clk.AfterFunc(2*time.Second, nil)
			stopSelf = clk.AfterFunc(10*time.Second, func() {
				note()
				assert.False(t, stopSelf())
				assert.True(t, stopOther())
				assert.False(t, stopOther())
				clk.AfterFunc(0, note)
				clk.AfterFunc(15*time.Second, note)
				fired, stop := clk.NewTimer(0)
				<-fired
				assert.False(t, stop())
				clk.Advance(time.Second)
				assert.NoError(t, clk.Sleep(context.Background(), time.Second))
				ctx, cancel := clk.WithTimeout(context.Background(), time.Second)
				defer cancel()
				assert.Equal(t, context.DeadlineExceeded, clk.Block(ctx))
			})
			pass(clk)
			assert.Equal(t, []time.Duration{10 * time.Second, 10 * time.Second, 25 * time.Second}, seen)
			want := time.Minute
			if name == "steps" {
				want += 3 * time.Second // one of the steps took 4 s
			}
			clk.RequireElapsed(t, want)
			assert.Zero(t, clk.Pending())
			assert.Zero(t, clk.OpenContexts())
		})
	}
}

// A function may let more time pass than the wait that it falls into: the wait is then late, and time does not go back.
func TestFunctionPassesTheWait(t *testing.T) {
	for name, pass := range passing {
		t.Run(name, func(t *testing.T) {
			clk := retrytest.NewClock()
			clk.AfterFunc(59*time.Second, func() { clk.Advance(time.Hour) })
			pass(clk)
			want := time.Hour + 59*time.Second
			if name == "steps" {
				want += time.Second // 59 to 60 was the step it fell behind of
			}
			clk.RequireElapsed(t, want)
		})
	}
}

func TestFunctionMayReschedule(t *testing.T) {
	for name, pass := range passing {
		t.Run(name, func(t *testing.T) {
			clk := retrytest.NewClock()
			ticks := 0
			var tick func()
			tick = func() {
				ticks++
				clk.AfterFunc(time.Second, tick)
			}
			tick()
			pass(clk)
			assert.Equal(t, 61, ticks)
		})
	}
}

// A function runs in the goroutine that lets time pass, and may end it, as t.FailNow does. The clock goes on.
func TestFunctionEndsTheWait(t *testing.T) {
	for name, end := range map[string]func(){"Goexit": runtime.Goexit, "panic": func() { panic("boom") }} {
		for way, pass := range passing {
			t.Run(name+"/"+way, func(t *testing.T) {
				clk := retrytest.NewClock()
				clk.AfterFunc(time.Second, end)
				var raised any
				var all sync.WaitGroup
				all.Go(func() {
					defer func() { raised = recover() }()
					pass(clk)
					assert.Fail(t, "went on")
				})
				all.Wait()
				assert.Equal(t, name == "panic", raised == "boom")
				clk.RequireElapsed(t, time.Second)
				assert.Zero(t, clk.Pending())
				clk.Advance(time.Second)
				clk.RequireElapsed(t, 2*time.Second)
			})
		}
	}
}
