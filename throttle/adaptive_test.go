package throttle_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// ask makes n attempts one after another at now, each ending in the given class, and returns how many were refused.
func ask(t *testing.T, a *throttle.Adaptive, now time.Time, n int, c throttle.Class) (refused int) {
	t.Helper()
	for range n {
		ticket, wait, err := a.Admit(t.Context(), now, nil)
		require.Zero(t, wait)
		if err != nil {
			refused++
			continue
		}
		a.Done(t.Context(), now, ticket, throttle.Outcome{Class: c})
	}
	return refused
}

// TestAdaptiveFormula: max(0, (requests - K·accepts)/(requests+1)), for callers that make one attempt at a time.
func TestAdaptiveFormula(t *testing.T) {
	for _, c := range []struct {
		k                 float64
		accepted, failing int
		want              float64
	}{
		{0, 0, 0, 0},
		{0, 0, 1, 1.0 / 2},
		{0, 0, 9, 9.0 / 10},
		{0, 1, 0, 0},
		{0, 5, 5, 0},
		{0, 5, 6, 1.0 / 12},
		{0, 10, 90, 80.0 / 101},
		{0, 99, 1, 0},
		{1.1, 90, 10, 1.0 / 101},
		{1, 90, 10, 10.0 / 101},
		{4, 10, 90, 60.0 / 101},
		{math.MaxFloat64, 0, 9, 9.0 / 10},
		{math.MaxFloat64, 1, 9, 0},
		// What Validate refuses is read as 2.
		{math.Inf(1), 0, 9, 9.0 / 10},
		{math.Inf(1), 10, 90, 80.0 / 101},
		{math.Inf(-1), 10, 90, 80.0 / 101},
		{math.NaN(), 10, 90, 80.0 / 101},
		{0.5, 10, 90, 80.0 / 101},
	} {
		a := &throttle.Adaptive{K: c.k, Rand: always(0.99999)} // draws that refuse nothing
		require.Zero(t, ask(t, a, t0, c.accepted, throttle.Success))
		require.Zero(t, ask(t, a, t0, c.failing, throttle.Transient))
		require.InDelta(t, c.want, a.RefusalRate(t0), 1e-12, "%+v", c)
		require.InDelta(t, c.want, a.RefusalRate(t0), 1e-12, "looking changes nothing")
		if c.want > 0 {
			a.Rand = always(c.want)
			require.Zero(t, ask(t, a, t0, 1, throttle.Skipped), "u < p refuses, u = p does not")
			a.Rand = always(math.Nextafter(c.want, 0) - 1e-12)
			require.Equal(t, 1, ask(t, a, t0, 1, throttle.Success))
		} else {
			a.Rand = undrawn(t)
			require.Zero(t, ask(t, a, t0, 1, throttle.Success))
		}
	}
}

// TestAdaptiveCountsRefusals: what it refused itself has been requested too.
func TestAdaptiveCountsRefusals(t *testing.T) {
	a := &throttle.Adaptive{Rand: always(0)}
	ask(t, a, t0, 1, throttle.Timeout)
	for n := range 100 {
		require.InDelta(t, float64(n+1)/float64(n+2), a.RefusalRate(t0), 1e-12)
		require.Equal(t, 1, ask(t, a, t0, 1, throttle.Success))
	}
}

// TestAdaptiveAnswersThatArePermanent: a thousand times 404 refuse nothing, since the dependency works. By the executor, with
// conditions that find a 404 not worth a retry.
func TestAdaptiveAnswersThatArePermanent(t *testing.T) {
	missing := errors.New("404 not found")
	a := &throttle.Adaptive{Rand: undrawn(t)}
	made := 0
	for range 1000 {
		err := retry.Run(t.Context(), func(context.Context) error { made++; return missing },
			retry.WithThrottle(a), retry.WithRetryIf(func(error) bool { return false }))
		require.Equal(t, missing, err)
	}
	require.Equal(t, 1000, made)
	require.Zero(t, a.RefusalRate(time.Now()))
}

// TestAdaptiveClasses: what each class counts as, after one success.
func TestAdaptiveClasses(t *testing.T) {
	for c, want := range map[throttle.Class]float64{
		throttle.Success: 0, throttle.Permanent: 0,
		throttle.Transient: 9.0 / 12, throttle.Timeout: 9.0 / 12, throttle.Throttled: 9.0 / 12,
		throttle.Canceled: 0, throttle.Panicked: 0, throttle.Skipped: 0, throttle.Unset: 0, 200: 0,
	} {
		a := &throttle.Adaptive{Rand: always(1)}
		ask(t, a, t0, 1, throttle.Success)
		ask(t, a, t0, 10, c)
		require.InDelta(t, want, a.RefusalRate(t0), 1e-12, c)
		if want > 0 {
			continue
		}
		ask(t, a, t0, 12, throttle.Transient)
		if c == throttle.Success || c == throttle.Permanent { // 11 were accepted
			require.InDelta(t, 1.0/24, a.RefusalRate(t0), 1e-12, c)
		} else { // nothing of them is left
			require.InDelta(t, 11.0/14, a.RefusalRate(t0), 1e-12, c)
		}
	}
}

