package throttle_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

const (
	loadAttempts = 3
	loadGap      = 10 * ms // between the beginnings of two calls
	loadWait     = 30 * ms // before a retry
)

// load makes calls whose attempts fail with probability p, by steps and in virtual time, width of them at a time: in every round each
// of them takes one step, at the beginning or the end of an attempt. It returns the attempts that were made per call, and the time
// that passed. check is called after every step.
func load(t *testing.T, b throttle.Budget, p float64, width int, check func()) (amplification float64, took time.Duration) {
	opts := []retry.Option{retry.WithMaxAttempts(loadAttempts), retry.WithStrategy(strategy.Constant{Delay: loadWait})}
	if b != nil {
		opts = append(opts, retry.WithBudget(b))
	}
	policy, r, ctx := retry.MustNew(opts...), rand.New(rand.NewPCG(5, uint64(p*1000))), t.Context()
	type caller struct {
		flow retry.Flow
		step retry.Step
	}
	callers, now, attempts, begun, ended := make([]caller, width), t0, 0, 0, 0
	for ended < loadCalls {
		for i := range callers {
			c := &callers[i]
			switch c.step.Action {
			case retry.Go:
				o := succeeds
				if r.Float64() < p {
					o = fails
				}
				if c.step = c.flow.Report(ctx, now, o); c.step.Action == retry.Done {
					ended++
				}
			case retry.Wait:
				if width == 1 {
					now = now.Add(c.step.Delay)
				}
				c.step = c.flow.Next(ctx, now)
				attempts++
			}
			if c.step.Action != retry.Go && c.step.Action != retry.Wait && begun < loadCalls {
				begun++
				now = now.Add(loadGap / time.Duration(width))
				c.flow = policy.Begin(now, time.Time{}, nil)
				c.step = c.flow.Next(ctx, now)
				attempts++
			}
			if check != nil {
				check()
			}
		}
	}
	return float64(attempts) / loadCalls, now.Sub(t0)
}

var rates = []float64{0.1, 0.5, 1}

// unbound is how many attempts a call makes where nothing limits its retries.
func unbound(p float64) float64 {
	if p == 1 {
		return loadAttempts
	}
	return (1 - math.Pow(p, loadAttempts)) / (1 - p)
}

// TestAmplificationUnbound: (1-p^k)/(1-p) attempts per call without a budget, and with one that does not bind.
func TestAmplificationUnbound(t *testing.T) {
	for _, p := range rates {
		for name, b := range map[string]throttle.Budget{
			"none":     nil,
			"Token":    &throttle.TokenBudget{Capacity: 10_000_000},
			"Failure":  &throttle.FailureBudget{MaxTokens: 1000, TokenRatio: 1000},
			"Ratio":    &throttle.RatioBudget{Ratio: 1000, MinPerSecond: 1000},
			"InFlight": throttle.NewInFlightBudget(), // one call at a time
		} {
			if name == "Failure" && p == 1 {
				continue // binds whatever its numbers
			}
			got, _ := load(t, b, p, 1, nil)
			require.InEpsilon(t, unbound(p), got, 0.01, "%s at %v", name, p)
		}
	}
}

// TestAmplificationDefaults: at a failure rate of 0.1 the budgets that are to spare a dependency in trouble do not bind.
func TestAmplificationDefaults(t *testing.T) {
	for name, b := range map[string]throttle.Budget{"Token": throttle.NewTokenBudget(), "Ratio": throttle.NewRatioBudget()} {
		got, _ := load(t, b, 0.1, 1, nil)
		require.InEpsilon(t, unbound(0.1), got, 0.01, name)
	}
}

// TestAmplificationTable holds the measured table in docs/budgets.md to what is measured.
func TestAmplificationTable(t *testing.T) {
	if loadCalls < 100_000 {
		t.Skip("with fewer calls, for the race detector, the numbers are others")
	}
	page, err := os.ReadFile("../docs/budgets.md")
	require.NoError(t, err)
	for i, p := range rates {
		row := "| " + []string{"10 %", "50 %", "all"}[i]
		for _, b := range []throttle.Budget{nil, throttle.NewTokenBudget(), throttle.NewRatioBudget(), throttle.NewFailureBudget()} {
			got, _ := load(t, b, p, 1, nil)
			if b == nil {
				got = unbound(p)
			}
			row += fmt.Sprintf(" | %.3f", got)
		}
		got, _ := load(t, throttle.NewInFlightBudget(), p, 50, nil)
		require.Contains(t, string(page), row+fmt.Sprintf(" | %.3f |\n", got))
	}
}

