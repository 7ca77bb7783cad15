package cenkalti_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/strategy/cenkalti"
)

// What v4's own tests ask of it, in our words and in both directions: a strategy of this module shown as a BackOff and driven by
// v4's functions (theirs), and a policy of v4 driven by this engine, by retry.Do and by the functions of this package (ours).

// wait is a strategy and a policy of v4 that wait the same.
type wait struct {
	strategy strategy.Strategy
	policy   func() backoff.BackOff
}

var (
	short = wait{strategy.Constant{Delay: ms}, func() backoff.BackOff { return backoff.NewConstantBackOff(ms) }}
	none  = wait{strategy.Constant{}, func() backoff.BackOff { return new(backoff.ZeroBackOff) }}
	never = wait{strategy.Func(func(strategy.State) (time.Duration, bool) { return 0, false }), func() backoff.BackOff { return new(backoff.StopBackOff) }}
	grow  = wait{strategy.Exponential{Base: 500 * ms, Factor: 1.5}, func() backoff.BackOff { return backoff.NewExponentialBackOff() }}
)

// drivers call op, with at most the given number of retries where that is not negative, in each of the ways there are.
func drivers(w wait, retries int) map[string]func(ctx context.Context, op func() (int, error)) (int, error) {
	limit := func(b backoff.BackOff) backoff.BackOff {
		if retries >= 0 {
			b = backoff.WithMaxRetries(b, uint64(retries))
		}
		return b
	}
	return map[string]func(ctx context.Context, op func() (int, error)) (int, error){
		"theirs": func(ctx context.Context, op func() (int, error)) (int, error) {
			return backoff.RetryWithData(op, backoff.WithContext(limit(strategy.ToBackOff(w.strategy)), ctx))
		},
		"theirs, limit outside": func(ctx context.Context, op func() (int, error)) (int, error) {
			return backoff.RetryWithData(op, limit(backoff.WithContext(strategy.ToBackOff(w.strategy), ctx)))
		},
		"theirs, timer": func(ctx context.Context, op func() (int, error)) (int, error) {
			return backoff.RetryNotifyWithTimerAndData(op, backoff.WithContext(limit(strategy.ToBackOff(w.strategy)), ctx), nil, new(zeroTimer))
		},
		"ours": func(ctx context.Context, op func() (int, error)) (int, error) {
			return cenkalti.RetryNotifyWithData(op, backoff.WithContext(limit(w.policy()), ctx), nil)
		},
		"ours, timer": func(ctx context.Context, op func() (int, error)) (int, error) {
			return cenkalti.RetryNotifyWithTimerAndData(op, limit(backoff.WithContext(w.policy(), ctx)), nil, new(zeroTimer))
		},
		"ours, both ways": func(ctx context.Context, op func() (int, error)) (int, error) {
			return cenkalti.RetryWithData(op, limit(backoff.WithContext(strategy.ToBackOff(w.strategy), ctx)))
		},
		"Do": func(ctx context.Context, op func() (int, error)) (int, error) {
			return retry.Do(ctx, func(context.Context) (int, error) { return op() }, cenkalti.Policy(func() backoff.BackOff { return limit(w.policy()) }))
		},
		"Do, mock clock": func(ctx context.Context, op func() (int, error)) (int, error) {
			return retry.Do(ctx, func(context.Context) (int, error) { return op() },
				cenkalti.Policy(func() backoff.BackOff { return limit(w.policy()) }), retry.WithClock(retrytest.NewClock()))
		},
		"Do, the context in the policy too": func(ctx context.Context, op func() (int, error)) (int, error) {
			return retry.Do(ctx, func(context.Context) (int, error) { return op() },
				cenkalti.Policy(func() backoff.BackOff { return backoff.WithContext(limit(w.policy()), ctx) }))
		},
	}
}

// eachDriver runs test for each of the drivers, on virtual time.
func eachDriver(t *testing.T, w wait, retries int, test func(t *testing.T, call func(context.Context, func() (int, error)) (int, error))) {
	t.Helper()
	for name, call := range drivers(w, retries) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, call) })
		})
	}
}

