package throttle_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
)

// Of ten thousand waiters every second one gives up. The rest are all let go: the first at the deadline, the others
// evenly over the second after it. That no goroutine is left is what the bubble checks when it ends.
func TestCrowdIsReleasedEvenly(t *testing.T) {
	const crowd, tenths = 10_000, 10
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		draws := rand.New(rand.NewPCG(1, 2))
		g := throttle.Gate{Rand: func() float64 {
			mu.Lock()
			defer mu.Unlock()
			return draws.Float64()
		}}
		deadline := time.Now().Add(time.Minute)
		g.Block(time.Now(), time.Minute, "a")
		impatient, giveUp := context.WithTimeout(t.Context(), time.Hour)

		var released [tenths]int
		var first, early, lost int
		var wg sync.WaitGroup
		for i := range crowd {
			ctx := t.Context()
			if i%2 == 1 {
				ctx = impatient
			}
			wg.Go(func() {
				err := g.Wait(ctx, "a")
				mu.Lock()
				defer mu.Unlock()
				switch late := time.Since(deadline); {
				case err != nil:
					lost++
				case late < 0:
					early++
				case late == 0:
					first++
				default:
					released[late*tenths/time.Second]++
				}
			})
		}
		time.Sleep(10 * time.Second)
		giveUp()
		wg.Wait()

		require.Zero(t, early)
		assert.Equal(t, crowd/2, lost)
		assert.LessOrEqual(t, first, 1) // the first may have been one who gave up
		total := first
		for _, n := range released {
			assert.InDelta(t, crowd/2/tenths, n, 100)
			total += n
		}
		assert.Equal(t, crowd/2, total)
	})
}
