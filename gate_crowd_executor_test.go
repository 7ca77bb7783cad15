package retry_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestGateCrowdOfCalls: ten thousand calls meet a cool-down of half a minute. One in four heard of it from its own first attempt and
// comes back, the others wait before theirs; every second one of all is cancelled meanwhile. The rest make their attempts: none before
// the end of the cool-down, at the very end the first who foresaw it and the first who waited, the others evenly over the second after
// it. That no goroutine is left is what the bubble checks when it ends.
func TestGateCrowdOfCalls(t *testing.T) {
	const crowd, tenths = 10_000, 10
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		draws := rand.New(rand.NewPCG(1, 2))
		gate := &throttle.Gate{Rand: func() float64 {
			mu.Lock()
			defer mu.Unlock()
			return draws.Float64()
		}}
		policy := retry.MustNew(retry.WithThrottle(gate.For("acme", "acme/PlaceOrder")), retry.WithHint(throttle.Ignore()), recEvery(0))
		cause := errors.New("user left")
		impatient, giveUp := context.WithCancelCause(t.Context())
		gone := time.Now().Add(time.Second) // the moment at which the first answers come in
		deadline := gone.Add(30 * time.Second)

		var released [tenths]int
		var told, first, early, lost, ended int
		count := func(n *int) {
			mu.Lock()
			defer mu.Unlock()
			*n++
		}
		turnedAway := func() error {
			count(&told)
			time.Sleep(time.Until(gone)) // all of them are under way when the first one hears it
			return retry.After(time.Until(deadline), errRec)
		}
		served := func() {
			switch late := time.Since(deadline); {
			case late < 0:
				count(&early)
			case late == 0:
				count(&first)
			default:
				count(&released[late*tenths/time.Second])
			}
		}
		var wg sync.WaitGroup
		for i := range crowd {
			ctx, hears := t.Context(), i%4 < 1
			if i/4%2 == 1 {
				ctx = impatient
			}
			wg.Go(func() {
				if !hears {
					time.Sleep(2 * time.Second) // by then it is known
				}
				err := retry.Run(ctx, func(context.Context) error {
					if hears {
						hears = false
						return turnedAway()
					}
					served()
					return nil
				}, policy)
				switch {
				case err == nil:
				case errors.Is(err, cause) && errors.Is(err, context.Canceled):
					count(&ended)
				default:
					count(&lost)
				}
			})
		}
		time.Sleep(10 * time.Second)
		giveUp(cause)
		wg.Wait()

		require.Zero(t, early)
		require.Zero(t, lost)
		assert.Equal(t, crowd/4, told)
		assert.Equal(t, crowd/2, ended)
		assert.LessOrEqual(t, first, 2) // each of whom may have been one who was cancelled
		total := first
		for _, n := range released {
			assert.InDelta(t, crowd/2/tenths, n, 100)
			total += n
		}
		assert.Equal(t, crowd/2, total)
		assert.NoError(t, gate.Check(time.Now(), "acme", "acme/PlaceOrder"))
	})
}
