package pool_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

var (
	worked     = throttle.Outcome{Class: throttle.Success}
	turnedAway = throttle.Outcome{Class: throttle.Throttled, Err: boom}
)

// limitedFor is a limit with a told wait.
func limitedFor(d time.Duration) throttle.Outcome {
	return throttle.Outcome{Class: throttle.Throttled, Err: boom, Signal: throttle.Signal{Delay: d, HasDelay: true, Source: "retry-after"}}
}

// taken acquires a key that must be there.
func taken[K comparable](t *testing.T, p *pool.Pool[K], now time.Time) *pool.Lease[K] {
	t.Helper()
	lease, err := p.Acquire(now)
	require.NoError(t, err)
	return lease
}

// turn returns the next n keys that p gives, each of which works.
func turn(t *testing.T, p *pool.Pool[string], now time.Time, n int) string {
	t.Helper()
	var keys strings.Builder
	for range n {
		lease := taken(t, p, now)
		keys.WriteString(lease.Key())
		lease.Done(now, worked)
	}
	return keys.String()
}

// cooling returns how long each key still cools down.
func cooling[K comparable](p *pool.Pool[K], now time.Time) (left []time.Duration) {
	for _, s := range p.Stats(now) {
		d := time.Duration(0)
		if !s.Until.IsZero() {
			d = s.Until.Sub(now)
		}
		left = append(left, d)
	}
	return left
}

func keyed(keys string, by pool.Selection) *pool.Pool[string] {
	p := pool.New(strings.Split(keys, "")...)
	p.Selection = by
	return p
}

func TestPoolRoundRobinKeepsItsPlace(t *testing.T) {
	p := keyed("ABCD", pool.RoundRobin)
	require.Equal(t, "ABCDAB", turn(t, p, t0, 6))
	p.Done(t.Context(), t0, pool.TicketOf(p, "D"), limitedFor(sec))
	require.Equal(t, "CABCA", turn(t, p, t0, 5))
	require.Equal(t, "BCDABCD", turn(t, p, t0.Add(sec), 7), "readmitted when its cool-down ends, in its turn, while all others are free")
}

func TestPoolLeastRecentlyUsed(t *testing.T) {
	p := keyed("ABCD", pool.LeastRecentlyUsed)
	require.Equal(t, "ABCDA", turn(t, p, t0, 5))
	p.Done(t.Context(), t0, pool.TicketOf(p, "B"), limitedFor(sec))
	require.Equal(t, "CDACDAC", turn(t, p, t0, 7))
	require.Equal(t, "BDACB", turn(t, p, t0.Add(sec), 5), "it has not been used for the longest")
	p.Add("E")
	p.Remove("D")
	require.Equal(t, "EACBE", turn(t, p, t0.Add(sec), 5))
}

func TestPoolRandom(t *testing.T) {
	p := keyed("ABCD", pool.Random)
	us := []float64{0, 0.24, 0.25, 0.74, 0.75, 0.999999, -1, 1, math.NaN(), math.Inf(1), math.Inf(-1)}
	p.Rand = script(t, us...)
	require.Equal(t, "AABCDDADADA", turn(t, p, t0, len(us)))
	p.Done(t.Context(), t0, pool.TicketOf(p, "B"), limitedFor(sec))
	p.Rand = script(t, 0, 0.34, 0.67, 0.5)
	require.Equal(t, "ACDC", turn(t, p, t0, 4), "of those that are free")

	p, counts := keyed("ABCD", pool.Random), map[string]int{}
	for range 4000 {
		counts[turn(t, p, t0, 1)]++
	}
	for _, n := range counts {
		assert.InDelta(t, 1000, n, 200)
	}
}

func TestPoolCooldowns(t *testing.T) {
	for _, c := range []struct {
		name      string
		base, max time.Duration
		want      []time.Duration
	}{
		{"default", 0, 0, []time.Duration{1 * sec, 2 * sec, 4 * sec, 8 * sec, 16 * sec, 32 * sec, 32 * sec, 32 * sec}},
		{"cap between", 3 * sec, 10 * sec, []time.Duration{3 * sec, 6 * sec, 10 * sec, 10 * sec}},
		{"base above cap", 40 * sec, 32 * sec, []time.Duration{32 * sec, 32 * sec}},
		{"none", -1, 0, []time.Duration{0, 0, 0}},
		{"wrong cap", 16 * sec, -1, []time.Duration{16 * sec, 32 * sec, 32 * sec}},
		{"largest", longest, longest, []time.Duration{longest, longest}},
		{"no overflow", longest/2 + 1, longest, []time.Duration{longest/2 + 1, longest}},
	} {
		p, now := pool.New("A"), t0
		p.Base, p.Max = c.base, c.max
		for i, want := range c.want {
			p.Done(t.Context(), now, pool.TicketOf(p, "A"), turnedAway)
			require.Equal(t, []time.Duration{want}, cooling(p, now), "%s %d", c.name, i+1)
			require.Equal(t, i+1, p.Stats(now)[0].Failures)
		}
	}
}

