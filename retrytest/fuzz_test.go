package retrytest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/retrytest"
)

// tracked is what a sequence of operations has made on a clock and must find again.
type tracked struct {
	t        *testing.T
	clk      *retrytest.Clock
	last     time.Time
	waits    []time.Duration
	contexts []context.Context
	cancels  []context.CancelFunc
	stops    []func() bool
	due      map[int]time.Time // functions that have not run, by number
	made     int
}

// check compares the clock with what is known.
func (c *tracked) check() {
	now := c.clk.Now()
	require.False(c.t, now.Before(c.last), "backwards")
	c.last = now
	require.Zero(c.t, c.clk.Pending(), "every wait has returned")
	require.Equal(c.t, c.waits, c.clk.Waits())
	open := 0
	for _, ctx := range c.contexts {
		if ctx.Err() == nil {
			deadline, ok := ctx.Deadline()
			require.True(c.t, ok)
			require.False(c.t, deadline.Before(now), "a context is late")
			open++
		}
	}
	require.Equal(c.t, open, c.clk.OpenContexts())
	for _, at := range c.due {
		require.False(c.t, at.Before(now), "a function is late")
	}
}

// do is one operation: what says which, d with what.
func (c *tracked) do(what byte, d time.Duration) {
	end := c.clk.Now().Add(max(d, 0))
	pick := int(uint64(d) % 8)
	switch what % 10 {
	case 0:
		c.clk.Advance(d)
		require.Equal(c.t, end, c.clk.Now())
	case 1:
		require.NoError(c.t, c.clk.Sleep(c.t.Context(), d))
		require.Equal(c.t, end, c.clk.Now())
	case 2:
		c.waits = append(c.waits, d)
		require.Equal(c.t, end, <-c.clk.After(d))
	case 3:
		c.waits = append(c.waits, d)
		fired, stop := c.clk.NewTimer(d)
		require.Equal(c.t, end, <-fired)
		require.False(c.t, stop())
	case 4:
		c.waits = append(c.waits, d)
		stop := make(chan struct{})
		unmade := c.clk.AfterFunc(time.Duration(pick)*time.Second, func() { close(stop) })
		if at := c.clk.Now().Add(time.Duration(pick) * time.Second); at.Before(end) {
			end = at
		}
		c.clk.Wait(c.t.Context(), stop, d)
		require.Equal(c.t, end, c.clk.Now())
		unmade()
	case 5:
		n := c.made
		c.made++
		c.due[n] = end
		c.stops = append(c.stops, c.clk.AfterFunc(d, func() { delete(c.due, n) }))
	case 6:
		parent := c.t.Context()
		if pick < len(c.contexts) {
			parent = c.contexts[pick]
		}
		ctx, cancel := c.clk.WithTimeout(parent, d)
		c.contexts, c.cancels = append(c.contexts, ctx), append(c.cancels, cancel)
	case 7:
		if pick < len(c.cancels) {
			c.cancels[pick]()
			require.Error(c.t, c.contexts[pick].Err())
		}
	case 8:
		if pick < len(c.stops) {
			_, known := c.due[pick]
			require.Equal(c.t, known, c.stops[pick]())
			delete(c.due, pick)
		}
	case 9:
		if pick < len(c.contexts) {
			ctx := c.contexts[pick]
			before, deadline := ctx.Err(), end
			if at, ok := ctx.Deadline(); ok && at.Before(end) {
				deadline = at
			}
			if err := c.clk.Sleep(ctx, d); before == nil {
				require.Equal(c.t, deadline, c.clk.Now())
				require.Equal(c.t, err, ctx.Err())
			} else {
				require.Equal(c.t, before, err)
			}
		}
	}
}

// FuzzClock does operations on a clock: each is a byte that says what and eight bytes that say how long.
func FuzzClock(tf *testing.F) {
	f := fuzzed.New(tf)
	second := []byte{0, 0, 0, 0, 0x3b, 0x9a, 0xca, 0}
	most := []byte{0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	negative := []byte{0xff, 0, 0, 0, 0, 0, 0, 0}
	script := func(d []byte, whats ...byte) (all []byte) {
		for i, what := range whats {
			all = append(append(all, what), d...)
			all[len(all)-1] += byte(i)
		}
		return all
	}
	f.Add([]byte{})
	for _, d := range [][]byte{second, most, negative, make([]byte, 8)} {
		f.Add(script(d, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9))
		f.Add(script(d, 5, 5, 6, 6, 3, 4, 3, 2, 9, 6, 5, 4, 0))
		f.Add(script(d, 6, 6, 6, 7, 9, 9, 5, 4, 3, 8, 8, 1))
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		c := tracked{t: t, clk: retrytest.NewClock(), waits: []time.Duration{}, due: map[int]time.Time{}}
		defer func() {
			for _, cancel := range c.cancels {
				cancel()
			}
			require.Zero(t, c.clk.OpenContexts())
		}()
		for n := 0; len(ops) >= 9 && n < 100; ops, n = ops[9:], n+1 {
			var d uint64
			for _, b := range ops[1:9] {
				d = d<<8 | uint64(b)
			}
			c.do(ops[0], time.Duration(d))
			c.check()
		}
	})
}
