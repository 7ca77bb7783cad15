package pool_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/internal/carry"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// acquired runs AcquireWait in a bubble and returns the key and how long it took there.
func acquired(p *pool.Pool[string], ctx context.Context) (key string, took time.Duration, err error) {
	start := time.Now()
	lease, err := p.AcquireWait(ctx)
	return lease.Key(), time.Since(start), err
}

// closed returns a pool with these keys, each of which cools down for d from now.
func closed(t *testing.T, now time.Time, d time.Duration, keys ...string) *pool.Pool[string] {
	p := pool.New(keys...)
	p.Rand = always(0.5)
	for _, key := range keys {
		p.Done(t.Context(), now, pool.TicketOf(p, key), limitedFor(d))
	}
	return p
}

func TestAcquireWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool.New("A", "B")
		for _, want := range []string{"A", "B", "A"} {
			key, took, err := acquired(p, t.Context())
			require.NoError(t, err)
			require.Zero(t, took)
			require.Equal(t, want, key)
		}
		p.Done(t.Context(), time.Now(), pool.TicketOf(p, "A"), limitedFor(30*sec))
		p.Done(t.Context(), time.Now(), pool.TicketOf(p, "B"), limitedFor(10*sec))
		key, took, err := acquired(p, t.Context())
		require.NoError(t, err)
		require.Equal(t, 10*sec, took)
		require.Equal(t, "B", key)
	})
}

// TestAcquireWaitSpreads: five keys, ten that wait for them: the first five go at the end, one with each key.
func TestAcquireWaitSpreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := closed(t, time.Now(), 30*sec, "A", "B", "C", "D", "E")
		p.Rand = nil
		start := time.Now()
		var mu sync.Mutex
		early, late := map[string]int{}, map[string]int{}
		for range 10 {
			go func() {
				key, took, err := acquired(p, t.Context())
				assert.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				if took == 30*sec {
					early[key]++
				} else {
					late[key]++
				}
				assert.Less(t, took, 31*sec)
			}()
		}
		synctest.Wait()
		time.Sleep(30 * sec)
		synctest.Wait()
		mu.Lock()
		require.Equal(t, map[string]int{"A": 1, "B": 1, "C": 1, "D": 1, "E": 1}, early)
		require.Empty(t, late)
		mu.Unlock()
		time.Sleep(sec)
		synctest.Wait()
		require.Equal(t, map[string]int{"A": 1, "B": 1, "C": 1, "D": 1, "E": 1}, late, "they join those who try the keys, in turn")
		require.Equal(t, 31*sec, time.Since(start))
	})
}

func TestAcquireWaitIsNotStartedPastTheDeadline(t *testing.T) {
	for _, limit := range []time.Duration{sec, 30 * sec} {
		synctest.Test(t, func(t *testing.T) {
			p := closed(t, time.Now(), 30*sec, "A")
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			key, took, err := acquired(p, ctx)
			require.Zero(t, took)
			require.Empty(t, key)
			require.NoError(t, ctx.Err())
			require.ErrorIs(t, err, boom)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.EqualError(t, err, `throttle: "pool" is cooling down for 30s (retry-after), past the context's deadline: boom`)
			refusal, ok := errors.AsType[*throttle.Error](err)
			require.True(t, ok)
			require.Equal(t, 30*sec, refusal.Remaining)

			_, took, err = acquired(p, t.Context())
			require.NoError(t, err)
			require.Equal(t, 30*sec, took, "the one who was refused did not keep the first place")
		})
	}
}

func TestAcquireWaitMeetsALaterDeadline(t *testing.T) {
	for name, c := range map[string]struct{ limit, want time.Duration }{
		"by 1 ns, without a place": {10*sec + 1, 10 * sec},
		"just not with its place":  {10500 * ms, 10 * sec},
		"just with its place":      {10500*ms + 1, 10500 * ms},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := closed(t, time.Now(), 10*sec, "A")
			_, _, err := p.Admit(t.Context(), time.Now(), nil) // somebody else is first
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), c.limit)
			defer cancel()
			key, took, err := acquired(p, ctx)
			require.NoError(t, err, name)
			require.Equal(t, c.want, took, name)
			require.Equal(t, "A", key)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p := closed(t, time.Now(), 10*sec, "A")
		time.Sleep(10 * sec)
		taken(t, p, time.Now()) // it is being tried
		ctx, cancel := context.WithTimeout(t.Context(), 500*ms)
		defer cancel()
		_, took, err := acquired(p, ctx)
		require.NoError(t, err)
		require.Zero(t, took)
	})
}

