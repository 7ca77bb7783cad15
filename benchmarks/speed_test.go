package benchmarks_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/benchmarks/library"
	"github.com/seed-89b3229b/retry/benchmarks/speed"
)

// TestSameWork sees that every case calls its operation as often as its row says, with the context where there is one, and
// returns its value.
func TestSameWork(t *testing.T) {
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "caller's"))
	defer cancel()
	for _, c := range speed.Cases() {
		op, calls := c.Row.Op(), 0
		call := c.Make(ctx, func(ctx context.Context) (int, error) {
			calls++
			assert.Equal(t, "caller's", ctx.Value(key{}), c.Name())
			return op(ctx)
		})
		for n := 1; n <= 10; n++ {
			v, err := call()
			require.NoError(t, err, c.Name())
			require.Equal(t, 42, v, c.Name())
			require.Equal(t, n*c.Row.Calls, calls, c.Name())
		}
	}
}

// TestAllLibrariesTakePart sees that a library is missing only where its policy must not be shared.
func TestAllLibrariesTakePart(t *testing.T) {
	in := map[string]int{}
	for _, c := range speed.Cases() {
		if c.Library != nil && c.Documented() {
			in[c.Row.ID+" "+c.Library.Name]++
		}
	}
	for _, row := range speed.Rows {
		for _, l := range library.All() {
			switch l.Name {
			case "cenkalti 4", "cenkalti 5", "cenkalti 7", "sethvargo":
				if row == speed.One || row == speed.Sixteen {
					require.Zero(t, in[row.ID+" "+l.Name])
					continue
				}
			}
			require.NotZero(t, in[row.ID+" "+l.Name], "%s in %s", l.Name, row.ID)
		}
	}
}

// TestOurAllocations holds what the comparison shows of this library.
func TestOurAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, c := range speed.Cases() {
		if c.Library == nil || c.Library.Name != library.Ours().Name {
			continue
		}
		call := c.Make(ctx, c.Row.Op())
		want := 0.0
		if c.Row == speed.Wait || c.Row == speed.LongWait {
			want = 3 // one timer for all waits
		}
		require.LessOrEqual(t, testing.AllocsPerRun(200, func() { _, _ = call() }), want, c.Name())
	}
}

// TestMeasure runs the measurement, for a moment.
func TestMeasure(t *testing.T) {
	rounds := 0
	results := speed.Results(speed.Measure(t.Context(), speed.Cases(), 2, 1, func(int) { rounds++ }))
	require.Equal(t, 2, rounds)
	for _, r := range results {
		require.Positive(t, r.Best, r.Name())
		require.LessOrEqual(t, r.Best, r.Low, r.Name())
		require.LessOrEqual(t, r.Low, r.Ns, r.Name())
		require.LessOrEqual(t, r.Ns, r.High, r.Name())
	}
	require.Contains(t, results.Text(), "retry3-nowait     cenkalti 7   v7.0.3")
	require.Contains(t, results.Markdown(), "**shared-16**: ")
	require.Len(t, results.Summary(), 7)
}
