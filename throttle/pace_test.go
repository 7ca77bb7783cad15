package throttle_test

import (
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// seedPacer is the seed system's LIMD illustration.
func seedPacer() *strategy.Pacer {
	return &strategy.Pacer{Strategy: &strategy.LIMD{Initial: 2 * sec, IncrementOnFailure: 4 * sec, MultipleOnSuccess: 0.2, Min: sec}}
}

// noting answers every event the same, and notes what it was told.
type noting struct {
	delay time.Duration
	over  bool
	told  []string
}

func (n *noting) Failure(time.Time) (time.Duration, bool) {
	n.told = append(n.told, "failure")
	return n.delay, !n.over
}

func (n *noting) Success(time.Time) time.Duration {
	n.told = append(n.told, "success")
	return n.delay
}

// goes makes an attempt that is let through at that moment and takes no time.
func goes(t testing.TB, th throttle.Throttle, at time.Time, c throttle.Class) {
	t.Helper()
	ticket, wait, err := th.Admit(t.Context(), at, nil)
	require.NoError(t, err)
	require.Zero(t, wait)
	th.Done(t.Context(), at, ticket, throttle.Outcome{Class: c})
}

// held is how long an attempt would have to wait, and what Ready and Explain say about it.
func held(t testing.TB, th throttle.Throttle, at time.Time) time.Duration {
	t.Helper()
	ready := th.(throttle.Planner).Ready(t.Context(), at)
	if why := th.(throttle.Explainer).Explain(t.Context(), at); ready > 0 {
		require.Equal(t, &throttle.Error{Key: "pace", Until: at.Add(ready), Remaining: ready, Err: why.Err}, why)
	} else {
		require.Nil(t, why)
	}
	return ready
}

func TestPace(t *testing.T) {
	th, at := throttle.Pace(seedPacer()), t0
	for _, step := range []struct {
		class throttle.Class
		wait  time.Duration
	}{
		{throttle.Transient, 2}, {throttle.Throttled, 6}, {throttle.Timeout, 10}, {throttle.Success, 2}, {throttle.Permanent, 1}, {throttle.Transient, 5},
	} {
		goes(t, th, at, step.class)
		require.Equal(t, step.wait*sec, held(t, th, at))
		_, wait, err := th.Admit(t.Context(), at.Add(sec/2), nil)
		require.NoError(t, err)
		require.Equal(t, step.wait*sec-sec/2, wait)
		at = at.Add(step.wait * sec)
		require.Zero(t, held(t, th, at))
	}
}

func TestPaceTellsWhatCounts(t *testing.T) {
	for class, want := range map[throttle.Class][]string{
		throttle.Unset: nil, throttle.Success: {"success"}, throttle.Permanent: {"success"}, throttle.Transient: {"failure"},
		throttle.Timeout: {"failure"}, throttle.Throttled: {"failure"}, throttle.Canceled: nil, throttle.Panicked: nil, throttle.Skipped: nil, 99: nil,
	} {
		n := &noting{delay: sec}
		th := throttle.Pace(n)
		goes(t, th, t0, class)
		require.Equal(t, want, n.told, "%v", class)
		require.Equal(t, time.Duration(len(want))*sec, held(t, th, t0), "%v", class)
	}
}

// Those who were held back start one by one.
func TestPaceKeepsAttemptsApart(t *testing.T) {
	th := throttle.Pace(&noting{delay: 10 * sec})
	goes(t, th, t0, throttle.Success)
	at := t0.Add(10 * sec)
	_, wait, err := th.Admit(t.Context(), at, nil)
	require.NoError(t, err)
	require.Zero(t, wait, "the first")
	for range 3 {
		_, wait, err = th.Admit(t.Context(), at.Add(sec), nil)
		require.NoError(t, err)
		require.Equal(t, 9*sec, wait, "the others, while it is under way")
	}
	th.Done(t.Context(), at.Add(3*sec), nil, throttle.Outcome{Class: throttle.Canceled})
	require.Equal(t, 7*sec, held(t, th, at.Add(3*sec)), "it had its turn, and said nothing")
	th.Done(t.Context(), at.Add(4*sec), nil, throttle.Outcome{Class: throttle.Success})
	require.Equal(t, 10*sec, held(t, th, at.Add(4*sec)), "from its end")
}

func TestPaceGivesUp(t *testing.T) {
	p := &strategy.Pacer{Strategy: strategy.Constant{Delay: 10 * sec}, MaxAttempts: 2}
	th := throttle.Pace(p)
	refused := func(at time.Time, remaining time.Duration) {
		t.Helper()
		require.Zero(t, th.(throttle.Planner).Ready(t.Context(), at), "no wait for a refusal")
		ticket, wait, err := th.Admit(t.Context(), at, nil)
		require.Nil(t, ticket)
		require.Zero(t, wait)
		require.Equal(t, &throttle.Error{Key: "pace", Until: at.Add(remaining), Remaining: remaining, Source: "given up", Err: boom}, err)
		require.ErrorIs(t, err, boom)
	}
	fails := func(at time.Time) {
		t.Helper()
		_, wait, err := th.Admit(t.Context(), at, nil)
		require.NoError(t, err)
		require.Zero(t, wait)
		th.Done(t.Context(), at, nil, throttle.Outcome{Class: throttle.Transient, Err: boom})
	}
	fails(t0)
	require.Equal(t, 10*sec, held(t, th, t0))
	fails(t0.Add(10 * sec)) // the second in a row
	refused(t0.Add(11*sec), 9*sec)
	refused(t0.Add(12*sec), 8*sec)
	fails(t0.Add(20 * sec))    // one is let through
	refused(t0.Add(60*sec), 0) // who asks first is refused, however late
	fails(t0.Add(60 * sec))
	refused(t0.Add(65*sec), 5*sec)
	goes(t, th, t0.Add(70*sec), throttle.Success)
	require.Zero(t, held(t, th, t0.Add(70*sec)), "the pacer's answer to a success")
	fails(t0.Add(70 * sec))
	require.Equal(t, 10*sec, held(t, th, t0.Add(70*sec)), "as at first")
	fails(t0.Add(80 * sec))
	_, _, err := th.Admit(t.Context(), t0.Add(80*sec), nil)
	require.EqualError(t, err, `throttle: "pace" is cooling down for 10s (given up): boom`)

	// Nobody is let through beside the one that finds out.
	_, wait, err := th.Admit(t.Context(), t0.Add(90*sec), nil)
	require.NoError(t, err)
	require.Zero(t, wait)
	refused(t0.Add(91*sec), 9*sec)
	th.Done(t.Context(), t0.Add(95*sec), nil, throttle.Outcome{Class: throttle.Canceled})
	refused(t0.Add(95*sec), 5*sec)
	fails(t0.Add(100 * sec))
	p.Reset(t0.Add(100 * sec))
	refused(t0.Add(100*sec), 10*sec)
	fails(t0.Add(110 * sec))
	require.Equal(t, 10*sec, held(t, th, t0.Add(110*sec)), "the pacer was reset")
}

// A pacer that gives up without ever having answered a wait: every other attempt is refused.
func TestPaceGivesUpAtOnce(t *testing.T) {
	th := throttle.Pace(&strategy.Pacer{MaxAttempts: 1})
	for range 3 {
		goes(t, th, t0, throttle.Transient)
		_, _, err := th.Admit(t.Context(), t0, nil)
		require.Error(t, err)
	}
}

func TestPaceInBadTimes(t *testing.T) {
	th := throttle.Pace(&noting{delay: 10 * sec})
	goes(t, th, t0, throttle.Success)
	past := t0.Add(-time.Hour)
	require.Equal(t, 10*sec, held(t, th, past), "the clock was set back")
	_, wait, _ := th.Admit(t.Context(), past, nil)
	require.Equal(t, 10*sec, wait)
	goes(t, th, past.Add(10*sec), throttle.Success)

	for _, delay := range []time.Duration{-1, math.MinInt64} {
		th := throttle.Pace(&noting{delay: delay})
		goes(t, th, t0, throttle.Success)
		require.Zero(t, held(t, th, t0))
	}
	th = throttle.Pace(&noting{delay: longest})
	goes(t, th, t0, throttle.Transient)
	require.Equal(t, longest, held(t, th, t0))
}

func TestPaceOfNothing(t *testing.T) {
	var pacer *strategy.Pacer
	for _, th := range []throttle.Throttle{throttle.Pace(nil), throttle.Pace(pacer), throttle.Pace((*noting)(nil))} {
		require.EqualError(t, th.(validator).Validate(), "throttle: Pace = <nil>: must not be nil")
		for range 2 {
			goes(t, th, t0, throttle.Transient)
			require.Zero(t, held(t, th, t0))
		}
	}
	require.NoError(t, throttle.Pace(seedPacer()).(validator).Validate())
	require.NoError(t, throttle.Pace(&noting{}).(validator).Validate())
	var invalid *strategy.ConfigError
	require.ErrorAs(t, throttle.Pace(&strategy.Pacer{MinDelay: -1}).(validator).Validate(), &invalid)
	require.Equal(t, "Pacer.MinDelay", invalid.Field)
}

// A crowd that asks in the order of time: starts are exactly as far apart as the pacer says.
func TestPaceOfACrowd(t *testing.T) {
	th := throttle.Pace(&noting{delay: sec})
	goes(t, th, t0, throttle.Success)
	asks := slices.Repeat([]time.Time{t0}, 8)
	var starts []time.Time
	for len(asks) > 0 {
		at := asks[0]
		ticket, wait, err := th.Admit(t.Context(), at, nil)
		require.NoError(t, err)
		if wait > 0 {
			asks[0] = at.Add(wait)
			slices.SortStableFunc(asks, time.Time.Compare)
			continue
		}
		starts, asks = append(starts, at), asks[1:]
		th.Done(t.Context(), at, ticket, throttle.Outcome{Class: throttle.Transient})
	}
	for i, at := range starts {
		require.Equal(t, t0.Add(time.Duration(i+1)*sec), at)
	}
	require.Len(t, starts, 8)
}

// For the race detector. Times run at random, so waits are all that can be checked.
func TestConcurrentSafePace(t *testing.T) {
	p := &noting{delay: sec}
	th := throttle.Pace(p)
	var told atomic.Int64
	var group sync.WaitGroup
	for k := range 8 {
		group.Go(func() {
			at := t0.Add(time.Duration(k) * ms)
			for range 20 {
				ticket, wait, err := th.Admit(t.Context(), at, nil)
				assert.NoError(t, err)
				assert.LessOrEqual(t, wait, sec)
				assert.LessOrEqual(t, th.(throttle.Planner).Ready(t.Context(), at), sec)
				th.(throttle.Explainer).Explain(t.Context(), at)
				at = at.Add(wait)
				if wait <= 0 {
					told.Add(1)
					th.Done(t.Context(), at, ticket, throttle.Outcome{Class: throttle.Success + throttle.Class(k%3)})
				}
			}
		})
	}
	group.Wait()
	assert.Len(t, p.told, int(told.Load()))
}

func TestPaceAllocatesNothing(t *testing.T) {
	th := throttle.Pace(seedPacer())
	at := t0
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		at = at.Add(time.Minute)
		ticket, _, _ := th.Admit(t.Context(), at, nil)
		th.(throttle.Planner).Ready(t.Context(), at)
		th.Done(t.Context(), at, ticket, throttle.Outcome{Class: throttle.Transient, Err: errors.ErrUnsupported})
		at = at.Add(time.Minute)
		ticket, _, _ = th.Admit(t.Context(), at, nil)
		th.Done(t.Context(), at, ticket, throttle.Outcome{Class: throttle.Success})
	}))
}

func BenchmarkPace(b *testing.B) {
	th, at := throttle.Pace(seedPacer()), t0
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		at = at.Add(time.Hour)
		ticket, _, _ := th.Admit(ctx, at, nil)
		th.Done(ctx, at, ticket, throttle.Outcome{Class: throttle.Transient})
	}
}
