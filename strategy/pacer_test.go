package strategy_test

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

// paced plays events, all at second 0 unless an event has a time of its own, such as f@2.5, and returns the answers in
// seconds.
func paced(t testing.TB, p *strategy.Pacer, events ...string) []float64 {
	t.Helper()
	answers := make([]float64, len(events))
	for i, event := range events {
		var kind string
		var at float64
		_, err := fmt.Sscanf(event+"@0", "%1s@%f", &kind, &at)
		require.NoError(t, err, event)
		answers[i] = tell(p, map[string]string{"f": "failure", "s": "success"}[kind], at)
	}
	return answers
}

// The seed system's LIMD illustration.
func TestPacerLIMD(t *testing.T) {
	l := &strategy.LIMD{Initial: 2 * time.Second, IncrementOnFailure: 4 * time.Second, MultipleOnSuccess: 0.2, Min: time.Second}
	for _, p := range []*strategy.Pacer{
		{Strategy: l},
		{Strategy: &strategy.LIMD{Initial: 2 * time.Second, IncrementOnFailure: 4 * time.Second, MultipleOnSuccess: 0.2}, MinDelay: time.Second},
		{Strategy: &strategy.LIMD{Initial: 2 * time.Second, IncrementOnFailure: 4 * time.Second, MultipleOnSuccess: 0.2}, MinDelay: time.Second, Compat010: true},
	} {
		require.Equal(t, []float64{2, 6, 10, 2, 1, 5}, paced(t, p, "f", "f", "f", "s", "s", "f"))
		require.Equal(t, 5*time.Second, p.Strategy.(leveled).Level())
	}
	l.Failed(strategy.State{})
	require.Equal(t, []float64{1.8}, paced(t, &strategy.Pacer{Strategy: l}, "s"), "the level is shared")
}

func TestZeroPacer(t *testing.T) {
	var p strategy.Pacer
	require.NoError(t, p.Validate())
	require.Equal(t, []float64{0.1, 0.2, 0.4, 0, 0.1, 0, 0}, paced(t, &p, "f", "f", "f", "s", "f", "s", "s"))
	require.Zero(t, p.Timeout())
	typed := strategy.Pacer{Strategy: (*strategy.LIMD)(nil)}
	require.NoError(t, typed.Validate())
	require.Equal(t, []float64{0.1, 0.2}, paced(t, &typed, "f", "f"))
	typed.Reset(moment(0))
	require.Equal(t, []float64{0.1}, paced(t, &typed, "f"))
}

func TestNilPacer(t *testing.T) {
	var p *strategy.Pacer
	delay, ok := p.Failure(moment(0))
	require.Zero(t, delay)
	require.False(t, ok)
	require.Zero(t, p.Success(moment(0)))
	require.Zero(t, p.Timeout())
	p.Reset(moment(0))
	requireConfigError(t, p.Validate(), "Pacer", "strategy: Pacer = nil: must not be nil")
}

func TestPacerValidate(t *testing.T) {
	for _, c := range []struct {
		p     *strategy.Pacer
		field string
		want  string
	}{
		{&strategy.Pacer{DelayOnSuccess: -1}, "Pacer.DelayOnSuccess", "-1ns: must not be negative"},
		{&strategy.Pacer{MinDelay: -1}, "Pacer.MinDelay", "-1ns: must not be negative"},
		{&strategy.Pacer{MaxDelay: -1}, "Pacer.MaxDelay", "-1ns: must not be negative"},
		{&strategy.Pacer{MaxDuration: -1}, "Pacer.MaxDuration", "-1ns: must not be negative"},
		{&strategy.Pacer{MinTimeout: -1}, "Pacer.MinTimeout", "-1ns: must not be negative"},
		{&strategy.Pacer{Strategy: strategy.Constant{Delay: -1}}, "Pacer.Strategy.Delay", "-1ns: must not be negative"},
		{&strategy.Pacer{MaxAttempts: -1}, "Pacer.MaxAttempts", "-1: must not be negative (0: no limit)"},
		{&strategy.Pacer{JitterFactor: -0.1}, "Pacer.JitterFactor", "-0.1: must be a finite number, 0 or more (0: off)"},
		{&strategy.Pacer{JitterFactor: math.NaN()}, "Pacer.JitterFactor", "NaN: must be a finite number, 0 or more (0: off)"},
		{&strategy.Pacer{TimeoutJitter: math.Inf(1)}, "Pacer.TimeoutJitter", "+Inf: must be a finite number, 0 or more (0: off)"},
		{&strategy.Pacer{TimeoutShare: 1.5}, "Pacer.TimeoutShare", "1.5: must be from 0 to 1 (0: off)"},
		{&strategy.Pacer{TimeoutShare: math.NaN()}, "Pacer.TimeoutShare", "NaN: must be from 0 to 1 (0: off)"},
	} {
		requireConfigError(t, c.p.Validate(), c.field, "strategy: "+c.field+" = "+c.want)
	}
	require.NoError(t, (&strategy.Pacer{Strategy: &strategy.MIMD{}, MinDelay: 2, MaxDelay: 1, JitterFactor: 1.5, TimeoutShare: 1}).Validate())
}

