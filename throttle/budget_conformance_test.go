package throttle_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// budgets are the implementations that every run of the conformance tests makes anew.
var budgets = map[string]func() throttle.Budget{
	"Token":        func() throttle.Budget { return throttle.NewTokenBudget() },
	"Token/legacy": func() throttle.Budget { return &throttle.TokenBudget{RetryCost: 5, TimeoutCost: 10} },
	"Token/small":  func() throttle.Budget { return &throttle.TokenBudget{Capacity: 3, RetryCost: 1, ThrottledCost: 2} },
	"Token/dear":   func() throttle.Budget { return &throttle.TokenBudget{Capacity: 3} },
	"Token/huge": func() throttle.Budget {
		return &throttle.TokenBudget{Capacity: math.MaxInt, RetryCost: math.MaxInt, Reward: math.MaxInt}
	},
	"Token/negative": func() throttle.Budget {
		return &throttle.TokenBudget{Capacity: -1, RetryCost: -1, ThrottledCost: -1, Reward: -1}
	},
	"Failure":       func() throttle.Budget { return throttle.NewFailureBudget() },
	"Failure/most":  func() throttle.Budget { return &throttle.FailureBudget{MaxTokens: 1000, TokenRatio: 1000} },
	"Failure/least": func() throttle.Budget { return &throttle.FailureBudget{MaxTokens: 0.0001, TokenRatio: 5e-324} },
	"Failure/wrong": func() throttle.Budget { return &throttle.FailureBudget{MaxTokens: math.NaN(), TokenRatio: math.Inf(1)} },
	"Ratio":         func() throttle.Budget { return throttle.NewRatioBudget() },
	"Ratio/finagle": func() throttle.Budget { return &throttle.RatioBudget{MinPerSecond: 10} },
	"Ratio/floor":   func() throttle.Budget { return &throttle.RatioBudget{Ratio: -1, MinPerSecond: 0.5} },
	"Ratio/nothing": func() throttle.Budget { return &throttle.RatioBudget{Ratio: -1, MinPerSecond: -1} },
	"Ratio/short":   func() throttle.Budget { return &throttle.RatioBudget{TTL: 1} },
	"Ratio/extreme": func() throttle.Budget {
		return &throttle.RatioBudget{Ratio: 5e-324, MinPerSecond: math.MaxFloat64, TTL: longest}
	},
	"Ratio/generous": func() throttle.Budget {
		return &throttle.RatioBudget{Ratio: 1000, MinPerSecond: math.Inf(1), TTL: longest}
	},
	"Ratio/wrong": func() throttle.Budget {
		return &throttle.RatioBudget{Ratio: math.NaN(), MinPerSecond: math.NaN(), TTL: -1}
	},
	"InFlight":       func() throttle.Budget { return throttle.NewInFlightBudget() },
	"InFlight/share": func() throttle.Budget { return &throttle.InFlightBudget{Ratio: 0.5, MinRetries: -1} },
	"InFlight/few":   func() throttle.Budget { return &throttle.InFlightBudget{Ratio: -1, MinRetries: 1} },
	"InFlight/none":  func() throttle.Budget { return &throttle.InFlightBudget{Ratio: math.Inf(-1), MinRetries: math.MinInt} },
	"InFlight/wrong": func() throttle.Budget { return &throttle.InFlightBudget{Ratio: math.NaN(), MinRetries: math.MaxInt} },
	"nil Token":      func() throttle.Budget { return (*throttle.TokenBudget)(nil) },
	"nil Failure":    func() throttle.Budget { return (*throttle.FailureBudget)(nil) },
	"nil Ratio":      func() throttle.Budget { return (*throttle.RatioBudget)(nil) },
	"nil InFlight":   func() throttle.Budget { return (*throttle.InFlightBudget)(nil) },
}

// requireSoundBudget requires what holds of a budget at any time, with calls under way or not.
func requireSoundBudget(t *testing.T, name string, b throttle.Budget, now time.Time, active int) {
	t.Helper()
	switch b := b.(type) {
	case *throttle.TokenBudget:
		if b != nil {
			require.GreaterOrEqual(t, b.Tokens(), 0, name)
			most := b.Capacity
			if most <= 0 {
				most = 500
			}
			require.LessOrEqual(t, b.Tokens(), most, name)
		}
	case *throttle.FailureBudget:
		if b != nil {
			require.GreaterOrEqual(t, b.Tokens(), 0.0, name)
			require.LessOrEqual(t, b.Tokens(), 1000.0, name)
		}
	case *throttle.RatioBudget:
		require.GreaterOrEqual(t, b.Balance(now), 0, name)
	case *throttle.InFlightBudget:
		if b != nil {
			require.Equal(t, active, b.Active(), name)
		}
		require.GreaterOrEqual(t, b.Retrying(), 0, name)
		require.LessOrEqual(t, b.Retrying(), active, name)
	default:
		require.Fail(t, "unknown budget", "%T", b)
	}
}

