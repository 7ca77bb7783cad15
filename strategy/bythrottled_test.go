package strategy_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/strategy"
)

var (
	_ strategy.Starter = strategy.ByThrottled{}
	_ strategy.Learner = strategy.ByThrottled{}
)

func TestByThrottledAsksOneOfTwo(t *testing.T) {
	b := strategy.ByThrottled{Normal: strategy.Exponential{Base: 50 * ms}, Throttled: strategy.Exponential{Base: time.Second, Max: 3 * time.Second}}
	for _, s := range []strategy.Strategy{b, b.Start()} {
		for _, c := range []struct {
			state strategy.State
			want  time.Duration
		}{
			{strategy.State{Number: 1}, 50 * ms},
			{strategy.State{Number: 2, Throttled: true}, 2 * time.Second},
			{strategy.State{Number: 3, Throttled: true}, 3 * time.Second},
			{strategy.State{Number: 4}, 400 * ms},
			{strategy.State{Number: 4, Limit: 300 * ms}, 300 * ms},
			{strategy.State{Number: 4, Limit: 300 * ms, Throttled: true}, 300 * ms},
		} {
			got, ok := s.Next(c.state)
			require.True(t, ok)
			require.Equal(t, c.want, got, "%+v", c.state)
		}
	}
}

func TestByThrottledEndsWithTheOneThatIsAsked(t *testing.T) {
	b := strategy.ByThrottled{Normal: strategy.Sequence{Delays: each(ms, 1)}, Throttled: strategy.Constant{Delay: ms}}
	_, ok := b.Next(strategy.State{Number: 2})
	require.False(t, ok)
	_, ok = b.Next(strategy.State{Number: 2, Throttled: true})
	require.True(t, ok)
}

func TestByThrottledBoundsStrategiesThatDoNot(t *testing.T) {
	b := strategy.ByThrottled{Normal: wild{}, Throttled: negative{}}
	got, ok := b.Next(strategy.State{Number: 1, Prev: time.Hour, Limit: time.Second})
	require.True(t, ok)
	require.Equal(t, time.Second, got)
	got, ok = b.Next(strategy.State{Number: 1, Throttled: true})
	require.True(t, ok)
	require.Zero(t, got)
}

func TestByThrottledStartsBoth(t *testing.T) {
	normal, throttled := &counting{}, &counting{}
	b := strategy.ByThrottled{Normal: normal, Throttled: throttled}
	call := b.Start()
	require.Equal(t, []int{1, 1}, []int{normal.starts, throttled.starts})
	var got []time.Duration
	for _, isThrottled := range []bool{false, false, true, false} {
		delay, _ := call.Next(strategy.State{Throttled: isThrottled})
		got = append(got, delay)
	}
	require.Equal(t, each(ms, 1, 2, 1, 3), got, "each has memory of its own")
	for range 2 {
		delay, _ := b.Next(strategy.State{})
		require.Equal(t, ms, delay, "unstarted, every answer is a fresh call's")
	}
	_, learns := call.(strategy.Learner)
	require.False(t, learns, "what is started gets Next only")
}

func TestByThrottledAsksAStarterThatStartsNothing(t *testing.T) {
	call := strategy.ByThrottled{Normal: startsNothing{}, Throttled: startsNil{}}.Start()
	for _, throttled := range []bool{false, true} {
		_, ok := call.Next(strategy.State{Number: 1, Throttled: throttled})
		require.True(t, ok)
	}
}

func TestByThrottledToldFailuresAndSuccesses(t *testing.T) {
	normal, throttled := &learning{}, &learning{}
	b := strategy.ByThrottled{Normal: normal, Throttled: throttled}
	b.Failed(strategy.State{})
	b.Failed(strategy.State{Throttled: true})
	b.Failed(strategy.State{Throttled: true})
	b.Succeed()
	require.Equal(t, []string{"failed", "succeed"}, normal.told)
	require.Equal(t, []string{"throttled", "throttled", "succeed"}, throttled.told)
	delay, _ := b.Next(strategy.State{Throttled: true})
	require.Equal(t, 2*ms, delay)

	half := strategy.ByThrottled{Normal: strategy.Linear{}, Throttled: throttled}
	half.Failed(strategy.State{})
	half.Succeed()
	require.Equal(t, []string{"throttled", "throttled", "succeed", "succeed"}, throttled.told)
}