// Success at the third call, with its value.
func TestV4RetryWithData(t *testing.T) {
	for _, w := range []wait{short, none, grow} {
		eachDriver(t, w, -1, func(t *testing.T, call func(context.Context, func() (int, error)) (int, error)) {
			calls := 0
			v, err := call(t.Context(), func() (int, error) {
				if calls++; calls < 3 {
					return 1, errDown
				}
				return 42, nil
			})
			assert.NoError(t, err)
			assert.Equal(t, 42, v)
			assert.Equal(t, 3, calls)
		})
	}
}

func TestV4Retry(t *testing.T) {
	for _, call := range []func(func() error) error{
		func(op func() error) error {
			return backoff.RetryNotifyWithTimer(op, strategy.ToBackOff(grow.strategy), nil, new(zeroTimer))
		},
		func(op func() error) error {
			return cenkalti.RetryNotifyWithTimer(op, grow.policy(), nil, new(zeroTimer))
		},
	} {
		op, calls := failUntil(3)
		require.NoError(t, call(op))
		require.Equal(t, 3, *calls)
	}
}

// The operation cancels the context at its third call. v4 returns the context's error bare, and so does what stands in for it;
// retry.Do keeps the operation's error too.
func TestV4RetryContext(t *testing.T) {
	for name, call := range drivers(short, -1) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			calls := 0
			_, err := call(ctx, func() (int, error) {
				if calls++; calls == 3 {
					cancel()
				}
				return 0, errDown
			})
			require.ErrorIs(t, err, context.Canceled, name)
			require.Equal(t, 3, calls, name)
			require.Equal(t, strings.HasPrefix(name, "Do"), errors.Is(err, errDown), name)
			require.Equal(t, !strings.HasPrefix(name, "Do"), err == context.Canceled, name)
		})
	}
}

// Nil, an error, a mark, and a mark below another error.
func TestV4RetryPermanent(t *testing.T) {
	for _, x := range []struct {
		err     error
		retried bool
	}{
		{nil, false}, {io.EOF, true}, {cenkalti.Permanent(io.EOF), false}, {fmt.Errorf("wrapped: %w", backoff.Permanent(io.EOF)), false},
	} {
		eachDriver(t, grow, -1, func(t *testing.T, call func(context.Context, func() (int, error)) (int, error)) {
			calls := 0
			v, err := call(t.Context(), func() (int, error) {
				if calls++; calls > 1 {
					return -1, backoff.Permanent(errDown)
				}
				return 7, x.err
			})
			want, last := 7, io.EOF
			if x.retried {
				want, last = -1, errDown
			}
			if x.err == nil {
				assert.NoError(t, err)
			} else {
				assert.ErrorIs(t, err, last)
			}
			assert.Equal(t, want, v)
			assert.Equal(t, x.retried, calls == 2)
		})
	}
}

// v4's mark, and the same for this module's mark.
func TestV4Permanent(t *testing.T) {
	for _, mark := range []func(error) error{cenkalti.Permanent, retry.Permanent} {
		err := mark(errDown)
		require.True(t, errors.Unwrap(err) == errDown)
		require.ErrorIs(t, err, errDown)
		require.NotErrorIs(t, err, io.EOF)
		require.EqualError(t, err, "down")
		require.True(t, mark(nil) == nil)
	}
	require.ErrorAs(t, fmt.Errorf("wrapped: %w", cenkalti.Permanent(errDown)), new(*backoff.PermanentError))
}

// A policy with a context that is done says Stop.
func TestV4Context(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := cenkalti.WithContext(strategy.ToBackOff(short.strategy), ctx)
	require.True(t, b.Context() == ctx)
	require.Equal(t, ms, b.NextBackOff())
	cancel()
	require.Equal(t, cenkalti.Stop, b.NextBackOff())
}

// So many waits, then Stop for ever; Reset begins anew.
func TestV4MaxTriesHappy(t *testing.T) {
	n := 23
	list := strategy.Sequence{Delays: make([]time.Duration, n)}
	for name, b := range map[string]backoff.BackOff{
		"ours":          strategy.ToBackOff(list),
		"theirs around": backoff.WithMaxRetries(strategy.ToBackOff(none.strategy), uint64(n)),
		"alias":         cenkalti.WithMaxRetries(new(cenkalti.ZeroBackOff), uint64(n)),
	} {
		for range n / 2 {
			b.NextBackOff()
		}
		b.Reset()
		for range n {
			require.Zero(t, b.NextBackOff(), name)
		}
		for range 7 {
			require.Equal(t, backoff.Stop, b.NextBackOff(), name)
		}
		b.Reset()
		require.Zero(t, b.NextBackOff(), name)
	}
	eachDriver(t, none, n, func(t *testing.T, call func(context.Context, func() (int, error)) (int, error)) {
		calls := 0
		_, err := call(t.Context(), func() (int, error) { calls++; return 0, errDown })
		assert.ErrorIs(t, err, errDown)
		assert.Equal(t, n+1, calls)
	})
}