// TestBudgetConforms plays calls at random, several at a time, with classes and times of every kind, as an executor would.
func TestBudgetConforms(t *testing.T) {
	moments := []time.Time{{}, t0, time.Unix(math.MinInt64, 0), time.Unix(math.MaxInt64, 999_999_999), time.Unix(1<<62, 0)}
	for name, fresh := range budgets {
		for seed := range uint64(5) {
			b, now, r := fresh(), time.Now(), rand.New(rand.NewPCG(seed, 7))
			var held []int // of every call under way
			for range 500 {
				switch r.IntN(50) {
				case 0:
					now = moments[r.IntN(len(moments))]
				case 1:
					now = now.Add(-time.Duration(r.Int64N(int64(time.Minute))))
				default:
					now = now.Add(time.Duration(r.Int64N(int64(sec))))
				}
				i, last := 0, r.IntN(4) == 0
				if len(held) > 0 {
					i = r.IntN(len(held))
				}
				switch {
				case len(held) == 0 || len(held) < 20 && r.IntN(3) == 0:
					b.Start(now)
					held = append(held, 0)
				case r.IntN(2) == 0:
					cost, ok := b.Charge(now, throttle.Class(r.UintN(11)), held[i], last)
					require.GreaterOrEqual(t, cost, 0, name)
					require.False(t, last && ok, "%s: a retry where none follows", name)
					if held[i] = cost; ok {
						break
					}
					fallthrough
				default:
					b.Settle(now, r.IntN(2) == 0, held[i])
					held = append(held[:i], held[i+1:]...)
				}
				requireSoundBudget(t, name, b, now, len(held))
			}
			for _, held := range held {
				b.Settle(now, false, held)
			}
			requireSoundBudget(t, name, b, now, 0)
		}
	}
}

// TestBudgetNil: a nil budget limits nothing.
func TestBudgetNil(t *testing.T) {
	for name, fresh := range budgets {
		if b := fresh(); name[:3] == "nil" {
			require.NoError(t, b.(interface{ Validate() error }).Validate(), name)
			for range 1000 {
				_, ok := b.Charge(t0, throttle.Transient, 0, false)
				require.True(t, ok, name)
			}
		}
	}
	assert.Zero(t, (*throttle.TokenBudget)(nil).Tokens())
	assert.Zero(t, (*throttle.FailureBudget)(nil).Tokens())
	assert.Zero(t, (*throttle.RatioBudget)(nil).Balance(t0))
	assert.Zero(t, (*throttle.InFlightBudget)(nil).Active())
}

// watched counts what an executor tells a budget, and is one.
type watched struct {
	throttle.Budget
	mu                      sync.Mutex
	started, settled, costs int
}

func (w *watched) Start(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started++
	w.Budget.Start(now)
}

func (w *watched) Charge(now time.Time, c throttle.Class, held int, last bool) (int, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	cost, ok := w.Budget.Charge(now, c, held, last)
	w.costs += cost
	return cost, ok
}

func (w *watched) Settle(now time.Time, success bool, held int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settled++
	w.Budget.Settle(now, success, held)
}

