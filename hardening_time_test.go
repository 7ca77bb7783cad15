package retry_test

import (
	"context"
	"slices"
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

const hdSecond = time.Second

// hdSlow does nothing but take a second, the first time.
func hdSlow() func() { return sync.OnceFunc(func() { time.Sleep(hdSecond) }) }

// TestBlockingThrottleTellsTheTime: whoever is asked after it gets the later time, and so do those that watch.
func TestBlockingThrottleTellsTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		k.on["a.Admit"] = func() { time.Sleep(hdSecond) }
		_, err := k.do(t.Context(), nil)
		require.NoError(t, err)
		k.require(t, `
			obs.Start @0s job 3
			budget.Start @0s
			a.Admit @0s go
			b.Admit @1s go
			a.Attach a1
			obs.Attempt @1s 1
			fn @1s 1
			a.Done @1s a1 success 1
			b.Done @1s b1 success 1
			curve.Succeed
			budget.Settle @1s success 0
			obs.AttemptDone @1s 1 success
			obs.Done @1s 1 success`)
		require.Zero(t, k.observer.events[0].Duration)
	})
}

// TestBlockingThrottleBeforeAWait: the wait that another demands begins when it is demanded, and counts once.
func TestBlockingThrottleBeforeAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		k.on["a.Admit#1"] = func() { time.Sleep(40 * hdSecond) }
		k.b.admit = recAnswers(40 * hdSecond)
		_, err := k.do(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, []string{"a.Admit @0s go", "b.Admit @40s 40s", "obs.Pause @40s 1 40s throttle", "b.Admit @1m20s go"}, k.lines[2:6])
	})
}

// TestBlockingThrottleAndDeadline: a wait that no longer fits once it is demanded is not begun.
func TestBlockingThrottleAndDeadline(t *testing.T) {
	for name, opts := range map[string][]retry.Option{
		"deadline": nil, "elapsed": {retry.WithMaxElapsed(1500 * time.Millisecond)},
	} {
		for _, slow := range []string{"a.Admit", "b.Admit"} {
			t.Run(name+" "+slow, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, want := t.Context(), retry.ErrMaxElapsed
					if opts == nil {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, 1500*time.Millisecond)
						defer cancel()
						want = retry.ErrDeadline
					}
					k := newRecKit()
					k.on[slow] = func() { time.Sleep(hdSecond) }
					k.b.admit = recAnswers(hdSecond)
					_, err := k.do(ctx, nil, opts...)
					e := recError(t, err)
					require.Equal(t, want, e.Reason)
					require.Zero(t, e.Attempts)
					require.Equal(t, hdSecond, e.Delay)
					require.Equal(t, hdSecond, time.Since(k.began), "at once")
					require.Equal(t, []string{"a.Done @1s a1 skipped 1", "b.Done @1s b1 skipped 1", "budget.Settle @1s failure 0"}, k.lines[4:7])
					require.Equal(t, hdSecond, k.observer.ends[0].Elapsed)
				})
			})
		}
	}
}

// hdThrottle is a throttle that does as it is told.
type hdThrottle func(ctx context.Context, now time.Time) (time.Duration, error)

func (f hdThrottle) Admit(ctx context.Context, now time.Time, t throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	wait, err := f(ctx, now)
	return t, wait, err
}

func (hdThrottle) Done(context.Context, time.Time, throttle.Ticket, throttle.Outcome) {}