// TestPoolSuccessEndsTheRow: and nothing else does.
func TestPoolSuccessEndsTheRow(t *testing.T) {
	for class := range throttle.Skipped + 2 {
		p, now := pool.New("A"), t0
		for i := range 3 {
			taken(t, p, now).Done(now, turnedAway)
			now = now.Add(time.Duration(1<<i) * sec)
		}
		taken(t, p, now)
		p.Done(t.Context(), now, pool.TicketOf(p, "A"), throttle.Outcome{Class: class, Err: boom})
		want, left := 3, time.Duration(0)
		switch class {
		case throttle.Success:
			want = 0
		case throttle.Throttled:
			want, left = 4, 8*sec
		}
		require.Equal(t, want, p.Stats(now)[0].Failures, class)
		require.Equal(t, []time.Duration{left}, cooling(p, now), class)
		if left == 0 {
			taken(t, p, now).Done(now, turnedAway) // nobody tries it any more
			require.Equal(t, want+1, p.Stats(now)[0].Failures, class)
		}
	}
}

// TestPoolBurstCountsOnce: attempts that began before the cool-down say nothing new, whenever they end.
func TestPoolBurstCountsOnce(t *testing.T) {
	p := pool.New("A")
	var burst []*pool.Lease[string]
	for range 6 {
		burst = append(burst, taken(t, p, t0))
	}
	burst[0].Done(t0, turnedAway)
	burst[1].Done(t0.Add(500*ms), turnedAway)
	require.Equal(t, []time.Duration{500 * ms}, cooling(p, t0.Add(500*ms)))
	burst[2].Done(t0.Add(600*ms), worked)
	require.Equal(t, []time.Duration{400 * ms}, cooling(p, t0.Add(600*ms)), "nor does an older success end it")

	now := t0.Add(sec)
	trial := taken(t, p, now)
	burst[3].Done(now, turnedAway)
	require.Equal(t, []time.Duration{0}, cooling(p, now), "nor an older failure start another")
	burst[4].Done(now, worked)
	require.Equal(t, 1, p.Stats(now)[0].Failures)
	trial.Done(now, turnedAway)
	require.Equal(t, []time.Duration{2 * sec}, cooling(p, now))
	burst[5].Done(now, turnedAway)
	require.Equal(t, pool.KeyStats{Uses: 7, Limited: 5, Failures: 2, Until: now.Add(2 * sec)}, p.Stats(now)[0])
}

func TestPoolToldWaitBeatsTheFormula(t *testing.T) {
	for _, c := range []struct{ max, told, want time.Duration }{
		{0, 10 * ms, 10 * ms}, // shorter
		{0, 45 * sec, 45 * sec},
		{0, time.Hour, 15 * time.Minute},
		{time.Minute, time.Hour, time.Minute},
		{longest, longest, longest},
		{-1, time.Hour, 15 * time.Minute},
		{0, 0, 0},
		{0, -sec, 0},
	} {
		p := pool.New("A")
		p.MaxCooldown = c.max
		taken(t, p, t0).Done(t0, limitedFor(c.told))
		require.Equal(t, []time.Duration{c.want}, cooling(p, t0), "%+v", c)
		require.Equal(t, 1, p.Stats(t0)[0].Failures)
	}
	p := pool.New("A")
	taken(t, p, t0).Done(t0, limitedFor(10*ms))
	taken(t, p, t0.Add(10*ms)).Done(t0.Add(10*ms), turnedAway)
	require.Equal(t, []time.Duration{2 * sec}, cooling(p, t0.Add(10*ms)), "it counts all the same")
}

// TestPoolLateToldWait: what an older attempt was told only ever lengthens the cool-down.
func TestPoolLateToldWait(t *testing.T) {
	p := pool.New("A")
	a, b, c, d, e := taken(t, p, t0), taken(t, p, t0), taken(t, p, t0), taken(t, p, t0), taken(t, p, t0)
	a.Done(t0, limitedFor(10*sec))
	b.Done(t0, limitedFor(3*sec))
	require.Equal(t, []time.Duration{10 * sec}, cooling(p, t0))
	c.Done(t0, limitedFor(30*sec))
	require.Equal(t, []time.Duration{30 * sec}, cooling(p, t0))
	require.Equal(t, 1, p.Stats(t0)[0].Failures)

	now := t0.Add(30 * sec)
	trial := taken(t, p, now)
	d.Done(now, limitedFor(5*sec))
	require.Equal(t, []time.Duration{5 * sec}, cooling(p, now), "after its end too")
	trial.Done(now, worked)
	require.Equal(t, []time.Duration{5 * sec}, cooling(p, now), "and then who tried it says nothing new")
	require.Equal(t, 1, p.Stats(now)[0].Failures)
	e.Done(now, limitedFor(0))
	require.Equal(t, []time.Duration{5 * sec}, cooling(p, now))
}