// TestBudgetIsBalancedHoweverCallsEnd: Settle follows every Start, and nothing of a call is left in the budget.
func TestBudgetIsBalancedHoweverCallsEnd(t *testing.T) {
	type fn = func(context.Context) error
	failing := func(context.Context) error { return boom }
	refusing := throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, boom })
	late := 0
	lateRefusal := throttle.Func(func(context.Context, time.Time) (time.Duration, error) {
		if late++; late%2 == 0 {
			return 0, boom
		}
		return 0, nil
	})
	ends := map[string]func(ctx context.Context, cancel func(), run func(fn, ...retry.Option)){
		"success": func(_ context.Context, _ func(), run func(fn, ...retry.Option)) {
			run(func(context.Context) error { return nil })
		},
		"exhausted": func(_ context.Context, _ func(), run func(fn, ...retry.Option)) { run(failing) },
		"permanent": func(_ context.Context, _ func(), run func(fn, ...retry.Option)) {
			run(func(context.Context) error { return retry.Permanent(boom) })
		},
		"late success": func(_ context.Context, _ func(), run func(fn, ...retry.Option)) {
			n := 0
			run(func(context.Context) error {
				if n++; n < 3 {
					return boom
				}
				return nil
			})
		},
		"panic in a retry": func(_ context.Context, _ func(), run func(fn, ...retry.Option)) {
			n := 0
			run(func(context.Context) error {
				if n++; n == 2 {
					panic("x")
				}
				return boom
			})
		},
		"goexit in a retry": func(_ context.Context, _ func(), run func(fn, ...retry.Option)) {
			n := 0
			run(func(context.Context) error {
				if n++; n == 2 {
					runtime.Goexit()
				}
				return boom
			})
		},
		"canceled": func(_ context.Context, cancel func(), run func(fn, ...retry.Option)) {
			run(func(context.Context) error { cancel(); return boom })
		},
		"canceled before its retry": func(_ context.Context, cancel func(), run func(fn, ...retry.Option)) {
			run(failing, retry.WithOnRetry(func(context.Context, retry.Event) { cancel() }))
		},
		"refused": func(_ context.Context, _ func(), run func(fn, ...retry.Option)) {
			run(failing, retry.WithThrottle(refusing))
		},
		"refused at its retry": func(_ context.Context, _ func(), run func(fn, ...retry.Option)) {
			run(failing, retry.WithThrottle(lateRefusal))
		},
		"before retry": func(_ context.Context, _ func(), run func(fn, ...retry.Option)) {
			run(failing, retry.WithBeforeRetry(func(context.Context, retry.Event) error { return boom }))
		},
	}
	for name, fresh := range budgets {
		w := &watched{Budget: fresh()}
		for range 3 {
			for _, end := range ends {
				ctx, cancel := context.WithCancel(t.Context())
				var wg sync.WaitGroup
				wg.Go(func() {
					defer func() { _ = recover() }()
					end(ctx, cancel, func(fn fn, opts ...retry.Option) {
						_ = retry.Run(ctx, fn, append([]retry.Option{retry.WithStrategy(strategy.Constant{}), retry.WithBudget(w)}, opts...)...)
					})
				})
				wg.Wait()
				cancel()
				require.Equal(t, w.started, w.settled, name)
			}
		}
		require.Equal(t, 3*len(ends), w.started, name)
		requireSoundBudget(t, name, w.Budget, time.Now(), 0)
	}
}

// TestBudgetDoesNotAllocate, except for the window that a RatioBudget begins with.
func TestBudgetDoesNotAllocate(t *testing.T) {
	for name, fresh := range budgets {
		b, now := fresh(), t0
		assert.Zero(t, testing.AllocsPerRun(200, func() {
			now = now.Add(time.Second)
			b.Start(now)
			held, _ := b.Charge(now, throttle.Transient, 0, false)
			held, _ = b.Charge(now, throttle.Throttled, held, false)
			b.Settle(now, true, held)
			b.Start(now)
			b.Settle(now, false, 0)
		}), name)
	}
}

// TestBudgetDrainedRefills is P39: a bucket that was drained once must not disable retries for good.
func TestBudgetDrainedRefills(t *testing.T) {
	for _, c := range []struct {
		name      string
		budget    throttle.Budget
		class     throttle.Class
		successes int
	}{
		{"Token", throttle.NewTokenBudget(), throttle.Throttled, 14}, // to the last token: 500 is 100 times 5
		{"Token/legacy", &throttle.TokenBudget{RetryCost: 5, TimeoutCost: 10}, throttle.Timeout, 5},
		{"Failure", throttle.NewFailureBudget(), throttle.Transient, 61}, // more than 10/2+1 tokens, at 0.1 each
		{"Ratio", &throttle.RatioBudget{MinPerSecond: -1}, throttle.Transient, 5},
		{"Ratio/floor", throttle.NewRatioBudget(), throttle.Transient, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 3 {
				for range 10_000 {
					c.budget.Start(t0)
					cost, _ := c.budget.Charge(t0, c.class, 0, false)
					c.budget.Settle(t0, false, cost)
				}
				for range c.successes - 1 {
					c.budget.Start(t0)
					c.budget.Settle(t0, true, 0)
				}
				require.False(t, retried(c.budget), "one success before")
				if _, counts := c.budget.(*throttle.FailureBudget); counts { // asking took a token
					for range 10 {
						c.budget.Settle(t0, true, 0)
					}
				}
				c.budget.Settle(t0, true, 0)
				require.True(t, retried(c.budget))
			}
		})
	}
}

