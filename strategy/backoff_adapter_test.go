package strategy_test

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/strategy"
)

var _ strategy.BackOff = (*strategy.BackOffAdapter)(nil)

// backOffWaits are the answers of b after Reset, until it stops or there are n.
func backOffWaits(b strategy.BackOff, n int) (waits []time.Duration) {
	b.Reset()
	for range n {
		d := b.NextBackOff()
		if d < 0 {
			break
		}
		waits = append(waits, d)
	}
	return waits
}

func TestToBackOffGivesTheSameWaits(t *testing.T) {
	for _, p := range plain {
		b := strategy.ToBackOff(p.s, strategy.WithRand(always(0.25)))
		want := strategy.Delays(p.s, 20, always(0.25))
		require.Equal(t, want, backOffWaits(b, 20), p.name)
		require.Equal(t, want, backOffWaits(b, 20), "%s after Reset", p.name)

		back := strategy.FromBackOff(func() strategy.BackOff { return b })
		require.Equal(t, want, strategy.Delays(back, 20, nil), "%s there and back", p.name)
	}
}

func TestToBackOffStopsUntilReset(t *testing.T) {
	calls := 0
	b := strategy.ToBackOff(strategy.Func(func(s strategy.State) (time.Duration, bool) {
		calls++
		return time.Second, calls != 2
	}))
	require.Equal(t, time.Second, b.NextBackOff())
	for range 7 {
		require.Equal(t, time.Duration(-1), b.NextBackOff())
	}
	require.Equal(t, 2, calls, "a strategy that has ended the call is not asked again")
	b.Reset()
	require.Equal(t, time.Second, b.NextBackOff())
}

// What the strategy sees is what it would see in a call.
func TestToBackOffState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []strategy.State
		b := strategy.ToBackOff(strategy.Func(func(s strategy.State) (time.Duration, bool) {
			require.Equal(t, 0.125, s.Rand())
			s.Rand = nil
			seen = append(seen, s)
			return time.Minute * time.Duration(s.Number), true
		}), strategy.WithMaxDelay(90*time.Second), strategy.WithRand(always(0.125)))
		time.Sleep(time.Hour) // before the first failure
		began := time.Now()
		for _, want := range []time.Duration{time.Minute, 90 * time.Second, 90 * time.Second} {
			require.Equal(t, want, b.NextBackOff())
			time.Sleep(time.Second)
		}
		b.Reset()
		b.NextBackOff()
		require.Equal(t, []strategy.State{
			{Number: 1, Limit: 90 * time.Second, Now: began},
			{Number: 2, Prev: time.Minute, Elapsed: time.Second, Limit: 90 * time.Second, Now: began.Add(time.Second)},
			{Number: 3, Prev: 90 * time.Second, Elapsed: 2 * time.Second, Limit: 90 * time.Second, Now: began.Add(2 * time.Second)},
			{Number: 1, Limit: 90 * time.Second, Now: began.Add(3 * time.Second)},
		}, seen)
	})
}

// setClock is a clock that shows what it is set to; nil pointers of it panic.
type setClock struct{ now time.Time }

func (c *setClock) Now() time.Time { return c.now }

func TestToBackOffClock(t *testing.T) {
	clock := &setClock{time.Unix(1e9, 0)}
	elapsed := strategy.Func(func(s strategy.State) (time.Duration, bool) { return s.Elapsed, s.Now == clock.now })
	b := strategy.ToBackOff(elapsed, strategy.WithClock(clock))
	for _, step := range []struct{ set, want time.Duration }{{0, 0}, {time.Minute, time.Minute}, {-time.Hour, 0}} {
		clock.now = time.Unix(1e9, 0).Add(step.set)
		require.Equal(t, step.want, b.NextBackOff())
	}
	var none *setClock
	require.NotPanics(t, func() { strategy.ToBackOff(elapsed, strategy.WithClock(none)).NextBackOff() })
}

