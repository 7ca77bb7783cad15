package retry

import (
	"context"

	"github.com/seed-89b3229b/retry/throttle"
)

// observe starts the observation of a call, if anybody is interested.
func (k *call) observe(ctx context.Context, c *config) context.Context {
	next, observation := c.observer.Start(ctx, Call{Name: c.name, MaxAttempts: k.limit(c), Start: k.now})
	k.observation = observation
	if next != nil {
		ctx = next
	}
	k.tick()
	return ctx
}

// limit is the limit of attempts as observers know it: 0 for none.
func (k *call) limit(c *config) int {
	if n := k.maxAttempts(c); n != Unlimited {
		return n
	}
	return 0
}

func (k *call) summary(ending Ending, err, reason error) Summary {
	return Summary{
		Attempts: k.attempts, At: k.now, Ending: ending, Err: err, Last: k.last, Reason: reason,
		Elapsed: max(k.now.Sub(k.entered), 0), TotalDelay: k.paused,
	}
}

// close ends a call that a panic or runtime.Goexit leaves, wherever it happened. It does not recover. Each thing is ended
// even if ending the one before panics too.
func (k *call) close(ctx context.Context, c *config) {
	if k.done {
		return
	}
	k.done = true
	defer func() { k.tell(ctx, c, k.summary(EndPanicked, nil, nil)) }()
	defer k.timeout.end()
	k.tick()
	k.abort(ctx, c, k.now, throttle.Panicked, ErrShutdown, EndPanicked)
}