func TestAcquireWaitEndsWithItsContext(t *testing.T) {
	stop := errors.New("shutting down")
	synctest.Test(t, func(t *testing.T) {
		p := closed(t, time.Now(), 30*sec, "A")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(500*ms, func() { cancel(stop) })
		_, took, err := acquired(p, ctx)
		require.Equal(t, 500*ms, took)
		require.EqualError(t, err, "context canceled: shutting down")
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, stop)
		_, _, err = acquired(p, ctx)
		require.ErrorIs(t, err, stop)

		_, took, err = acquired(p, t.Context())
		require.NoError(t, err)
		require.Equal(t, 29500*ms, took, "the first place was handed back")
		_, _, err = acquired(pool.New("A"), ctx)
		require.ErrorIs(t, err, stop, "though there is a key")
	})
}

func TestAcquireWaitPrefersTheContextWhenBothAreReady(t *testing.T) { // P09
	for range 100 {
		p := closed(t, t0, sec, "A")
		ctx, cancel := context.WithCancel(t.Context())
		c := &jumping{Time: t0, Jumped: cancel}
		_, err := p.AcquireWait(carry.With(ctx, carry.Values{Clock: c}))
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, []time.Duration{sec}, c.Waits)
	}
}

func TestAcquireWaitWithoutContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := closed(t, time.Now(), sec, "A")
		var none context.Context
		_, took, err := acquired(p, none)
		require.NoError(t, err)
		require.Equal(t, sec, took)
	})
}

func TestAcquireWaitUsesTheClockOfTheContext(t *testing.T) {
	c := &jumping{Time: t0}
	p := closed(t, c.Time, 30*sec, "A")
	lease, err := p.AcquireWait(carry.With(t.Context(), carry.Values{Clock: c}))
	require.NoError(t, err)
	require.Equal(t, "A", lease.Key())
	require.Equal(t, []time.Duration{30 * sec}, c.Waits)
}

// TestAcquireWaitFollowsWhatHappens: a cool-down that is extended, keys that come and go.
func TestAcquireWaitFollowsWhatHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool.New("A")
		a, b := taken(t, p, time.Now()), taken(t, p, time.Now())
		a.Done(time.Now(), limitedFor(10*sec))
		time.AfterFunc(9*sec, func() { b.Done(time.Now(), limitedFor(10*sec)) })
		_, took, err := acquired(p, t.Context())
		require.NoError(t, err)
		require.Equal(t, 19*sec, took)
	})
	synctest.Test(t, func(t *testing.T) {
		p := closed(t, time.Now(), 10*sec, "A")
		time.AfterFunc(9*sec, func() { p.Remove("A"); p.Add("B") })
		key, took, err := acquired(p, t.Context())
		require.NoError(t, err)
		require.Equal(t, "B", key)
		require.Equal(t, 10*sec, took)
	})
	synctest.Test(t, func(t *testing.T) {
		p := closed(t, time.Now(), 10*sec, "A")
		time.AfterFunc(9*sec, func() { p.Remove("A") })
		_, took, err := acquired(p, t.Context())
		require.Equal(t, pool.ErrNoKeys, err)
		require.Equal(t, 10*sec, took)
	})
}

// TestPoolManyWaiters: all of ten thousand get a key, none before the end of the first cool-down, spread over time and keys.
func TestPoolManyWaiters(t *testing.T) {
	if testing.Short() {
		t.Skip("ten thousand goroutines")
	}
	synctest.Test(t, func(t *testing.T) {
		p := pool.New[string]()
		for i := range 8 {
			p.Add(fmt.Sprint(i))
			p.Done(t.Context(), time.Now(), pool.TicketOf(p, fmt.Sprint(i)), limitedFor(30*sec))
		}
		start, ctx := time.Now(), t.Context()
		keys, moments := make(chan string, 10_000), make(chan time.Duration, 10_000)
		for range 10_000 {
			go func() {
				key, took, err := acquired(p, ctx)
				assert.NoError(t, err)
				keys <- key
				moments <- took
			}()
		}
		perKey, perTenth := map[string]int{}, map[int64]int{}
		for range 10_000 {
			perKey[<-keys]++
			took := <-moments
			assert.True(t, took >= 30*sec && took < 31*sec)
			perTenth[int64((took-30*sec)/(100*ms))]++
		}
		assert.Len(t, perKey, 8)
		for _, n := range perKey {
			assert.InDelta(t, 1250, n, 100)
		}
		assert.Len(t, perTenth, 10)
		for _, n := range perTenth {
			assert.InDelta(t, 1000, n, 200)
		}
		assert.Less(t, time.Since(start), 31*sec)
	})
}
