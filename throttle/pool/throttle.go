package pool

import (
	"context"
	"strconv"
	"time"

	"github.com/seed-89b3229b/retry/internal/draw"
	"github.com/seed-89b3229b/retry/internal/saturate"
	"github.com/seed-89b3229b/retry/throttle"
)

// Admit gives a key, or says how long to wait for one. Without keys it refuses with ErrNoKeys. A ticket that is not from p is
// taken for none.
func (p *Pool[K]) Admit(_ context.Context, now time.Time, t throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	w := p.waiter(t)
	given, w, wait, err := p.admit(now, w)
	switch {
	case err != nil:
		return nil, 0, err
	case given != nil:
		return given, 0, nil
	}
	return w, wait, nil
}

// Done is told what an attempt with the ticket's key came to. Other tickets are ignored.
func (p *Pool[K]) Done(_ context.Context, now time.Time, t throttle.Ticket, o throttle.Outcome) {
	if given := p.given(t); given != nil {
		p.report(now, given, &o)
	} else {
		p.leave(p.waiter(t))
	}
}

// given returns the ticket of one who has a key of p, else nil.
func (p *Pool[K]) given(t throttle.Ticket) *spell[K] {
	if given, ok := t.(*spell[K]); ok && given != nil && given.slot.pool == p {
		return given
	}
	return nil
}

// waiter returns the ticket of one who waits for a key of p, else nil.
func (p *Pool[K]) waiter(t throttle.Ticket) *waiter[K] {
	if w, ok := t.(*waiter[K]); ok && w != nil && w.spell.slot.pool == p {
		return w
	}
	return nil
}

// Attach returns a context in which Key finds the ticket's key.
func (p *Pool[K]) Attach(ctx context.Context, t throttle.Ticket) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	if given := p.given(t); given != nil {
		return context.WithValue(ctx, p, given)
	}
	return ctx
}

// Key returns the key of the attempt that ctx belongs to; the zero K if the Pool gave it none.
func (p *Pool[K]) Key(ctx context.Context) (key K) {
	if ctx == nil {
		return key
	}
	if given, ok := ctx.Value(p).(*spell[K]); ok {
		return *given.slot.key
	}
	return key
}

// Label returns the Index of the ticket's key, and never the key itself; "" for one that has none.
func (p *Pool[K]) Label(t throttle.Ticket) string {
	if given := p.given(t); given != nil {
		return strconv.Itoa(given.slot.index)
	}
	return ""
}

// Ready says how much longer than at an attempt that comes then would have to wait, and takes no place in the release. Those
// who plan by it come back together, so only the first to foresee the end of a cool-down is told the very end.
func (p *Pool[K]) Ready(_ context.Context, at time.Time) time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n, s := p.earliest(at)
	if s == nil {
		return 0
	}
	if rest := between(n, s.end); rest > 0 && s.keeper == nil && !s.spell.foreseen {
		s.spell.foreseen = true
		return rest
	}
	if s.free == s.end { // nobody has the first attempt yet, but somebody comes for it
		return saturate.Add(between(n, s.end), draw.Below(s.spell.window, p.Rand))
	}
	return max(saturate.Add(between(n, s.end), p.offset(n, s)), 0)
}

// Explain returns the refusal by the cool-down that ends first, if no key can be taken at now.
func (p *Pool[K]) Explain(_ context.Context, now time.Time) *throttle.Error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refusal(now)
}

// earliest returns the slot that is anybody's again first; nil if one is ready at that time, or there is none.
func (p *Pool[K]) earliest(at time.Time) (time.Duration, *slot[K]) {
	p.meet()
	if len(p.resting.slots) < len(p.slots) || len(p.slots) == 0 {
		return 0, nil
	}
	n, s := p.since(at), p.resting.slots[0]
	if s.free <= n {
		return 0, nil
	}
	return n, s
}

func (p *Pool[K]) refusal(now time.Time) *throttle.Error {
	n, s := p.earliest(now)
	if s == nil {
		return nil
	}
	if rest := between(n, s.end); rest > 0 {
		return s.refusal(now, rest)
	}
	return s.refusal(now, between(n, s.free)) // being tried
}

func (s *slot[K]) refusal(now time.Time, rest time.Duration) *throttle.Error {
	return &throttle.Error{Key: "pool", Until: now.Add(rest), Remaining: rest, Source: s.spell.source, Err: s.spell.err}
}

// leave gives up the place of one who waits.
func (p *Pool[K]) leave(w *waiter[K]) {
	if w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handBack(w)
}