// TestBlockingThrottleUntilTheEnd of the context: the call ends then, with no wait that was not taken.
func TestBlockingThrottleUntilTheEnd(t *testing.T) {
	for name, answer := range map[string]func(ctx context.Context) (time.Duration, error){
		"error":   func(ctx context.Context) (time.Duration, error) { return 0, ctx.Err() },
		"refusal": func(context.Context) (time.Duration, error) { return 0, retry.After(time.Hour, errRecCause) },
		"go":      func(context.Context) (time.Duration, error) { return 0, nil },
		"wait":    func(context.Context) (time.Duration, error) { return time.Hour, nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(10*hdSecond, func() { cancel(errRecCause) })
				log := newRecLog()
				asked := 0
				blocks := hdThrottle(func(ctx context.Context, _ time.Time) (time.Duration, error) {
					if asked++; asked == 1 {
						return 0, nil
					}
					<-ctx.Done()
					return answer(ctx)
				})
				o := &recObserver{log: log, name: "o"}
				err := retry.Run(ctx, func(context.Context) error { time.Sleep(2 * hdSecond); return errRec }, recEvery(hdSecond),
					retry.WithMaxHint(recForever), retry.WithThrottle(&recThrottle{log: log, name: "a"}, blocks), retry.WithObserver(o))
				e := recError(t, err)
				require.Equal(t, 1, e.Attempts)
				require.Equal(t, 8*hdSecond, e.Elapsed, "from the first failure to the end")
				require.Equal(t, 10*hdSecond, o.ends[0].Elapsed)
				require.Contains(t, log.lines, "a.Done @10s a2 skipped 2")
				require.Empty(t, log.wrong)
				require.EqualError(t, e.Reason, "context canceled: user left")
				require.Zero(t, e.Delay)
				require.Equal(t, retry.EndCanceled, o.ends[0].Ending)
			})
		})
	}
}

// TestThrottleThatEndsTheCall: no attempt starts after it.
func TestThrottleThatEndsTheCall(t *testing.T) {
	for name, tc := range map[string]struct {
		reason error
		end    func(cancel, stop func())
	}{
		"context": {context.Canceled, func(cancel, _ func()) { cancel() }},
		"stop":    {retry.ErrShutdown, func(_, stop func()) { stop() }},
	} {
		for _, event := range []string{"a.Admit#1", "b.Admit#1", "a.Admit#2", "b.Admit#2"} {
			t.Run(name+" "+event, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					stop := make(chan struct{})
					k := newRecKit()
					k.on[event] = func() { tc.end(cancel, func() { close(stop) }) }
					_, err := k.do(ctx, recTimes(9), retry.WithStop(stop))
					e := recError(t, err)
					made := int(event[len(event)-1] - '1')
					require.Equal(t, tc.reason, e.Reason)
					require.Equal(t, made, e.Attempts)
					require.Equal(t, made, k.seen["fn"])
					require.Equal(t, []int{k.a.given, k.b.given}, []int{k.a.returned, k.b.returned})
					require.Contains(t, k.lines, map[int]string{0: "a.Done @0s a1 skipped 1", 1: "a.Done @1s a2 skipped 2"}[made])
					require.Empty(t, k.wrong)
				})
			})
		}
	}
}

// TestSlowHooks: what they take comes out of the wait. It ends when it was planned to, so it still fits.
func TestSlowHooks(t *testing.T) {
	events := []string{"condition", "Classify", "a.Done", "b.Done", "curve.Next", "rand", "jitter", "budget.Charge", "curve.Failed",
		"obs.AttemptDone", "logger", "onRetry", "Discard", "obs.Pause"}
	for _, event := range events {
		t.Run(event, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
				defer cancel()
				k := newRecKit()
				k.on[event] = hdSlow()
				_, err := k.do(ctx, recTimes(1), k.results())
				require.NoError(t, err)
				require.Contains(t, k.lines, "fn @1s 2")
				require.Contains(t, k.lines, "a.Admit @1s go")
			})
		})
	}
}

