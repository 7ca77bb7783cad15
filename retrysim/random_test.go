package retrysim

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLogarithmAndExponent: as exact as those of package math, to three units of the last place.
func TestLogarithmAndExponent(t *testing.T) {
	s := newStream(1, 2, 3)
	for i := range 100_000 {
		x := math.Ldexp(s.float()+1e-300, s.below(200)-100)
		if want := math.Log(x); math.Abs(logarithm(x)-want) > 3*0x1p-52*max(math.Abs(want), 0.3*math.Abs(x-1)) {
			t.Fatalf("ln %v = %v, want %v", x, logarithm(x), want)
		}
		y := float64(i)/100 - 500
		if want := math.Exp(y); math.Abs(exponent(y)/want-1) > 3*0x1p-52 {
			t.Fatalf("exp %v = %v, want %v", y, exponent(y), want)
		}
	}
	require.Zero(t, logarithm(1))
	require.Equal(t, 1.0, exponent(0))
	require.Equal(t, math.Inf(1), exponent(1e9))
	require.Zero(t, exponent(-1e9))
	require.True(t, math.IsNaN(exponent(math.NaN())))
}

// TestDraws: mean, spread and quantiles of every distribution, of 200 000 draws.
func TestDraws(t *testing.T) {
	const n = 200_000
	ms := float64(time.Millisecond)
	for _, row := range []struct {
		d        Dist
		mean, sd float64
	}{
		{Fixed(10 * time.Millisecond), 10, 0},
		{Uniform(10*time.Millisecond, 30*time.Millisecond), 20, 20 / math.Sqrt(12)},
		{Exponential(10 * time.Millisecond), 10, 10},
		{LogNormal(10*time.Millisecond, 0.25), 10 * math.Exp(0.25*0.25/2), 10 * math.Exp(0.25*0.25/2) * math.Sqrt(math.Exp(0.25*0.25)-1)},
		{AbsNormal(10*time.Millisecond, 2*time.Millisecond), 10, 2},
		{AbsNormal(0, 10*time.Millisecond), 10 * math.Sqrt(2/math.Pi), 10 * math.Sqrt(1-2/math.Pi)},
		{Empirical([]time.Duration{time.Millisecond, 3 * time.Millisecond}), 2, 1},
	} {
		s := newStream(9, 9, 9)
		sum, squares := 0.0, 0.0
		for range n {
			v := float64(row.d.draw(&s)) / ms
			require.GreaterOrEqual(t, v, 0.0)
			sum, squares = sum+v, squares+v*v
		}
		mean := sum / n
		sd := math.Sqrt(max(squares/n-mean*mean, 0))
		require.InDelta(t, row.mean, mean, 4*row.sd/math.Sqrt(n)+1e-6, "%v", row.d)
		require.InDelta(t, row.sd, sd, 0.02*row.sd+1e-6, "%v", row.d)
		require.InDelta(t, row.mean*ms, float64(row.d.Mean()), 0.001*row.mean*ms+2, "%v", row.d)
	}
}

// TestDrawsAreTotal: the largest and the worst fields make no negative duration.
func TestDrawsAreTotal(t *testing.T) {
	const most = time.Duration(math.MaxInt64)
	s := newStream(1, 1, 1)
	for _, d := range []Dist{
		{}, Fixed(-1), Fixed(most), Uniform(-5, -7), Uniform(0, most), Exponential(most), Exponential(-1), LogNormal(most, 10),
		LogNormal(1, math.NaN()), LogNormal(1, math.Inf(1)), AbsNormal(most, most), AbsNormal(-1, -1), Empirical(nil), Empirical([]time.Duration{-1, most}),
	} {
		for range 1000 {
			require.GreaterOrEqual(t, d.draw(&s), int64(0), "%v", d)
		}
		require.GreaterOrEqual(t, d.Mean(), time.Duration(min(int64(d.a), 0))*2)
	}
}

// TestStreams: purposes, indices and seeds that lie close together have nothing in common.
func TestStreams(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(10) {
		for purpose := range uint64(10) {
			for index := range uint64(10) {
				s := newStream(seed, purpose, index)
				v := s.pcg.Uint64()
				require.False(t, seen[v])
				seen[v] = true
			}
		}
	}
	s := newStream(1, 2, 3)
	counts := [10]int{}
	for range 100_000 {
		counts[s.below(10)]++
	}
	for _, n := range counts {
		require.InDelta(t, 10_000, n, 4*95)
	}
}