// No retries are one call.
func TestV4MaxTriesZero(t *testing.T) {
	for _, x := range []struct {
		w       wait
		retries int
	}{{none, 0}, {never, -1}, {never, 5}} {
		eachDriver(t, x.w, x.retries, func(t *testing.T, call func(context.Context, func() (int, error)) (int, error)) {
			calls := 0
			_, err := call(t.Context(), func() (int, error) { calls++; return 0, errDown })
			assert.ErrorIs(t, err, errDown)
			assert.Equal(t, 1, calls)
		})
	}
}

func TestV4Ticker(t *testing.T) { tickUntilDone(t, new(zeroTimer)) }

// A nil Timer is the system's.
func TestV4TickerDefaultTimer(t *testing.T) { tickUntilDone(t, nil) }

func tickUntilDone(t *testing.T, timer backoff.Timer) {
	synctest.Test(t, func(t *testing.T) {
		for name, start := range tickers {
			ticker := start(strategy.ToBackOff(grow.strategy), timer)
			op, calls := failUntil(3)
			for range ticker.c {
				if op() == nil {
					ticker.stop()
					break
				}
			}
			require.Equal(t, 3, *calls, name)
			synctest.Wait()
		}
	})
}

// One tick at least, even if the context is done.
func TestV4TickerContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, start := range tickers {
			ticks := 0
			for range start(cenkalti.WithContext(strategy.ToBackOff(none.strategy), cancelled(nil)), new(zeroTimer)).c {
				ticks++
			}
			require.Equal(t, 1, ticks, name)
		}
		synctest.Wait()
	})
}

// 500 ms, doubled up to 5 s, a tenth more or less; here never above the 5 s.
func TestV4BackOff(t *testing.T) {
	s := strategy.Exponential{Base: 500 * ms, Max: 5 * time.Second}
	var highest time.Duration
	for range 50 {
		b := strategy.ToBackOff(s, strategy.WithJitter(strategy.Proportional(0.1)))
		for _, middle := range []time.Duration{500 * ms, time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second, 5 * time.Second} {
			d := b.NextBackOff()
			require.GreaterOrEqual(t, d, middle-middle/10)
			require.LessOrEqual(t, d, min(middle+middle/10, 5*time.Second))
			highest = max(highest, d)
		}
	}
	require.NotEqual(t, 5*time.Second, highest, "draws do not gather at the cap")
}

func TestV4BackOffOverflow(t *testing.T) {
	half := time.Duration(math.MaxInt64 / 2)
	b := strategy.ToBackOff(strategy.Exponential{Base: half, Factor: 2.1})
	require.Equal(t, half, b.NextBackOff())
	for range 100 {
		require.Equal(t, time.Duration(math.MaxInt64), b.NextBackOff())
	}

	huge := strategy.FromBackOff(func() strategy.BackOff {
		return backoff.NewExponentialBackOff(backoff.WithInitialInterval(half), backoff.WithMultiplier(2.1), backoff.WithMaxInterval(math.MaxInt64), backoff.WithMaxElapsedTime(0))
	})
	for range 50 {
		for i, d := range strategy.Delays(huge, 5, nil) {
			require.GreaterOrEqual(t, d, time.Duration(0), "wait %d", i)
		}
	}
}

// v4 measures by its own Clock, which is the engine's here.
func TestV4GetElapsedTime(t *testing.T) { elapsed(t, backoff.Stop, 10, 10) }

func TestV4MaxElapsedTime(t *testing.T) { elapsed(t, backoff.Stop, 10, 10) }

// A RetryStopDuration that is not Stop is a wait like any other, one below 0 no wait at all: only the operation ends such a
// call. With retry.Do, which knows no wait below 0, that is an end.
func TestV4CustomStop(t *testing.T) {
	elapsed(t, ms, 2000, 2000)
	elapsed(t, -7, 2000, 10)
}

