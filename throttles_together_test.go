package retry_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// tgWorld is one of each throttle that keeps account of attempts, and a budget that counts calls.
type tgWorld struct {
	gate     throttle.Gate
	adaptive throttle.Adaptive
	pool     *pool.Pool[int]
	budget   throttle.InFlightBudget

	asked, probing     atomic.Int64 // the breaker: how often, and the attempts it let through and was not told of
	reserved, returned atomic.Int64 // places of the rate limiter
	made               atomic.Int64 // attempts
}

// allow is the breaker's. It is open now and then.
func (w *tgWorld) allow() (func(error), error) {
	if w.asked.Add(1)%16 == 0 {
		return nil, errors.New("open")
	}
	w.probing.Add(1)
	return func(error) { w.probing.Add(-1) }, nil
}

// reserve is the rate limiter's.
func (w *tgWorld) reserve(now time.Time, _ int) tgPlace {
	return tgPlace{w, now.Add(time.Duration(w.reserved.Add(1)%3) * time.Second)}
}

type tgPlace struct {
	world *tgWorld
	at    time.Time
}

func (p tgPlace) OK() bool                            { return true }
func (p tgPlace) DelayFrom(t time.Time) time.Duration { return p.at.Sub(t) }
func (p tgPlace) CancelAt(time.Time)                  { p.world.returned.Add(1) }

// tgLiar foresees what does not come true, and refuses at random.
type tgLiar struct{}

func (tgLiar) Admit(_ context.Context, _ time.Time, t throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	switch rand.IntN(8) {
	case 0:
		return t, 0, errors.New("no")
	case 1:
		return t, time.Duration(rand.Int64N(int64(3 * time.Second))), nil
	}
	return t, 0, nil
}

func (tgLiar) Done(context.Context, time.Time, throttle.Ticket, throttle.Outcome) {}

func (tgLiar) Ready(context.Context, time.Time) time.Duration {
	return []time.Duration{0, -1, 1, time.Second, recForever}[rand.IntN(5)]
}

func (tgLiar) Explain(context.Context, time.Time) *throttle.Error { return nil }

func (w *tgWorld) policy() *retry.Policy {
	all := []throttle.Throttle{
		w.gate.For("acme", "acme/PlaceOrder"), &w.adaptive, w.pool, throttle.Reserve(w.reserve), throttle.Breaker{Allow: w.allow}, tgLiar{},
	}
	rand.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return retry.MustNew(retry.WithThrottle(all...), retry.WithBudget(&w.budget), retry.WithMaxAttempts(4),
		retry.WithStrategy(strategy.FullJitter{Base: 200 * time.Millisecond}))
}

// attempt ends in one of the ways that there are.
func (w *tgWorld) attempt(ctx context.Context, cancel context.CancelFunc) error {
	w.made.Add(1)
	if w.pool.Key(ctx) == 0 {
		return retry.Permanent(errors.New("an attempt without a key"))
	}
	time.Sleep(time.Duration(rand.Int64N(int64(time.Second))))
	switch rand.IntN(12) {
	case 0, 1, 2:
		return retry.After(time.Duration(rand.Int64N(int64(20*time.Second))), errRec)
	case 3, 4:
		return errRec
	case 5:
		return retry.Permanent(errRec)
	case 6:
		cancel()
		return ctx.Err()
	case 7:
		panic("attempt")
	case 8:
		runtime.Goexit()
	}
	return nil
}

// settled requires that everything is as if nobody had ever called, but for what was counted.
func (w *tgWorld) settled(t *testing.T) {
	t.Helper()
	time.Sleep(time.Hour)
	now := time.Now()
	require.Zero(t, w.probing.Load(), "the breaker waits for a probe")
	require.Equal(t, w.made.Load(), w.reserved.Load()-w.returned.Load(), "places that were taken and not used")
	require.Zero(t, w.budget.Active())
	require.Zero(t, w.budget.Retrying())
	require.Zero(t, w.adaptive.RefusalRate(now))
	require.NoError(t, w.gate.Check(now, "acme", "acme/PlaceOrder"))
	uses := int64(0)
	for _, s := range w.pool.Stats(now) {
		uses += s.Uses
		require.Zero(t, s.Until)
	}
	require.Equal(t, w.made.Load(), uses)
	taken := map[int]bool{}
	for range w.pool.Len() {
		lease, err := w.pool.Acquire(now)
		require.NoError(t, err)
		taken[lease.Key()] = true
	}
	require.Len(t, taken, w.pool.Len(), "each of the keys can be had")
}

// TestConcurrentSafeThrottlesTogether: whatever the order of throttles in a policy and however calls end, none of them is left with
// something that it gave.
func TestConcurrentSafeThrottlesTogether(t *testing.T) {
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			w := &tgWorld{pool: pool.New(1, 2, 3)}
			var calls sync.WaitGroup
			for range 30 {
				policy := w.policy()
				calls.Go(func() {
					defer func() {
						if r := recover(); r != nil && r != "attempt" {
							t.Error(r)
						}
					}()
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.Int64N(int64(time.Minute))))
					defer cancel()
					time.Sleep(time.Duration(rand.Int64N(int64(time.Minute))))
					err := retry.Run(ctx, func(ctx context.Context) error { return w.attempt(ctx, cancel) }, policy)
					if err != nil && err.Error() == "an attempt without a key" {
						t.Error(err)
					}
				})
			}
			calls.Wait()
			require.NotZero(t, w.made.Load())
			w.settled(t)
		})
	}
}

// TestThrottlesTogetherByHand: the same with flows that their driver leaves at any step.
func TestThrottlesTogetherByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &tgWorld{pool: pool.New(1, 2, 3)}
		ended := map[retry.Action]int{}
		for range 300 {
			time.Sleep(10 * time.Second) // or Adaptive turns most of them away
			flow := w.policy().Begin(time.Now(), time.Now().Add(time.Minute), nil)
			step := flow.Next(t.Context(), time.Now())
			for step.Action != retry.Done && rand.IntN(6) > 0 {
				switch step.Action {
				case retry.Wait:
					time.Sleep(step.Delay)
					step = flow.Next(t.Context(), time.Now())
				case retry.Go:
					w.made.Add(1)
					o := throttle.Outcome{Class: throttle.Success}
					if rand.IntN(2) == 0 {
						o = throttle.Outcome{Err: errRec, Class: throttle.Class(rand.IntN(int(throttle.Skipped)))}
					}
					if o.Class == throttle.Throttled {
						o.Signal = throttle.Signal{Delay: time.Duration(rand.Int64N(int64(20 * time.Second))), HasDelay: true}
					}
					step = flow.Report(t.Context(), time.Now(), o)
				}
			}
			ended[step.Action]++
			if step.Action == retry.Go {
				w.made.Add(1)
			}
			flow.Abort(t.Context(), time.Now(), throttle.Unset)
		}
		require.Len(t, ended, 3, "in each of the three ways")
		w.settled(t)
	})
}
