package pool_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// TestConcurrentSafePool: whatever 8 goroutines do, what is counted adds up.
func TestConcurrentSafePool(t *testing.T) {
	for by := range pool.Selection(3) {
		p := pool.New(0, 1, 2, 3)
		p.Selection = by
		var wg sync.WaitGroup
		for seed := range uint64(8) {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, 1))
				for i := range 100 {
					now := t0.Add(time.Duration(r.Int64N(int64(5 * sec))))
					switch r.IntN(6) {
					case 0:
						p.Add(i)
						p.Remove(r.IntN(i + 1))
						p.Add(0)
					case 1:
						if lease, err := p.Acquire(now); err == nil {
							lease.Done(now, limitedFor(time.Duration(r.Int64N(int64(sec)))))
						}
					case 2:
						p.Ready(t.Context(), now)
						p.Explain(t.Context(), now)
						p.Keys()
						p.Stats(now)
					default:
						var ticket throttle.Ticket
						wait := time.Duration(-1)
						for range 3 {
							next, w, err := p.Admit(t.Context(), now, ticket)
							if err != nil {
								break
							}
							if ticket, wait = next, w; wait <= 0 {
								break
							}
							now = now.Add(wait)
						}
						o := throttle.Outcome{Class: throttle.Class(r.IntN(9))}
						if wait != 0 {
							o.Class = throttle.Skipped
						}
						p.Done(t.Context(), now, ticket, o)
					}
				}
			})
		}
		wg.Wait()
		require.Equal(t, p.Len(), len(p.Keys()))
		p.Remove(p.Keys()...)
		_, err := p.Acquire(t0)
		require.Equal(t, pool.ErrNoKeys, err)
	}
}

// TestConcurrentSafePoolTotals: no use and no report of 64 goroutines is lost, and the keys have equal shares.
func TestConcurrentSafePoolTotals(t *testing.T) {
	p := pool.New(0, 1, 2, 3, 4)
	var wg sync.WaitGroup
	for g := range 64 {
		wg.Go(func() {
			for i := range 25 {
				ticket, wait, err := p.Admit(context.Background(), t0, nil)
				assert.NoError(t, err)
				assert.Zero(t, wait)
				o := worked
				if (g+i)%5 == 0 {
					o = limitedFor(0) // which holds nobody back
				}
				p.Done(context.Background(), t0, ticket, o)
			}
		})
	}
	wg.Wait()
	uses, limited := int64(0), int64(0)
	for _, s := range p.Stats(t0) {
		assert.Equal(t, int64(320), s.Uses)
		uses += s.Uses
		limited += s.Limited
	}
	assert.Equal(t, int64(1600), uses)
	assert.Equal(t, int64(320), limited)
}

// TestConcurrentSafePoolBurst: of 64 failures at a time one counts.
func TestConcurrentSafePoolBurst(t *testing.T) {
	p, now := pool.New("A"), t0
	for row := range 3 {
		var wg sync.WaitGroup
		ticket, _, _ := p.Admit(t.Context(), now, nil)
		for range 64 {
			wg.Go(func() { p.Done(context.Background(), now, ticket, turnedAway) })
		}
		wg.Wait()
		require.Equal(t, pool.KeyStats{Uses: int64(row + 1), Limited: int64(64 * (row + 1)), Failures: row + 1, Until: now.Add(sec << row)}, p.Stats(now)[0])
		now = now.Add(sec << row)
	}
}

// TestConcurrentSafePoolTrial: of 64 that come when a cool-down has ended one gets the key.
func TestConcurrentSafePoolTrial(t *testing.T) {
	p := closed(t, t0, 10*sec, "A", "B")
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[string]int{}
	for range 64 {
		wg.Go(func() {
			lease, err := p.Acquire(t0.Add(10 * sec))
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				got[lease.Key()]++
			}
		})
	}
	wg.Wait()
	require.Equal(t, map[string]int{"A": 1, "B": 1}, got)
}

// TestConcurrentSafeLease: of many reports one counts.
func TestConcurrentSafeLease(t *testing.T) {
	p := pool.New("A")
	lease := taken(t, p, t0)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() { lease.Done(t0, turnedAway) })
	}
	wg.Wait()
	require.Equal(t, pool.KeyStats{Uses: 1, Limited: 1, Failures: 1, Until: t0.Add(sec)}, p.Stats(t0)[0])
}