// elapsed holds how many retries v4's functions and retry.Do make for a policy of ten times a second and the given stop.
func elapsed(t *testing.T, stop time.Duration, v4s, dos int) {
	t.Helper()
	{
		clk := retrytest.NewClock()
		began := clk.Now()
		var made *backoff.ExponentialBackOff
		policy := func() backoff.BackOff {
			made = backoff.NewExponentialBackOff(backoff.WithInitialInterval(time.Second), backoff.WithMultiplier(1), backoff.WithRandomizationFactor(0),
				backoff.WithMaxElapsedTime(10*time.Second), backoff.WithClockProvider(clk), backoff.WithRetryStopDuration(stop))
			return made
		}
		calls := 0
		op := func(context.Context) error {
			if calls++; calls > 2000 {
				return nil
			}
			return errDown
		}
		err := retry.Run(t.Context(), op, cenkalti.Policy(policy), retry.WithClock(clk))
		require.Equal(t, dos > 10, err == nil)
		require.Equal(t, dos, calls-1)
		require.Equal(t, clk.Now().Sub(began), made.GetElapsedTime())

		calls, clk = 0, retrytest.NewClock()
		began = clk.Now()
		err = cenkalti.Retry(func() error { return op(nil) }, cenkalti.WithContext(policy(), retry.ContextWithClock(t.Context(), clk)))
		require.Equal(t, v4s > 10, err == nil)
		require.Equal(t, v4s, calls-1)
		require.Equal(t, 10*time.Second+max(stop, 0)*time.Duration(v4s-10), clk.Now().Sub(began))
	}
}

func TestV4NextBackOffMillis(t *testing.T) { sameWaits(t, none, never) }

func TestV4ConstantBackOff(t *testing.T) {
	sameWaits(t, short, wait{strategy.Constant{Delay: time.Hour}, func() backoff.BackOff { return cenkalti.NewConstantBackOff(time.Hour) }})
}

func sameWaits(t *testing.T, waits ...wait) {
	t.Helper()
	for _, w := range waits {
		ours, theirs := strategy.ToBackOff(w.strategy), w.policy()
		back := strategy.FromBackOff(func() strategy.BackOff { return w.policy() })
		require.Equal(t, strategy.Delays(w.strategy, 10, nil), strategy.Delays(back, 10, nil))
		for range 10 {
			require.Equal(t, theirs.NextBackOff(), ours.NextBackOff())
		}
	}
}

// A factor of 0.5 makes 2 ns into 1, 2 or 3 ns, as often each.
func TestV4GetRandomizedInterval(t *testing.T) {
	count := map[time.Duration]int{}
	for i := range 3000 {
		b := strategy.ToBackOff(strategy.Constant{Delay: 2}, strategy.WithJitter(strategy.Proportional(0.5)),
			strategy.WithRand(func() float64 { return (float64(i) + 0.5) / 3000 }))
		count[b.NextBackOff()]++
	}
	require.Equal(t, map[time.Duration]int{1: 1000, 2: 1000, 3: 1000}, count)
}

// The same parameters, no jitter: the same waits, to the nanosecond for whole factors. Otherwise v4 cuts a fraction of a
// nanosecond off at each step, and goes on from there.
func TestSameWaitsAsV4(t *testing.T) {
	for _, factor := range []float64{1, 1.1, 1.5, 2, 2.5, 3, 10} {
		for _, base := range []time.Duration{ms, 500 * ms, time.Hour} {
			for _, most := range []time.Duration{time.Hour, 1000 * time.Hour} {
				theirs := backoff.NewExponentialBackOff(backoff.WithInitialInterval(base), backoff.WithMultiplier(factor), backoff.WithMaxInterval(most),
					backoff.WithRandomizationFactor(0), backoff.WithMaxElapsedTime(0))
				ours := strategy.ToBackOff(strategy.Exponential{Base: base, Factor: factor, Max: most})
				cut := 0.0
				for i := range 200 {
					a, b := theirs.NextBackOff(), ours.NextBackOff()
					if factor == math.Trunc(factor) {
						require.Equal(t, a, b, "wait %d of %v times %v up to %v", i, base, factor, most)
						continue
					}
					allowed := 1e-9 * float64(b)
					if base < time.Hour {
						allowed += cut
					}
					require.InDelta(t, float64(b), float64(a), allowed, "wait %d of %v times %v up to %v", i, base, factor, most)
					cut = min(cut*factor+1, float64(most))
				}
			}
		}
	}
}
