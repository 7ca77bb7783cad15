package throttle

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// What the zero fields of an Adaptive mean.
const (
	adaptiveK       = 2
	adaptiveWindow  = 2 * time.Minute
	adaptivePending = 100
)

// Adaptive is a Throttle that refuses attempts at random, the more the fewer the dependency accepts: client-side throttling as in
// Google's book on site reliability. Each attempt that asks is refused with the probability
//
//	max(0, (requests - K·accepts)/(requests+1))
//
// Both are counted over a sliding Window. Requests are all attempts that asked, the refused ones too. Accepts are those among them
// that the dependency dealt with: classes Success and Permanent, so that a thousand times 404 makes it refuse nothing. Transient,
// Timeout and Throttled are not accepted. Canceled, Panicked, Skipped and Unset say nothing about the dependency: such an attempt
// is counted out again.
//
// So nothing is refused while the dependency accepts 1/K of what it is asked; below that it is offered about K times what it
// accepts, and always a little, by which it is found to work again. A K of 2 lets the load that gets through double within one
// Window; one close to 1 spares the dependency more and recovers slowly.
//
// An attempt that is still running has not been accepted. In a client that has just begun, or been idle, these would be all there
// are: up to Pending of them are not held against the dependency. A caller that makes one attempt at a time gets the formula as it
// stands; attempts that hang, beyond Pending, count like failures before they end.
//
// Share one Adaptive between all calls to a dependency, first attempts and retries: a retry that is refused ends its call. It is
// no budget: what it limits is load on a dependency that fails, not the share of retries in it. The refusal is an *Error with the
// Source "adaptive" that names no time. The zero Adaptive is ready for use; the fields are set before the first use. An Adaptive
// must not be copied. Safe for concurrent use; nil refuses nothing. A clock that is set back delays what is forgotten by up to Window.
//
// Source: Beyer et al., Site Reliability Engineering, chapter 21, "Handling Overload".
type Adaptive struct {
	// Key names the dependency in refusals.
	Key Key
	// K is how much more than it accepts the dependency is offered, at least 1. 0, and what is no such number: 2.
	K float64
	// Window is over which time requests are counted. A tenth of it is forgotten at a time. It should be longer than several
	// attempts. 0 or less: 2 min.
	Window time.Duration
	// Pending is how many running attempts are not held against the dependency. 0: 100; negative: none, the formula as it stands.
	Pending int
	// Rand draws from [0, 1), only where the probability is above 0. It must be safe for concurrent use. Nil: math/rand/v2.
	Rand func() float64

	mu    sync.Mutex
	begun bool
	began time.Time
	head  int64
	total tally
	slots [windowSlots]*tally
}

// tally is what was counted in one slot of the window. As a ticket it says in which slot an attempt was counted.
type tally struct {
	of                         *Adaptive
	requests, accepts, pending int64
	over                       bool // forgotten
}

func (t *tally) add(requests, accepts, pending int64) {
	t.requests, t.accepts, t.pending = t.requests+requests, t.accepts+accepts, t.pending+pending
}

// Validate returns a *ConfigError for a K that is below 1 without being 0, not a number or infinite, and for a negative Window.
func (a *Adaptive) Validate() error {
	switch {
	case a == nil:
	case a.K != 0 && !(a.K >= 1 && a.K < math.Inf(1)):
		return &ConfigError{"Adaptive.K", a.K, "must be a finite number of at least 1"}
	case a.Window < 0:
		return &ConfigError{"Adaptive.Window", a.Window, notNegative}
	}
	return nil
}

// Admit counts a request and refuses it with the probability that RefusalRate says. It never asks to wait.
func (a *Adaptive) Admit(_ context.Context, now time.Time, ticket Ticket) (Ticket, time.Duration, error) {
	if a == nil || a.slot(ticket) != nil {
		return ticket, 0, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	slot := a.forget(now)
	p := a.rate()
	a.count(slot, 1, 0, 0)
	if p > 0 && a.draw() < p {
		return nil, 0, &Error{Key: a.Key, Until: now, Source: "adaptive"}
	}
	a.count(slot, 0, 0, 1)
	return slot, 0, nil
}

// Done counts what became of an admitted attempt. Other tickets are ignored.
func (a *Adaptive) Done(_ context.Context, _ time.Time, ticket Ticket, o Outcome) {
	slot := a.slot(ticket)
	if slot == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case slot.over || slot.pending == 0: // or all of its attempts have been reported
	case o.Class == Success || o.Class == Permanent:
		a.count(slot, 0, 1, -1)
	case o.Class == Transient || o.Class == Timeout || o.Class == Throttled:
		a.count(slot, 0, 0, -1)
	default:
		a.count(slot, -1, 0, -1)
	}
}

// slot returns where the attempt with that ticket was counted, nil if it was not.
func (a *Adaptive) slot(ticket Ticket) *tally {
	if slot, ok := ticket.(*tally); ok && slot != nil && slot.of == a {
		return slot
	}
	return nil
}

// RefusalRate returns the probability with which an attempt that asked at now would be refused.
func (a *Adaptive) RefusalRate(now time.Time) float64 {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(now)
	return a.rate()
}

func (a *Adaptive) rate() float64 {
	k := a.K
	if !(k >= 1 && k < math.Inf(1)) {
		k = adaptiveK
	}
	excused := int64(0)
	if a.Pending >= 0 {
		excused = min(a.total.pending, int64(orDefault(a.Pending, adaptivePending)))
	}
	requests := float64(a.total.requests)
	return max(0, (requests-float64(excused)-k*float64(a.total.accepts))/(requests+1))
}

func (a *Adaptive) draw() float64 {
	if a.Rand == nil {
		return rand.Float64()
	}
	return a.Rand()
}

func (a *Adaptive) count(slot *tally, requests, accepts, pending int64) {
	slot.add(requests, accepts, pending)
	a.total.add(requests, accepts, pending)
}

// forget drops the slots that are over at now, and returns the current one.
func (a *Adaptive) forget(now time.Time) *tally {
	if !a.begun {
		a.begun, a.began = true, now
	}
	n, end := passed(a.head, slotAt(a.began, now, max(orDefault(a.Window, adaptiveWindow)/windowSlots, 1)))
	for i := range n {
		if old := &a.slots[ring(a.head+1+int64(i))]; *old != nil {
			a.total.add(-(*old).requests, -(*old).accepts, -(*old).pending)
			(*old).over, *old = true, nil
		}
	}
	a.head = end
	current := &a.slots[ring(end)]
	if *current == nil {
		*current = &tally{of: a}
	}
	return *current
}