// retried reports whether a failure now would be followed by a retry.
func retried(b throttle.Budget) bool {
	b.Start(t0)
	_, ok := b.Charge(t0, throttle.Transient, 0, false)
	b.Settle(t0, false, 0)
	return ok
}

// TestBudgetValidate: a policy refuses what cannot be used, and the error names the field.
func TestBudgetValidate(t *testing.T) {
	for _, c := range []struct {
		budget  throttle.Budget
		field   string
		value   any
		problem string
	}{
		{&throttle.TokenBudget{Capacity: -1}, "TokenBudget.Capacity", -1, "must not be negative"},
		{&throttle.TokenBudget{RetryCost: -2}, "TokenBudget.RetryCost", -2, "must not be negative"},
		{&throttle.TokenBudget{TimeoutCost: -3}, "TokenBudget.TimeoutCost", -3, "must not be negative"},
		{&throttle.TokenBudget{ThrottledCost: -4}, "TokenBudget.ThrottledCost", -4, "must not be negative"},
		{&throttle.TokenBudget{Reward: -5}, "TokenBudget.Reward", -5, "must not be negative"},
		{&throttle.TokenBudget{Capacity: 13}, "TokenBudget.Capacity", int64(13), "must not be below what a retry costs"},
		{&throttle.TokenBudget{TimeoutCost: 501}, "TokenBudget.Capacity", int64(500), "must not be below what a retry costs"},
		{&throttle.TokenBudget{ThrottledCost: 501}, "TokenBudget.Capacity", int64(500), "must not be below what a retry costs"},
		{&throttle.FailureBudget{MaxTokens: -1}, "FailureBudget.MaxTokens", -1.0, "must be from 0.001 to 1000"},
		{&throttle.FailureBudget{MaxTokens: 1000.001}, "FailureBudget.MaxTokens", 1000.001, "must be from 0.001 to 1000"},
		{&throttle.FailureBudget{TokenRatio: 0.0009}, "FailureBudget.TokenRatio", 0.0009, "must be from 0.001 to 1000"},
		{&throttle.FailureBudget{TokenRatio: math.Inf(1)}, "FailureBudget.TokenRatio", math.Inf(1), "must be from 0.001 to 1000"},
		{&throttle.RatioBudget{Ratio: 1000.5}, "RatioBudget.Ratio", 1000.5, "must be at most 1000"},
		{&throttle.RatioBudget{Ratio: -1, MinPerSecond: -1}, "RatioBudget.Ratio", -1.0, "must not be none where MinPerSecond is none too"},
		{&throttle.RatioBudget{MinPerSecond: math.Inf(1)}, "RatioBudget.MinPerSecond", math.Inf(1), "must be a finite number"},
		{&throttle.RatioBudget{TTL: -1}, "RatioBudget.TTL", time.Duration(-1), "must not be negative"},
		{&throttle.InFlightBudget{Ratio: 1.5}, "InFlightBudget.Ratio", 1.5, "must be at most 1"},
		{&throttle.InFlightBudget{Ratio: -1, MinRetries: -1}, "InFlightBudget.Ratio", -1.0, "must not be none where MinRetries is none too"},
	} {
		var bad *throttle.ConfigError
		_, err := retry.New(retry.WithBudget(c.budget))
		require.ErrorAs(t, err, &bad, "%+v", c.budget)
		require.Equal(t, throttle.ConfigError{Field: c.field, Value: c.value, Problem: c.problem}, *bad)
	}
	for _, b := range []throttle.Budget{
		&throttle.FailureBudget{MaxTokens: math.NaN()}, &throttle.RatioBudget{Ratio: math.NaN()},
		&throttle.RatioBudget{MinPerSecond: math.NaN()}, &throttle.InFlightBudget{Ratio: math.NaN()},
	} {
		require.Error(t, b.(interface{ Validate() error }).Validate(), "%+v", b)
	}
	for _, b := range []throttle.Budget{
		throttle.NewTokenBudget(), throttle.NewFailureBudget(), throttle.NewRatioBudget(), throttle.NewInFlightBudget(),
		&throttle.TokenBudget{Capacity: 14}, &throttle.FailureBudget{MaxTokens: 1000, TokenRatio: 0.001},
		&throttle.RatioBudget{Ratio: -1}, &throttle.RatioBudget{MinPerSecond: -1, Ratio: 1000}, &throttle.RatioBudget{MinPerSecond: math.Inf(-1)},
		&throttle.InFlightBudget{Ratio: -1}, &throttle.InFlightBudget{Ratio: 1, MinRetries: -1},
	} {
		_, err := retry.New(retry.WithBudget(b))
		require.NoError(t, err, "%+v", b)
	}
}