func TestByThrottledWithOneStrategyInBothPlaces(t *testing.T) {
	learner := &learning{}
	b := strategy.ByThrottled{Normal: learner, Throttled: learner}
	b.Failed(strategy.State{})
	b.Failed(strategy.State{Throttled: true})
	b.Succeed()
	require.Equal(t, []string{"failed", "throttled", "succeed"}, learner.told)

	starter := &counting{}
	call := strategy.ByThrottled{Normal: starter, Throttled: starter}.Start()
	require.Equal(t, 1, starter.starts)
	call.Next(strategy.State{})
	delay, _ := call.Next(strategy.State{Throttled: true})
	require.Equal(t, 2*ms, delay, "one memory")
}

func TestByThrottledOfNothing(t *testing.T) {
	var constant *strategy.Constant
	var learner *learning
	var pair *strategy.ByThrottled
	for _, b := range []strategy.ByThrottled{
		{}, {Normal: constant, Throttled: constant}, {Normal: learner, Throttled: learner}, {Normal: pair, Throttled: pair},
		{Normal: strategy.Func(nil), Throttled: strategy.Func(nil)},
	} {
		call := b.Start()
		for _, throttled := range []bool{false, true} {
			_, ok := call.Next(strategy.State{Number: 1, Throttled: throttled})
			require.False(t, ok)
			b.Failed(strategy.State{Throttled: throttled})
		}
		b.Succeed()
		require.Equal(t, b, b.Clone())
		require.False(t, b.Jittered())
		require.NotEmpty(t, b.String())
	}
	requireConfigError(t, strategy.ByThrottled{}.Validate(), "ByThrottled.Normal",
		"strategy: ByThrottled.Normal = nil: must not be nil")
	requireConfigError(t, strategy.ByThrottled{Normal: strategy.Linear{}, Throttled: constant}.Validate(), "ByThrottled.Throttled",
		"strategy: ByThrottled.Throttled = nil: must not be nil")
}

func TestByThrottledValidatesBoth(t *testing.T) {
	good := strategy.Linear{}
	require.NoError(t, strategy.ByThrottled{Normal: good, Throttled: good}.Validate())
	require.NoError(t, strategy.ByThrottled{Normal: wild{}, Throttled: wild{}}.Validate(), "no Validate, nothing to complain of")
	for field, b := range map[string]strategy.ByThrottled{
		"ByThrottled.Normal.Base":          {Normal: strategy.FullJitter{Base: -1}, Throttled: good},
		"ByThrottled.Throttled.Max":        {Normal: good, Throttled: strategy.Linear{Max: -1}},
		"ByThrottled.Throttled.Normal.Max": {Normal: good, Throttled: strategy.ByThrottled{Normal: strategy.Linear{Max: -1}, Throttled: good}},
		"ByThrottled.Normal.Delays[0]":     {Normal: strategy.Sequence{Delays: []time.Duration{-1}}, Throttled: good},
	} {
		requireConfigError(t, b.Validate(), field, "strategy: "+field+" = -1ns: must not be negative")
	}
	requireConfigError(t, strategy.ByThrottled{Normal: strategy.Func(nil), Throttled: good}.Validate(), "ByThrottled.Normal",
		"strategy: ByThrottled.Normal = nil: must not be nil")
	cause := errors.New("not today")
	err := strategy.ByThrottled{Normal: good, Throttled: refusing{cause}}.Validate()
	require.ErrorIs(t, err, cause)
	require.EqualError(t, err, "strategy: ByThrottled.Throttled: not today")
}

// refusing is a strategy with a Validate of its own.
type refusing struct{ err error }

func (refusing) Next(strategy.State) (time.Duration, bool) { return 0, true }
func (r refusing) Validate() error                         { return r.err }

func TestByThrottledJittered(t *testing.T) {
	plain, drawn := strategy.Linear{}, strategy.FullJitter{}
	require.False(t, strategy.ByThrottled{Normal: plain, Throttled: plain}.Jittered())
	require.True(t, strategy.ByThrottled{Normal: drawn, Throttled: plain}.Jittered())
	require.True(t, strategy.ByThrottled{Normal: plain, Throttled: drawn}.Jittered())
	require.True(t, strategy.ByThrottled{Normal: plain, Throttled: strategy.ByThrottled{Normal: plain, Throttled: drawn}}.Jittered())
}

func TestByThrottledClone(t *testing.T) {
	list := each(ms, 1, 2)
	learner := &learning{}
	b := strategy.ByThrottled{Normal: strategy.Sequence{Delays: list}, Throttled: learner}
	clone := strategy.ByThrottled{Normal: b, Throttled: learner}.Clone()
	list[0] = time.Hour
	delay, _ := clone.Next(strategy.State{Number: 1})
	require.Equal(t, ms, delay)
	require.Same(t, learner, clone.(strategy.ByThrottled).Throttled, "a Learner is shared on purpose")
}
