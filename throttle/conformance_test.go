package throttle_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// throttles are the implementations that every run of the conformance tests makes anew.
var throttles = map[string]func() throttle.Throttle{
	"Func/nil":     func() throttle.Throttle { return throttle.Func(nil) },
	"Func/go":      func() throttle.Throttle { return answering(0, nil) },
	"Func/wait":    func() throttle.Throttle { return answering(sec, nil) },
	"Func/refuse":  func() throttle.Throttle { return answering(0, boom) },
	"Func/extreme": func() throttle.Throttle { return answering(math.MinInt64, nil) },
	"Gate.For":     func() throttle.Throttle { return new(throttle.Gate).For("a", "b", "a", "") },
	"Gate.For/none": func() throttle.Throttle {
		return new(throttle.Gate).For()
	},
	"Gate.For/replace": func() throttle.Throttle {
		return (&throttle.Gate{Replace: true, Spread: longest, MaxCooldown: longest, MaxKeys: 1}).For("a", "b")
	},
	"Gate.For/nil": func() throttle.Throttle { return (*throttle.Gate)(nil).For("a") },
	"Gate.For/wrong": func() throttle.Throttle {
		return (&throttle.Gate{MaxCooldown: -1, MaxKeys: -1, Rand: always(math.NaN())}).For("a")
	},
	"Gate.By": func() throttle.Throttle { return new(throttle.Gate).By(tenantOf) },
	"Pace":    func() throttle.Throttle { return throttle.Pace(seedPacer()) },
	"Pace/limits": func() throttle.Throttle {
		return throttle.Pace(&strategy.Pacer{MaxAttempts: 3, MaxDuration: time.Hour, TimeoutShare: 0.5, JitterFactor: 1})
	},
	"Pace/extreme": func() throttle.Throttle { return throttle.Pace(&noting{delay: longest}) },
	"Pace/over":    func() throttle.Throttle { return throttle.Pace(&noting{delay: math.MinInt64, over: true}) },
	"Pace/nil":     func() throttle.Throttle { return throttle.Pace(nil) },
	"Pool":         func() throttle.Throttle { return pool.New("a", "b", "c") },
	"Pool/random": func() throttle.Throttle {
		p := pool.New("a")
		p.Selection, p.Jitter = pool.Random, strategy.Full
		return p
	},
	"Pool/extreme": func() throttle.Throttle {
		p := pool.New(1, 2)
		p.Base, p.Max, p.MaxCooldown, p.Spread, p.Selection, p.Rand = 1, longest, longest, longest, pool.LeastRecentlyUsed, always(math.NaN())
		return p
	},
	"Pool/wrong": func() throttle.Throttle {
		p := pool.New(1)
		p.Base, p.Max, p.MaxCooldown, p.Spread, p.Selection, p.Rand = -1, -1, -1, -1, 77, always(math.Inf(1))
		p.Jitter = func(time.Duration, time.Duration, float64) time.Duration { return math.MinInt64 }
		return p
	},
	"Pool/empty":  func() throttle.Throttle { return pool.New[int]() },
	"Pool/nil":    func() throttle.Throttle { return (*pool.Pool[int])(nil) },
	"Gate.By/nil": func() throttle.Throttle { return new(throttle.Gate).By(nil) },
	"Adaptive":    func() throttle.Throttle { return new(throttle.Adaptive) },
	"Adaptive/wrong": func() throttle.Throttle {
		return &throttle.Adaptive{K: math.NaN(), Window: -1, Pending: -1, Rand: always(math.NaN())}
	},
	"Adaptive/infinite": func() throttle.Throttle { return &throttle.Adaptive{K: math.Inf(1), Rand: always(math.Inf(1))} },
	"Adaptive/short":    func() throttle.Throttle { return &throttle.Adaptive{Window: 1, Pending: 1} },
	"Adaptive/nil":      func() throttle.Throttle { return (*throttle.Adaptive)(nil) },
	"Limit": func() throttle.Throttle {
		return throttle.Limit(limiterFunc(func(context.Context) error { return nil }))
	},
	"Limit/refuse": func() throttle.Throttle {
		return throttle.Limit(limiterFunc(func(context.Context) error { return boom }))
	},
	"Limit/context": func() throttle.Throttle { return throttle.Limit(limiterFunc(context.Context.Err)) },
	"Limit/nil":     func() throttle.Throttle { return throttle.Limit(nil) },
	"Reserve":       func() throttle.Throttle { return throttle.Reserve(places{}.reserve) },
	"Reserve/every": func() throttle.Throttle { return throttle.Reserve(places{sec}.reserve) },
	"Reserve/none":  func() throttle.Throttle { return throttle.Reserve(func(time.Time, int) *place { return nil }) },
	"Reserve/never": func() throttle.Throttle { return throttle.Reserve(places{longest}.reserve) },
	"Reserve/nil":   func() throttle.Throttle { return throttle.Reserve[*place](nil) },
	"Breaker":       func() throttle.Throttle { return throttle.Breaker{Allow: new(probes).allow} },
	"Breaker/open": func() throttle.Throttle {
		return throttle.Breaker{Allow: func() (func(error), error) { return nil, boom }}
	},
	"Breaker/undone": func() throttle.Throttle {
		return throttle.Breaker{Allow: func() (func(error), error) { return nil, nil }}
	},
	"Breaker/nil": func() throttle.Throttle { return throttle.Breaker{Allow: nil} },
}