// TestSlowHooksOfSimplePolicies: the same where nobody observes and no throttle is asked.
func TestSlowHooksOfSimplePolicies(t *testing.T) {
	for name, opt := range map[string]func(f func()) retry.Option{
		"condition": func(f func()) retry.Option {
			return retry.WithCondition(condition.Func(func(error) condition.Verdict { f(); return condition.Retry }))
		},
		"retryIf": func(f func()) retry.Option { return retry.WithRetryIf(func(error) bool { f(); return true }) },
		"Classify": func(f func()) retry.Option {
			return retry.WithResults(retry.Results[int]{Classify: func(_ int, err error) throttle.Outcome { f(); return throttle.Outcome{Err: err} }})
		},
		"Discard": func(f func()) retry.Option {
			return retry.WithResults(retry.Results[int]{Discard: func(int) { f() }})
		},
		"strategy": func(f func()) retry.Option {
			return retry.WithStrategy(strategy.Func(func(strategy.State) (time.Duration, bool) { f(); return hdSecond, true }))
		},
		"jitter": func(f func()) retry.Option {
			return retry.WithJitter(func(d, _ time.Duration, _ float64) time.Duration { f(); return d })
		},
		"budget": func(f func()) retry.Option {
			return retry.WithBudget(&recBudget{log: newRecLog(), charge: func(int, throttle.Class, bool) (int, bool) { f(); return 1, true }})
		},
		"onRetry": func(f func()) retry.Option { return retry.WithOnRetry(func(context.Context, retry.Event) { f() }) },
		"none":    func(func()) retry.Option { return retry.WithName("") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
				defer cancel()
				began := time.Now()
				var at []time.Duration
				_, err := retry.Do(ctx, func(context.Context) (int, error) {
					at = append(at, time.Since(began))
					if len(at) == 1 {
						return 0, errRec
					}
					return 1, nil
				}, recEvery(hdSecond), opt(hdSlow()))
				require.NoError(t, err)
				require.Equal(t, []time.Duration{0, hdSecond}, at)
			})
		})
	}
}

// hdBackwards is a clock that is set back a second whenever somebody looks.
type hdBackwards struct{ now time.Time }

func (c *hdBackwards) Now() time.Time { c.now = c.now.Add(-hdSecond); return c.now }
func (c *hdBackwards) After(time.Duration) <-chan time.Time {
	fired := make(chan time.Time, 1)
	fired <- c.now
	return fired
}

// TestClockThatIsSetBack: no time that is told is below 0.
func TestClockThatIsSetBack(t *testing.T) {
	var outcomes []throttle.Outcome
	var states []strategy.State
	o := &recObserver{log: newRecLog(), name: "o"}
	err := retry.Run(t.Context(), func(context.Context) error { return errRec }, retry.WithClock(&hdBackwards{recStart}), retry.WithMaxAttempts(4),
		retry.WithObserver(o), retry.WithThrottle(recKeeps{&outcomes}), retry.WithMaxElapsed(time.Hour), retry.WithMaxRetryElapsed(time.Hour),
		retry.WithStrategy(strategy.Func(func(s strategy.State) (time.Duration, bool) { states = append(states, s); return hdSecond, true })))
	e := recError(t, err)
	require.Equal(t, retry.ErrExhausted, e.Reason)
	require.Zero(t, e.Elapsed)
	require.Len(t, o.events, 4)
	for i, event := range o.events {
		require.Zero(t, event.Duration)
		require.Zero(t, event.Elapsed)
		require.Zero(t, outcomes[i].Duration)
	}
	for _, s := range states {
		require.Zero(t, s.Elapsed)
	}
	for _, p := range o.pauses {
		require.Equal(t, hdSecond, p.Delay)
	}
	require.Zero(t, o.ends[0].Elapsed)
	require.Zero(t, o.ends[0].TotalDelay)
}

// hdGate is a gate that draws 1/128, 2/128, 3/128 and so on.
func hdGate() *throttle.Gate {
	var n atomic.Int64
	return &throttle.Gate{Rand: func() float64 { return float64(n.Add(1)) / 128 }}
}

