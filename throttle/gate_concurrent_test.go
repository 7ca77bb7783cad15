package throttle_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-89b3229b/retry/throttle"
)

func TestConcurrentSafeGate(t *testing.T) {
	g := throttle.Gate{MaxKeys: 8, MaxCooldown: 10 * sec}
	keys := make([]throttle.Key, 12)
	for i := range keys {
		keys[i] = throttle.Key(fmt.Sprint("key ", i))
	}
	var wg sync.WaitGroup
	for seed := range uint64(8) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			for range 300 {
				a, b := keys[r.IntN(len(keys))], keys[r.IntN(len(keys))]
				now := t0.Add(time.Duration(r.Int64N(int64(5 * sec))))
				th := g.For(a, b)
				switch r.IntN(4) {
				case 0:
					g.Block(now, time.Duration(r.Int64N(int64(20*sec))), a)
				case 1:
					g.Clear(b)
				case 2:
					ticket, wait, err := th.Admit(t.Context(), now, nil)
					assert.NoError(t, err)
					assert.LessOrEqual(t, wait, 16*sec)
					ticket, _, _ = th.Admit(t.Context(), now.Add(wait), ticket)
					th.Done(t.Context(), now, ticket, throttle.Outcome{Class: throttle.Skipped})
				default:
					th.Done(t.Context(), now, nil, told(time.Duration(r.Int64N(int64(20*sec)))))
				}
				if err := g.Check(now, a, b); err != nil {
					assert.Contains(t, []throttle.Key{a, b}, err.(*throttle.Error).Key)
				}
			}
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, g.Remembered(), 8)
	g.Clear(keys...)
	assert.NoError(t, g.Check(t0, keys...))
	assert.Zero(t, g.Remembered())
}

func TestConcurrentSafeLongestCooldownWins(t *testing.T) {
	var g throttle.Gate
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() { g.Block(t0, time.Duration(i+1)*sec, "a") })
	}
	wg.Wait()
	assert.Equal(t, 64*sec, left(t, &g, t0, "a"))
}

// A cool-down that is replaced by a shorter one again and again is in force all the time.
func TestConcurrentSafeReplacement(t *testing.T) {
	for name, replace := range map[string]func(g *throttle.Gate, s throttle.Signal){
		"Set":     func(g *throttle.Gate, s throttle.Signal) { g.Set(t0, s, nil, "a") },
		"Replace": func(g *throttle.Gate, s throttle.Signal) { g.Observe(t0, s, nil, "a") },
	} {
		g := throttle.Gate{Replace: name == "Replace"}
		g.Block(t0, time.Minute, "a")
		requireClosed(t, g.For("a"), func(i int) {
			replace(&g, throttle.Signal{Delay: time.Minute - time.Duration(i), HasDelay: true})
		})
	}
}

// requireClosed requires that th holds back whoever asks while change is called.
func requireClosed(t *testing.T, th throttle.Throttle, change func(i int)) {
	t.Helper()
	var over atomic.Bool
	var asked, passed atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for !over.Load() {
			if _, wait, _ := th.Admit(t.Context(), t0, nil); wait <= 0 {
				passed.Add(1)
			}
			asked.Add(1)
		}
	})
	for i := 0; i < 1000 || asked.Load() < 1000; i++ {
		change(i)
	}
	over.Store(true)
	wg.Wait()
	assert.Zero(t, passed.Load())
}

func TestConcurrentSafeFirstPlace(t *testing.T) {
	g := throttle.Gate{Rand: always(0.5)}
	g.Block(t0, 10*sec, "a")
	var first, second atomic.Int32
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			switch _, wait, _ := g.For("a").Admit(t.Context(), t0, nil); wait {
			case 10 * sec:
				first.Add(1)
			case 10500 * ms:
				second.Add(1)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, int32(1), first.Load())
	assert.Equal(t, int32(63), second.Load())
}
