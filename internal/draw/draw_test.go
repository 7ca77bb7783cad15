package draw_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/internal/draw"
)

var odd = []float64{math.NaN(), math.Inf(-1), -1, 0, math.SmallestNonzeroFloat64, 0.5, math.Nextafter(1, 0), 1, 2, math.Inf(1)}

func TestUnitIsInRange(t *testing.T) {
	for _, u := range odd {
		got := draw.Unit(u)
		require.True(t, got >= 0 && got < 1, u)
	}
	require.Equal(t, 0.5, draw.Unit(0.5))
	require.Zero(t, draw.Unit(math.NaN()))
}

func TestFromAsksItsSource(t *testing.T) {
	require.Equal(t, 0.25, draw.From(func() float64 { return 0.25 }))
	for range 100 {
		got := draw.From(nil)
		require.True(t, got >= 0 && got < 1)
	}
}

func TestBelowIsShorterThanItsSpan(t *testing.T) {
	for _, span := range []time.Duration{0, 1, 2, time.Second, math.MaxInt64} {
		for _, u := range odd {
			got := draw.Below(span, func() float64 { return u })
			require.True(t, got >= 0 && (got < span || span == 0), "%v of %v: %v", u, span, got)
		}
	}
	require.Equal(t, 500*time.Millisecond, draw.Below(time.Second, func() float64 { return 0.5 }))
}
