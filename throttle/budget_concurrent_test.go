package throttle_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-89b3229b/retry/throttle"
)

const (
	crowd = 64
	turns = 40
)

// together runs do for each of a crowd of goroutines, turns times each, and adds up what it returns.
func together(do func(who, turn int) int) int {
	var wg sync.WaitGroup
	var sum atomic.Int64
	for who := range crowd {
		wg.Go(func() {
			for turn := range turns {
				sum.Add(int64(do(who, turn)))
			}
		})
	}
	wg.Wait()
	return int(sum.Load())
}

func one(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

// TestConcurrentSafeTokenBudget: what was taken, what was given back and what is left add up to the last token.
func TestConcurrentSafeTokenBudget(t *testing.T) {
	b := &throttle.TokenBudget{Capacity: 20_000}
	granted := together(func(who, _ int) int {
		class := throttle.Transient
		if who%2 == 0 {
			class = throttle.Throttled
		}
		cost, ok := b.Charge(t0, class, 0, false)
		assert.Equal(t, ok, cost > 0)
		return cost
	})
	assert.Equal(t, 20_000-granted, b.Tokens())
	assert.Equal(t, crowd*turns/2*(14+5), 24_320, "more than there was")
	assert.Less(t, b.Tokens(), 14, "and all of it was asked for")

	before := b.Tokens()
	together(func(int, int) int { b.Settle(t0, true, 3); return 0 })
	assert.Equal(t, before+3*crowd*turns, b.Tokens())
	together(func(int, int) int { b.Settle(t0, true, 14); return 0 })
	assert.Equal(t, 20_000, b.Tokens())
}

// TestConcurrentSafeFailureBudget.
func TestConcurrentSafeFailureBudget(t *testing.T) {
	b := &throttle.FailureBudget{MaxTokens: 1000, TokenRatio: 0.125}
	retries := together(func(_, turn int) int {
		if turn%2 > 0 {
			return 0
		}
		return one(retried(b))
	})
	assert.Zero(t, b.Tokens())
	assert.Equal(t, 499, retries, "999 to 501 tokens left")
	together(func(int, int) int { b.Settle(t0, true, 0); return 0 })
	assert.Equal(t, crowd*turns*0.125, b.Tokens())
}

// TestConcurrentSafeRatioBudget: as many retries as were paid for, at one moment and while slots come and go.
func TestConcurrentSafeRatioBudget(t *testing.T) {
	b := &throttle.RatioBudget{MinPerSecond: 3, Ratio: 0.25}
	together(func(int, int) int { deposit(b, t0, 1); return 0 })
	assert.Equal(t, crowd*turns/4+30, b.Balance(t0))
	assert.Equal(t, crowd*turns/4+30, together(func(int, int) int { return allowed(b, t0, 1) }))
	assert.Zero(t, b.Balance(t0))

	paid := together(func(who, turn int) int {
		now := t0.Add(9*sec + time.Duration(turn)*sec/5 + time.Duration(who)*13*ms) // up to 17.6 s on, not in order
		if who%2 == 0 {
			deposit(b, now, 1)
			return 0
		}
		return allowed(b, now, 1)
	})
	assert.LessOrEqual(t, paid, 30+crowd*turns/2/4, "the floor of the second window and what was deposited")
	assert.Equal(t, 30, b.Balance(t0.Add(time.Minute)), "in the end all is forgotten, and the floor left")
}

// TestConcurrentSafeInFlightBudget: never more calls retry than may, and in the end none.
func TestConcurrentSafeInFlightBudget(t *testing.T) {
	b := &throttle.InFlightBudget{Ratio: -1, MinRetries: 5}
	var retrying atomic.Int64
	granted := together(func(_, turn int) int {
		b.Start(t0)
		held, ok := b.Charge(t0, throttle.Transient, 0, false)
		if ok {
			assert.LessOrEqual(t, retrying.Add(1), int64(5))
		}
		assert.LessOrEqual(t, b.Retrying(), 5)
		if ok && turn%2 == 0 {
			retrying.Add(-1)
			held, ok = b.Charge(t0, throttle.Transient, held, turn%4 == 0)
			retrying.Add(int64(one(ok)))
		}
		if ok {
			retrying.Add(-1)
		}
		b.Settle(t0, false, held)
		return one(ok)
	})
	assert.Positive(t, granted)
	assert.Zero(t, b.Retrying())
	assert.Zero(t, b.Active())

	b = throttle.NewInFlightBudget()
	together(func(int, int) int { b.Start(t0); return 0 })
	assert.Equal(t, crowd*turns/5, together(func(int, int) int { return allowed(b, t0, 1) }))
	assert.Equal(t, crowd*turns/5, b.Retrying())
}
