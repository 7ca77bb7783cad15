package cenkalti_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy/cenkalti"
)

// tick is what both Tickers are made of.
type tick struct {
	c    <-chan time.Time
	stop func()
}

// tickers are v4's own and this package's. A policy or timer must not be used twice: v4's Stop leaves a goroutine that may.
var tickers = map[string]func(backoff.BackOff, backoff.Timer) tick{
	"v4": func(b backoff.BackOff, timer backoff.Timer) tick {
		t := backoff.NewTickerWithTimer(b, timer)
		return tick{t.C, t.Stop}
	},
	"here": func(b backoff.BackOff, timer backoff.Timer) tick {
		t := cenkalti.NewTickerWithTimer(b, timer)
		return tick{t.C, t.Stop}
	},
}

func TestTickerTicksAsV4(t *testing.T) {
	for i, policy := range []func() backoff.BackOff{
		func() backoff.BackOff { return &counted{answers: []time.Duration{0, time.Second, time.Hour}} },
		func() backoff.BackOff { return &backoff.StopBackOff{} },
		func() backoff.BackOff {
			return backoff.WithMaxRetries(backoff.WithContext(backoff.NewConstantBackOff(ms), context.Background()), 7)
		},
		func() backoff.BackOff { return backoff.WithContext(&backoff.ZeroBackOff{}, cancelled(nil)) },
	} {
		ticks := map[string][]time.Duration{}
		for name, start := range tickers {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				for tick := range start(policy(), nil).c {
					require.Equal(t, time.Now(), tick)
					ticks[name] = append(ticks[name], tick.Sub(began))
				}
			})
		}
		require.Equal(t, ticks["v4"], ticks["here"])
		require.Len(t, ticks["here"], []int{4, 1, 8, 1}[i])
	}
}

func TestTickerSendsWhatTheTimerSends(t *testing.T) {
	for name, start := range tickers {
		var sent []int64
		for tick := range start(&counted{answers: []time.Duration{time.Hour, 0}}, new(zeroTimer)).c {
			sent = append(sent, tick.Unix())
		}
		require.Equal(t, []int64{1, 2}, sent[1:], name)
	}
}

// A slow receiver gets the tick that is due, and the next wait begins when it is received.
func TestTickerWaitsForTheReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker := cenkalti.NewTicker(cenkalti.NewConstantBackOff(time.Second))
		began := time.Now()
		var at []time.Duration
		for range 3 {
			time.Sleep(5 * time.Second)
			<-ticker.C
			at = append(at, time.Since(began))
		}
		require.Equal(t, []time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second}, at)
		ticker.Stop()
	})
}

// P31: when Stop has returned, nothing is received any more.
func TestNoTickAfterStop(t *testing.T) {
	for range 500 {
		ticker := cenkalti.NewTicker(&cenkalti.ZeroBackOff{})
		<-ticker.C
		runtime.Gosched()
		ticker.Stop()
		_, open := <-ticker.C
		require.False(t, open)
		ticker.Stop()
	}
}

func TestStopInEveryState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		timer := new(deafTimer)
		for name, reach := range map[string]func(*cenkalti.Ticker){
			"before the first tick": func(*cenkalti.Ticker) {},
			"in a wait":             func(ticker *cenkalti.Ticker) { <-ticker.C },
		} {
			ticker := cenkalti.NewTickerWithTimer(cenkalti.NewConstantBackOff(time.Hour), timer)
			reach(ticker)
			synctest.Wait()
			ticker.Stop()
			_, open := <-ticker.C
			require.False(t, open, name)
			synctest.Wait()
		}
		require.Equal(t, 2, timer.stops, "the timer is stopped with the ticker")

		ticker := cenkalti.NewTicker(&cenkalti.StopBackOff{})
		<-ticker.C
		synctest.Wait()
		ticker.Stop() // after the end
		_, open := <-ticker.C
		require.False(t, open)
	})
	var none *cenkalti.Ticker
	none.Stop()
	new(cenkalti.Ticker).Stop()
}

