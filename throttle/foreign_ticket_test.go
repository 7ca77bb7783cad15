package throttle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// ticketed makes throttles of one kind each, such that they hold back whoever asks at t0 where they can.
var ticketed = map[string]func() throttle.Throttle{
	"Gate": func() throttle.Throttle {
		g := &throttle.Gate{Rand: always(0.5)}
		g.Block(t0, 10*sec, "a")
		return g.For("a")
	},
	"Pool/cooling": func() throttle.Throttle {
		p := pool.New("A", "B")
		for range p.Len() {
			lease, _ := p.Acquire(t0)
			lease.Done(t0, throttle.Outcome{Class: throttle.Throttled})
		}
		return p
	},
	"Pool/longer": func() throttle.Throttle {
		p := pool.New("C")
		p.Base = 20 * sec
		lease, _ := p.Acquire(t0)
		lease.Done(t0, throttle.Outcome{Class: throttle.Throttled})
		return p
	},
	"Pool/free":     func() throttle.Throttle { return pool.New("D") },
	"Pool/ints":     func() throttle.Throttle { return pool.New(1) },
	"Pool/none":     func() throttle.Throttle { return pool.New[string]() },
	"Adaptive":      func() throttle.Throttle { return &throttle.Adaptive{Rand: always(0.9)} },
	"Adaptive/more": func() throttle.Throttle { return &throttle.Adaptive{Rand: always(0.4)} },
	"Pace":          func() throttle.Throttle { return throttle.Pace(&noting{delay: sec}) },
	"Reserve":       func() throttle.Throttle { return throttle.Reserve(places{30 * sec}.reserve) },
	"Breaker":       func() throttle.Throttle { return throttle.Breaker{Allow: new(probes).allow} },
	"Func":          func() throttle.Throttle { return answering(sec, nil) },
}

// foreign reports whether a throttle of the one kind can tell that a ticket of the other is none of its own. Those of limiters and
// breakers are the limiter's own type.
func foreign(mine, other string) bool { return mine != other || mine != "Reserve" && mine != "Breaker" }

// TestThrottleTakesAForeignTicketForNone: it answers as it answers without one, when the ticket is new and long after that, tells nobody
// whose key it is, and goes on as if it had not been told of its end.
func TestThrottleTakesAForeignTicketForNone(t *testing.T) {
	for mine, fresh := range ticketed {
		for other, theirs := range ticketed {
			if !foreign(mine, other) {
				continue
			}
			for _, later := range []time.Duration{0, 5 * sec, 15 * sec, time.Minute} {
				ticket, _, _ := theirs().Admit(t.Context(), t0, nil)
				th, as, now := fresh(), fresh(), t0.Add(later)
				for _, c := range []throttle.Class{throttle.Success, throttle.Throttled, throttle.Canceled, throttle.Skipped} {
					th.Done(t.Context(), now, ticket, throttle.Outcome{Class: c})
					as.Done(t.Context(), now, nil, throttle.Outcome{Class: c})
				}
				got, wait, err := th.Admit(t.Context(), now, ticket)
				want, wantWait, wantErr := as.Admit(t.Context(), now, nil)
				require.Equal(t, wantErr, err, "%s, %s", mine, other)
				require.Equal(t, wantWait, wait, "%s, %s", mine, other)
				if l, ok := th.(throttle.Labeler); ok {
					require.Equal(t, as.(throttle.Labeler).Label(want), l.Label(got), "%s, %s", mine, other)
					require.Empty(t, l.Label(ticket), "%s, %s", mine, other)
				}
				if a, ok := th.(throttle.Attacher); ok {
					require.Equal(t, t.Context(), a.Attach(t.Context(), ticket), "%s, %s", mine, other)
				}
				th.Done(t.Context(), now, got, throttle.Outcome{Class: throttle.Success})
				as.Done(t.Context(), now, want, throttle.Outcome{Class: throttle.Success})
				_, wait, err = th.Admit(t.Context(), now, nil)
				_, wantWait, wantErr = as.Admit(t.Context(), now, nil)
				require.Equal(t, wantErr, err, "%s, %s", mine, other)
				require.Equal(t, wantWait, wait, "%s, %s", mine, other)
			}
		}
	}
}

// TestAdaptiveToldTooOften: attempts that were never made, or reported before, are not counted out.
func TestAdaptiveToldTooOften(t *testing.T) {
	for _, c := range []throttle.Class{throttle.Success, throttle.Transient, throttle.Skipped} {
		a, other := &throttle.Adaptive{Rand: always(0.9)}, &throttle.Adaptive{Rand: always(0.9)}
		ask(t, a, t0, 3, throttle.Timeout)
		rate := a.RefusalRate(t0)
		ticket, _, err := other.Admit(t.Context(), t0, nil)
		require.NoError(t, err)
		for range 5 {
			a.Done(t.Context(), t0, ticket, throttle.Outcome{Class: c})
			require.Equal(t, rate, a.RefusalRate(t0), c)
		}
		other.Done(t.Context(), t0, ticket, throttle.Outcome{Class: throttle.Transient})
		rate = other.RefusalRate(t0)
		require.InDelta(t, 1.0/2, rate, 1e-12)
		for range 5 {
			other.Done(t.Context(), t0, ticket, throttle.Outcome{Class: c})
			require.Equal(t, rate, other.RefusalRate(t0), c)
		}
	}
}