// TestAdaptiveAskedAgain: an attempt that shows its ticket has been counted.
func TestAdaptiveAskedAgain(t *testing.T) {
	a := &throttle.Adaptive{Rand: always(1)}
	ticket, _, err := a.Admit(t.Context(), t0, nil)
	require.NoError(t, err)
	for range 10 {
		again, _, err := a.Admit(t.Context(), t0, ticket)
		require.NoError(t, err)
		require.Same(t, ticket, again)
	}
	a.Done(t.Context(), t0, ticket, throttle.Outcome{Class: throttle.Transient})
	require.InDelta(t, 1.0/2, a.RefusalRate(t0), 1e-12)
}

// TestAdaptivePending: attempts under way have not failed yet; beyond Pending they count as if.
func TestAdaptivePending(t *testing.T) {
	for _, c := range []struct {
		pending, running int
		want             float64
	}{{0, 100, 0}, {0, 101, 1.0 / 102}, {5, 5, 0}, {5, 15, 10.0 / 16}, {-1, 1, 1.0 / 2}, {math.MinInt, 3, 3.0 / 4}, {math.MaxInt, 1000, 0}} {
		a := &throttle.Adaptive{Pending: c.pending, Rand: always(1)}
		var tickets []throttle.Ticket
		for range c.running {
			ticket, _, err := a.Admit(t.Context(), t0, nil)
			require.NoError(t, err)
			tickets = append(tickets, ticket)
		}
		require.InDelta(t, c.want, a.RefusalRate(t0), 1e-12, "%+v", c)
		for i, ticket := range tickets {
			class := throttle.Success
			if i > 0 {
				class = throttle.Transient
			}
			a.Done(t.Context(), t0, ticket, throttle.Outcome{Class: class})
		}
		require.InDelta(t, max(0, float64(c.running-2)/float64(c.running+1)), a.RefusalRate(t0), 1e-12, "all of them have ended")
	}
}

// TestAdaptiveRefusal: its error is typed, names the dependency and no time, and ends the call.
func TestAdaptiveRefusal(t *testing.T) {
	a := &throttle.Adaptive{Key: "acme", Rand: always(0)}
	made := 0
	fn := func(context.Context) error { made++; return boom }
	err := retry.Run(t.Context(), fn, retry.WithThrottle(a), retry.WithStrategy(strategy.Constant{}))
	require.Equal(t, 1, made, "the retry was refused")
	require.ErrorIs(t, err, boom)
	require.ErrorIs(t, err, retry.ErrRefused)
	var refusal *throttle.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, throttle.Key("acme"), refusal.Key)
	require.Zero(t, refusal.Remaining)
	require.EqualError(t, refusal, `throttle: "acme" refused (adaptive)`)

	err = retry.Run(t.Context(), fn, retry.WithThrottle(a))
	require.Equal(t, 1, made, "the first attempt of another call too")
	require.EqualError(t, err, `retry: not attempted: refused by a throttle: throttle: "acme" refused (adaptive)`)
}

// TestAdaptiveSlides: a request is forgotten, with its accept, ten slots after its own has begun; an outcome that comes later than
// that counts for nothing.
func TestAdaptiveSlides(t *testing.T) {
	for _, origin := range []time.Time{t0, {}, time.Unix(0, 0), time.Now()} {
		testAdaptiveSlides(t, func(d time.Duration) time.Time { return origin.Add(d) })
	}
}

func testAdaptiveSlides(t *testing.T, at func(time.Duration) time.Time) {
	a := &throttle.Adaptive{Window: 10 * sec, Rand: always(1)}
	ask(t, a, at(0), 4, throttle.Transient)
	late, _, err := a.Admit(t.Context(), at(0), nil)
	require.NoError(t, err)
	unmade, _, err := a.Admit(t.Context(), at(999*ms), nil)
	require.NoError(t, err)
	ask(t, a, at(5*sec), 1, throttle.Success)
	require.InDelta(t, (7.0-2-2)/8, a.RefusalRate(at(9999*ms)), 1e-12)
	require.Zero(t, a.RefusalRate(at(10*sec)), "only the success is left")
	a.Done(t.Context(), at(10*sec), late, throttle.Outcome{Class: throttle.Success})
	a.Done(t.Context(), at(10*sec), unmade, throttle.Outcome{Class: throttle.Skipped})
	ask(t, a, at(10*sec), 9, throttle.Transient)
	require.InDelta(t, (10.0-2)/11, a.RefusalRate(at(10*sec)), 1e-12)
	require.InDelta(t, 9.0/10, a.RefusalRate(at(15*sec)), 1e-12)
	require.Zero(t, a.RefusalRate(at(20*sec)))
}

// TestAdaptiveClockSetBack: within the window nothing changes; further back it starts anew.
func TestAdaptiveClockSetBack(t *testing.T) {
	for back, want := range map[time.Duration]float64{sec: 0.9, 108 * sec: 0.9, 2 * time.Minute: 0, time.Hour: 0, longest: 0} {
		a := &throttle.Adaptive{Rand: always(1)}
		ask(t, a, t0, 1, throttle.Success)
		now := t0.Add(time.Hour)
		ask(t, a, now, 9, throttle.Throttled)
		require.InDelta(t, want, a.RefusalRate(now.Add(-back)), 1e-12, back)
		require.Zero(t, a.RefusalRate(now.Add(-back).Add(4*time.Minute)), "%v: and it is not stuck", back)
	}
}