func TestToBackOffOptions(t *testing.T) {
	exponential := strategy.Exponential{Base: time.Second, Max: 6 * time.Second}
	for name, x := range map[string]struct {
		opts []strategy.BackOffOption
		want []time.Duration
	}{
		"none":                     {nil, each(time.Second, 1, 2, 4, 6, 6)},
		"nil ones":                 {[]strategy.BackOffOption{nil, strategy.WithJitter(nil), strategy.WithRand(nil), strategy.WithClock(nil)}, each(time.Second, 1, 2, 4, 6, 6)},
		"cap":                      {[]strategy.BackOffOption{strategy.WithMaxDelay(3 * time.Second)}, each(time.Second, 1, 2, 3, 3, 3)},
		"no cap":                   {[]strategy.BackOffOption{strategy.WithMaxDelay(0)}, each(time.Second, 1, 2, 4, 6, 6)},
		"invalid cap":              {[]strategy.BackOffOption{strategy.WithMaxDelay(-1)}, each(time.Second, 1, 2, 4, 6, 6)},
		"jitter":                   {[]strategy.BackOffOption{strategy.WithJitter(strategy.Full), strategy.WithRand(always(0.5))}, each(500*ms, 1, 2, 4, 6, 6)},
		"jitter within the Max":    {[]strategy.BackOffOption{strategy.WithJitter(strategy.Proportional(1)), strategy.WithRand(always(almostOne))}, each(time.Second, 2, 4, 6, 6, 6)},
		"jitter within the cap":    {[]strategy.BackOffOption{strategy.WithMaxDelay(3 * time.Second), strategy.WithJitter(strategy.Proportional(1)), strategy.WithRand(always(almostOne))}, each(time.Second, 2, 3, 3, 3, 3)},
		"jitter of a wild kind":    {[]strategy.BackOffOption{strategy.WithJitter(func(_, limit time.Duration, _ float64) time.Duration { return limit + 1 })}, each(time.Second, 6, 6, 6, 6, 6)},
		"jitter of a negative one": {[]strategy.BackOffOption{strategy.WithJitter(func(_, _ time.Duration, _ float64) time.Duration { return -5 })}, each(time.Second, 0, 0, 0, 0, 0)},
		"random source gone wild":  {[]strategy.BackOffOption{strategy.WithJitter(strategy.Full), strategy.WithRand(always(math.NaN()))}, each(time.Second, 0, 0, 0, 0, 0)},
		"the later wins":           {[]strategy.BackOffOption{strategy.WithMaxDelay(time.Second), strategy.WithMaxDelay(5 * time.Second)}, each(time.Second, 1, 2, 4, 5, 5)},
	} {
		require.Equal(t, x.want, backOffWaits(strategy.ToBackOff(exponential, x.opts...), 5), name)
	}
}

// P41: a zero value works, and never loops for ever.
func TestToBackOffWithNothing(t *testing.T) {
	var nilFunc strategy.Func
	var nilStrategy *strategy.Exponential
	var nilAdapter *strategy.BackOffAdapter
	for _, b := range []*strategy.BackOffAdapter{
		nilAdapter, new(strategy.BackOffAdapter), strategy.ToBackOff(nil), strategy.ToBackOff(nilFunc), strategy.ToBackOff(nilStrategy),
		strategy.ToBackOff(nil, strategy.WithMaxDelay(time.Second), strategy.WithJitter(strategy.Full)),
	} {
		require.Equal(t, time.Duration(-1), b.NextBackOff())
		b.Succeed()
		b.Reset()
		require.Equal(t, time.Duration(-1), b.NextBackOff())
		requireConfigError(t, b.Validate(), "ToBackOff", "strategy: ToBackOff = nil: must not be nil")
	}
}

func TestToBackOffValidate(t *testing.T) {
	require.NoError(t, strategy.ToBackOff(wild{}).Validate())
	require.NoError(t, strategy.ToBackOff(strategy.Exponential{}, strategy.WithMaxDelay(0), strategy.WithJitter(strategy.Equal)).Validate())
	require.NoError(t, strategy.ToBackOff(strategy.FullJitter{}, strategy.WithJitter(nil)).Validate())
	requireConfigError(t, strategy.ToBackOff(strategy.Exponential{Base: -1}).Validate(),
		"ToBackOff.Base", "strategy: ToBackOff.Base = -1ns: must not be negative")
	requireConfigError(t, strategy.ToBackOff(wild{}, strategy.WithMaxDelay(-1)).Validate(),
		"ToBackOff.MaxDelay", "strategy: ToBackOff.MaxDelay = -1ns: must not be negative")
	requireConfigError(t, strategy.ToBackOff(strategy.FullJitter{}, strategy.WithJitter(strategy.Full)).Validate(),
		"ToBackOff.Jitter", "strategy: ToBackOff.Jitter = fulljitter: the strategy draws its delays itself: leave one of the two out")
}