// TestAmplificationToken: 35 retries in all while nothing succeeds; else no more than was given back, and the bucket.
func TestAmplificationToken(t *testing.T) {
	for _, p := range rates {
		b := &ledger{TokenBudget: throttle.NewTokenBudget()}
		got, _ := load(t, b, p, 1, func() {
			if out := b.costs - b.refunds; out > 500 || b.Tokens() != 500-out {
				require.Fail(t, "unbalanced", "%d taken, %d given back, %d left", b.costs, b.refunds, b.Tokens())
			}
		})
		require.LessOrEqual(t, got, unbound(p)*1.01)
		if p == 1 {
			require.Equal(t, 1+35.0/loadCalls, got)
		}
		t.Logf("token at %v: %.5f of %.3f", p, got, unbound(p))
	}
}

// ledger adds up what a TokenBudget took and what it was given back.
type ledger struct {
	*throttle.TokenBudget
	costs, refunds int
}

func (l *ledger) Charge(now time.Time, c throttle.Class, held int, last bool) (int, bool) {
	cost, ok := l.TokenBudget.Charge(now, c, held, last)
	l.costs += cost
	return cost, ok
}

func (l *ledger) Settle(now time.Time, success bool, held int) {
	before := l.Tokens()
	l.TokenBudget.Settle(now, success, held)
	l.refunds += l.Tokens() - before
}

// TestAmplificationRatio: 1 + ratio + floor·t/calls, and one window's floor to begin with.
func TestAmplificationRatio(t *testing.T) {
	for _, b := range []*throttle.RatioBudget{{}, {MinPerSecond: 10}, {MinPerSecond: -1}, {Ratio: 0.05, MinPerSecond: 0.5}, {Ratio: -1}} {
		for _, p := range rates {
			fresh := &throttle.RatioBudget{Ratio: b.Ratio, MinPerSecond: b.MinPerSecond}
			got, took := load(t, fresh, p, 1, nil)
			share, floor := []float64{b.Ratio, 0.2}[one(b.Ratio == 0)], []float64{b.MinPerSecond, 1}[one(b.MinPerSecond == 0)]
			share, floor = max(share, 0), max(floor, 0)
			bound := 1 + share + floor*(took+10*sec).Seconds()/loadCalls
			require.LessOrEqual(t, got, bound)
			require.LessOrEqual(t, got, unbound(p)*1.01)
			if p == 1 { // no success paid for anything
				require.LessOrEqual(t, got, 1+floor*(took+10*sec).Seconds()/loadCalls)
				require.GreaterOrEqual(t, got, 1+floor*(took-10*sec).Seconds()/loadCalls, "and the floor is there")
			}
			t.Logf("ratio %v floor %v at %v: %.5f, bound %.5f", share, floor, p, got, bound)
		}
	}
}

// TestAmplificationFailure: at most four retries in all while nothing succeeds.
func TestAmplificationFailure(t *testing.T) {
	for _, p := range rates {
		b := throttle.NewFailureBudget()
		got, _ := load(t, b, p, 1, func() {
			if b.Tokens() < 0 || b.Tokens() > 10 {
				require.Fail(t, "out of bounds", "%v tokens", b.Tokens())
			}
		})
		require.LessOrEqual(t, got, unbound(p)*1.01)
		if p == 1 { // one of the five failures that it takes is the first call's last
			require.LessOrEqual(t, got, 1+4.0/loadCalls)
			require.Equal(t, 1+3.0/loadCalls, got)
		}
		t.Logf("failure at %v: %.5f", p, got)
	}
}

// TestAmplificationInFlight: 50 calls at a time, of which at most 10 retry.
func TestAmplificationInFlight(t *testing.T) {
	for _, p := range rates {
		b, most := throttle.NewInFlightBudget(), 0
		got, _ := load(t, b, p, 50, func() {
			most = max(most, b.Retrying())
		})
		require.Equal(t, 10, most)
		require.Less(t, got, unbound(p))
		require.Zero(t, b.Active())
		t.Logf("in flight at %v: %.5f", p, got)
	}
}
