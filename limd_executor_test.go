package retry_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

var errLIMD = errors.New("too many requests")

// limdPace is the seed system's illustration.
func limdPace() *strategy.LIMD {
	return &strategy.LIMD{Initial: 2 * time.Second, IncrementOnFailure: 4 * time.Second, MultipleOnSuccess: 0.2, Min: time.Second}
}

// limdCalls makes calls of which each attempt fails or not, by the letters f and s, and returns the waits before each
// attempt but the first of a call, and the level after each attempt that ended with a retry or a success.
func limdCalls(t *testing.T, pace *strategy.LIMD, script string, opts ...retry.Option) (waits, levels []time.Duration) {
	policy := retry.MustNew(append([]retry.Option{retry.WithUnlimitedAttempts(), retry.WithStrategy(pace)}, opts...)...)
	for len(script) > 0 {
		last := time.Time{}
		require.NoError(t, retry.Run(t.Context(), func(context.Context) error {
			if !last.IsZero() {
				waits, levels = append(waits, time.Since(last)), append(levels, pace.Level())
			}
			last = time.Now()
			fails := script[0] == 'f'
			script = script[1:]
			if fails {
				return errLIMD
			}
			return nil
		}, policy))
		levels = append(levels, pace.Level())
	}
	return waits, levels
}

func limdSeconds(all ...float64) (durations []time.Duration) {
	for _, s := range all {
		durations = append(durations, time.Duration(s*float64(time.Second)))
	}
	return durations
}

// TestLIMDExecutor is the seed system's sequence: three failures, a success, another call's success, another failure. The
// waits are those after failures; the levels show the successes between them.
func TestLIMDExecutor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits, levels := limdCalls(t, limdPace(), "fffssfs")
		require.Equal(t, limdSeconds(2, 6, 10, 5), waits)
		require.Equal(t, limdSeconds(2, 6, 10, 2, 1, 5, 1), levels)
	})
}

// TestLIMDExecutorCap: the policy's cap holds for the waits, and the level does not run away from it.
func TestLIMDExecutorCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits, levels := limdCalls(t, limdPace(), "ffffsfs", retry.WithMaxDelay(7*time.Second))
		require.Equal(t, limdSeconds(2, 6, 7, 7, 5.4), waits)
		require.Equal(t, limdSeconds(2, 6, 7, 7, 1.4, 5.4, 1.08), levels)
	})
}

// TestLIMDExecutorJitter: what is drawn on top does not move the level, and stays below its Max.
func TestLIMDExecutorJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace := limdPace()
		pace.Max = 8 * time.Second
		waits, levels := limdCalls(t, pace, "fffs", retry.WithJitter(strategy.Proportional(0.5)), retry.WithRand(func() float64 { return 0.75 }))
		require.Equal(t, limdSeconds(2.5, 6.75, 7), waits, "three quarters of 1..3, 3..8 and 4..8")
		require.Equal(t, limdSeconds(2, 6, 8, 1.6), levels)
	})
}

// TestLIMDExecutorMovesForRetriesOnly: a failure that ends its call, for whatever reason, leaves the level as it is.
func TestLIMDExecutorMovesForRetriesOnly(t *testing.T) {
	for name, opts := range map[string][]retry.Option{
		"attempts":  {retry.WithMaxAttempts(1)},
		"condition": {retry.WithRetryIf(func(error) bool { return false })},
		"elapsed":   {retry.WithMaxElapsed(time.Second)},
		"budget":    {retry.WithBudget(limdEmpty{})},
	} {
		synctest.Test(t, func(t *testing.T) {
			pace := limdPace()
			require.ErrorIs(t, retry.Run(t.Context(), func(context.Context) error { return errLIMD }, append(opts, retry.WithStrategy(pace))...), errLIMD)
			require.Zero(t, pace.Level(), name)
		})
	}
}

// TestLIMDExecutorStaysWhenTheCallEnds: the same for ends that the failure or its context make.
func TestLIMDExecutorStaysWhenTheCallEnds(t *testing.T) {
	for name, fail := range map[string]func(ctx context.Context, cancel func()) error{
		"permanent":       func(context.Context, func()) error { return retry.Permanent(errLIMD) },
		"told too long":   func(context.Context, func()) error { return retry.After(time.Hour, errLIMD) },
		"cancelled in fn": func(_ context.Context, cancel func()) error { cancel(); return errLIMD },
		"canceled error":  func(context.Context, func()) error { return errors.Join(errLIMD, context.Canceled) },
		"deadline":        func(ctx context.Context, _ func()) error { time.Sleep(time.Second); return errLIMD },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // the first wait would be 2 s
			defer cancel()
			pace := limdPace()
			err := retry.Run(ctx, func(ctx context.Context) error { return fail(ctx, cancel) }, retry.WithStrategy(pace))
			require.ErrorIs(t, err, errLIMD)
			require.Zero(t, pace.Level(), name)
		})
	}
}

// limdEmpty is a budget that has nothing.
type limdEmpty struct{}

func (limdEmpty) Start(time.Time)                                         {}
func (limdEmpty) Charge(time.Time, throttle.Class, int, bool) (int, bool) { return 0, false }
func (limdEmpty) Settle(time.Time, bool, int)                             {}

// TestLIMDExecutorBurst: calls that fail together wait the same, and move the level by one step.
func TestLIMDExecutorBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace := limdPace()
		policy := retry.MustNew(retry.WithStrategy(pace), retry.WithMaxAttempts(3))
		start := time.Now()
		var mu sync.Mutex
		began := map[time.Duration]int{}
		var group sync.WaitGroup
		for i := range 1000 {
			group.Go(func() {
				err := retry.Run(t.Context(), func(context.Context) error {
					mu.Lock()
					began[time.Since(start)]++
					mu.Unlock()
					time.Sleep(time.Duration(50+i%10) * time.Millisecond) // they end a little apart
					return errLIMD
				}, policy)
				if !errors.Is(err, retry.ErrExhausted) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		require.Equal(t, 6*time.Second, pace.Level())
		require.Equal(t, 1000, began[0])
		for at, n := range began {
			seconds := at.Truncate(time.Second)
			require.Contains(t, limdSeconds(0, 2, 8), seconds, "%d attempts at %v", n, at)
		}
	})
}

// TestLIMDExecutorShared: policies that share the value share the level, and a policy keeps the pointer and no copy.
func TestLIMDExecutorShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace := limdPace()
		_, levels := limdCalls(t, pace, "ffs", retry.WithName("one"))
		require.Equal(t, limdSeconds(2, 6, 1.2), levels)
		waits, _ := limdCalls(t, pace, "fs", retry.WithName("other"))
		require.Equal(t, limdSeconds(5.2), waits)
		parsed, err := strategy.Parse(pace.String())
		require.NoError(t, err)
		require.Zero(t, parsed.(*strategy.LIMD).Level(), "fresh")
	})
}

// TestLIMDExecutorNil: a nil pointer is no strategy.
func TestLIMDExecutorNil(t *testing.T) {
	_, err := retry.New(retry.WithStrategy((*strategy.LIMD)(nil)))
	require.ErrorIs(t, err, retry.ErrConfig)
	_, err = retry.New(retry.WithStrategy(&strategy.LIMD{MultipleOnSuccess: -1}))
	require.ErrorIs(t, err, retry.ErrConfig)
}