// What Validate refuses is read as not set.
func TestInvalidPacer(t *testing.T) {
	p := strategy.Pacer{
		Strategy: strategy.Func(func(strategy.State) (time.Duration, bool) { return -time.Second, true }), DelayOnSuccess: -1, MinDelay: -1, MaxDelay: -1,
		JitterFactor: math.NaN(), MaxAttempts: -1, MaxDuration: -1, TimeoutShare: 2, TimeoutJitter: math.NaN(), MinTimeout: -1,
	}
	require.Equal(t, []float64{0, 0, 0}, paced(t, &p, "f", "s", "f"))
	require.Zero(t, p.Timeout())
	spread := strategy.Pacer{Strategy: strategy.Constant{Delay: time.Second}, JitterFactor: -3, MaxDuration: time.Minute, TimeoutShare: -1}
	require.Equal(t, []float64{1}, paced(t, &spread, "f"))
	require.Zero(t, spread.Timeout())
}

// telling is a Learner that writes down how it is driven.
type telling struct {
	told []string
	last strategy.State
}

func (l *telling) Next(s strategy.State) (time.Duration, bool) {
	l.told, l.last = append(l.told, fmt.Sprint("next ", s.Number, s.Prev, s.Elapsed, s.Limit, s.Began.IsZero(), s.Now.Unix())), s
	return time.Duration(s.Number) * time.Second, s.Number < 4
}

func (l *telling) Failed(s strategy.State) {
	l.told = append(l.told, fmt.Sprint("failed ", s.Number, s.Prev))
}
func (l *telling) Succeed() { l.told = append(l.told, "succeed") }
func (l *telling) Reset()   { l.told = append(l.told, "reset") }

// rising has a level too.
type rising struct{ *telling }

func (rising) Level() time.Duration { return 7 * time.Second }

func TestPacerDrivesALearner(t *testing.T) {
	l := &telling{}
	p := strategy.Pacer{Strategy: l, DelayOnSuccess: 500 * ms, MaxDelay: 1500 * ms, Rand: always(0.5)}
	require.Equal(t, []float64{1, 1.5, 0.5, 1, 1.5, 1.5, -1, 0.5}, paced(t, &p, "f@1", "f@3", "s@4", "f@5", "f@6", "f@9", "f@9", "s@10"))
	require.Equal(t, []string{
		"next 1 0s 0s 0s true 1", "failed 1 0s", "next 2 1s 2s 0s true 3", "failed 2 1s", "succeed",
		"next 1 0s 0s 0s true 5", "failed 1 0s", "next 2 1s 1s 0s true 6", "failed 2 1s", "next 3 2s 4s 0s true 9", "failed 3 2s",
		"next 4 3s 4s 0s true 9", "succeed",
	}, l.told)
	require.Equal(t, 0.5, l.last.Rand())
	p.Reset(moment(20))
	require.Equal(t, "reset", l.told[len(l.told)-1])

	p = strategy.Pacer{Strategy: rising{&telling{}}, DelayOnSuccess: time.Second, MaxDelay: 5 * time.Second}
	require.Equal(t, []float64{5, 1, 5}, paced(t, &p, "s", "f", "s"), "Level in place of DelayOnSuccess")
}

func TestPacerStartsAStarterForEachRun(t *testing.T) {
	c := &counting{}
	p := strategy.Pacer{Strategy: c}
	paced(t, &p, "f", "f", "s", "s", "f", "f")
	require.Equal(t, 2, c.starts)
	p = strategy.Pacer{Strategy: startsNothing{}}
	require.Equal(t, []float64{0, 0}, paced(t, &p, "f", "f"), "asked itself")
}

// Strategies that draw cap before they draw, others after everything else.
func TestPacerLimits(t *testing.T) {
	for name, c := range map[string]struct {
		s    strategy.Strategy
		want []float64
	}{
		"full":         {strategy.FullJitter{Base: time.Second}, []float64{0.5, 1, 1.5, 1.5}},
		"equal":        {strategy.EqualJitter{Base: time.Second}, []float64{0.75, 1.5, 2.25, 2.25}},
		"decorrelated": {strategy.Decorrelated{Base: time.Second, Capped: true}, []float64{2, 2, 2, 2}},
		"exponential":  {strategy.Exponential{Base: time.Second}, []float64{1, 2, 3, 3}},
		"two kinds":    {strategy.ByThrottled{Normal: strategy.FullJitter{Base: time.Second}, Throttled: strategy.Constant{}}, []float64{0.5, 1, 1.5, 1.5}},
	} {
		p := strategy.Pacer{Strategy: c.s, MaxDelay: 3 * time.Second, Rand: always(0.5)}
		require.InDeltaSlice(t, c.want, paced(t, &p, "f", "f", "f", "f"), 1e-8, name)
		require.Equal(t, 0.0, paced(t, &p, "s")[0], name)
		require.InDelta(t, c.want[0], paced(t, &p, "f")[0], 1e-8, name)
	}
}

