package throttle

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// What the zero fields of a RatioBudget mean, and the most that Ratio can be.
const (
	ratioShare        = 0.2
	ratioMinPerSecond = 1
	ratioTTL          = 10 * time.Second
	ratioMost         = 1000
)

// RatioBudget allows retries as a share of the calls that succeeded within a sliding window, as Finagle's retry budget does, and
// a few per second besides. With whole numbers: a call that succeeds deposits 1000, a retry withdraws W = floor(1000/Ratio),
//
//	balance = deposits - withdrawals of the last TTL + floor(MinPerSecond·TTL·W)
//
// and it is refused if the balance is below W. The window consists of ten slots, which begin with the first use and are forgotten
// one by one. A withdrawal is forgotten like a deposit, so MinPerSecond is there again after TTL.
//
// The zero RatioBudget is ready for use: 20 %, 1 per second, over 10 s. The load is then at most 1 + Ratio + MinPerSecond·t/calls
// times that without retries (and one TTL's worth of MinPerSecond at the beginning). MinPerSecond is each client's own: a hundred
// clients that do little and may all retry ten times a second can keep a server down, which is why it is not Finagle's 10 here
// but 1. Where many clients share a server, divide what the server can bear by their number; 0.05 is a floor too, and -1 is none.
// Deposits are made by successes and not by calls, as otherwise an outage of all calls would still pay for retries.
//
// A clock that is set back delays what is forgotten by up to TTL. The fields are set before the first use; a RatioBudget must not
// be copied. Safe for concurrent use; it allocates at the first use only, and locks when a slot ends. Nil limits nothing.
//
// Source: Finagle, RetryBudget; tower, TpsBudget (whose W is floor(1/Ratio), so that its 0.3 is a third).
type RatioBudget struct {
	// Ratio is how many retries a success pays for, at most 1000. 0: 0.2; negative: none, so that MinPerSecond alone counts.
	Ratio float64
	// MinPerSecond is how many retries there are per second however few calls succeed. 0: 1; negative: none.
	MinPerSecond float64
	// TTL is the length of the window. 0 or less: 10 s.
	TTL time.Duration

	window atomic.Pointer[ratioWindow]
}

// NewRatioBudget returns a RatioBudget of 20 % and 1 retry per second, over 10 s. It is new(RatioBudget); for other numbers write
// a literal.
func NewRatioBudget() *RatioBudget { return new(RatioBudget) }

// ratioWindow is what happened since the first use.
type ratioWindow struct {
	began               time.Time
	slot                time.Duration
	deposit, withdrawal int64

	mu      sync.Mutex   // held while slots are forgotten
	head    atomic.Int64 // the slot that the window ends with
	balance atomic.Int64 // of all slots and the reserve
	slots   [windowSlots]atomic.Int64
}

// Validate returns a *ConfigError for a Ratio above 1000, a MinPerSecond that is infinite, one of them not a number or both
// negative (there could be no retry), and for a negative TTL.
func (b *RatioBudget) Validate() error {
	switch {
	case b == nil:
	case !(b.Ratio <= ratioMost):
		return &ConfigError{"RatioBudget.Ratio", b.Ratio, "must be at most 1000"}
	case !(b.MinPerSecond < math.Inf(1)):
		return &ConfigError{"RatioBudget.MinPerSecond", b.MinPerSecond, "must be a finite number"}
	case b.Ratio < 0 && b.MinPerSecond < 0:
		return &ConfigError{"RatioBudget.Ratio", b.Ratio, "must not be none where MinPerSecond is none too"}
	case b.TTL < 0:
		return &ConfigError{"RatioBudget.TTL", b.TTL, notNegative}
	}
	return nil
}

// Start does nothing.
func (b *RatioBudget) Start(time.Time) {}

// Charge withdraws what a retry costs, if the balance covers it.
func (b *RatioBudget) Charge(now time.Time, _ Class, _ int, last bool) (cost int, ok bool) {
	if b == nil || last {
		return 0, !last
	}
	w := b.open(now)
	slot := w.forget(now)
	for {
		balance := w.balance.Load()
		if balance < w.withdrawal {
			return 0, false
		}
		if w.balance.CompareAndSwap(balance, balance-w.withdrawal) {
			slot.Add(-w.withdrawal)
			return 1, true
		}
	}
}

// Settle deposits after a success.
func (b *RatioBudget) Settle(now time.Time, success bool, _ int) {
	if b == nil || !success {
		return
	}
	w := b.open(now)
	w.forget(now).Add(w.deposit)
	w.balance.Add(w.deposit)
}

// Balance returns how many retries would be allowed at once at now.
func (b *RatioBudget) Balance(now time.Time) int {
	if b == nil {
		return 0
	}
	w := b.open(now)
	w.forget(now)
	return int(max(w.balance.Load(), 0) / w.withdrawal)
}

// open returns the window, which the first call begins.
func (b *RatioBudget) open(now time.Time) *ratioWindow {
	if w := b.window.Load(); w != nil {
		return w
	}
	b.window.CompareAndSwap(nil, b.begin(now))
	return b.window.Load()
}

// begin makes the window. Numbers that are not valid are read as the nearest that are, and none of the sums can overflow.
func (b *RatioBudget) begin(now time.Time) *ratioWindow {
	ttl := orDefault(b.TTL, ratioTTL)
	w := &ratioWindow{began: now, slot: max(ttl/windowSlots, 1), withdrawal: 1}
	if share := b.Ratio; !(share < 0) {
		w.deposit = 1000
		w.withdrawal = whole(1000/min(orDefault(share, ratioShare), ratioMost), 1<<40)
	}
	if floor := b.MinPerSecond; !(floor < 0) {
		w.balance.Store(whole(orDefault(floor, ratioMinPerSecond)*ttl.Seconds()*float64(w.withdrawal), 1<<60))
	}
	return w
}

// whole rounds down. What is that close below a whole number is meant to be it.
func whole(v float64, most int64) int64 { return int64(math.Floor(min(v+1e-6, float64(most)))) }

// forget drops the slots that are over at now, and returns the current one.
func (w *ratioWindow) forget(now time.Time) *atomic.Int64 {
	at := slotAt(w.began, now, w.slot)
	head := w.head.Load()
	if n, _ := passed(head, at); n > 0 {
		head = w.advance(at)
	}
	return &w.slots[ring(head)]
}

// advance moves the window's end to the slot at. Whoever has found its slot before and adds to it only now is late by a slot or
// more: its amount is then forgotten with the slot that has taken the place. Nothing is lost, and balance is always the sum.
func (w *ratioWindow) advance(at int64) (head int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	head = w.head.Load()
	n, end := passed(head, at)
	for i := range n {
		w.balance.Add(-w.slots[ring(head+1+int64(i))].Swap(0))
	}
	w.head.Store(end)
	return end
}
