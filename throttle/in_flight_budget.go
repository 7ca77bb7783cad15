package throttle

import (
	"math"
	"sync/atomic"
	"time"
)

// What the zero fields of an InFlightBudget mean.
const (
	inFlightRatio = 0.2
	inFlightMin   = 3
)

// InFlightBudget limits how many calls may be retrying at a time, as Envoy's retry budget does: at most MinRetries, or Ratio of
// all calls under way, whichever is more. A call counts as retrying from the moment its retry is decided, so one that sits in
// its wait counts, until it ends or its next failure. It has no memory: as soon as calls end there is room again.
//
// The zero InFlightBudget is ready for use: 20 % of the calls, at least 3. It holds load down where many calls run at the same
// time; a client with fewer calls than MinRetries under way is not limited at all, and a fleet may have MinRetries times its
// number of clients retrying. The fields are set before the first use; an InFlightBudget must not be copied. Safe for concurrent
// use, without locks and allocations. Nil limits nothing.
//
// Source: Envoy, RetryBudget of its circuit breakers.
type InFlightBudget struct {
	// Ratio is the share of calls that may be retrying, at most 1. 0: 0.2; negative: none, so that MinRetries alone counts.
	Ratio float64
	// MinRetries is how many calls may be retrying however few there are. 0: 3; negative: none.
	MinRetries int

	active, retrying atomic.Int64
}

// NewInFlightBudget returns an InFlightBudget of 20 %, at least 3. It is new(InFlightBudget); for other numbers write a literal.
func NewInFlightBudget() *InFlightBudget { return new(InFlightBudget) }

// Validate returns a *ConfigError for a Ratio above 1 or not a number, and if both fields are negative: no call could retry.
func (b *InFlightBudget) Validate() error {
	switch {
	case b == nil:
	case !(b.Ratio <= 1):
		return &ConfigError{"InFlightBudget.Ratio", b.Ratio, "must be at most 1"}
	case b.Ratio < 0 && b.MinRetries < 0:
		return &ConfigError{"InFlightBudget.Ratio", b.Ratio, "must not be none where MinRetries is none too"}
	}
	return nil
}

// Start counts a call.
func (b *InFlightBudget) Start(time.Time) {
	if b != nil {
		b.active.Add(1)
	}
}

// Charge counts the call as retrying, if there is room.
func (b *InFlightBudget) Charge(_ time.Time, _ Class, held int, last bool) (cost int, ok bool) {
	if b == nil {
		return 0, !last
	}
	for {
		retrying := b.retrying.Load()
		others := retrying
		if held > 0 {
			others = max(others-1, 0) // without this call, whose retry has just failed
		}
		next := others
		if !last && b.room(others) {
			next++
		}
		if next == retrying || b.retrying.CompareAndSwap(retrying, next) {
			return int(next - others), next > others
		}
	}
}

// room reports whether one more call may retry.
func (b *InFlightBudget) room(retrying int64) bool {
	if b.MinRetries >= 0 && retrying < int64(orDefault(b.MinRetries, inFlightMin)) {
		return true
	}
	ratio := b.Ratio
	if ratio == 0 || math.IsNaN(ratio) {
		ratio = inFlightRatio
	}
	// 0.29*100 is below 29: what is that close below a whole number is meant to be it.
	return float64(retrying+1) <= ratio*float64(b.active.Load())+1e-6
}

// Settle counts the call out.
func (b *InFlightBudget) Settle(_ time.Time, _ bool, held int) {
	if b == nil {
		return
	}
	if held > 0 {
		countDown(&b.retrying)
	}
	countDown(&b.active)
}

// countDown takes 1 from n, which stays 0 if nothing was counted.
func countDown(n *atomic.Int64) {
	if n.Add(-1) < 0 {
		n.Add(1)
	}
}

// Active returns how many calls are under way.
func (b *InFlightBudget) Active() int {
	if b == nil {
		return 0
	}
	return int(b.active.Load())
}

// Retrying returns how many calls are making a retry or waiting for one.
func (b *InFlightBudget) Retrying() int {
	if b == nil {
		return 0
	}
	return int(b.retrying.Load())
}
