package retry_test

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

var errRecPanic = errors.New("panic")

// recBlowUp is the frame that is looked for where the panic arrives: nobody has recovered and panicked again.
func recBlowUp() { panic(errRecPanic) }

// recPanics calls f and returns what it panicked with.
func recPanics(t *testing.T, f func()) (value any) {
	t.Helper()
	defer func() {
		value = recover()
		if value == errRecPanic {
			require.Contains(t, string(debug.Stack()), "recBlowUp", "the panic's own stack")
		}
	}()
	f()
	return nil
}

// recExits calls f in a goroutine and reports whether that was left by runtime.Goexit.
func recExits(f func()) (exited bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		returned := false
		defer func() { exited = !returned }()
		f()
		returned = true
	}()
	<-done
	return exited
}

// recTimerClock is the system's clock with all capabilities, and counts what is pending.
type recTimerClock struct{ pending atomic.Int64 }

func (*recTimerClock) Now() time.Time                       { return time.Now() }
func (*recTimerClock) After(time.Duration) <-chan time.Time { panic("NewTimer is there") }

func (c *recTimerClock) NewTimer(d time.Duration) (<-chan time.Time, func() bool) {
	c.pending.Add(1)
	fired := make(chan time.Time, 1)
	timer := time.AfterFunc(d, func() {
		c.pending.Add(-1)
		fired <- time.Now()
	})
	return fired, func() bool {
		stopped := timer.Stop()
		if stopped {
			c.pending.Add(-1)
		}
		return stopped
	}
}

func (c *recTimerClock) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	c.pending.Add(1)
	ctx, cancel := context.WithTimeoutCause(ctx, d, retry.ErrAttemptTimeout)
	return ctx, sync.OnceFunc(func() {
		c.pending.Add(-1)
		cancel()
	})
}

const (
	recTold1    = "a.Done @0s a1 panicked 1\nb.Done @0s b1 panicked 1\n"
	recSettled1 = "budget.Settle @0s failure 0\nobs.Done @0s 1 panic"
	recSettled2 = "budget.Settle @0s failure 10\nobs.Done @0s 1 panic"
	recSettled3 = "budget.Settle @1s failure 10\nobs.Done @1s "
)

// recExplosions are the places at which something can panic, and what is still heard of the call then. Its first
// attempt fails and its second succeeds.
var recExplosions = []struct{ event, after string }{
	{"obs.Start", ""},
	{"budget.Start", "obs.Done @0s 0 panic"},
	{"a.Admit#1", "budget.Settle @0s failure 0\nobs.Done @0s 0 panic"},
	{"b.Admit#1", "a.Done @0s a1 skipped 1\nbudget.Settle @0s failure 0\nobs.Done @0s 0 panic"},
	{"a.Attach", recTold1 + recSettled1},
	{"obs.Attempt", recTold1 + recSettled1},
	{"fn#1", recTold1 + recSettled1},
	{"Classify#1", recTold1 + recSettled1},
	{"condition", recTold1 + recSettled1},
	{"a.Done#1", "b.Done @0s b1 transient 1\n" + recSettled1},
	{"b.Done#1", recSettled1},
	{"curve.Next", recSettled1},
	{"rand", recSettled1},
	{"jitter", recSettled1},
	{"budget.Charge", recSettled1},
	{"curve.Failed", recSettled2},
	{"obs.AttemptDone", recSettled2},
	{"logger", recSettled2},
	{"onRetry", recSettled2},
	{"Discard", recSettled2},
	{"obs.Pause", recSettled2},
	{"beforeRetry", recSettled3 + "1 panic"},
	{"a.Admit#2", recSettled3 + "1 panic"},
	{"b.Admit#2", "a.Done @1s a2 skipped 2\n" + recSettled3 + "1 panic"},
	{"obs.Attempt#2", "a.Done @1s a2 panicked 2\nb.Done @1s b2 panicked 2\n" + recSettled3 + "2 panic"},
	{"fn#2", "a.Done @1s a2 panicked 2\nb.Done @1s b2 panicked 2\n" + recSettled3 + "2 panic"},
	{"Classify#2", "a.Done @1s a2 panicked 2\nb.Done @1s b2 panicked 2\n" + recSettled3 + "2 panic"},
	{"a.Done#2", "b.Done @1s b2 success 2\n" + recSettled3 + "2 panic"},
	{"curve.Succeed", recSettled3 + "2 panic"},
	{"budget.Settle", "obs.Done @1s 2 panic"},
	{"obs.AttemptDone#2", "obs.Done @1s 2 panic"},
	{"Keep", "obs.Done @1s 2 panic"},
	{"obs.Done", ""},
}

