package pool_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// coolingPool returns a pool of n keys of which all but the last free cool down.
func coolingPool(t testing.TB, now time.Time, n, free int, by pool.Selection) *pool.Pool[int] {
	p := new(pool.Pool[int])
	p.Selection = by
	for i := range n {
		p.Add(i)
		if i < n-free {
			p.Done(t.Context(), now, pool.TicketOf(p, i), told(time.Duration(i+1)*time.Minute))
		}
	}
	return p
}

func TestPoolDoesNotAllocate(t *testing.T) {
	now, ctx := time.Now(), t.Context()
	success := throttle.Outcome{Class: throttle.Success}
	for by := range pool.Selection(3) {
		for _, n := range []int{1, 5, 1000} {
			p := coolingPool(t, now, n, (n+1)/2, by)
			assert.Zero(t, testing.AllocsPerRun(100, func() {
				ticket, wait, err := p.Admit(ctx, now, nil)
				if ticket == nil || wait != 0 || err != nil {
					t.Error("no key")
				}
				p.Done(ctx, now, ticket, success)
				p.Ready(ctx, now)
				p.Explain(ctx, now)
				if n < 100 { // a longer number is made
					p.Label(ticket)
				}
			}), "%v %d", by, n)
		}
	}
	p := pool.New("a", "b")
	assert.Equal(t, 1.0, testing.AllocsPerRun(100, func() {
		ticket, _, _ := p.Admit(ctx, now, nil)
		if p.Key(p.Attach(ctx, ticket)) == "" {
			t.Error("no key")
		}
		p.Done(ctx, now, ticket, success)
	}), "the attempt's context")
	assert.Equal(t, 1.0, testing.AllocsPerRun(100, func() {
		lease, err := p.Acquire(now)
		if err != nil || lease.Key() == "" {
			t.Error("no key")
		}
		lease.Done(now, throttle.Outcome{})
	}), "the lease")
	assert.Equal(t, 1.0, testing.AllocsPerRun(100, func() {
		lease, _ := p.AcquireWait(ctx)
		lease.Done(now, throttle.Outcome{})
	}), "the lease")
}

func TestPoolWaiterAllocatesItsTicketOnly(t *testing.T) {
	p := coolingPool(t, t0, 3, 0, pool.RoundRobin)
	ctx := t.Context()
	assert.Equal(t, 1.0, testing.AllocsPerRun(100, func() {
		var ticket throttle.Ticket
		for range 10 {
			ticket, _, _ = p.Admit(ctx, t0, ticket)
		}
		p.Done(ctx, t0, ticket, throttle.Outcome{Class: throttle.Skipped})
	}))
}

func TestPoolCooldownAllocatesItsSpellOnly(t *testing.T) {
	p := pool.New("a", "b")
	now, ctx := t0, t.Context()
	turnedAway := throttle.Outcome{Class: throttle.Throttled, Err: boom}
	assert.Equal(t, 1.0, testing.AllocsPerRun(100, func() {
		now = now.Add(time.Minute)
		ticket, _, _ := p.Admit(ctx, now, nil)
		p.Done(ctx, now, ticket, turnedAway)
	}))
}

func BenchmarkPool(b *testing.B) {
	now := time.Now()
	success := throttle.Outcome{Class: throttle.Success}
	for by := range pool.Selection(3) {
		for _, c := range []struct{ keys, free int }{{5, 5}, {5, 1}, {1000, 1000}, {1000, 1}, {100_000, 1}} {
			p := coolingPool(b, now, c.keys, c.free, by)
			b.Run(fmt.Sprintf("%v/keys=%d/free=%d", by, c.keys, c.free), func(b *testing.B) {
				ctx := b.Context()
				b.ReportAllocs()
				for b.Loop() {
					ticket, _, _ := p.Admit(ctx, now, nil)
					p.Done(ctx, now, ticket, success)
				}
			})
		}
	}
	b.Run("attach", func(b *testing.B) {
		p := pool.New("a", "b", "c", "d", "e")
		ctx := b.Context()
		b.ReportAllocs()
		for b.Loop() {
			ticket, _, _ := p.Admit(ctx, now, nil)
			_ = p.Key(p.Attach(ctx, ticket))
			p.Done(ctx, now, ticket, success)
		}
	})
}

func BenchmarkPoolParallel(b *testing.B) {
	now := time.Now()
	for _, c := range []struct{ keys, free int }{{5, 5}, {1000, 1000}, {1000, 1}} {
		p := coolingPool(b, now, c.keys, c.free, pool.RoundRobin)
		b.Run(fmt.Sprintf("keys=%d/free=%d", c.keys, c.free), func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				ctx := context.Background()
				for pb.Next() {
					ticket, _, _ := p.Admit(ctx, now, nil)
					p.Done(ctx, now, ticket, throttle.Outcome{Class: throttle.Success})
				}
			})
		})
	}
}

func BenchmarkPoolCooldown(b *testing.B) {
	for _, keys := range []int{5, 1000} {
		b.Run(fmt.Sprint("keys=", keys), func(b *testing.B) {
			p := coolingPool(b, t0, keys, keys, pool.RoundRobin)
			now, ctx := t0, b.Context()
			turnedAway := throttle.Outcome{Class: throttle.Throttled}
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(time.Minute)
				ticket, _, err := p.Admit(ctx, now, nil)
				require.NoError(b, err)
				p.Done(ctx, now, ticket, turnedAway)
			}
		})
	}
}
