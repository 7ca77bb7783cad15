package throttle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestInFlightBudgetEnvoy: of ten calls that fail at the same time three may retry, and those count from the moment that is
// decided, not only once their waits are over.
func TestInFlightBudgetEnvoy(t *testing.T) {
	for _, c := range []struct {
		budget *throttle.InFlightBudget
		calls  int
		want   int
	}{
		{throttle.NewInFlightBudget(), 1, 1},
		{throttle.NewInFlightBudget(), 3, 3},
		{throttle.NewInFlightBudget(), 10, 3},
		{throttle.NewInFlightBudget(), 19, 3},
		{throttle.NewInFlightBudget(), 20, 4},
		{throttle.NewInFlightBudget(), 1000, 200}, // and not a thousand, as if waiting ones did not count
		{&throttle.InFlightBudget{Ratio: 0.29, MinRetries: -1}, 100, 29},
		{&throttle.InFlightBudget{Ratio: 0.29, MinRetries: -1}, 3, 0},
		{&throttle.InFlightBudget{Ratio: -1, MinRetries: 5}, 100, 5},
		{&throttle.InFlightBudget{Ratio: 1, MinRetries: -1}, 100, 100},
	} {
		p := retry.MustNew(retry.WithStrategy(strategy.Constant{Delay: sec}), retry.WithMaxAttempts(3), retry.WithBudget(c.budget))
		flows := make([]retry.Flow, c.calls)
		for i := range flows {
			flows[i] = p.Begin(t0, time.Time{}, nil)
			flows[i].Next(t.Context(), t0)
		}
		require.Equal(t, c.calls, c.budget.Active())
		waiting := []*retry.Flow(nil)
		for i := range flows {
			if s := flows[i].Report(t.Context(), t0, fails); s.Action == retry.Wait {
				waiting = append(waiting, &flows[i])
			} else {
				require.ErrorIs(t, s.Reason, retry.ErrBudget)
			}
			require.Equal(t, len(waiting), c.budget.Retrying())
		}
		require.Len(t, waiting, c.want)
		for _, f := range waiting {
			f.Next(t.Context(), t0.Add(sec))
			f.Report(t.Context(), t0.Add(sec), succeeds)
		}
		require.Zero(t, c.budget.Active())
		require.Zero(t, c.budget.Retrying())
	}
}

// TestInFlightBudgetShare: the share of the calls that are under way, decided one after the other while all of them are.
func TestInFlightBudgetShare(t *testing.T) {
	for calls := range 200 {
		for _, c := range []struct {
			ratio float64
			floor int
			want  int
		}{{0, 0, max(3, calls/5)}, {0.5, -1, calls / 2}, {0.1, 2, max(2, calls/10)}, {-1, 7, 7}, {-1, -1, 0}, {1, -1, calls}, {0.01, -1, calls / 100}} {
			b := &throttle.InFlightBudget{Ratio: c.ratio, MinRetries: c.floor}
			for range calls {
				b.Start(t0)
			}
			require.Equal(t, min(c.want, calls+10), allowed(b, t0, calls+10), "%d calls, %+v", calls, c)
		}
	}
}

// TestInFlightBudgetHolds: a call that fails again keeps its place, gives it up with its last failure, and is counted once.
func TestInFlightBudgetHolds(t *testing.T) {
	b := &throttle.InFlightBudget{Ratio: -1, MinRetries: 2}
	charge := func(held int, last bool, wantCost int, wantOK bool, retrying int) int {
		cost, ok := b.Charge(t0, throttle.Transient, held, last)
		require.Equal(t, wantOK, ok)
		require.Equal(t, wantCost, cost)
		require.Equal(t, retrying, b.Retrying())
		return cost
	}
	for range 4 {
		b.Start(t0)
	}
	first := charge(0, false, 1, true, 1)
	second := charge(0, false, 1, true, 2)
	third := charge(0, false, 0, false, 2)
	first = charge(first, false, 1, true, 2)
	second = charge(second, true, 0, false, 1)
	third = charge(third, false, 1, true, 2)
	charge(0, true, 0, false, 2)
	for _, held := range []int{first, second, third, 0} {
		b.Settle(t0, false, held)
	}
	require.Zero(t, b.Retrying())
	require.Zero(t, b.Active())
}

// TestInFlightBudgetShrinks: where calls have ended since, a call whose retry fails may lose its place.
func TestInFlightBudgetShrinks(t *testing.T) {
	b := &throttle.InFlightBudget{Ratio: 0.5, MinRetries: -1}
	for range 4 {
		b.Start(t0)
	}
	require.Equal(t, 2, allowed(b, t0, 4))
	b.Settle(t0, true, 0)
	b.Settle(t0, true, 0)
	_, ok := b.Charge(t0, throttle.Transient, 1, false)
	assert.False(t, ok, "2 of 2 are more than half")
	assert.Equal(t, 1, b.Retrying())
	_, ok = b.Charge(t0, throttle.Transient, 1, false)
	assert.True(t, ok)
	assert.Equal(t, 1, b.Retrying())
}

// TestInFlightBudgetSettledTooOften: what was never counted is not counted out, and the next calls find the budget as it should be.
func TestInFlightBudgetSettledTooOften(t *testing.T) {
	b := &throttle.InFlightBudget{MinRetries: 1}
	for range 3 {
		b.Settle(t0, true, 1)
		cost, ok := b.Charge(t0, throttle.Transient, 1, true)
		require.Zero(t, cost)
		require.False(t, ok)
		require.Zero(t, b.Active())
		require.Zero(t, b.Retrying())
	}
	b.Start(t0)
	require.Equal(t, 1, b.Active())
	require.Equal(t, 1, allowed(b, t0, 3))
	require.Equal(t, 1, b.Retrying())
}
