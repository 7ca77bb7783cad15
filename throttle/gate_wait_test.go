package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/benbjohnson/clock"

	"github.com/seed-89b3229b/retry/internal/carry"
	"github.com/seed-89b3229b/retry/throttle"
)

// waited runs Wait in a bubble and returns how long it took there.
func waited(g *throttle.Gate, ctx context.Context, keys ...throttle.Key) (time.Duration, error) {
	start := time.Now()
	err := g.Wait(ctx, keys...)
	return time.Since(start), err
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g throttle.Gate
		took, err := waited(&g, t.Context(), "a")
		assert.NoError(t, err)
		assert.Zero(t, took)

		g.Block(time.Now(), 30*sec, "a")
		g.Block(time.Now(), 10*sec, "b")
		took, err = waited(&g, t.Context())
		assert.NoError(t, err)
		assert.Zero(t, took)
		took, err = waited(&g, t.Context(), "other", "")
		assert.NoError(t, err)
		assert.Zero(t, took)

		took, err = waited(&g, t.Context(), "b", "a", "other")
		assert.NoError(t, err)
		assert.Equal(t, 30*sec, took)
		took, err = waited(&g, t.Context(), "b", "a")
		assert.NoError(t, err)
		assert.Zero(t, took)
	})
}

func TestWaitReleasesOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		draws := make(chan float64, 3)
		for _, u := range []float64{0.75, 0.25, 0.5} {
			draws <- u
		}
		g := throttle.Gate{Rand: func() float64 { return <-draws }}
		g.Block(time.Now(), 30*sec, "a")
		start := time.Now()
		var mu sync.Mutex
		var released []time.Duration
		for range 4 {
			go func() {
				assert.NoError(t, g.Wait(t.Context(), "a"))
				mu.Lock()
				defer mu.Unlock()
				released = append(released, time.Since(start))
			}()
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, []time.Duration{30 * sec, 30250 * ms, 30500 * ms, 30750 * ms}, released)
	})
}

func TestWaitFollowsAnExtension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := throttle.Gate{Rand: always(0.5)}
		g.Block(time.Now(), 10*sec, "a")
		time.AfterFunc(9*sec, func() { g.Block(time.Now(), 10*sec, "a") })
		took, err := waited(&g, t.Context(), "a")
		assert.NoError(t, err)
		assert.Equal(t, 19*sec, took)
	})
}

func TestWaitIsNotStartedPastTheDeadline(t *testing.T) {
	for _, c := range []struct{ limit, cooldown time.Duration }{{sec, 30 * sec}, {30 * sec, 30 * sec}, {1, 2}} {
		synctest.Test(t, func(t *testing.T) {
			g := throttle.Gate{Rand: always(0.5)}
			g.Observe(time.Now(), throttle.Signal{Delay: c.cooldown, HasDelay: true, Source: "retry-after"}, boom, "a")
			until := time.Now().Add(c.cooldown)
			ctx, cancel := context.WithTimeout(t.Context(), c.limit)
			defer cancel()
			took, err := waited(&g, ctx, "a")
			assert.Zero(t, took)
			assert.NoError(t, ctx.Err())
			refusal, ok := err.(*throttle.Error)
			require.True(t, ok)
			assert.True(t, refusal.Until.Equal(until))
			assert.Equal(t, c.cooldown, refusal.Remaining)
			assert.Equal(t, "retry-after", refusal.Source)
			assert.ErrorIs(t, err, boom)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.NotErrorIs(t, err, context.Canceled)
			assert.EqualError(t, err, fmt.Sprintf(`throttle: "a" is cooling down for %v (retry-after), past the context's deadline: boom`, c.cooldown))

			took, err = waited(&g, t.Context(), "a")
			assert.NoError(t, err)
			assert.Equal(t, c.cooldown, took, "the one who was refused did not keep the first place")
		})
	}
}

func TestWaitMeetsALaterDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := throttle.Gate{Rand: always(0.5)}
		for name, c := range map[string]struct{ limit, want time.Duration }{
			"by 1 ns, without a place in the spread": {10*sec + 1, 10 * sec},
			"just not with its place":                {10500 * ms, 10 * sec},
			"just with its place":                    {10500*ms + 1, 10500 * ms},
		} {
			g.Clear("a")
			g.Block(time.Now(), 10*sec, "a")
			admit(t, g.For("a"), time.Now(), nil, 10*sec) // somebody else is first
			ctx, cancel := context.WithTimeout(t.Context(), c.limit)
			took, err := waited(&g, ctx, "a")
			cancel()
			assert.NoError(t, err, name)
			assert.Equal(t, c.want, took, name)
		}
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	stop := errors.New("shutting down")
	synctest.Test(t, func(t *testing.T) {
		g := throttle.Gate{Rand: always(0.5)}
		g.Block(time.Now(), 30*sec, "a")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(500*ms, func() { cancel(stop) })
		took, err := waited(&g, ctx, "a")
		assert.Equal(t, 500*ms, took)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, stop)
		assert.EqualError(t, err, "context canceled: shutting down")

		took, err = waited(&g, t.Context(), "a")
		assert.NoError(t, err)
		assert.Equal(t, 29500*ms, took, "the first place was handed back")
	})
}

func TestWaitPrefersTheContextWhenBothAreReady(t *testing.T) { // P09
	for range 100 {
		var g throttle.Gate
		g.Block(t0, sec, "a")
		ctx, cancel := context.WithCancel(t.Context())
		c := &jumping{Time: t0, Jumped: cancel}
		require.ErrorIs(t, g.Wait(carry.With(ctx, carry.Values{Clock: c}), "a"), context.Canceled)
		require.Equal(t, []time.Duration{sec}, c.Waits)
	}
}

func TestWaitAsksAContextThatIsDone(t *testing.T) { // P08
	cause := fmt.Errorf("too slow: %w", context.DeadlineExceeded)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadlineCause(t.Context(), t0, cause)
	defer cancel()
	for _, g := range []*throttle.Gate{nil, new(throttle.Gate)} {
		assert.Equal(t, context.Canceled, g.Wait(canceled, "a"))
		assert.Equal(t, cause, g.Wait(late))
	}
}

func TestWaitWithoutContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g throttle.Gate
		g.Block(time.Now(), sec, "a")
		var none context.Context
		took, err := waited(&g, none, "a")
		assert.NoError(t, err)
		assert.Equal(t, sec, took)
	})
}

func TestWaitUsesTheClockOfTheContext(t *testing.T) {
	c := &jumping{Time: t0}
	ctx := carry.With(t.Context(), carry.Values{Clock: c})
	var g throttle.Gate
	g.Block(c.Time, 30*sec, "a")
	require.NoError(t, g.Wait(ctx, "a"))
	require.NoError(t, g.Wait(ctx, "a"))
	assert.Equal(t, []time.Duration{30 * sec}, c.Waits)
	assert.Equal(t, t0.Add(30*sec), c.Time)
}

func TestWaitOnAMockClock(t *testing.T) {
	mock := clock.NewMock()
	ctx := carry.With(t.Context(), carry.Values{Clock: mock})
	var g throttle.Gate
	g.Block(mock.Now(), 30*sec, "a")
	short, cancel := mock.WithTimeout(ctx, 30*sec)
	defer cancel()
	assert.ErrorIs(t, g.Wait(short, "a"), context.DeadlineExceeded, "the mock's deadline, on the mock's time")

	mock.Add(30 * sec)
	assert.NoError(t, g.Wait(ctx, "a"))
}

func TestConcurrentSafeWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g throttle.Gate
		g.Block(time.Now(), 30*sec, "a", "b")
		start := time.Now()
		var mu sync.Mutex
		var released []time.Duration
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				assert.NoError(t, g.Wait(t.Context(), "a"))
				mu.Lock()
				defer mu.Unlock()
				released = append(released, time.Since(start))
			})
		}
		wg.Wait()
		slices.Sort(released)
		assert.Equal(t, 30*sec, released[0])
		assert.Greater(t, released[1], 30*sec)
		assert.Less(t, released[199], 31*sec)
		assert.Greater(t, len(slices.Compact(released)), 190)
	})
}
