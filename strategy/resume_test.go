package strategy_test

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

type resumed interface {
	leveled
	Resume(time.Duration)
}

var (
	_ resumed = (*strategy.LILD)(nil)
	_ resumed = (*strategy.LIMD)(nil)
	_ resumed = (*strategy.MILD)(nil)
	_ resumed = (*strategy.MIMD)(nil)
)

// TestResumeGoesOn: a level that was kept leads to the same waits as the one that it was taken from.
func TestResumeGoesOn(t *testing.T) {
	const s = time.Second
	for name, fresh := range map[string]func() resumed{
		"LILD": func() resumed {
			return &strategy.LILD{Initial: 3 * s, IncrementOnFailure: 4 * s, IncrementOnSuccess: -5 * s, Min: s}
		},
		"LIMD": func() resumed {
			return &strategy.LIMD{Initial: 2 * s, IncrementOnFailure: 4 * s, MultipleOnSuccess: 0.2, Min: s}
		},
		"MILD": func() resumed {
			return &strategy.MILD{Initial: 3 * s, MultipleOnFailure: 2, IncrementOnSuccess: -5 * s, Min: s}
		},
		"MIMD": func() resumed {
			return &strategy.MIMD{Initial: 3 * s, MultipleOnFailure: 2, MultipleOnSuccess: 0.5, Min: 2 * s}
		},
	} {
		t.Run(name, func(t *testing.T) {
			old, other := fresh(), fresh()
			play(t, old, "fffs")
			other.Resume(old.Level())
			require.Equal(t, old.Level(), other.Level())
			require.Equal(t, play(t, old, "fssfff"), play(t, other, "fssfff"))
		})
	}
}

// TestResumeBounds: Min and Max hold for the level that is resumed, and Min wins.
func TestResumeBounds(t *testing.T) {
	const s = time.Second
	for _, c := range []struct{ least, most, level, want time.Duration }{
		{0, 0, 7 * s, 7 * s}, {2 * s, 0, s, 2 * s}, {0, 5 * s, 7 * s, 5 * s}, {6 * s, 5 * s, 7 * s, 6 * s}, {6 * s, 5 * s, s, 6 * s},
		{0, 0, math.MaxInt64, math.MaxInt64}, {0, 0, 1, 1}, {-s, -s, 7 * s, 7 * s},
	} {
		l := &strategy.LIMD{Min: c.least, Max: c.most}
		l.Resume(c.level)
		require.Equal(t, c.want, l.Level(), "%+v", c)
	}
}

// TestResumeNotBegun: 0 is what Level says of a level that has not begun, and so leads there.
func TestResumeNotBegun(t *testing.T) {
	for _, level := range []time.Duration{0, -1, math.MinInt64} {
		l := &strategy.LIMD{Initial: 3 * time.Second, Min: time.Second}
		play(t, l, "ff")
		l.Resume(level)
		require.Zero(t, l.Level())
		require.Equal(t, []time.Duration{3 * time.Second}, play(t, l, "f"))
	}
	var none *strategy.LIMD
	none.Resume(time.Second)
	require.Zero(t, none.Level())
}

// TestResumeCountsTheNextFailure: the time of the last raise belongs to the level that is replaced.
func TestResumeCountsTheNextFailure(t *testing.T) {
	now := time.Unix(1000, 0)
	l := &strategy.LIMD{Initial: time.Second, IncrementOnFailure: time.Second}
	l.Failed(strategy.State{Number: 1, Began: now.Add(-time.Second), Now: now})
	l.Resume(5 * time.Second)
	l.Failed(strategy.State{Number: 1, Began: now.Add(-time.Second), Now: now})
	require.Equal(t, 6*time.Second, l.Level())
}

func TestConcurrentSafeResume(t *testing.T) {
	l := &strategy.MIMD{Max: time.Minute}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				l.Resume(l.Level())
				l.Failed(strategy.State{})
				l.Succeed()
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, l.Level(), time.Minute)
}
