package throttle

import (
	"sync/atomic"
	"time"
)

// What the zero fields of a TokenBudget mean.
const (
	tokenCapacity  = 500
	tokenRetry     = 14
	tokenThrottled = 5
	tokenReward    = 1
)

// TokenBudget is a bucket of tokens that retries take from, as in the AWS SDKs. A retry costs RetryCost tokens, after a time-out
// TimeoutCost, and after the server asked for less ThrottledCost; without that many tokens it is refused. A call that succeeds
// gives back what its last retry cost, or Reward if it needed none; a call that fails gives nothing back. The bucket begins full
// and never holds more than Capacity.
//
// The zero TokenBudget is ready for use and has AWS's numbers as of 2026 (retry 14, throttled 5, capacity 500). Those from before
// are
//
//	&throttle.TokenBudget{RetryCost: 5, TimeoutCost: 10}
//
// While nothing succeeds, Capacity/RetryCost retries are made in all: 35 by default. Each client that has a budget of its own
// has that many: the burst of a fleet is its number of clients times as large. The fields are set before the first use; a
// TokenBudget must not be copied. Safe for concurrent use, without locks and allocations. Nil limits nothing.
//
// Source: AWS SDKs, standard retry mode; aws-sdk-go-v2 v1.48.0, package aws/retry.
type TokenBudget struct {
	// Capacity is the most that the bucket holds. 0 or less: 500.
	Capacity int
	// RetryCost is what a retry costs. 0 or less: 14.
	RetryCost int
	// TimeoutCost is what a retry costs after an attempt of class Timeout. 0 or less: RetryCost.
	TimeoutCost int
	// ThrottledCost is what a retry costs after an attempt of class Throttled. 0 or less: 5.
	ThrottledCost int
	// Reward is what a call gives back that succeeds at its first attempt. 0 or less: 1.
	Reward int

	spent atomic.Int64
}

// NewTokenBudget returns a TokenBudget with AWS's numbers as of 2026. It is new(TokenBudget); for other numbers write a literal.
func NewTokenBudget() *TokenBudget { return new(TokenBudget) }

// Validate returns a *ConfigError for a negative field, and for a Capacity that a cost is above.
func (b *TokenBudget) Validate() error {
	if b == nil {
		return nil
	}
	for _, f := range []struct {
		name  string
		value int
	}{
		{"TokenBudget.Capacity", b.Capacity}, {"TokenBudget.RetryCost", b.RetryCost}, {"TokenBudget.TimeoutCost", b.TimeoutCost},
		{"TokenBudget.ThrottledCost", b.ThrottledCost}, {"TokenBudget.Reward", b.Reward},
	} {
		if f.value < 0 {
			return &ConfigError{f.name, f.value, notNegative}
		}
	}
	if b.capacity() < max(b.cost(Transient), b.cost(Timeout), b.cost(Throttled)) {
		return &ConfigError{"TokenBudget.Capacity", b.capacity(), "must not be below what a retry costs"}
	}
	return nil
}

// Start does nothing.
func (b *TokenBudget) Start(time.Time) {}

// Charge takes what a retry after a failure of class c costs. If there is not enough it takes nothing and refuses.
func (b *TokenBudget) Charge(_ time.Time, c Class, _ int, last bool) (cost int, ok bool) {
	if b == nil || last {
		return 0, !last
	}
	price, capacity := b.cost(c), b.capacity()
	for {
		spent := b.spent.Load()
		if price > capacity-spent {
			return 0, false
		}
		if b.spent.CompareAndSwap(spent, spent+price) {
			return int(price), true
		}
	}
}

// Settle gives back held, or Reward if that is 0, after a success.
func (b *TokenBudget) Settle(_ time.Time, success bool, held int) {
	if b == nil || !success {
		return
	}
	if held <= 0 {
		held = orDefault(b.Reward, tokenReward)
	}
	adjust(&b.spent, -int64(held), b.capacity())
}

// Tokens returns how many tokens are left.
func (b *TokenBudget) Tokens() int {
	if b == nil {
		return 0
	}
	return int(b.capacity() - b.spent.Load())
}

func (b *TokenBudget) capacity() int64 { return int64(orDefault(b.Capacity, tokenCapacity)) }

func (b *TokenBudget) cost(c Class) int64 {
	switch {
	case c == Throttled:
		return int64(orDefault(b.ThrottledCost, tokenThrottled))
	case c == Timeout && b.TimeoutCost > 0:
		return int64(b.TimeoutCost)
	}
	return int64(orDefault(b.RetryCost, tokenRetry))
}

// adjust adds delta to n, which stays within 0 and limit, and returns what it is then. Nothing is written if it does not change:
// a full bucket, the common case, is only read.
func adjust(n *atomic.Int64, delta, limit int64) int64 {
	for {
		old := n.Load()
		moved := min(max(old+delta, 0), limit)
		if moved == old || n.CompareAndSwap(old, moved) {
			return moved
		}
	}
}