// explode makes a call in which something blows up, and wants nothing to be left behind.
func (k *recKit) explode(t *testing.T, event string, errs []error, opts ...retry.Option) {
	t.Helper()
	clock := new(recTimerClock)
	for name, how := range map[string]struct {
		blow func()
		call func(func())
	}{
		"panic":  {recBlowUp, func(f func()) { require.Same(t, errRecPanic, recPanics(t, f)) }},
		"goexit": {runtime.Goexit, func(f func()) { require.True(t, recExits(f)) }},
	} {
		for _, opts := range [][]retry.Option{opts, append([]retry.Option{retry.WithClock(clock)}, opts...)} {
			*k = *newRecKit()
			k.on[event] = how.blow
			how.call(func() {
				_, err := k.do(t.Context(), errs, append(opts, k.results(), retry.WithAttemptTimeout(time.Minute))...)
				t.Error("returned", err)
			})
			require.Empty(t, k.wrong, name)
			require.Equal(t, k.budget.started, k.budget.settled, name)
			require.Equal(t, []int{k.a.given, k.b.given}, []int{k.a.returned, k.b.returned}, name)
			for i, ctx := range k.attempts {
				if k.seen["Keep"] > 0 && event != "Keep" && i == len(k.attempts)-1 {
					break // it was handed over, with its value
				}
				require.Error(t, ctx.Err(), "%s: the context of attempt %d", name, i+1)
			}
			require.Zero(t, clock.pending.Load(), name)
			if event != "obs.Start" {
				require.Len(t, k.observer.ends, 1, name)
			}
		}
	}
}

// after returns what the log has behind the n-th occurrence of an event.
func (k *recKit) after(event string) string {
	event, _, _ = strings.Cut(event, "#")
	for i := len(k.lines) - 1; i >= 0; i-- {
		if k.lines[i] == event || strings.HasPrefix(k.lines[i], event+" ") {
			return strings.Join(k.lines[i+1:], "\n")
		}
	}
	return "not reached"
}

// TestPanicAnywhere: it passes through, and everything that was begun is ended once.
func TestPanicAnywhere(t *testing.T) {
	for _, tc := range recExplosions {
		t.Run(tc.event, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newRecKit()
				k.explode(t, tc.event, recTimes(1))
				require.Equal(t, tc.after, k.after(tc.event))
			})
		})
	}
}

// TestPanicAtTheEnd of a call that gives up.
func TestPanicAtTheEnd(t *testing.T) {
	for _, event := range []string{"Discard", "logger", "fallback"} {
		t.Run(event, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newRecKit()
				fallback := retry.WithFallback(func(context.Context, error) (int, error) { k.add("fallback"); return 0, nil })
				k.explode(t, event, recTimes(9), retry.WithMaxAttempts(1), fallback)
				require.Equal(t, "obs.Done @0s 1 panic", k.after(event))
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		k.explode(t, "Keep", recTimes(9), retry.WithMaxAttempts(1))
		require.Equal(t, "obs.Done @0s 1 panic", k.after("Keep"))
	})
}

// TestPanicSummary is what observers are told of a call that panicked.
func TestPanicSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		k.on["fn#2"] = func() { time.Sleep(time.Second); recBlowUp() }
		require.Same(t, errRecPanic, recPanics(t, func() { _, _ = k.do(t.Context(), recTimes(9)) }))
		require.Equal(t, []retry.Summary{{
			Attempts: 2, At: k.began.Add(2 * time.Second), Ending: retry.EndPanicked, Last: errRec, Elapsed: 2 * time.Second, TotalDelay: time.Second,
		}}, k.observer.ends)
		require.Len(t, k.observer.events, 1, "AttemptDone is not called for an attempt that panicked")
	})
}

// TestPanicInOtherPlaces: what the kit does not have.
func TestPanicInOtherPlaces(t *testing.T) {
	for name, option := range map[string]func(k *recKit) retry.Option{
		"retryIf":        func(*recKit) retry.Option { return retry.WithRetryIf(func(error) bool { recBlowUp(); return true }) },
		"initial jitter": func(*recKit) retry.Option { return retry.WithInitialDelay(1, recBlowingJitter) },
		"starter":        func(*recKit) retry.Option { return retry.WithStrategy(recBlowingStarter{}) },
		"Ready": func(k *recKit) retry.Option {
			return retry.WithThrottle(recPlanner{k.c(), func(time.Time) time.Duration { recBlowUp(); return 0 }})
		},
		"Label": func(k *recKit) retry.Option {
			k.on["c.Label"] = recBlowUp
			return retry.WithThrottle(recLabeler{k.c(), "x"})
		},
		"Explain": func(k *recKit) retry.Option {
			k.on["c.Explain"] = recBlowUp
			return retry.WithThrottle(recExplainer{k.c(time.Hour), nil})
		},
		"second throttle": func(k *recKit) retry.Option {
			k.on["c.Admit#2"] = recBlowUp
			return retry.WithThrottle(k.c(time.Second))
		},
		"result": func(*recKit) retry.Option { return retry.WithRetryResult(func(int) bool { recBlowUp(); return true }) },
		"condition": func(*recKit) retry.Option {
			return retry.WithCondition(condition.Func(func(error) condition.Verdict { recBlowUp(); return 0 }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newRecKit()
				errs := recTimes(1)
				if name == "result" {
					errs = nil
				}
				require.Same(t, errRecPanic, recPanics(t, func() { _, _ = k.do(t.Context(), errs, option(k)) }))
				k.requireEnded(t, retry.EndPanicked)
			})
		})
	}
}