// TestGateReleasesNoHerd: calls that a cool-down of 10 s finds in flight, or in their waits, come back one by one, spread
// over up to a tenth of it: the first at its very end.
func TestGateReleasesNoHerd(t *testing.T) {
	const calls = 100
	for _, tc := range []struct {
		name       string
		took, wait time.Duration // of the first attempt and after it
	}{
		{"in flight, no wait", 2 * hdSecond, 0},
		{"in flight, a short wait", 2 * hdSecond, 3 * hdSecond},
		{"in flight, to be back at its end", 2 * hdSecond, 9*hdSecond - 1},
		{"waiting", 0, 2 * hdSecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, gate := time.Now(), hdGate()
				time.AfterFunc(hdSecond, func() { gate.Block(time.Now(), 10*hdSecond, "acme") })
				policy := retry.MustNew(recEvery(tc.wait), retry.WithThrottle(gate.For("acme")))
				var mu sync.Mutex
				var second []time.Duration
				var group sync.WaitGroup
				for range calls {
					group.Go(func() {
						made := 0
						err := retry.Run(t.Context(), func(context.Context) error {
							if made++; made == 1 {
								time.Sleep(tc.took)
								return errRec
							}
							mu.Lock()
							defer mu.Unlock()
							second = append(second, time.Since(began))
							return nil
						}, policy)
						if err != nil {
							t.Error(err)
						}
					})
				}
				group.Wait()
				slices.Sort(second)
				var want []time.Duration
				for i := range calls {
					want = append(want, 11*hdSecond+time.Duration(i)*hdSecond/128)
				}
				require.Equal(t, want, second)
			})
		})
	}
}

// TestBeforeRetryOnlyAfterAWait that came to its end.
func TestBeforeRetryOnlyAfterAWait(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stop := make(chan struct{})
			time.AfterFunc(hdSecond/2, func() {
				if stopped {
					close(stop)
				} else {
					cancel()
				}
			})
			k := newRecKit()
			_, err := k.do(ctx, recTimes(9), retry.WithStop(stop))
			require.Equal(t, map[bool]error{false: context.Canceled, true: retry.ErrShutdown}[stopped], recError(t, err).Reason)
			require.Zero(t, k.seen["beforeRetry"])
			require.Equal(t, 1, k.seen["a.Admit"])
			require.Equal(t, hdSecond/2, k.observer.ends[0].TotalDelay)
		})
	}
}

// TestBeforeRetryTellsTheTime: whoever is asked after it gets the later time.
func TestBeforeRetryTellsTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		k.on["beforeRetry"] = hdSlow()
		_, err := k.do(t.Context(), recTimes(1))
		require.NoError(t, err)
		require.Contains(t, k.lines, "a.Admit @2s go")
		require.Contains(t, k.lines, "b.Admit @2s go")
		require.NotContains(t, k.lines, "a.Admit @1s go")
	})
}

// TestNoPauseAfterTheEnd: a wait that does not begin is not told, and lasts for nothing.
func TestNoPauseAfterTheEnd(t *testing.T) {
	for name, event := range map[string]string{"context": "onRetry", "stop": "onRetry", "logger": "logger", "discard": "Discard"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stop := make(chan struct{})
			k := newRecKit()
			k.on[event] = cancel
			if name == "stop" {
				k.on[event] = func() { close(stop) }
			}
			_, err := k.do(ctx, recTimes(9), k.results(), retry.WithStop(stop))
			require.Equal(t, 1, recError(t, err).Attempts)
			require.Empty(t, k.observer.pauses, name)
			require.Zero(t, k.seen["beforeRetry"])
			require.Zero(t, time.Since(k.began))
			require.Zero(t, k.observer.ends[0].TotalDelay)
		})
	}
}

