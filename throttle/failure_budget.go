package throttle

import (
	"math"
	"sync/atomic"
	"time"
)

// What the zero fields of a FailureBudget mean, and the most that gRPC lets MaxTokens be.
const (
	failureTokens = 10
	failureRatio  = 0.1
	failureMost   = 1000
)

// FailureBudget counts failures against successes, as gRPC's retryThrottling does. It begins with MaxTokens tokens. Every failure
// that is worth a retry takes one away, down to 0, whether a retry follows or not, and so does one after which the server itself
// forbade a retry (a negative pushback). Other failures, such as a 404, take nothing. A call that succeeds adds TokenRatio, up to
// MaxTokens. Retries are allowed while there are more than MaxTokens/2 tokens.
//
// The zero FailureBudget is ready for use: with 10 tokens, the fifth failure in a row is the first without a retry. Once all
// tokens are gone, successes must bring more than MaxTokens/2+1 before a failure is followed by a retry again: 61 successes by
// default. Retries do not run out while less than TokenRatio/(1+TokenRatio) of the attempts fail, 9 % by default. The burst of a
// fleet, MaxTokens/2-1 retries, is its number of clients times as large.
//
// Both numbers have three decimals, as in gRPC: further ones are dropped. The fields are set before the first use; a
// FailureBudget must not be copied. Safe for concurrent use, without locks and allocations. Nil limits nothing.
//
// Source: gRPC proposal A6, "Throttling Retry Attempts and Hedged RPCs".
type FailureBudget struct {
	// MaxTokens is how many tokens there can be, at most 1000. 0 or less: 10.
	MaxTokens float64
	// TokenRatio is what a success adds, at least 0.001. 0 or less: 0.1.
	TokenRatio float64

	lost atomic.Int64 // thousandths that are missing
}

// NewFailureBudget returns a FailureBudget of 10 tokens, to which a success adds 0.1. It is new(FailureBudget); for other numbers
// write a literal.
func NewFailureBudget() *FailureBudget { return new(FailureBudget) }

// Validate returns a *ConfigError for a field that is negative, not a number, below 0.001 without being 0, or above 1000.
func (b *FailureBudget) Validate() error {
	if b == nil {
		return nil
	}
	for _, f := range []struct {
		name  string
		value float64
	}{{"FailureBudget.MaxTokens", b.MaxTokens}, {"FailureBudget.TokenRatio", b.TokenRatio}} {
		switch {
		case f.value == 0 || f.value >= 0.001 && f.value <= failureMost:
		default:
			return &ConfigError{f.name, f.value, "must be from 0.001 to 1000"}
		}
	}
	return nil
}

// Start does nothing.
func (b *FailureBudget) Start(time.Time) {}

// Charge takes one token, and allows a retry if more than half of MaxTokens are left then.
func (b *FailureBudget) Charge(_ time.Time, _ Class, _ int, last bool) (cost int, ok bool) {
	if b == nil {
		return 0, !last
	}
	most := thousandths(b.MaxTokens, failureTokens)
	lost := adjust(&b.lost, 1000, most)
	return 0, 2*(most-lost) > most && !last
}

// Settle adds TokenRatio after a success.
func (b *FailureBudget) Settle(_ time.Time, success bool, _ int) {
	if b != nil && success {
		adjust(&b.lost, -thousandths(b.TokenRatio, failureRatio), thousandths(b.MaxTokens, failureTokens))
	}
}

// Tokens returns how many tokens there are, with three decimals.
func (b *FailureBudget) Tokens() float64 {
	if b == nil {
		return 0
	}
	return float64(thousandths(b.MaxTokens, failureTokens)-b.lost.Load()) / 1000
}

// thousandths returns v in whole thousandths, from 1 to a million; def if v is not positive.
func thousandths(v, def float64) int64 {
	// 0.029*1000 is below 29: what is that close below a whole number is meant to be it.
	return max(int64(math.Floor(min(orDefault(v, def), failureMost)*1000+1e-6)), 1)
}
