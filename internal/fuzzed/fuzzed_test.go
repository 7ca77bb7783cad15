package fuzzed_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry/internal/fuzzed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func seeds() [][]any {
	return [][]any{
		{[]byte("abc"), "text", true, 0.5, int64(7), uint8(3), 42},
		{[]byte{}, "", false, math.Inf(1), int64(math.MinInt64), uint8(255), -1},
	}
}

// The inputs are the same each time, of the seeds' types, differ from one another, and leave the seeds as they were.
func TestChanged(t *testing.T) {
	given := seeds()
	all := slices.Collect(fuzzed.Changed(given, 1000))
	require.Len(t, all, 1000)
	require.Equal(t, fmt.Sprint(all), fmt.Sprint(slices.Collect(fuzzed.Changed(seeds(), 1000))))
	require.Equal(t, seeds(), given)

	for i, seed := range given[0] {
		values := map[string]bool{}
		for _, args := range all {
			require.Equal(t, reflect.TypeOf(seed), reflect.TypeOf(args[i]))
			values[fmt.Sprintf("%#v", args[i])] = true
		}
		least := 30
		if reflect.TypeOf(seed).Kind() == reflect.Bool {
			least = 2
		}
		require.GreaterOrEqual(t, len(values), least, "argument %d", i)
	}
}

func TestNothingToChange(t *testing.T) {
	require.Empty(t, slices.Collect(fuzzed.Changed(nil, 5)))
	require.Empty(t, slices.Collect(fuzzed.Changed([][]any{{}}, 5)))
	for range fuzzed.Changed(seeds(), 5) {
		break
	}
}

// FuzzTarget is what a target looks like: it is tried with more than its seeds where the variable says so.
func FuzzTarget(tf *testing.F) {
	tf.Setenv(fuzzed.Variable, "50")
	f := fuzzed.New(tf)
	f.Add("seed", 1)
	tried := 0
	f.Cleanup(func() {
		if tried != 51 && tried != 0 { // 0: another process does it, or -run names a seed
			f.Errorf("%d inputs", tried)
		}
	})
	f.Fuzz(func(t *testing.T, text string, n int) { tried++ })
}
