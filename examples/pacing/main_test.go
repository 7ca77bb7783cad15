package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry/strategy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The pace is found whatever is drawn, and in the same way for the same seed.
func TestRun(t *testing.T) {
	var first, again strings.Builder
	require.NoError(t, run(&first, 1))
	require.NoError(t, run(&again, 1))
	require.Equal(t, first.String(), again.String())
	lines := strings.Split(first.String(), "\n")
	require.Equal(t, "40 workers poll one queue. They share limd(initial=100ms, incrementonfailure=100ms, multipleonsuccess=0.99, min=20ms, max=10s)", lines[0])
	require.Len(t, lines, 3+50+3)
	require.Contains(t, first.String(), "\nturned away: ")
	for seed := range uint64(3) {
		require.NoError(t, run(io.Discard, 100+seed), "seed %d", 100+seed)
	}
}

// A wait that does not adapt fails, and so does one that adapts the wrong way round.
func TestVerifyBites(t *testing.T) {
	for breaks, s := range map[string]strategy.Strategy{
		"phase 2: the level should have been about 2s, not 400ms":    strategy.Constant{Delay: 400 * time.Millisecond},
		"phase 1: the level should have been about 400ms, not 2s":    strategy.Constant{Delay: 2 * time.Second},
		"phase 1: the level should have been about 400ms, not 100ms": &strategy.LIMD{MultipleOnSuccess: 1, IncrementOnFailure: -1},
	} {
		level := func() time.Duration {
			wait, _ := s.Next(strategy.State{})
			return wait.Round(time.Millisecond)
		}
		require.EqualError(t, verify(simulate(s, level, 1)), breaks)
	}
	seconds := simulate(newPace(), func() time.Duration { return 400 * time.Millisecond }, 1)
	require.Error(t, verify(seconds))
	require.ErrorContains(t, verify(seconds[:30]), "phase 1 should have gone on until 1m0s")

	good := make([]second, 300)
	for i := range good {
		p, _, _ := phaseAt(time.Duration(i) * time.Second)
		good[i] = second{level: p.ideal(), served: int(p.allowed)}
	}
	require.NoError(t, verify(good))
	good[200].served -= 2000
	require.ErrorContains(t, verify(good), "phase 3: of 2000 polls that were allowed at least 60% should have been made")
	good[200] = second{level: good[200].level, served: 50, away: 2000}
	require.ErrorContains(t, verify(good), "phase 3: 2000 polls were turned away")
}

func TestQueue(t *testing.T) {
	var q queue
	require.ErrorIs(t, q.poll(0), errTooMany)
	served := 0
	for i := range 1000 {
		if q.poll(time.Duration(i)*time.Millisecond) == nil {
			served++
		}
	}
	require.Equal(t, 99, served, "a hundred per second, and the last one not yet")
	served = 0
	for range 100 {
		if q.poll(10*time.Second) == nil {
			served++
		}
	}
	require.Equal(t, 20, served, "a fifth of a second is kept")
	_, _, on := phaseAt(time.Hour)
	require.False(t, on)
}

func TestBar(t *testing.T) {
	require.Equal(t, "##|##", bar(400*time.Millisecond, 160*time.Millisecond))
	require.Equal(t, "##   |", bar(160*time.Millisecond, 400*time.Millisecond))
	require.Equal(t, "|", bar(0, 0))
}