// TestPoolUsedUp: a success with a told wait took what was left.
func TestPoolUsedUp(t *testing.T) {
	for _, class := range []throttle.Class{throttle.Success, throttle.Permanent} {
		p := pool.New("A", "B")
		o := limitedFor(45 * sec)
		o.Class, o.Err = class, nil
		taken(t, p, t0).Done(t0, o)
		require.Equal(t, []time.Duration{45 * sec, 0}, cooling(p, t0))
		require.Zero(t, p.Stats(t0)[0].Failures)
		require.Equal(t, "BB", turn(t, p, t0, 2))
		taken(t, p, t0).Done(t0, limitedFor(50*sec))
		_, err := p.Acquire(t0)
		require.EqualError(t, err, `throttle: "pool" is cooling down for 45s (retry-after)`)
	}
	p := pool.New("A")
	o := limitedFor(45 * sec)
	o.Class = throttle.Transient
	taken(t, p, t0).Done(t0, o)
	require.Equal(t, []time.Duration{0}, cooling(p, t0), "a matter of the server")
}

func TestPoolJitter(t *testing.T) {
	p := pool.New("A")
	p.Jitter, p.Rand = strategy.Equal, script(t, 0.5, 0, 0.25)
	for _, want := range []time.Duration{750 * ms, sec, 2500 * ms} {
		p.Done(t.Context(), t0, pool.TicketOf(p, "A"), turnedAway)
		require.Equal(t, []time.Duration{want}, cooling(p, t0))
	}
	p.Done(t.Context(), t0, pool.TicketOf(p, "A"), limitedFor(7*sec))
	require.Equal(t, []time.Duration{7 * sec}, cooling(p, t0), "told waits are kept")
	for answer, want := range map[time.Duration]time.Duration{longest: 32 * sec, math.MinInt64: 0, 5: 5} {
		p := pool.New("A")
		p.Jitter = func(delay, limit time.Duration, r float64) time.Duration {
			assert.Equal(t, []time.Duration{sec, 32 * sec}, []time.Duration{delay, limit})
			assert.True(t, r >= 0 && r < 1)
			return answer
		}
		taken(t, p, t0).Done(t0, turnedAway)
		require.Equal(t, []time.Duration{want}, cooling(p, t0))
	}
}

func TestPoolClassify(t *testing.T) {
	banned := errors.New("403 Forbidden")
	p := pool.New("A", "B")
	seen := 0
	p.Classify = func(o throttle.Outcome) throttle.Outcome {
		seen++
		if errors.Is(o.Err, banned) {
			o.Class, o.Signal = throttle.Throttled, throttle.Signal{Delay: 10 * time.Minute, HasDelay: true, Source: "banned"}
		}
		return o
	}
	taken(t, p, t0).Done(t0, throttle.Outcome{Err: fmt.Errorf("get: %w", banned), Class: throttle.Permanent})
	require.Equal(t, []time.Duration{10 * time.Minute, 0}, cooling(p, t0))
	taken(t, p, t0).Done(t0, turnedAway)
	require.Equal(t, []time.Duration{10 * time.Minute, sec}, cooling(p, t0), "others are as they were")
	require.Equal(t, 2, seen)
	taken(t, p, t0.Add(sec)).Done(t0.Add(sec), throttle.Outcome{Class: throttle.Skipped})
	require.Equal(t, 2, seen, "there was no attempt to judge")

	p = pool.New("A")
	p.Classify = func(throttle.Outcome) throttle.Outcome { panic("classify") }
	require.Panics(t, func() { taken(t, p, t0).Done(t0, turnedAway) })
	p.Classify = nil
	require.Equal(t, "A", turn(t, p, t0, 1), "a panic leaves no lock behind")
}

func TestPoolValidate(t *testing.T) {
	for _, c := range []struct {
		p    *pool.Pool[string]
		want *throttle.ConfigError
	}{
		{nil, nil},
		{pool.New("A"), nil},
		{&pool.Pool[string]{Base: -1, Max: longest, MaxCooldown: longest, Spread: -1, Selection: pool.LeastRecentlyUsed}, nil},
		{&pool.Pool[string]{Max: -1}, &throttle.ConfigError{Field: "Pool.Max", Value: time.Duration(-1), Problem: "must not be negative"}},
		{&pool.Pool[string]{MaxCooldown: -sec}, &throttle.ConfigError{Field: "Pool.MaxCooldown", Value: -sec, Problem: "must not be negative"}},
		{&pool.Pool[string]{Selection: 3}, &throttle.ConfigError{Field: "Pool.Selection", Value: uint8(3), Problem: "must be round-robin, random or least-recently-used"}},
	} {
		if c.want == nil {
			require.NoError(t, c.p.Validate())
			continue
		}
		require.Equal(t, c.want, c.p.Validate())
	}
	p := keyed("AB", 3)
	require.Equal(t, "ABA", turn(t, p, t0, 3), "what was not validated")
}

