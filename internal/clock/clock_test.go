package clock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a clock with only what every clock has; timers and waits add one capability each.
type fake struct {
	asked   []string
	stopped int
}

func (f *fake) Now() time.Time { return time.Unix(7, 0) }
func (f *fake) After(d time.Duration) <-chan time.Time {
	f.asked = append(f.asked, "After "+d.String())
	return time.After(d)
}

type timers struct{ fake }

func (f *timers) NewTimer(d time.Duration) (<-chan time.Time, func() bool) {
	f.asked = append(f.asked, "NewTimer "+d.String())
	t := time.NewTimer(d)
	return t.C, func() bool { f.stopped++; return t.Stop() }
}

type waits struct{ timers }

func (f *waits) Wait(_ context.Context, _ <-chan struct{}, d time.Duration) {
	f.asked = append(f.asked, "Wait "+d.String())
}

func TestNow(t *testing.T) {
	require.Equal(t, time.Unix(7, 0), clock.Now(&fake{}))
	synctest.Test(t, func(t *testing.T) { require.Equal(t, time.Now(), clock.Now(nil)) })
}

func TestSleepUsesWhatTheClockCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plain, timer, wait := new(fake), new(timers), new(waits)
		for _, c := range []clock.Clock{plain, timer, wait} {
			s := clock.Sleeper{Clock: c}
			for _, d := range []time.Duration{-time.Second, 0, time.Second} {
				s.Sleep(t.Context(), nil, d)
			}
		}
		require.Equal(t, []string{"After 1s"}, plain.asked)
		require.Equal(t, []string{"NewTimer 1s"}, timer.asked)
		require.Equal(t, []string{"Wait 1s"}, wait.asked)
		require.Zero(t, timer.stopped)
	})
}

func TestSleepEndsEarly(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	for _, c := range []clock.Clock{nil, new(timers)} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			s := clock.Sleeper{Clock: c}
			s.Sleep(t.Context(), stop, time.Hour)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			s.Sleep(ctx, nil, time.Hour)
			require.Equal(t, time.Second, time.Since(begun))
			s.Sleep(t.Context(), nil, time.Minute) // the one timer serves again
			require.Equal(t, time.Second+time.Minute, time.Since(begun))
		})
		if c, ok := c.(*timers); ok {
			require.Equal(t, 2, c.stopped)
		}
	}
}

func TestSleeperHasOneTimer(t *testing.T) {
	var s clock.Sleeper
	s.Sleep(t.Context(), nil, 1)
	require.Zero(t, testing.AllocsPerRun(100, func() { s.Sleep(t.Context(), nil, 1) }))
}