func TestPacerEnds(t *testing.T) {
	sequence := strategy.Pacer{Strategy: strategy.Sequence{Delays: each(time.Second, 1, 2)}, MaxAttempts: 9}
	require.Equal(t, []float64{1, 2, -1, -1, 0, 1}, paced(t, &sequence, "f", "f", "f", "f", "s", "f"), "the strategy says so")
	once := strategy.Pacer{MaxAttempts: 1}
	require.Equal(t, []float64{-1, -1, 0, -1}, paced(t, &once, "f", "f", "s", "f"))
	timed := strategy.Pacer{Strategy: strategy.Constant{Delay: time.Second}, MaxDuration: 10 * time.Second}
	require.Equal(t, []float64{1, 1, -1, 0, -1, 1}, paced(t, &timed, "f@100", "f@109.9", "f@110", "s@111", "f@112", "f@99"), "from the first event")
	timed.Reset(moment(200))
	require.Equal(t, []float64{1, -1}, paced(t, &timed, "f@209", "f@210"), "from the reset")
	timed.Reset(time.Time{})
	require.Equal(t, []float64{1, -1}, paced(t, &timed, "f@300", "f@310"), "from the first event again")
	begun := strategy.Pacer{Strategy: strategy.Constant{}, MaxDuration: 10 * time.Second, Start: moment(100)}
	require.Equal(t, []float64{0, -1}, paced(t, &begun, "f@109", "f@110"))
}

func TestPacerReset(t *testing.T) {
	p := strategy.Pacer{
		Strategy: &strategy.LIMD{Initial: time.Second}, MaxAttempts: 3, MaxDuration: 100 * time.Second, ConsiderActualDelay: true, TimeoutShare: 0.5,
	}
	events := []string{"f@1", "f@2", "f@2.5", "s@3"}
	p.Reset(moment(0))
	want := paced(t, &p, events...)
	require.Equal(t, []float64{0, 1, -1, 1.5}, want)
	require.Equal(t, secs(47.75), p.Timeout())
	p.Reset(moment(0))
	require.Equal(t, secs(50), p.Timeout())
	require.Equal(t, want, paced(t, &p, events...))
}

// Time that goes backwards counts as none.
func TestPacerBackwards(t *testing.T) {
	p := strategy.Pacer{Strategy: strategy.Constant{Delay: time.Second}, ConsiderActualDelay: true, MaxDuration: time.Minute}
	require.Equal(t, []float64{1, 2, 2.5, 3.5, 0}, paced(t, &p, "f@10", "f@5", "f@5.5", "f@-1000000000", "f@30"))
}

// The part of the time that attempts may take, with the defaults that RetryTimeouts has.
func TestPacerTimeout(t *testing.T) {
	p := strategy.Pacer{Strategy: strategy.Constant{Delay: 2 * time.Second}, MaxDuration: 50 * time.Second, TimeoutShare: 0.5, MinTimeout: 5 * time.Second}
	require.Equal(t, secs(25), p.Timeout(), "of everything")
	require.Equal(t, []float64{2}, paced(t, &p, "f"))
	require.Equal(t, secs(24), p.Timeout())
	require.Equal(t, []float64{2}, paced(t, &p, "f@38"))
	require.Equal(t, secs(5), p.Timeout())
	require.Equal(t, []float64{0.5}, paced(t, &p, "f@49"), "half of the time left")
	require.Equal(t, secs(5), p.Timeout(), "beyond the end")
	require.Equal(t, []float64{-1, 0}, paced(t, &p, "f@50", "s@60"), "never negative")
	require.Equal(t, secs(5), p.Timeout())

	bare := strategy.Pacer{MaxDuration: time.Second, TimeoutShare: 1}
	require.Equal(t, []float64{0, 0}, paced(t, &bare, "f@0", "f@0.5"), "nothing left for waits")
	require.Equal(t, secs(0.5), bare.Timeout())
	paced(t, &bare, "s@9")
	require.Equal(t, time.Duration(1), bare.Timeout(), "0 would be no timeout")
	without := strategy.Pacer{TimeoutShare: 0.5, MinTimeout: time.Second}
	paced(t, &without, "f", "s")
	require.Zero(t, without.Timeout(), "of what?")

	low := strategy.Pacer{Strategy: strategy.Constant{}, MinDelay: time.Second, MaxDuration: 10 * time.Second, TimeoutShare: 0.9}
	require.Equal(t, []float64{1, 0.1}, paced(t, &low, "f@0", "f@9"), "even below MinDelay")
}