func answering(wait time.Duration, err error) throttle.Throttle {
	return throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return wait, err })
}

// TestThrottleConforms plays calls at random, with times, contexts, tickets and outcomes of every kind, and requires
// that nothing blocks or panics and that looking changes nothing.
func TestThrottleConforms(t *testing.T) {
	for name, fresh := range throttles {
		for seed := range uint64(20) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				play(t, fresh(), rand.New(rand.NewPCG(seed, 7)), 200)
				assert.Equal(t, start, time.Now(), "%s: blocked, and time passed", name)
			})
		}
	}
}

// TestConcurrentSafeThrottles is for the race detector.
func TestConcurrentSafeThrottles(t *testing.T) {
	for _, fresh := range throttles {
		th := fresh()
		var wg sync.WaitGroup
		for seed := range uint64(4) {
			wg.Go(func() { play(t, th, rand.New(rand.NewPCG(seed, 7)), 40) })
		}
		wg.Wait()
	}
}

func play(t *testing.T, th throttle.Throttle, r *rand.Rand, calls int) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	contexts := []context.Context{
		nil, context.Background(), done,
		context.WithValue(context.Background(), tenant{}, throttle.Key("a")),
		context.WithValue(done, tenant{}, throttle.Key("b")),
	}
	moments := []time.Time{{}, time.Now(), t0, time.Unix(math.MinInt64, 0), time.Unix(math.MaxInt64, 999_999_999), time.Unix(1<<62, 0)}
	delays := []time.Duration{math.MinInt64, -1, 0, 1, 15, ms, sec, 30 * sec, time.Hour, longest}
	now := time.Now()
	look := func(ctx context.Context, ticket throttle.Ticket) {
		if p, ok := th.(throttle.Planner); ok {
			assert.GreaterOrEqual(t, p.Ready(ctx, now), time.Duration(0))
		}
		if e, ok := th.(throttle.Explainer); ok {
			if refusal := e.Explain(ctx, now); refusal != nil {
				assert.Positive(t, refusal.Remaining)
				assert.NotEmpty(t, refusal.Error())
			}
		}
		if l, ok := th.(throttle.Labeler); ok {
			l.Label(ticket)
		}
	}
	for range calls {
		ctx := contexts[r.IntN(len(contexts))]
		switch r.IntN(8) {
		case 0:
			now = moments[r.IntN(len(moments))]
		case 1:
			now = now.Add(-time.Duration(r.Int64N(int64(sec))))
		default:
			now = now.Add(time.Duration(r.Int64N(int64(20 * sec))))
		}
		var ticket throttle.Ticket
		given, admitted := false, false
		for range 1 + r.IntN(3) {
			look(ctx, ticket)
			next, wait, err := th.Admit(ctx, now, ticket)
			if err != nil {
				break
			}
			ticket, given, admitted = next, true, wait <= 0
			if admitted {
				break
			}
			if r.IntN(3) > 0 {
				now = now.Add(wait)
			}
		}
		if !given {
			continue // refused at the first question: there is nothing to end
		}
		if a, ok := th.(throttle.Attacher); ok && admitted {
			assert.NotNil(t, a.Attach(context.Background(), ticket))
		}
		o := throttle.Outcome{Class: throttle.Class(r.UintN(11)), Number: 1 + r.IntN(5), Duration: delays[r.IntN(len(delays))]}
		if !admitted {
			o.Class = throttle.Skipped
		}
		o.Signal = throttle.Signal{Delay: delays[r.IntN(len(delays))], HasDelay: r.IntN(3) == 0, Source: "test"}
		o.Err = []error{nil, boom, errors.Join(boom), (*nilError)(nil)}[r.IntN(4)]
		th.Done(ctx, now, ticket, o)
		look(ctx, nil)
	}
}

// pausing are those that hold back after a success as well.
var pausing = map[string]bool{"Pace": true, "Pace/extreme": true, "Reserve/every": true, "Reserve/never": true}

// TestThrottleConformsWhenOpen holds every throttle that let an attempt pass to letting it pass again.
func TestThrottleConformsWhenOpen(t *testing.T) {
	for name, fresh := range throttles {
		if pausing[name] {
			continue
		}
		th := fresh()
		ticket, wait, err := th.Admit(t.Context(), t0, nil)
		if err != nil || wait > 0 {
			continue
		}
		th.Done(t.Context(), t0, ticket, throttle.Outcome{Class: throttle.Success, Number: 1})
		if p, ok := th.(throttle.Planner); ok {
			assert.Zero(t, p.Ready(t.Context(), t0), name)
		}
		_, wait, err = th.Admit(t.Context(), t0, nil)
		require.NoError(t, err, name)
		require.LessOrEqual(t, wait, time.Duration(0), name)
	}
}
