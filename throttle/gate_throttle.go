package throttle

import (
	"context"
	"slices"
	"time"
)

// For returns the Throttle of all the keys together: an attempt waits until the last of their cool-downs is over, and
// an outcome whose Signal has a Delay starts a cool-down for each of them, as Observe does. Without a key everything
// passes. It never refuses: the executor compares the wait with the call's limits. Safe for concurrent use, and cheap
// enough to be made for one call.
//
// It is also an Explainer, and a Planner, whose Ready answers what Admit would say to a newcomer and takes no place in the release: the
// first who foresees the end of a cool-down goes at it, and so does the first who is told to wait.
func (g *Gate) For(keys ...Key) Throttle {
	return &gateFor{g, slices.Clone(keys)}
}

// By is For with the one key that key finds in the context of the attempt, such as its tenant or host. The empty Key is
// not held back, and neither is anything if key is nil. key is called by any method of the Throttle when it needs to
// know, with a context that is never nil; it must answer the same for the contexts of one call, and be safe for
// concurrent use.
func (g *Gate) By(key func(context.Context) Key) Throttle {
	return &gateBy{g, key}
}

// useForOrBy stands in the compiler's message about a Gate that is given where a Throttle is wanted: "missing method Admit, have
// admit(useForOrBy)".
type useForOrBy struct{}

func (*Gate) admit(useForOrBy) {}

var _ = (*Gate).admit

type gateFor struct {
	gate *Gate
	keys []Key
}

func (t *gateFor) Validate() error { return t.gate.Validate() }

func (t *gateFor) Admit(_ context.Context, now time.Time, ticket Ticket) (Ticket, time.Duration, error) {
	return t.gate.answer(now, ticket, t.keys)
}

func (t *gateFor) Done(_ context.Context, now time.Time, ticket Ticket, o Outcome) {
	giveUp(ticket, o.Class)
	t.gate.observe(now, &o.Signal, o.Err, t.keys)
}

func (t *gateFor) Ready(_ context.Context, at time.Time) time.Duration {
	return t.gate.ready(at, t.keys)
}

func (t *gateFor) Explain(_ context.Context, now time.Time) *Error {
	return t.gate.explain(now, t.keys)
}

type gateBy struct {
	gate *Gate
	key  func(context.Context) Key
}

// keys returns the attempt's key, as a list on the caller's stack.
func (t *gateBy) keys(ctx context.Context) [1]Key {
	if t.key == nil {
		return [1]Key{}
	}
	if ctx == nil {
		ctx = context.Background()
	}
	return [1]Key{t.key(ctx)}
}

// idle reports that the gate has no cool-down on record, whatever the key.
func (t *gateBy) idle() bool { return t.gate == nil || t.gate.keys.count.Load() == 0 }

func (t *gateBy) Validate() error { return t.gate.Validate() }

func (t *gateBy) Admit(ctx context.Context, now time.Time, ticket Ticket) (Ticket, time.Duration, error) {
	if t.idle() {
		return ticket, 0, nil
	}
	keys := t.keys(ctx)
	return t.gate.answer(now, ticket, keys[:])
}

func (t *gateBy) Done(ctx context.Context, now time.Time, ticket Ticket, o Outcome) {
	giveUp(ticket, o.Class)
	if t.gate != nil && o.Signal.HasDelay {
		keys := t.keys(ctx)
		t.gate.observe(now, &o.Signal, o.Err, keys[:])
	}
}

func (t *gateBy) Ready(ctx context.Context, at time.Time) time.Duration {
	if t.idle() {
		return 0
	}
	keys := t.keys(ctx)
	return t.gate.ready(at, keys[:])
}

func (t *gateBy) Explain(ctx context.Context, now time.Time) *Error {
	if t.idle() {
		return nil
	}
	keys := t.keys(ctx)
	return t.gate.explain(now, keys[:])
}

// answer is place for tickets. A ticket that is not a place is taken for none.
func (g *Gate) answer(now time.Time, ticket Ticket, keys []Key) (Ticket, time.Duration, error) {
	if g == nil {
		return ticket, 0, nil
	}
	p, _ := ticket.(*place)
	p, wait := g.place(now, p, keys)
	if p == nil {
		return ticket, wait, nil
	}
	return p, wait, nil
}

// giveUp lets another take the first place, if the ticket's owner has it and made no attempt.
func giveUp(ticket Ticket, c Class) {
	if p, ok := ticket.(*place); ok && c == Skipped {
		p.handBack()
	}
}