// A RetryTimeouts quirk: with TimeoutShare, giving up is an event as well for the time that was waited.
func TestPacerMeasuresFromGivingUp(t *testing.T) {
	p := strategy.Pacer{Strategy: strategy.Constant{Delay: time.Second}, MaxAttempts: 2, ConsiderActualDelay: true}
	require.Equal(t, []float64{1, -1, 0}, paced(t, &p, "f@0", "f@9", "s@9"))
	p = strategy.Pacer{Strategy: strategy.Constant{Delay: time.Second}, MaxAttempts: 2, ConsiderActualDelay: true, TimeoutShare: 0.5}
	require.Equal(t, []float64{1, -1, 1}, paced(t, &p, "f@0", "f@9", "s@9"))
}

// The first answer is doubled, and the next base has in it what was waited too little.
func TestCompat010(t *testing.T) {
	for compat, want := range map[bool][]float64{false: {2, 8, 17, 21}, true: {4, 12, 27, 39.5}} {
		p := strategy.Pacer{Strategy: &strategy.LIMD{Initial: 2 * time.Second, IncrementOnFailure: 4 * time.Second}, ConsiderActualDelay: true, Compat010: compat}
		require.Equal(t, want, paced(t, &p, "f@0", "f@0", "f@1", "s@2"), "compat %v", compat)
		if compat {
			require.Equal(t, secs(39.5), p.Strategy.(leveled).Level())
		} else {
			require.Equal(t, secs(5), p.Strategy.(leveled).Level())
		}
	}
}

// A level that a decrease leads below 0 is cut off in the last step only: before, what was waited too little is added. With
// Compat010 these are the answers of Algorithm::Backoff::LILD 0.010.
func TestPacerFloorComesLast(t *testing.T) {
	sec := time.Second
	for _, v := range []struct {
		up, down time.Duration
		min      time.Duration
		compat   bool
		events   []string
		want     []float64
	}{
		{sec, -5 * sec, 0, false, []string{"f", "s"}, []float64{1, 0}}, // 1 - 5 + 1
		{sec, -5 * sec, 0, true, []string{"f", "s"}, []float64{2, 0}},  // 2 - 5 + 2
		{sec, -5 * sec, 0, false, []string{"f", "s", "f"}, []float64{1, 0, 1}},
		{-3 * sec, -sec, 0, false, []string{"f", "f", "f@1"}, []float64{1, 0, 0}},       // 1 - 3 + 1, then 0 - 3 - 1
		{-3 * sec, -sec, 0, true, []string{"f", "f"}, []float64{2, 1}},                  // 2 - 3 + 2
		{-sec / 2, -sec, 0, false, []string{"f", "f@0.5", "f@0.5"}, []float64{1, 1, 1}}, // 0.5 + 0.5, then 0 + 1
		{sec, -5 * sec, sec / 4, false, []string{"f", "s"}, []float64{1, 1.25}},         // a Min of the strategy is its answer
	} {
		s := &strategy.LILD{Initial: sec, IncrementOnFailure: v.up, IncrementOnSuccess: v.down, Min: v.min}
		p := strategy.Pacer{Strategy: s, ConsiderActualDelay: true, Compat010: v.compat}
		require.Equal(t, v.want, paced(t, &p, v.events...), "%+v", v)
		require.GreaterOrEqual(t, s.Level(), v.min)
	}
	m := &strategy.MILD{Initial: sec, IncrementOnSuccess: -5 * sec}
	require.Equal(t, []float64{1, 0}, paced(t, &strategy.Pacer{Strategy: m, ConsiderActualDelay: true}, "f", "s"))
	require.Zero(t, m.Level())
}

func TestConcurrentSafePacer(t *testing.T) {
	l := &strategy.LILD{Initial: time.Second, IncrementOnFailure: 3, IncrementOnSuccess: -2}
	p := &strategy.Pacer{Strategy: l, MaxDuration: time.Hour, TimeoutShare: 0.5, JitterFactor: 0.1}
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for k := range 100 {
				at := moment(float64(i+k) / 10)
				if delay, ok := p.Failure(at); delay < 0 || !ok {
					t.Errorf("%v, %v", delay, ok)
				}
				if p.Success(at) < 0 || p.Timeout() <= 0 {
					t.Error("negative")
				}
			}
		})
	}
	group.Wait()
	require.Equal(t, time.Second+400-3, l.Level(), "every event counts, and the first one is Initial")
	for range 4 {
		group.Go(func() { p.Reset(moment(0)); p.Success(moment(1)) })
	}
	group.Wait()
}
