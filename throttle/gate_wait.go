package throttle

import (
	"context"

	"github.com/seed-89b3229b/retry/internal/carry"
	"github.com/seed-89b3229b/retry/internal/clock"
	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Wait returns nil when none of the keys is cooling down, having waited for the end of their cool-downs and for its own
// place in the release. For use without the executor, which waits for a Throttle itself.
//
// A cool-down that does not end before ctx's deadline is not waited for: the answer is its *Error at once, which also
// matches context.DeadlineExceeded. Where only the place in the release lies past the deadline, Wait goes with the
// first instead. When ctx is done, before or during the wait, the answer matches its error and its cause; that the Gate
// was open then does not matter. Time is that of the clock which ctx carries, the system's by default. A nil ctx is
// never done.
func (g *Gate) Wait(ctx context.Context, keys ...Key) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return errtree.Ended(ctx)
	}
	if g == nil || g.keys.count.Load() == 0 {
		return nil
	}
	sleeper := clock.Sleeper{Clock: carry.From(ctx).Clock}
	deadline, limited := ctx.Deadline()
	var p *place
	for {
		now := clock.Now(sleeper.Clock)
		next, wait := g.place(now, p, keys)
		if wait <= 0 {
			return nil
		}
		p = next
		if limited {
			left, rest := deadline.Sub(now), p.cool.remaining(now)
			if rest >= left {
				p.handBack()
				refused := p.cool.refusal(now)
				refused.PastDeadline = true
				return refused
			}
			if wait >= left {
				wait = rest
				if rest <= 0 {
					return nil
				}
			}
		}
		sleeper.Sleep(ctx, nil, wait)
		// Asked even if the wait is over: when both are ready, the context's end counts.
		if ctx.Err() != nil {
			p.handBack()
			return errtree.Ended(ctx)
		}
	}
}