// c is one more throttle.
func (k *recKit) c(waits ...any) *recThrottle {
	return &recThrottle{log: k.recLog, name: "c", admit: recAnswers(waits...)}
}

func recBlowingJitter(time.Duration, time.Duration, float64) time.Duration { recBlowUp(); return 0 }

type recBlowingStarter struct{}

func (recBlowingStarter) Next(strategy.State) (time.Duration, bool) { return 0, true }
func (recBlowingStarter) Start() strategy.Strategy                  { recBlowUp(); return nil }

// TestPanicWhilePanicking: one that cannot bear to be told does not keep the others from it.
func TestPanicWhilePanicking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, events := range [][]string{{"a.Done"}, {"b.Done"}, {"a.Done", "b.Done"}, {"budget.Settle"}, {"obs.Done"}, {"a.Done", "b.Done", "budget.Settle", "obs.Done"}} {
			k := newRecKit()
			k.on["fn"] = func() { panic("first") }
			for _, event := range events {
				k.on[event] = recBlowUp
			}
			require.Same(t, errRecPanic, recPanics(t, func() { _, _ = k.do(t.Context(), nil, retry.WithAttemptTimeout(time.Minute)) }))
			k.requireEnded(t, retry.EndPanicked)
			require.Equal(t, []int{1, 1, 1}, []int{k.a.returned, k.b.returned, k.budget.settled})
			require.Error(t, k.attempts[0].Err())
		}
	})
}

// TestPanicOfOneObserver: the others are told how the call ended.
func TestPanicOfOneObserver(t *testing.T) {
	for _, tc := range []struct {
		event string
		ends  []int // of x, y, z
	}{
		{"x.Start", []int{0, 0, 0}},
		{"y.Start", []int{1, 0, 0}},
		{"z.Start", []int{1, 1, 0}},
		{"y.Attempt", []int{1, 1, 1}},
		{"y.AttemptDone", []int{1, 1, 1}},
		{"y.Pause", []int{1, 1, 1}},
		{"x.Done", []int{1, 1, 1}},
		{"y.Done", []int{1, 1, 1}},
		{"z.Done", []int{1, 1, 1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			log := newRecLog()
			log.on[tc.event] = recBlowUp
			var all []*recObserver
			var opts []retry.Option
			for _, name := range []string{"x", "y", "z"} {
				o := &recObserver{log: log, name: name}
				all, opts = append(all, o), append(opts, retry.WithObserver(o))
			}
			require.Same(t, errRecPanic, recPanics(t, func() { _, _ = retry.Do(t.Context(), log.script(errRec), append(opts, recEvery(1))...) }), tc.event)
			for i, o := range all {
				require.Len(t, o.ends, tc.ends[i], "%s: %s", tc.event, o.name)
				for _, end := range o.ends {
					if !strings.HasSuffix(tc.event, ".Done") {
						require.Equal(t, retry.EndPanicked, end.Ending)
						require.False(t, end.At.IsZero())
					}
				}
			}
		})
	}
}

// TestPanicOfSimpleCalls: without anything to end it passes through too, with its value.
func TestPanicOfSimpleCalls(t *testing.T) {
	blow := func(context.Context) error { recBlowUp(); return nil }
	require.Same(t, errRecPanic, recPanics(t, func() { _ = retry.Run(t.Context(), blow) }))
	require.True(t, recExits(func() { _ = retry.Run(t.Context(), func(context.Context) error { runtime.Goexit(); return nil }) }))
	calls := 0
	require.Same(t, errRecPanic, recPanics(t, func() {
		_ = retry.Run(t.Context(), func(context.Context) error {
			if calls++; calls == 2 {
				recBlowUp()
			}
			return errRec
		}, recAtOnce)
	}))
	require.Equal(t, 2, calls)
	require.Nil(t, recPanics(t, func() {}))
	require.False(t, recExits(func() {}))
}

// TestAbortTellsTheClass: the step form's way to end what a panic left.
func TestAbortTellsTheClass(t *testing.T) {
	log := newRecLog()
	log.began = recStart
	s := newRecSteps(t, retry.WithThrottle(&recThrottle{log: log, name: "a"}), retry.WithBudget(&recBudget{log: log}))
	step := s.next().flow.Abort(t.Context(), s.now, throttle.Panicked)
	require.Equal(t, retry.ErrShutdown, step.Reason)
	log.require(t, `
		budget.Start @0s
		a.Admit @0s go
		a.Done @0s a1 panicked 1
		budget.Settle @0s failure 0`)
}
