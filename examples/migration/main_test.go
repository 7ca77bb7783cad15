package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lines are those of a file.
func lines(t *testing.T, name string) []string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return strings.Split(string(text), "\n")
}

func TestOneLineDiffers(t *testing.T) {
	before, after := lines(t, "before/main.go"), lines(t, "main.go")
	require.Len(t, after, len(before))
	var differing []string
	for i := range after {
		if before[i] != after[i] {
			differing = append(differing, before[i], after[i])
		}
	}
	require.Equal(t, []string{"\t\"github.com/cenkalti/backoff/v4\"", "\tbackoff \"github.com/seed-89b3229b/retry/strategy/cenkalti\""}, differing)
}

// Both programs run as an Example in their folders. Here is seen that both are held to the same output.
func TestSameOutput(t *testing.T) {
	example := func(name string) string {
		_, from, found := strings.Cut(strings.Join(lines(t, name), "\n"), "\nfunc Example() {")
		require.True(t, found)
		return from
	}
	require.Equal(t, example("before/main_test.go"), example("main_test.go"))
}

func Example() {
	main()
	// Output:
	// two failures, then an order:
	//   busy, again in 10ms
	//   busy, again in 20ms
	//   "order 7" <nil>
	// an order that is not there:
	//   busy, again in 10ms
	//   "" no such order
	// five failures:
	//   busy, again in 10ms
	//   busy, again in 20ms
	//   busy, again in 40ms
	//   busy, again in 80ms
	//   "" busy true
	// a context that is cancelled before an hour's wait:
	//   context canceled true
	// a loop over ticks:
	//   3 attempts
}