// remembering is a Starter and a Learner that writes down what it is told.
type remembering struct{ log *[]string }

func (r remembering) write(format string, args ...any) {
	*r.log = append(*r.log, fmt.Sprintf(format, args...))
}
func (r remembering) Next(s strategy.State) (time.Duration, bool) {
	r.write("next %d", s.Number)
	return time.Duration(s.Number), s.Number < 3
}
func (r remembering) Start() strategy.Strategy {
	r.write("start")
	return strategy.Func(r.Next)
}
func (r remembering) Failed(s strategy.State) { r.write("failed %d", s.Number) }
func (r remembering) Succeed()                { r.write("succeed") }

func TestToBackOffStartsAndTeaches(t *testing.T) {
	var log []string
	b := strategy.ToBackOff(remembering{&log})
	b.Reset()
	require.Empty(t, log, "nothing is started before it is needed, and a Reset is no news")
	backOffWaits(b, 5)
	b.Succeed()
	backOffWaits(b, 1)
	require.Equal(t, []string{
		"start", "next 1", "failed 1", "next 2", "failed 2", "next 3", // after which no retry follows
		"succeed",
		"start", "next 1", "failed 1",
	}, log)

	require.NotPanics(t, strategy.ToBackOff(strategy.Constant{}).Succeed, "no Learner")
}

// The level of the LIMD family is the dependency's: it outlives a Reset, and only Succeed lowers it.
func TestToBackOffOfALearner(t *testing.T) {
	b := strategy.ToBackOff(&strategy.LIMD{Initial: time.Second, Max: 4 * time.Second})
	require.Equal(t, each(time.Second, 1, 2), backOffWaits(b, 2))
	require.Equal(t, each(time.Second, 3, 4, 4), backOffWaits(b, 3))
	b.Succeed()
	require.Equal(t, each(time.Second, 3), backOffWaits(b, 1))
}

func TestToBackOffIsSafeFromLaterChanges(t *testing.T) {
	list := each(time.Second, 1, 2)
	b := strategy.ToBackOff(strategy.Sequence{Delays: list})
	list[0] = time.Hour
	require.Equal(t, each(time.Second, 1, 2), backOffWaits(b, 5))
}

// FuzzToBackOff: whatever the strategy and the options, an answer is -1 or a wait within the cap.
func FuzzToBackOff(tf *testing.F) {
	f := fuzzed.New(tf)
	all := subjects()
	f.Add(uint16(0), int64(0), 0.5, uint8(5), true)
	f.Add(uint16(77), int64(math.MaxInt64), math.Inf(1), uint8(80), false)
	f.Add(uint16(len(all)-1), int64(-1), math.NaN(), uint8(200), true)
	f.Fuzz(func(t *testing.T, which uint16, maxDelay int64, r float64, n uint8, jitter bool) {
		u := all[int(which)%len(all)]
		opts := []strategy.BackOffOption{strategy.WithMaxDelay(time.Duration(maxDelay)), strategy.WithRand(always(r))}
		if jitter {
			opts = append(opts, strategy.WithJitter(strategy.Proportional(r)))
		}
		b := strategy.ToBackOff(u.s, opts...)
		limit, stopped := forever, false
		if maxDelay > 0 {
			limit = time.Duration(maxDelay)
		}
		for range n {
			d := b.NextBackOff()
			stopped = stopped || d == -1
			if d < -1 || d > limit || stopped && d != -1 || stopped && !u.ends {
				t.Fatalf("%#v, cap %d, r = %v: %d", u.s, maxDelay, r, d)
			}
		}
		if _, learns := u.s.(strategy.Learner); learns {
			return // its level outlives a Reset
		}
		b.Reset()
		first := b.NextBackOff()
		b.Reset()
		if again := b.NextBackOff(); again != first {
			t.Fatalf("%#v: %d after Reset, then %d", u.s, first, again)
		}
	})
}
