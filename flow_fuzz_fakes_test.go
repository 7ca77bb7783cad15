package retry_test

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// What a Flow talks to in FuzzFlow: each checks what it is told and asked, and answers as the script has it.

// fzThrottle admits, holds back, refuses and panics as the script has it, and minds its tickets.
type fzThrottle struct {
	*fzWorld
	index           int
	given, admitted bool
	ticket          throttle.Ticket
}

func (h *fzThrottle) Admit(_ context.Context, now time.Time, t throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	h.must(!h.ended && !h.running && !h.admitted, "throttle %d asked out of turn", h.index)
	h.must(now.Equal(h.now), "throttle %d told %v", h.index, now)
	h.must(t == h.ticket, "throttle %d asked with %v, gave %v", h.index, t, h.ticket)
	for i, other := range h.throttles {
		h.must(i >= h.index || other.admitted, "throttle %d asked before %d let pass", h.index, i)
		h.must(i <= h.index || !other.given, "throttle %d asked after %d", h.index, i)
	}
	h.maybePanic()
	wait := time.Duration(0)
	switch h.pick(8) {
	case 5, 6:
		wait = h.someWait()
	case 7:
		if h.rarely(3) {
			h.refused = fzOneOf[error](&h.fzScript, &throttle.Error{Key: "k", Remaining: time.Second}, errFlaky, retry.After(-1, errFlaky))
			return nil, h.someWait(), h.refused
		}
	}
	if !h.rarely(4) { // else the ticket stays what it is, nil at first
		h.ticket = new(int)
	}
	h.given, h.admitted = true, wait <= 0
	if wait > 0 {
		h.told += min(wait, kbForever-h.told)
	}
	return h.ticket, wait, nil
}

func (h *fzThrottle) Done(_ context.Context, now time.Time, t throttle.Ticket, o throttle.Outcome) {
	h.must(h.given, "throttle %d told of a ticket that it did not give, or twice", h.index)
	h.must(t == h.ticket, "throttle %d told of %v, gave %v", h.index, t, h.ticket)
	h.must(now.Equal(h.now), "throttle %d told %v", h.index, now)
	h.must(o.Class != throttle.Unset, "throttle %d told of no class", h.index)
	made := h.running || h.reporting
	h.must(made == (o.Class != throttle.Skipped), "throttle %d told of %v, attempt made: %v", h.index, o.Class, made)
	want := h.attempts
	if !made {
		want++
	}
	h.must(o.Number == want, "throttle %d told of attempt %d", h.index, o.Number)
	h.given, h.admitted, h.ticket = false, false, nil
	h.maybePanic()
}

type fzPlanner struct{ *fzThrottle }

func (p fzPlanner) Ready(_ context.Context, at time.Time) time.Duration {
	p.must(!at.Before(p.now) && p.reporting, "asked about %v at %v", at, p.now)
	p.maybePanic()
	wait := time.Duration(0)
	if p.rarely(2) {
		wait = p.someWait()
	}
	p.told = max(p.told, wait)
	return wait
}

type fzExplainer struct{ fzPlanner }

func (e fzExplainer) Explain(context.Context, time.Time) *throttle.Error {
	e.maybePanic()
	return fzOneOf(&e.fzScript, nil, &throttle.Error{Key: "k", Err: errFlaky})
}

// fzBudget checks the protocol of budgets.
type fzBudget struct {
	*fzWorld
	starts, settled, held, charges int
	ok, lastRetry                  bool // what the last Charge answered and was told
}

func (b *fzBudget) Start(now time.Time) {
	b.starts++
	b.must(b.starts == 1 && now.Equal(b.now), "started %d times, at %v", b.starts, now)
}

func (b *fzBudget) Charge(now time.Time, c throttle.Class, held int, last bool) (int, bool) {
	b.charges++
	b.must(b.starts == 1 && b.settled == 0 && b.reporting, "charged out of turn")
	b.must(b.charges <= b.attempts, "charged %d times for %d attempts", b.charges, b.attempts)
	b.must(held == b.held && now.Equal(b.now), "held %d, not %d", held, b.held)
	b.must(c != throttle.Unset && c != throttle.Success && c != throttle.Skipped, "charged for %v", c)
	b.maybePanic()
	b.held, b.ok, b.lastRetry = fzOneOf(&b.fzScript, 0, 1, 5, held), !b.rarely(8), last
	return b.held, b.ok
}

func (b *fzBudget) Settle(now time.Time, success bool, held int) {
	b.settled++
	b.must(b.starts == 1 && b.settled == 1, "settled %d times, started %d times", b.settled, b.starts)
	b.must(held == b.held && now.Equal(b.now), "settled with %d, held %d", held, b.held)
	b.must(!success || b.reporting && !b.again && b.outcome.Err == nil, "settled as a success")
	b.maybePanic()
}

// fzCurve is a strategy of every kind: what it may be asked is checked, what it answers is scripted.
type fzCurve struct {
	*fzWorld
	learns                      bool
	ok                          bool // what Next answered last
	shown, committed, succeeded int
}

func (c *fzCurve) Next(s strategy.State) (time.Duration, bool) {
	c.shown++
	c.must(c.reporting && c.shown <= c.attempts && s.Now.Equal(c.now) && s.Err == nil == c.again, "asked with %+v", s)
	k := &c.kinds[c.kind]
	if c.again {
		k = &fzKind{number: 1}
	}
	c.must(s.Number == k.number && s.Prev == k.prev, "asked with %+v, not %+v", s, *k)
	c.must(c.again && s.Elapsed == 0 || s.Elapsed == max(c.now.Sub(c.first()), 0), "asked with %+v", s)
	c.maybePanic()
	c.ok = !c.rarely(16)
	k.prev = c.someWait()
	return k.prev, c.ok
}

type fzLearner struct{ *fzCurve }

func (l fzLearner) Failed(s strategy.State) {
	l.committed++
	l.must(l.committed <= l.shown && !l.again && s.Now.Equal(l.now), "committed what was not shown")
	l.maybePanic()
}

func (l fzLearner) Succeed() {
	l.succeeded++
	l.must(l.succeeded == 1 && l.reporting, "succeeded %d times", l.succeeded)
	l.maybePanic()
}

type fzStarter struct{ *fzCurve }

func (s fzStarter) Start() strategy.Strategy {
	s.maybePanic()
	if s.rarely(4) {
		return nil // answers itself
	}
	return s.fzCurve
}