// acting is a policy and a Timer that do something in their methods.
type acting struct {
	deafTimer
	next, start, stop func()
}

func (a *acting) Reset() {}
func (a *acting) NextBackOff() time.Duration {
	a.next()
	return 0
}
func (a *acting) Start(time.Duration) { a.start() }
func (a *acting) Stop()               { a.stop() }

// Stop does not wait for what called it, and does not wait for a policy that takes its time.
func TestStopFromTheMethodsOfPolicyAndTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, where := range []string{"next", "start", "stop"} {
			var ticker *cenkalti.Ticker
			ready := make(chan struct{})
			stop := func() { <-ready; ticker.Stop() }
			a := &acting{next: func() {}, start: func() {}, stop: func() {}}
			switch where {
			case "next":
				a.next = stop
			case "start":
				a.start = stop
			case "stop":
				a.stop, a.start = stop, func() { go ticker.Stop() }
			}
			ticker = cenkalti.NewTickerWithTimer(a, a)
			close(ready)
			_, open := <-ticker.C
			require.True(t, open)
			_, open = <-ticker.C
			require.False(t, open, where)
			synctest.Wait()
		}

		var ticker *cenkalti.Ticker
		release := make(chan struct{})
		ticker = cenkalti.NewTicker(&acting{next: func() { <-release }})
		<-ticker.C
		synctest.Wait()
		ticker.Stop()
		_, open := <-ticker.C
		require.False(t, open)
		close(release)
		synctest.Wait()
	})
}

func TestTickerContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// In a wait.
		ctx, cancel := context.WithCancel(t.Context())
		ticker := cenkalti.NewTicker(cenkalti.WithMaxRetries(cenkalti.WithContext(cenkalti.NewConstantBackOff(time.Hour), ctx), 9))
		<-ticker.C
		began := time.Now()
		time.AfterFunc(time.Second, cancel)
		_, open := <-ticker.C
		require.False(t, open)
		require.Equal(t, time.Second, time.Since(began))

		// Before a wait that cannot end in time: at the deadline.
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ticker = cenkalti.NewTicker(cenkalti.WithContext(cenkalti.NewConstantBackOff(time.Hour), ctx))
		<-ticker.C
		began = time.Now()
		_, open = <-ticker.C
		require.False(t, open)
		require.Equal(t, time.Minute, time.Since(began))
	})
}

// A tick that is due when the context ends can still be received, and is the last.
func TestTickDueAtTheContextsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, start := range tickers {
			ctx, cancel := context.WithCancel(t.Context())
			ticker := start(backoff.WithContext(&backoff.ZeroBackOff{}, ctx), nil)
			<-ticker.c
			synctest.Wait()
			cancel()
			synctest.Wait()
			_, open := <-ticker.c
			require.True(t, open, name)
			_, open = <-ticker.c
			require.False(t, open, name)
		}
	})
}

func TestTickerOnAClock(t *testing.T) {
	clk := retrytest.NewClock()
	ctx := retry.ContextWithClock(t.Context(), clk)
	began := clk.Now()
	var at []time.Duration
	for tick := range cenkalti.NewTicker(cenkalti.WithContext(&counted{answers: []time.Duration{time.Hour, time.Minute}}, ctx)).C {
		at = append(at, tick.Sub(began))
	}
	require.Equal(t, []time.Duration{0, time.Hour, time.Hour + time.Minute}, at)
}

func TestTickerWithoutAPolicy(t *testing.T) {
	n := 0
	for range cenkalti.NewTicker(nil).C {
		n++
	}
	require.Equal(t, 1, n)
}

// TestConcurrentSafeTicker: many receive, many stop; each Stop holds.
func TestConcurrentSafeTicker(t *testing.T) {
	ticker := cenkalti.NewTicker(&cenkalti.ZeroBackOff{})
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			for range i {
				<-ticker.C
			}
			if i >= 50 {
				ticker.Stop()
				if _, open := <-ticker.C; open {
					t.Error("a tick after Stop")
				}
			}
		})
	}
	all.Wait()
}
