package retrysim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestQuantiles: those of two lists are those of all their values, sorted.
func TestQuantiles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int64{1, 100, 1 << 20, 1 << 40, math.MaxInt64} {
		for _, n := range []int{1, 2, 7, 999, 5000} {
			var a, b latencies
			var all []int64
			for i := range n {
				d := rnd.Int64N(most)
				all = append(all, d)
				if i%3 == 0 {
					a.add(d)
				} else {
					b.add(d)
				}
			}
			slices.Sort(all)
			for _, q := range []float64{0, 0.001, 0.5, 0.9, 0.99, 0.999, 1} {
				rank := max(int(math.Ceil(q*float64(n)-1e-9))-1, 0)
				require.Equal(t, float64(all[rank]), quantile(q, &a, &b), "q=%v n=%d most=%d", q, n, most)
			}
		}
	}
	require.Equal(t, math.Inf(1), quantile(0.5, new(latencies)))
}

// TestQuantilesOfMany: beyond a million values, a quantile is within half a percent of the exact one.
func TestQuantilesOfMany(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var exact []int64
	var one, other, merged latencies
	for i := range exactly + 200_000 {
		d := int64(rnd.ExpFloat64() * 1e7)
		exact = append(exact, d)
		one.add(d)
		if i < exactly/2 {
			other.add(d)
		} else {
			merged.add(d)
		}
	}
	merged.merge(&other)
	slices.Sort(exact)
	require.Nil(t, one.samples)
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.999} {
		want := float64(exact[int(q*float64(len(exact)))-1])
		require.InEpsilon(t, want, quantile(q, &one), 0.005)
		require.InEpsilon(t, want, quantile(q, &merged), 0.005)
	}
	require.Equal(t, float64(exact[len(exact)-1]), quantile(1, &one))
}

func TestClasses(t *testing.T) {
	for _, d := range []int64{0, 1, 127, 255, 256, 257, 1000, 1 << 30, math.MaxInt64} {
		middle := middleOf(classOf(d))
		require.Equal(t, classOf(d), classOf(middle))
		require.InDelta(t, float64(d), float64(middle), 0.004*float64(d)+0.5)
	}
}