// TestElapsedOfResultsTurnedDown: they are failures, from whose end time counts, also where nobody measures attempts.
func TestElapsedOfResultsTurnedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var elapsed []time.Duration
		calls := 0
		v, err := retry.Do(t.Context(), func(context.Context) (int, error) { calls++; time.Sleep(hdSecond); return calls, nil },
			retry.WithRetryResult(func(int) bool { return true }), recEvery(hdSecond), retry.WithMaxRetryElapsed(3500*time.Millisecond),
			retry.WithOnRetry(func(_ context.Context, e retry.Event) { elapsed = append(elapsed, e.Elapsed) }))
		e := recError(t, err)
		require.Equal(t, retry.ErrMaxElapsed, e.Reason)
		require.Equal(t, 3, calls)
		require.Equal(t, 3, v)
		require.Equal(t, 4*hdSecond, e.Elapsed)
		require.Equal(t, hdSecond, e.Delay)
		require.Equal(t, []time.Duration{0, 2 * hdSecond}, elapsed)
	})
}

// TestSlowObserverStart: whoever begins after it begins later; the call began before.
func TestSlowObserverStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		k.on["obs.Start"] = hdSlow()
		_, err := k.do(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, []string{"obs.Start @0s job 3", "budget.Start @1s", "a.Admit @1s go", "b.Admit @1s go"}, k.lines[:4])
		require.Equal(t, hdSecond, k.observer.ends[0].Elapsed)
	})
}

// TestPanicOfAThrottleWhilePanicking: the attempt's context ends even so.
func TestPanicOfAThrottleWhilePanicking(t *testing.T) {
	for _, kept := range []bool{false, true} {
		k := newRecKit()
		opts := []retry.Option{retry.WithAttemptTimeout(time.Hour)}
		if kept {
			opts = append(opts, retry.WithResults(retry.Results[int]{Keep: func(v int, _ context.CancelFunc) int { return v }}))
		}
		k.on["fn"] = func() { panic("first") }
		k.on["b.Done"] = recBlowUp
		require.Same(t, errRecPanic, recPanics(t, func() { _, _ = k.do(t.Context(), nil, opts...) }))
		require.Equal(t, context.Canceled, k.attempts[0].Err())
		require.NoError(t, t.Context().Err())
	}
}

// hdCarrier is an error that carries a signal.
type hdCarrier struct{ signal throttle.Signal }

func (hdCarrier) Error() string                             { return "carrier" }
func (e hdCarrier) ThrottleSignal() (throttle.Signal, bool) { return e.signal, true }

// TestNegativeToldWait is one of 0, whoever is told of it.
func TestNegativeToldWait(t *testing.T) {
	err := hdCarrier{throttle.Signal{Delay: -5 * hdSecond, HasDelay: true, Source: "x"}}
	want := throttle.Signal{HasDelay: true, Source: "x"}
	var seen []throttle.Signal
	var outcomes []throttle.Outcome
	for name, opt := range map[string]retry.Option{
		"carried": retry.WithName(""),
		"classified": retry.WithResults(retry.Results[int]{Classify: func(int, error) throttle.Outcome {
			return throttle.Outcome{Err: errRec, Signal: err.signal}
		}}),
	} {
		seen, outcomes = nil, nil
		_, got := retry.Do(t.Context(), func(context.Context) (int, error) { return 0, err }, retry.WithMaxAttempts(2), recAtOnce,
			retry.WithThrottle(recKeeps{&outcomes}), retry.WithOnRetry(func(_ context.Context, e retry.Event) {
				seen = append(seen, e.Signal)
				require.Equal(t, retry.SourcePolicy, e.Source)
			}), opt)
		require.Equal(t, retry.ErrExhausted, recError(t, got).Reason, name)
		require.Equal(t, []throttle.Signal{want}, seen, name)
		require.Equal(t, []throttle.Signal{want, want}, []throttle.Signal{outcomes[0].Signal, outcomes[1].Signal}, name)
	}
	got := recError(t, retry.Run(t.Context(), func(context.Context) error { return nil }, hdRefuses(err)))
	require.ErrorIs(t, got.Reason, retry.ErrRefused)
	require.Zero(t, got.Delay)
	got = recError(t, retry.Run(t.Context(), func(context.Context) error { return nil }, hdRefuses(retry.After(time.Hour, errRec))))
	require.Equal(t, time.Hour, got.Delay)
}
