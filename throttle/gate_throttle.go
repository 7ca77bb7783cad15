package throttle

import (
	"context"
	"slices"
	"time"
)

// For returns the Throttle of all the keys together: an attempt waits until the last of their cool-downs is over, and
// an outcome whose Signal has a Delay starts a cool-down for each of them, as Observe does. Empty keys are left out;
// without a key everything passes. It is also a Planner and an Explainer. It never refuses: the executor compares the
// wait with the call's limits. Safe for concurrent use, and cheap enough to be made for one call.
//
// Ready answers what Admit would say to a newcomer, and takes no place in the release.
func (g *Gate) For(keys ...Key) Throttle {
	ids := make([]ident, 0, len(keys))
	for _, key := range keys {
		if id := keyed(key); key != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return &gateFor{g, ids}
}

// By is For with the one key that key finds in the context of the attempt, such as its tenant or host. The empty Key is
// not held back, and neither is anything if key is nil. key is called by Admit, Done, Ready and Explain, must answer the
// same for contexts of the same call, must be safe for concurrent use, and never gets a nil context.
func (g *Gate) By(key func(context.Context) Key) Throttle {
	return &gateBy{g, key}
}

type gateFor struct {
	gate *Gate
	ids  []ident
}

func (t *gateFor) Validate() error { return t.gate.Validate() }

func (t *gateFor) Admit(_ context.Context, now time.Time, ticket Ticket) (Ticket, time.Duration, error) {
	return t.gate.answer(now, ticket, t.ids)
}

func (t *gateFor) Done(_ context.Context, now time.Time, ticket Ticket, o Outcome) {
	t.gate.settle(now, ticket, &o, t.ids)
}

func (t *gateFor) Ready(_ context.Context, at time.Time) time.Duration {
	return t.gate.ready(at, t.ids)
}

func (t *gateFor) Explain(_ context.Context, now time.Time) *Error { return t.gate.explain(now, t.ids) }

type gateBy struct {
	gate *Gate
	key  func(context.Context) Key
}

// id returns the attempt's key; ok false: it is not gated.
func (t *gateBy) id(ctx context.Context) (id [1]ident, ok bool) {
	if t.gate == nil || t.key == nil {
		return id, false
	}
	if ctx == nil {
		ctx = context.Background()
	}
	key := t.key(ctx)
	return [1]ident{keyed(key)}, key != ""
}

// untouched reports that no key of the gate has ever been blocked, so that it need not be looked for.
func (t *gateBy) untouched() bool { return t.gate == nil || t.gate.table.Load() == nil }

func (t *gateBy) Validate() error { return t.gate.Validate() }

func (t *gateBy) Admit(ctx context.Context, now time.Time, ticket Ticket) (Ticket, time.Duration, error) {
	if t.untouched() {
		return nil, 0, nil
	}
	id, ok := t.id(ctx)
	if !ok {
		return nil, 0, nil
	}
	return t.gate.answer(now, ticket, id[:])
}

func (t *gateBy) Done(ctx context.Context, now time.Time, ticket Ticket, o Outcome) {
	var ids []ident
	if o.Signal.HasDelay {
		if id, ok := t.id(ctx); ok {
			ids = id[:]
		}
	}
	t.gate.settle(now, ticket, &o, ids)
}

func (t *gateBy) Ready(ctx context.Context, at time.Time) time.Duration {
	if t.untouched() {
		return 0
	}
	id, ok := t.id(ctx)
	if !ok {
		return 0
	}
	return t.gate.ready(at, id[:])
}

func (t *gateBy) Explain(ctx context.Context, now time.Time) *Error {
	id, ok := t.id(ctx)
	if !ok {
		return nil
	}
	return t.gate.explain(now, id[:])
}

func (g *Gate) answer(now time.Time, ticket Ticket, ids []ident) (Ticket, time.Duration, error) {
	p, _ := ticket.(*place)
	p, wait := g.admit(now, p, ids)
	if p == nil {
		// Not a nil *place in an interface: nil is nil to whoever looks.
		return nil, wait, nil
	}
	return p, wait, nil
}

func (g *Gate) settle(now time.Time, ticket Ticket, o *Outcome, ids []ident) {
	if o.Class == Skipped {
		p, _ := ticket.(*place)
		p.handBack()
	}
	for _, id := range ids {
		g.observe(now, &o.Signal, o.Err, id)
	}
}

func (g *Gate) explain(now time.Time, ids []ident) *Error {
	last, _ := g.last(now, ids)
	if last == nil {
		return nil
	}
	return last.refusal(now)
}
