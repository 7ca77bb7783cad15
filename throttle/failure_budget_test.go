package throttle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestFailureBudgetGRPC: with 10 tokens and a ratio of 0.1 the last attempt's failure counts too, a refused one does, a 404
// does not, and the fifth failure in a row is the first without a retry.
func TestFailureBudgetGRPC(t *testing.T) {
	b := throttle.NewFailureBudget()
	p := retry.MustNew(retry.WithBudget(b), retry.WithStrategy(strategy.Constant{}), retry.WithMaxAttempts(2))
	for _, c := range []struct {
		script []throttle.Outcome
		tokens float64
		reason error
	}{
		{[]throttle.Outcome{fails}, 8, retry.ErrExhausted},
		{[]throttle.Outcome{isMissing}, 8, retry.ErrNotRetryable},
		{[]throttle.Outcome{fails}, 6, retry.ErrExhausted},
		{[]throttle.Outcome{fails}, 5, retry.ErrBudget},
		{[]throttle.Outcome{isMissing}, 5, retry.ErrNotRetryable},
		{[]throttle.Outcome{succeeds}, 5.1, nil},
		{[]throttle.Outcome{pushedBack}, 4.1, retry.ErrNotRetryable},
		{[]throttle.Outcome{fails}, 3.1, retry.ErrBudget},
		{[]throttle.Outcome{fails}, 2.1, retry.ErrBudget},
		{[]throttle.Outcome{fails}, 1.1, retry.ErrBudget},
		{[]throttle.Outcome{fails}, 0.1, retry.ErrBudget},
		{[]throttle.Outcome{fails}, 0, retry.ErrBudget},
		{[]throttle.Outcome{fails}, 0, retry.ErrBudget},
		{[]throttle.Outcome{succeeds}, 0.1, nil},
	} {
		s := callOnce(t, p, t0, nil, c.script...)
		require.Equal(t, c.reason, s.Reason)
		require.Equal(t, c.tokens, b.Tokens())
	}
}

// TestFailureBudgetInARow: how many retries there are before the first refusal.
func TestFailureBudgetInARow(t *testing.T) {
	for tokens, retries := range map[float64]int{0: 4, 10: 4, 2: 0, 3: 1, 4: 1, 5: 2, 100: 49, 1000: 499, 0.5: 0, 2.001: 1, 4.001: 2} {
		b := &throttle.FailureBudget{MaxTokens: tokens}
		n := 0
		for retried(b) {
			n++
		}
		assert.Equal(t, retries, n, "%v tokens", tokens)
	}
}

// TestFailureBudgetThousandths: a success adds the ratio in thousandths, and what is beyond them is dropped.
func TestFailureBudgetThousandths(t *testing.T) {
	for ratio, want := range map[float64]float64{
		0: 0.1, 0.1: 0.1, 0.5466: 0.546, 0.001: 0.001, 0.029: 0.029, 0.0019: 0.001, 1.005: 1.005, 7.777: 7.777, 0.57: 0.57,
	} {
		b := &throttle.FailureBudget{MaxTokens: 20, TokenRatio: ratio}
		for range 20 {
			retried(b)
		}
		require.Zero(t, b.Tokens())
		b.Settle(t0, false, 0)
		require.Zero(t, b.Tokens())
		b.Settle(t0, true, 0)
		require.Equal(t, want, b.Tokens(), "%v", ratio)
		for range 20_000 {
			b.Settle(t0, true, 0)
		}
		require.Equal(t, 20.0, b.Tokens(), "never above")
	}
}

// TestFailureBudgetThreshold: the share of failing attempts up to which retries do not run out, as documented.
func TestFailureBudgetThreshold(t *testing.T) {
	// 1 failure per 10 successes is 1/11 of the attempts: 0.1/(1+0.1).
	b := throttle.NewFailureBudget()
	for range 1000 {
		require.True(t, retried(b))
		for range 10 {
			b.Settle(t0, true, 0)
		}
	}
	refused := 0
	for range 1000 {
		if !retried(b) {
			refused++
		}
		for range 9 {
			b.Settle(t0, true, 0)
		}
	}
	assert.Positive(t, refused)
}
