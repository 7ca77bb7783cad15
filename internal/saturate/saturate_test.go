package saturate_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/internal/saturate"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	largest  time.Duration = math.MaxInt64
	smallest time.Duration = math.MinInt64
)

func TestAdd(t *testing.T) {
	for _, c := range []struct{ a, b, want time.Duration }{
		{0, 0, 0},
		{1, 2, 3},
		{time.Second, -time.Minute, -59 * time.Second},
		{largest, 0, largest},
		{largest - 1, 1, largest},
		{largest, 1, largest},
		{largest, largest, largest},
		{largest, -1, largest - 1},
		{largest, smallest, -1},
		{-1, largest, largest - 1},
		{smallest, largest, -1},
		{smallest, 0, smallest},
		{smallest + 1, -1, smallest},
		{smallest, -1, smallest},
		{smallest, smallest, smallest},
	} {
		require.Equal(t, c.want, saturate.Add(c.a, c.b), "%d %d", c.a, c.b)
		require.Equal(t, c.want, saturate.Add(c.b, c.a), "%d %d", c.b, c.a)
	}
}

// FuzzAdd compares with numbers that have room for every sum.
func FuzzAdd(tf *testing.F) {
	f := fuzzed.New(tf)
	for _, a := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt64 / 2, math.MinInt64/2 - 1} {
		for _, b := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt64/2 + 1} {
			f.Add(a, b)
		}
	}
	f.Fuzz(func(t *testing.T, a, b int64) {
		sum := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
		want := sum.Int64()
		if !sum.IsInt64() {
			want = math.MaxInt64
			if sum.Sign() < 0 {
				want = math.MinInt64
			}
		}
		require.Equal(t, time.Duration(want), saturate.Add(time.Duration(a), time.Duration(b)))
	})
}
