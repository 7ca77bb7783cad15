package pool_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

func TestPoolAddAndRemove(t *testing.T) {
	p := pool.New("A", "B", "A", "C")
	require.Equal(t, []string{"A", "B", "C"}, p.Keys())
	require.Equal(t, "AB", turn(t, p, t0, 2))
	p.Add("B", "D")
	p.Remove("A", "X")
	require.Equal(t, "CDBCD", turn(t, p, t0, 5))
	require.Equal(t, 3, p.Len())
	p.Add("A")
	require.Equal(t, []string{"B", "C", "D", "A"}, p.Keys())
	require.Equal(t, "ABC", turn(t, p, t0, 3))
	require.Equal(t, []pool.KeyStats{{Index: 1, Uses: 3}, {Index: 2, Uses: 3}, {Index: 3, Uses: 2}, {Index: 4, Uses: 1}}, p.Stats(t0),
		"an index names the same key for ever")
	require.Equal(t, "4", p.Label(pool.TicketOf(p, "A")))
}

// TestPoolRemovedWhileInUse: what was given before says nothing about what is there now.
func TestPoolRemovedWhileInUse(t *testing.T) {
	for _, by := range []pool.Selection{pool.RoundRobin, pool.Random, pool.LeastRecentlyUsed} {
		p := pool.New("A", "B")
		p.Selection, p.Rand = by, always(0)
		lease := taken(t, p, t0)
		p.Remove("A")
		lease.Done(t0, limitedFor(time.Minute))
		require.Equal(t, "A", lease.Key())
		require.Equal(t, 0, lease.Index())

		lease = taken(t, p, t0)
		p.Remove("B")
		p.Add("B")
		lease.Done(t0, limitedFor(time.Minute))
		require.Equal(t, []pool.KeyStats{{Index: 2}}, p.Stats(t0))

		// One that cools down, one that is tried and the one who waits for it.
		taken(t, p, t0).Done(t0, limitedFor(sec))
		ticket, wait, err := p.Admit(t.Context(), t0, nil)
		require.NoError(t, err)
		require.Equal(t, sec, wait)
		p.Remove("B")
		p.Done(t.Context(), t0, ticket, throttle.Outcome{Class: throttle.Skipped})
		p.Add("B")
		taken(t, p, t0).Done(t0, limitedFor(sec))
		trial := taken(t, p, t0.Add(sec))
		p.Remove("B")
		trial.Done(t0, worked)
		p.Add("B", "C")
		require.Equal(t, "BC", turn(t, p, t0, 1)+turn(t, func() *pool.Pool[string] { p.Remove("B"); return p }(), t0, 1))
	}
}

// TestPoolRemoveFromLongLists: the rotation is that of a list, however long.
func TestPoolRemoveFromLongLists(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p, list, next := pool.New[int](), []int(nil), 0
	for i := range 300 {
		p.Add(i)
		list = append(list, i)
	}
	for len(list) > 0 {
		for range r.IntN(20) {
			next %= len(list)
			require.Equal(t, list[next], taken(t, p, t0).Key())
			next++
		}
		i := r.IntN(len(list))
		p.Remove(list[i])
		list = slices.Delete(list, i, i+1)
		if i < next {
			next--
		}
		require.Equal(t, list, p.Keys())
	}
	_, err := p.Acquire(t0)
	require.Equal(t, pool.ErrNoKeys, err)
}

type secret struct{ token string }

// TestPoolTellsNoKey: not in errors, labels, texts, contexts, whatever they are printed with.
func TestPoolTellsNoKey(t *testing.T) {
	const hidden = "s3cr3t"
	p := pool.New(secret{hidden})
	require.Equal(t, "pool of 1 keys", p.String())
	ticket, _, err := p.Admit(t.Context(), t0, nil)
	require.NoError(t, err)
	ctx := p.Attach(context.Background(), ticket)
	require.Equal(t, secret{hidden}, p.Key(ctx))
	lease := taken(t, p, t0)
	p.Done(t.Context(), t0, ticket, limitedFor(sec))
	_, refused := p.Acquire(t0)
	require.Error(t, refused)
	waiter, _, _ := p.Admit(t.Context(), t0, nil)

	var log strings.Builder
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	for _, v := range []any{p, ctx, lease, ticket, waiter, refused, p.Explain(t.Context(), t0), p.Stats(t0), p.Label(ticket), map[string]any{"pool": p}} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			require.NotContains(t, fmt.Sprintf(format, v), hidden, "%T", v)
		}
		logger.Info("state", "value", v)
		slog.New(slog.NewTextHandler(&log, nil)).Info("state", "value", v)
	}
	require.NotContains(t, log.String(), hidden)
}

// TestPoolKeysAreThoseOfAMap: what a map cannot hold panics as with a map, changes nothing and locks nothing.
func TestPoolKeysAreThoseOfAMap(t *testing.T) {
	p := pool.New[any]("A", 7)
	for _, f := range []func(...any){p.Add, p.Remove} {
		require.Panics(t, func() { f("A", []byte("no key")) })
	}
	p.Add("A")
	require.ElementsMatch(t, []any{"A", 7}, p.Keys())

	odd := pool.New(math.NaN(), 1, math.NaN())
	require.Equal(t, 3, odd.Len())
	odd.Remove(math.NaN(), 1)
	require.Equal(t, 2, odd.Len())
	for range 4 {
		lease := taken(t, odd, t0)
		lease.Done(t0, turnedAway)
		if lease.Index() == 2 {
			break
		}
	}
	_, err := odd.Acquire(t0)
	require.Error(t, err, "each cools down by itself")
}