func TestAdaptiveValidate(t *testing.T) {
	for _, c := range []struct {
		a     *throttle.Adaptive
		field string
	}{
		{&throttle.Adaptive{K: 0.999}, "Adaptive.K"}, {&throttle.Adaptive{K: -2}, "Adaptive.K"},
		{&throttle.Adaptive{K: math.NaN()}, "Adaptive.K"}, {&throttle.Adaptive{K: math.Inf(1)}, "Adaptive.K"},
		{&throttle.Adaptive{Window: -1}, "Adaptive.Window"},
	} {
		var bad *throttle.ConfigError
		_, err := retry.New(retry.WithThrottle(c.a))
		require.ErrorAs(t, err, &bad)
		require.Equal(t, c.field, bad.Field)
	}
	for _, a := range []*throttle.Adaptive{nil, {}, {K: 1, Pending: -1}, {K: math.MaxFloat64, Window: longest}} {
		require.NoError(t, a.Validate())
	}
}

// TestAdaptiveNil: refuses nothing.
func TestAdaptiveNil(t *testing.T) {
	var a *throttle.Adaptive
	require.Zero(t, ask(t, a, t0, 10, throttle.Transient))
	require.Zero(t, a.RefusalRate(t0))
}

// outage plays a dependency that accepts at most a number of attempts each second, asked at a steady rate, and returns per second how
// many got through to it and how many it accepted.
func outage(t *testing.T, a *throttle.Adaptive, rate, seconds int, capacity func(second int) int) (offered, accepted []int) {
	r := rand.New(rand.NewPCG(1, 2))
	a.Rand = r.Float64
	for s := range seconds {
		offered, accepted = append(offered, 0), append(accepted, 0)
		for i := range rate {
			now := t0.Add(time.Duration(s)*sec + time.Duration(i)*sec/time.Duration(rate))
			ticket, _, err := a.Admit(t.Context(), now, nil)
			if err != nil {
				continue
			}
			class := throttle.Throttled
			if offered[s]++; accepted[s] < capacity(s) {
				accepted[s]++
				class = throttle.Success
			}
			a.Done(t.Context(), now, ticket, throttle.Outcome{Class: class})
		}
	}
	return offered, accepted
}

// TestAdaptiveOffersKTimesWhatIsAccepted: a dependency with a tenth of the capacity gets twice of what it accepts, not ten times.
func TestAdaptiveOffersKTimesWhatIsAccepted(t *testing.T) {
	for _, k := range []float64{1.5, 2, 3} {
		offered, accepted := outage(t, &throttle.Adaptive{K: k, Window: 10 * sec}, 1000, 60, func(int) int { return 100 })
		sum := 0
		for _, n := range offered[30:] {
			sum += n
		}
		require.InEpsilon(t, k*100, float64(sum)/30, 0.05, "K %v", k)
		require.Equal(t, 100, accepted[59], "and can do what it can")
	}
}

// TestAdaptiveRecovers: after two seconds without anything accepted, a K of 2 over 10 s is back above 95 % within 6 s; one of 1.1
// takes more than 16.
func TestAdaptiveRecovers(t *testing.T) {
	down := func(s int) int {
		if s == 20 || s == 21 {
			return 0
		}
		return 1 << 30
	}
	back := func(k float64) int {
		_, accepted := outage(t, &throttle.Adaptive{K: k, Window: 10 * sec}, 1000, 60, down)
		for s := 22; s < len(accepted); s++ {
			if accepted[s] > 950 {
				return s - 22
			}
		}
		return len(accepted)
	}
	assert.LessOrEqual(t, back(2), 6)
	assert.Less(t, 16, back(1.1))
}

// TestAdaptiveDoesNotAllocate, but for one count per slot.
func TestAdaptiveDoesNotAllocate(t *testing.T) {
	a := &throttle.Adaptive{}
	ask(t, a, t0, 1, throttle.Success)
	require.Zero(t, testing.AllocsPerRun(200, func() {
		ticket, _, _ := a.Admit(context.Background(), t0, nil)
		a.Done(context.Background(), t0, ticket, throttle.Outcome{Class: throttle.Success})
	}))
}

func BenchmarkAdaptive(b *testing.B) {
	now := time.Now()
	b.Run("serial", func(b *testing.B) {
		var a throttle.Adaptive
		b.ReportAllocs()
		for b.Loop() {
			ticket, _, _ := a.Admit(context.Background(), now, nil)
			a.Done(context.Background(), now, ticket, throttle.Outcome{Class: throttle.Success})
		}
	})
	b.Run("parallel", func(b *testing.B) {
		var a throttle.Adaptive
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				ticket, _, _ := a.Admit(context.Background(), now, nil)
				a.Done(context.Background(), now, ticket, throttle.Outcome{Class: throttle.Success})
			}
		})
	})
}
