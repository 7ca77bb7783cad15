package alibaba

import (
	"context"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/saturate"
	"github.com/seed-89b3229b/retry/throttle"
)

// The dimensions of the vendor's quotas, by the header fields that report them.
const (
	headerUser    = "X-RateLimit-User"     // all calls of the account
	headerUserAPI = "X-RateLimit-User-API" // the account's calls of one API
)

// gate is what a Gate does for both keys of an API together.
type gate interface {
	throttle.Throttle
	throttle.Planner
	throttle.Explainer
}

// hold is the throttle of a Control: a Gate for two keys, each with delays of its own.
type hold struct {
	gate
	all          *throttle.Gate
	account, api throttle.Key
	slack        time.Duration
	limit        time.Duration
	onSuccess    bool
	invalid      error
}

func (c Control) hold(limit time.Duration, invalid error) *hold {
	h := &hold{all: c.Gate, slack: max(c.Slack, 0), limit: limit, onSuccess: c.OnSuccess, invalid: invalid}
	if c.Slack == 0 {
		h.slack = DefaultSlack
	}
	h.account, h.api = c.Keys()
	h.gate = c.Gate.For(h.account, h.api).(gate)
	return h
}

func (h *hold) Validate() error { return h.invalid }

func (h *hold) String() string { return "alibaba(" + string(h.api) + ")" }

// Admit leaves out a place in the release that would exceed the limit: whether a call fails must hang on the cool-down, not
// on where the call was placed.
func (h *hold) Admit(ctx context.Context, now time.Time, t throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	t, wait, err := h.gate.Admit(ctx, now, t)
	if wait > h.limit {
		if rest := h.rest(now); rest < wait {
			return nil, rest, err // so the place is not the first, which would have to be given back
		}
	}
	return t, wait, err
}

// Ready foresees what Admit will say.
func (h *hold) Ready(ctx context.Context, at time.Time) time.Duration {
	wait := h.gate.Ready(ctx, at)
	if wait > h.limit {
		wait = h.rest(at)
	}
	return wait
}

// Done records what the attempt was told, whatever becomes of the call.
func (h *hold) Done(ctx context.Context, now time.Time, t throttle.Ticket, o throttle.Outcome) {
	h.gate.Done(ctx, now, t, throttle.Outcome{Class: o.Class}) // its delays are not the same for both keys
	if o.Err != nil || h.onSuccess {
		h.observe(now, &o.Signal, o.Err)
	}
}

// rest is how long the later of both cool-downs lasts.
func (h *hold) rest(now time.Time) time.Duration {
	if e := h.Explain(context.Background(), now); e != nil {
		return e.Remaining
	}
	return 0
}

// told is a wait that an answer named for one key.
type told struct {
	delay  time.Duration
	source string
	is     bool
}

// observe starts the cool-downs that s names. One that names no dimension is the API's: that one was called in vain, and
// of the account's other APIs nothing is known.
func (h *hold) observe(now time.Time, s *throttle.Signal, err error) {
	var account, api told
	for i := range s.Quotas {
		q := &s.Quotas[i]
		switch t := (told{q.Delay, q.Name, true}); {
		case !usedUp(q) || !q.HasDelay:
		case strings.EqualFold(q.Name, headerUser):
			account = t
		default:
			api = t
		}
	}
	if !account.is && !api.is {
		api = told{s.Delay, s.Source, s.HasDelay}
	}
	if account.is && h.account == "" { // nobody's
		if !api.is || account.delay > api.delay {
			api = account
		}
		account.is = false
	}
	h.start(now, account, err, h.account)
	h.start(now, api, err, h.api)
}

// sameWindow is how far apart answers of the same moment may see the end of a quota's window.
const sameWindow = DefaultSlack

// start replaces the key's cool-down.
func (h *hold) start(now time.Time, t told, err error, key throttle.Key) {
	if !t.is {
		return
	}
	delay := saturate.Add(max(t.delay, 0), h.slack)
	old, cooling := h.all.Check(now, key).(*throttle.Error)
	h.all.Set(now, throttle.Signal{Delay: delay, HasDelay: true, Source: t.source}, err, key)
	if cooling && (old.Remaining-delay).Abs() <= sameWindow {
		// One of many that were turned away together. The first of them was told the very end of the cool-down; asking
		// in the place of another first keeps the others from being told it too.
		h.all.For(key).(gate).Ready(context.Background(), now)
	}
}

// usedUp reports whether q is one of the vendor's two quotas, with nothing left. Below 0 it is not limited.
func usedUp(q *throttle.Quota) bool {
	return q.Remaining == 0 && (strings.EqualFold(q.Name, headerUser) || strings.EqualFold(q.Name, headerUserAPI))
}

// throttled is a condition that retries answers which say that a quota is used up.
func throttled(err error) condition.Verdict {
	s, _ := throttle.FromError(err)
	for i := range s.Quotas {
		if usedUp(&s.Quotas[i]) {
			return condition.Throttled
		}
	}
	return condition.Unknown
}
