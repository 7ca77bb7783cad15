package throttle_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-89b3229b/retry/throttle"
)

// busy returns a gate with n keys cooling down.
func busy(now time.Time, n int) *throttle.Gate {
	g := new(throttle.Gate)
	for i := range n {
		g.Block(now, time.Minute, throttle.Key(fmt.Sprint("busy ", i)))
	}
	return g
}

func TestOpenGateDoesNotAllocate(t *testing.T) {
	now := time.Now()
	acme := context.WithValue(t.Context(), tenant{}, throttle.Key("acme"))
	for _, n := range []int{0, 1000} {
		g := busy(now, n)
		if n > 0 {
			g.Block(now.Add(-time.Hour), sec, "acme") // and over
		}
		for name, th := range map[string]throttle.Throttle{"For": g.For("acme", "acme/PlaceOrder"), "By": g.By(tenantOf)} {
			assert.Zero(t, testing.AllocsPerRun(200, func() {
				ticket, wait, err := th.Admit(acme, now, nil)
				if ticket != nil || wait != 0 || err != nil {
					t.Error("not open")
				}
				th.Done(acme, now, ticket, throttle.Outcome{Class: throttle.Success})
				th.(throttle.Planner).Ready(acme, now)
				th.(throttle.Explainer).Explain(acme, now)
			}), "%s, %d keys", name, n)
		}
		assert.Zero(t, testing.AllocsPerRun(200, func() {
			if g.Check(now, "acme", "acme/PlaceOrder") != nil || g.Wait(acme, "acme", "acme/PlaceOrder") != nil {
				t.Error("not open")
			}
		}), "%d keys", n)
	}
}

// TestAskingTakesNoLock: whoever asks, of a key that is open or one that cools down, waits for no other key's writer. If one did, this
// test would never end.
func TestAskingTakesNoLock(t *testing.T) {
	g := busy(t0, 1000)
	g.WhileLocked(func() {
		for _, key := range []throttle.Key{"busy 1", "open"} {
			for _, th := range []throttle.Throttle{g.For(key, "open"), g.By(func(context.Context) throttle.Key { return key })} {
				ticket, wait, err := th.Admit(t.Context(), t0, nil)
				assert.NoError(t, err)
				assert.Equal(t, key != "open", wait > 0)
				th.(throttle.Planner).Ready(t.Context(), t0)
				th.(throttle.Explainer).Explain(t.Context(), t0)
				th.Done(t.Context(), t0, ticket, throttle.Outcome{Class: throttle.Success})
			}
			assert.Equal(t, key != "open", g.Check(t0, key) != nil)
		}
		assert.NoError(t, g.Wait(t.Context(), "open"))
	})
}

func TestWaiterAllocatesItsTicketOnly(t *testing.T) {
	var g throttle.Gate
	g.Block(t0, time.Minute, "a")
	th := g.For("a")
	ctx := t.Context()
	assert.Equal(t, 1.0, testing.AllocsPerRun(200, func() {
		ticket, _, _ := th.Admit(ctx, t0, nil)
		for range 10 {
			ticket, _, _ = th.Admit(ctx, t0, ticket)
		}
		th.Done(ctx, t0, ticket, throttle.Outcome{Class: throttle.Transient})
	}))
}

func BenchmarkOpenGate(b *testing.B) {
	now := time.Now()
	acme := context.WithValue(b.Context(), tenant{}, throttle.Key("acme"))
	for _, n := range []int{0, 1000, 100_000} {
		g := busy(now, n)
		for _, c := range []struct {
			name string
			th   throttle.Throttle
		}{{"For1", g.For("acme")}, {"For2", g.For("acme", "acme/PlaceOrder")}, {"By", g.By(tenantOf)}} {
			b.Run(fmt.Sprintf("%s/others=%d", c.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					ticket, _, _ := c.th.Admit(acme, now, nil)
					c.th.Done(acme, now, ticket, throttle.Outcome{Class: throttle.Success})
				}
			})
		}
	}
}

// BenchmarkOpenGateParallel has 16 goroutines or more, each with keys of its own. Run with -cpu 1,2,4 it shows how that scales.
func BenchmarkOpenGateParallel(b *testing.B) {
	now := time.Now()
	g := busy(now, 10_000)
	for _, storm := range []bool{false, true} {
		b.Run(fmt.Sprintf("blocking=%v", storm), func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				mine := throttle.Key(fmt.Sprintf("%p", pb))
				th, i := g.For(mine, mine+"/PlaceOrder"), 0
				for pb.Next() {
					ticket, _, _ := th.Admit(context.Background(), now, nil)
					th.Done(context.Background(), now, ticket, throttle.Outcome{Class: throttle.Success})
					if i++; storm && i%64 == 0 {
						now := now.Add(time.Duration(i))
						g.Block(now, time.Minute, "storm "+mine)
					}
				}
			})
		})
	}
}

func BenchmarkGateBlock(b *testing.B) {
	now := time.Now()
	b.Run("one key", func(b *testing.B) {
		var g throttle.Gate
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			g.Block(now.Add(time.Duration(i)), time.Minute, "a")
		}
	})
	b.Run("full", func(b *testing.B) {
		g := throttle.Gate{MaxKeys: 10_000}
		keys := make([]throttle.Key, 40_000)
		for i := range keys {
			keys[i] = throttle.Key(fmt.Sprint("key ", i))
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			g.Block(now.Add(time.Duration(i)), time.Minute, keys[i%len(keys)])
		}
	})
}
