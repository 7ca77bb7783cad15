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

// outcomes of attempts, as a policy would classify them.
var (
	succeeds   = throttle.Outcome{}
	fails      = throttle.Outcome{Err: boom}
	timesOut   = throttle.Outcome{Err: boom, Class: throttle.Timeout}
	throttled  = throttle.Outcome{Err: boom, Class: throttle.Throttled}
	isMissing  = throttle.Outcome{Err: boom, Decided: throttle.No}                                // a 404
	pushedBack = throttle.Outcome{Err: boom, Signal: throttle.Signal{Retry: throttle.No}}         // gRPC's negative pushback
	toldToWait = throttle.Outcome{Err: boom, Signal: throttle.Signal{Delay: sec, HasDelay: true}} // class Throttled
)

// callOnce makes one call by steps at now. Its attempts end as scripted, the last outcome standing for all further ones. after is
// called after every attempt.
func callOnce(t *testing.T, p *retry.Policy, now time.Time, after func(s retry.Step), script ...throttle.Outcome) retry.Step {
	t.Helper()
	flow := p.Begin(now, time.Time{}, always(1))
	s := flow.Next(t.Context(), now)
	for s.Action != retry.Done {
		if s.Action == retry.Wait {
			now = now.Add(s.Delay)
			s = flow.Next(t.Context(), now)
			continue
		}
		s = flow.Report(t.Context(), now, script[0])
		if len(script) > 1 {
			script = script[1:]
		}
		if after != nil {
			after(s)
		}
	}
	return s
}

// TestTokenBudgetAWS is the AWS SDKs' table for standard mode as of 2026: what is left after every attempt, and the wait before
// the next (50 ms doubling, or 1 s after throttling; the draw is always the largest).
func TestTokenBudgetAWS(t *testing.T) {
	type row struct {
		o      throttle.Outcome
		tokens int
		wait   time.Duration
		end    error
	}
	for _, c := range []struct {
		name     string
		capacity int
		spent    int // by earlier calls
		attempts int
		rows     []row
	}{
		{"succeeds in the end", 500, 0, 3, []row{{fails, 486, 50 * ms, nil}, {fails, 472, 100 * ms, nil}, {succeeds, 486, 0, nil}}},
		{"max attempts", 500, 0, 3, []row{{fails, 486, 50 * ms, nil}, {fails, 472, 100 * ms, nil}, {fails, 472, 0, retry.ErrExhausted}}},
		{"quota used up by one retry", 14, 0, 3, []row{{fails, 0, 50 * ms, nil}, {fails, 0, 0, retry.ErrBudget}}},
		{"no quota", 500, 100, 3, []row{{fails, 0, 0, retry.ErrBudget}}},
		{"no quota, throttled", 500, 100, 3, []row{{throttled, 0, 0, retry.ErrBudget}}},
		{"waits", 500, 0, 5, []row{{fails, 486, 50 * ms, nil}, {fails, 472, 100 * ms, nil}, {fails, 458, 200 * ms, nil}, {fails, 444, 400 * ms, nil}, {fails, 444, 0, retry.ErrExhausted}}},
		{"stops at the quota", 20, 0, 5, []row{{fails, 6, 50 * ms, nil}, {fails, 6, 0, retry.ErrBudget}}},
		{"throttled costs 5", 500, 0, 3, []row{{throttled, 495, sec, nil}, {succeeds, 500, 0, nil}}},
		{"told to wait costs 5", 500, 0, 3, []row{{toldToWait, 495, sec, nil}, {succeeds, 500, 0, nil}}},
		{"a time-out costs what others do", 500, 0, 3, []row{{timesOut, 486, 50 * ms, nil}, {succeeds, 500, 0, nil}}},
		{"gives back the last cost only", 500, 0, 3, []row{{throttled, 495, sec, nil}, {fails, 481, 100 * ms, nil}, {succeeds, 495, 0, nil}}},
		{"not worth a retry", 500, 0, 3, []row{{isMissing, 500, 0, nil}}},
		{"the server forbids it", 500, 0, 3, []row{{pushedBack, 500, 0, nil}}},
		{"untried success", 500, 0, 3, []row{{succeeds, 500, 0, nil}}},
		{"untried success gives 1", 500, 1, 3, []row{{succeeds, 496, 0, nil}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &throttle.TokenBudget{Capacity: c.capacity}
			for range c.spent {
				b.Charge(t0, throttle.Throttled, 0, false)
			}
			p := retry.MustNew(retry.WithBudget(b), retry.WithMaxAttempts(c.attempts), retry.WithHint(throttle.Exact()), retry.WithStrategy(strategy.ByThrottled{
				Normal:    strategy.FullJitter{Base: 50 * ms, Max: 20 * sec},
				Throttled: strategy.FullJitter{Base: sec, Max: 20 * sec},
			}))
			var script []throttle.Outcome
			for _, r := range c.rows {
				script = append(script, r.o)
			}
			i := 0
			callOnce(t, p, t0, func(s retry.Step) {
				r := c.rows[i]
				require.Equal(t, r.tokens, b.Tokens(), "after attempt %d", i+1)
				if i++; s.Action == retry.Wait {
					require.Equal(t, r.wait, s.Delay.Round(time.Microsecond))
				} else if r.end != nil {
					require.ErrorIs(t, s.Reason, r.end)
				}
			}, script...)
			require.Equal(t, len(c.rows), i)
		})
	}
}

