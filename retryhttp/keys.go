package retryhttp

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

type (
	flightKey   struct{}
	overrideKey struct{}
)

// ContextWithPolicy makes requests with this context, and those that redirects make of them, use a policy in place of
// their Transport's. The rest of the Transport stays in force. Keep and reuse the policy: what it comes to for a host
// is worked out once and remembered. A nil policy gives ctx unchanged. For no retry at all there is
// retry.ContextWithoutRetry.
func ContextWithPolicy(ctx context.Context, p *retry.Policy) context.Context {
	if p == nil {
		return ctx
	}
	return context.WithValue(ctx, overrideKey{}, p)
}

// byKeys is the gate for keys that differ from request to request, for a policy that serves them all.
type byKeys struct{}

func keysOf(ctx context.Context) throttle.Throttle { return ctx.Value(flightKey{}).(*flight).keys }

func (byKeys) Admit(ctx context.Context, now time.Time, t throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	return keysOf(ctx).Admit(ctx, now, t)
}

func (byKeys) Done(ctx context.Context, now time.Time, t throttle.Ticket, o throttle.Outcome) {
	keysOf(ctx).Done(ctx, now, t, o)
}

func (byKeys) Ready(ctx context.Context, at time.Time) time.Duration {
	return keysOf(ctx).(throttle.Planner).Ready(ctx, at)
}

func (byKeys) Explain(ctx context.Context, now time.Time) *throttle.Error {
	return keysOf(ctx).(throttle.Explainer).Explain(ctx, now)
}
