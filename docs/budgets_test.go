package docs_test

import (
	"context"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// This file is the code of budgets.md, word for word; what needs other modules is in internal/drivertest.

var budget = throttle.NewTokenBudget() // one for each dependency, for the life of the program

func order(ctx context.Context, id int) (Order, error) {
	return retry.Do(ctx, func(ctx context.Context) (Order, error) {
		return shop.Order(ctx, id)
	}, policy, retry.WithBudget(budget))
}

var budgetInFleet = &throttle.RatioBudget{Ratio: 0.1, MinPerSecond: 0.05, TTL: time.Minute}

var (
	budgetLegacy = &throttle.TokenBudget{RetryCost: 5, TimeoutCost: 10} // the SDKs' numbers before 2026
	budgetSmall  = &throttle.TokenBudget{Capacity: 100}                 // a burst of 7 retries
)

var budgetFinagle = &throttle.RatioBudget{Ratio: 0.2, MinPerSecond: 10, TTL: 10 * time.Second}

var budgetGRPC = &throttle.FailureBudget{MaxTokens: 10, TokenRatio: 0.1}

var budgetEnvoy = &throttle.InFlightBudget{Ratio: 0.2, MinRetries: 3}

type (
	Order  struct{ Last bool }
	client struct{}
)

var shop client

func (client) Order(context.Context, int) (Order, error) { return Order{}, errFlaky }

// TestBudgetsPage finds every block of Go in budgets.md in a file that the compiler sees.
func TestBudgetsPage(t *testing.T) {
	page, err := os.ReadFile("budgets.md")
	require.NoError(t, err)
	var compiled string
	for _, file := range []string{"budgets_test.go", "../internal/drivertest/budgets_page_test.go"} {
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		compiled += unindented(string(code))
	}
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	require.Len(t, blocks, 7)
	for _, block := range blocks {
		assert.Contains(t, compiled, unindented(block[1]), "no test compiles this block of budgets.md")
	}
}

// TestBudgetsPageCode: the budgets of the page can be used, and the first one ends a call.
func TestBudgetsPageCode(t *testing.T) {
	for _, b := range []throttle.Budget{budgetInFleet, budgetLegacy, budgetSmall, budgetFinagle, budgetGRPC, budgetEnvoy} {
		_, err := retry.New(retry.WithBudget(b))
		assert.NoError(t, err)
	}
	for budget.Tokens() >= 14 {
		budget.Charge(time.Time{}, throttle.Transient, 0, false)
	}
	_, err := order(t.Context(), 1)
	assert.ErrorIs(t, err, retry.ErrBudget)
	assert.ErrorIs(t, err, errFlaky)
}

// TestBudgetsPageNumbers: the bursts that the page speaks of.
func TestBudgetsPageNumbers(t *testing.T) {
	now := time.Time{}
	for _, c := range []struct {
		name  string
		fresh throttle.Budget
		want  int // retries without any success, within a second
	}{
		{"token", throttle.NewTokenBudget(), 35},
		{"small", &throttle.TokenBudget{Capacity: 100}, 7},
		{"ratio", throttle.NewRatioBudget(), 10}, // 1 per second, of ten seconds
		{"failure", throttle.NewFailureBudget(), 4},
		{"in flight", throttle.NewInFlightBudget(), 3},
	} {
		got := 0
		for range 1000 {
			if _, ok := c.fresh.Charge(now, throttle.Transient, 0, false); ok {
				got++
			}
		}
		assert.Equal(t, c.want, got, c.name)
	}
	// An emptied bucket: fourteen calls that succeed at once pay for a retry.
	b := throttle.NewTokenBudget()
	for b.Tokens() > 0 {
		b.Charge(now, throttle.Throttled, 0, false)
	}
	p := retry.MustNew(retry.WithBudget(b), retry.WithStrategy(strategy.Constant{}))
	for range 14 {
		require.ErrorIs(t, retry.Run(t.Context(), func(context.Context) error { return errFlaky }, p), retry.ErrBudget)
		require.NoError(t, retry.Run(t.Context(), func(context.Context) error { return nil }, p))
	}
	tries := 0
	require.ErrorIs(t, retry.Run(t.Context(), func(context.Context) error { tries++; return errFlaky }, p), retry.ErrBudget)
	assert.Equal(t, 2, tries)
}