// TestTokenBudgetAWSRecovers: two calls in a row, and three retries with DynamoDB's numbers.
func TestTokenBudgetAWSRecovers(t *testing.T) {
	b := &throttle.TokenBudget{Capacity: 30}
	var left []int
	note := func(retry.Step) { left = append(left, b.Tokens()) }
	p := retry.MustNew(retry.WithBudget(b), retry.WithStrategy(strategy.Constant{}))
	callOnce(t, p, t0, note, fails, fails, succeeds)
	callOnce(t, p, t0, note, fails, succeeds)
	assert.Equal(t, []int{16, 2, 16, 2, 16}, left)

	dynamo, waits := throttle.NewTokenBudget(), []time.Duration(nil)
	left = nil
	p = retry.MustNew(retry.WithBudget(dynamo), retry.WithMaxAttempts(4), retry.WithStrategy(strategy.FullJitter{Base: 25 * ms, Max: 20 * sec}))
	callOnce(t, p, t0, func(s retry.Step) {
		if s.Action == retry.Wait {
			left, waits = append(left, dynamo.Tokens()), append(waits, s.Delay.Round(time.Microsecond))
		}
	}, fails)
	assert.Equal(t, []int{486, 472, 458}, left)
	assert.Equal(t, []time.Duration{25 * ms, 50 * ms, 100 * ms}, waits)
}

// TestTokenBudgetLongRun: eleven retries of one call, with AWS's waits up to the cap.
func TestTokenBudgetLongRun(t *testing.T) {
	b := throttle.NewTokenBudget()
	p := retry.MustNew(retry.WithBudget(b), retry.WithMaxAttempts(12), retry.WithStrategy(strategy.FullJitter{Base: 50 * ms, Max: 20 * sec}))
	var waits []float64
	callOnce(t, p, t0, func(s retry.Step) {
		if s.Action == retry.Wait {
			waits = append(waits, s.Delay.Round(time.Microsecond).Seconds())
		}
	}, fails)
	assert.Equal(t, []float64{0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 20, 20}, waits)
	assert.Equal(t, 500-11*14, b.Tokens())
}

// TestTokenBudgetLegacy: the numbers that the AWS SDKs had before 2026.
func TestTokenBudgetLegacy(t *testing.T) {
	b := &throttle.TokenBudget{RetryCost: 5, TimeoutCost: 10}
	p := retry.MustNew(retry.WithBudget(b), retry.WithStrategy(strategy.Constant{}), retry.WithMaxAttempts(4))
	var left []int
	callOnce(t, p, t0, func(retry.Step) { left = append(left, b.Tokens()) }, fails, timesOut, throttled, succeeds)
	assert.Equal(t, []int{495, 485, 480, 485}, left)
	for range 15 {
		callOnce(t, p, t0, nil, succeeds)
	}
	assert.Equal(t, 500, b.Tokens())
	callOnce(t, p, t0, nil, succeeds)
	assert.Equal(t, 500, b.Tokens(), "never above capacity")
}