// TestPoolWithoutKeys: nil, zero, emptied.
func TestPoolWithoutKeys(t *testing.T) {
	emptied := pool.New("A")
	emptied.Remove("A", "A", "B")
	for _, p := range []*pool.Pool[string]{nil, {}, pool.New[string](), emptied} {
		_, err := p.Acquire(t0)
		require.Equal(t, pool.ErrNoKeys, err)
		_, err = p.AcquireWait(t.Context())
		require.Equal(t, pool.ErrNoKeys, err)
		ticket, wait, err := p.Admit(t.Context(), t0, nil)
		require.Equal(t, pool.ErrNoKeys, err)
		require.Zero(t, wait)
		require.Nil(t, ticket)
		require.Zero(t, p.Ready(t.Context(), t0))
		require.Nil(t, p.Explain(t.Context(), t0))
		require.Empty(t, p.Keys())
		require.Empty(t, p.Stats(t0))
		require.Zero(t, p.Len())
		require.Equal(t, "pool of 0 keys", p.String())
		p.Remove("A")
	}
	(*pool.Pool[string])(nil).Add("A")
	p := new(pool.Pool[string])
	p.Add("A")
	require.Equal(t, "AA", turn(t, p, t0, 2))
}

// TestPoolForeignTickets: they change nothing, and neither does nothing.
func TestPoolForeignTickets(t *testing.T) {
	a, b := pool.New("A"), pool.New("A")
	for _, ticket := range []throttle.Ticket{nil, 7, pool.TicketOf(b, "A"), pool.TicketOf(pool.New(1), 1)} {
		a.Done(t.Context(), t0, ticket, turnedAway)
		require.Equal(t, []pool.KeyStats{{}}, a.Stats(t0))
	}
	require.Equal(t, []pool.KeyStats{{}}, b.Stats(t0))
	require.Zero(t, a.Key(b.Attach(t.Context(), pool.TicketOf(b, "A"))))
	require.Zero(t, a.Key(t.Context()))
	require.Empty(t, a.Label(nil))
	var none context.Context
	require.Zero(t, a.Key(none))
	require.Equal(t, context.Background(), a.Attach(none, nil))
	require.Equal(t, "A", a.Key(a.Attach(none, pool.TicketOf(a, "A"))))
}

func TestLease(t *testing.T) {
	p := pool.New("A", "B")
	lease := taken(t, p, t0)
	require.Equal(t, "A", lease.Key())
	require.Zero(t, lease.Index())
	lease.Done(t0, worked)
	lease.Done(t0, turnedAway)
	require.Equal(t, pool.KeyStats{Uses: 1}, p.Stats(t0)[0], "only the first report counts")
	taken(t, p, t0).Done(t0, throttle.Outcome{Class: throttle.Skipped})
	require.Zero(t, p.Stats(t0)[1].Uses)

	for _, none := range []*pool.Lease[string]{nil, {}} {
		none.Done(t0, turnedAway)
		require.Zero(t, none.Key())
		require.Equal(t, -1, none.Index())
	}
}

// TestLeaseClassifies: without an executor somebody else has to.
func TestLeaseClassifies(t *testing.T) {
	for _, c := range []struct {
		name     string
		o        throttle.Outcome
		failures int
		left     time.Duration
	}{
		{"nothing", throttle.Outcome{}, 0, 0},
		{"nil pointer", throttle.Outcome{Err: (*nilError)(nil)}, 0, 0},
		{"failure", throttle.Outcome{Err: boom}, 1, 0},
		{"told by the error", throttle.Outcome{Err: fmt.Errorf("get: %w", &throttle.Error{Remaining: 7 * sec})}, 2, 7 * sec},
		{"told by the signal", throttle.Outcome{Err: boom, Signal: throttle.Signal{HasDelay: true, Delay: 9 * sec}}, 2, 9 * sec},
		{"said", throttle.Outcome{Err: boom, Class: throttle.Throttled}, 2, 2 * sec},
		{"said otherwise", throttle.Outcome{Err: &throttle.Error{Remaining: 7 * sec}, Class: throttle.Timeout}, 1, 0},
	} {
		p := pool.New("A")
		taken(t, p, t0).Done(t0, turnedAway)
		now := t0.Add(sec)
		taken(t, p, now).Done(now, c.o)
		require.Equal(t, c.failures, p.Stats(now)[0].Failures, c.name)
		require.Equal(t, []time.Duration{c.left}, cooling(p, now), c.name)
	}
}
