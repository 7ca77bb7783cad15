package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What is said holds whatever is drawn, and the same seed gives the same picture.
func TestRun(t *testing.T) {
	var first, again strings.Builder
	require.NoError(t, run(&first, 1))
	require.NoError(t, run(&again, 1))
	require.Equal(t, first.String(), again.String())
	require.Equal(t, 4, strings.Count(first.String(), "half of the capacity is lost"))
	require.NoError(t, run(io.Discard, 100))

	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	var results []result
	for _, trial := range trials() {
		results = append(results, simulate(trial, 1))
	}
	var compared strings.Builder
	table(&compared, results)
	require.Contains(t, string(readme), compared.String())
}

func TestPoliciesMeetTheSameCalls(t *testing.T) {
	var calls [][]int
	for _, trial := range trials() {
		r := simulate(trial, 7)
		var of []int
		for _, s := range r.seconds {
			of = append(of, s.calls)
			assert.GreaterOrEqual(t, s.calls, s.successful)
		}
		calls = append(calls, of)
	}
	for _, of := range calls {
		assert.Equal(t, calls[0], of)
	}
}

func TestVerifyBites(t *testing.T) {
	for i, bad := range []string{
		"retry at once: should have recovered, but did not",
		"full jitter: should have recovered, but did not",
		"full jitter, one token budget: should not have recovered, but did after 2s",
	} {
		wrong := trials()[i]
		if wrong.want == never {
			wrong.want = recovers
		} else {
			wrong.want = never
		}
		require.EqualError(t, simulate(wrong, 1).verify(), bad)
	}
}

func TestServer(t *testing.T) {
	var s server
	assert.Equal(t, time.Millisecond, s.take(0))
	assert.Equal(t, 2*time.Millisecond, s.take(0))
	assert.Equal(t, 6*time.Millisecond, s.take(5*time.Millisecond))
	assert.Equal(t, outageBegins+2*time.Millisecond, s.take(outageBegins))
	assert.Equal(t, outageEnds+time.Millisecond, s.take(outageEnds))
}

func TestRecovery(t *testing.T) {
	seconds := make([]second, length/time.Second)
	for i := range seconds {
		seconds[i] = second{calls: 100, successful: 95}
	}
	r := result{seconds: seconds}
	after, recovered := r.recovery()
	assert.Zero(t, after)
	assert.True(t, recovered)
	seconds[9].successful = 94
	after, _ = r.recovery()
	assert.Zero(t, after, "it was well again before the outage ended")
	seconds[23].successful = 94
	after, recovered = r.recovery()
	assert.Equal(t, 4*time.Second, after)
	assert.True(t, recovered)
	seconds[len(r.counted())-1].successful = 0
	_, recovered = r.recovery()
	assert.False(t, recovered)
}

func TestBlocks(t *testing.T) {
	assert.Equal(t, "__▁▄███", string([]rune{block(-1), block(0.05), block(0.07), block(0.5), block(0.95), block(1), block(9)}))
}
