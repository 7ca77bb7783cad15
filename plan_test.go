package retry_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// recStates keeps what a learning strategy is asked and told.
type recStates struct{ next, failed *[]strategy.State }

func (r recStates) Next(s strategy.State) (time.Duration, bool) {
	s.Rand = nil
	*r.next = append(*r.next, s)
	return time.Duration(s.Number) * time.Minute, true
}
func (r recStates) Failed(s strategy.State) { s.Rand = nil; *r.failed = append(*r.failed, s) }
func (recStates) Succeed()                  {}

// recUnlearned is a recStates that is asked only.
type recUnlearned struct{ states recStates }

func (r recUnlearned) Next(s strategy.State) (time.Duration, bool) { return r.states.Next(s) }

// TestState is everything that a strategy is told, in a call with waits that are cut by the cap and drawn.
func TestState(t *testing.T) {
	for _, measured := range []bool{true, false} {
		var next, failed []strategy.State
		states := recStates{&next, &failed}
		opts := []retry.Option{
			retry.WithStrategy(states), retry.WithMaxDelay(30 * time.Second), retry.WithMaxAttempts(4),
			retry.WithJitter(func(d, _ time.Duration, _ float64) time.Duration { return d / 3 }),
		}
		if !measured {
			opts = append(opts, retry.WithStrategy(recUnlearned{states}))
		}
		s := newRecSteps(t, opts...)
		at := func(d time.Duration) time.Time { return recStart.Add(d) }
		began := func(d time.Duration) time.Time {
			if measured {
				return at(d)
			}
			return time.Time{}
		}
		for range 4 {
			step := s.next().reports(time.Second, throttle.Outcome{Err: retry.After(0, errRec)})
			s.now = s.now.Add(step.Delay)
		}
		const sec, limit = time.Second, 30 * time.Second
		want := []strategy.State{
			{Number: 1, Limit: limit, Began: began(0), Now: at(sec), Err: errRec, Throttled: true},
			{Number: 2, Prev: time.Minute, Elapsed: 11 * sec, Limit: limit, Began: began(11 * sec), Now: at(12 * sec), Err: errRec, Throttled: true},
			{Number: 3, Prev: 2 * time.Minute, Elapsed: 22 * sec, Limit: limit, Began: began(22 * sec), Now: at(23 * sec), Err: errRec, Throttled: true},
		}
		require.Equal(t, want, next)
		if measured {
			require.Equal(t, want, failed, "what Next was asked, Failed commits")
		}
	}
}

// TestLearnerIsTold: Failed only for a retry that will happen, Succeed only for a success.
func TestLearnerIsTold(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	for _, tc := range []struct {
		name            string
		errs            []error
		opts            []retry.Option
		failed, succeed int
	}{
		{"success", nil, nil, 0, 1},
		{"recovered", recTimes(2), nil, 2, 1},
		{"exhausted", recTimes(9), []retry.Option{retry.WithMaxAttempts(3)}, 2, 0},
		{"stopped", []error{errRec, retry.Permanent(errRec)}, nil, 1, 0},
		{"budget", recTimes(9), []retry.Option{retry.WithBudget(recRefusing{})}, 0, 0},
		{"elapsed", recTimes(9), []retry.Option{retry.WithMaxElapsed(3 * time.Second)}, 1, 0},
		{"told too long", []error{errRec, retry.After(time.Hour, errRec)}, nil, 1, 0},
		{"no wait left", recTimes(9), nil, 2, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log := newRecLog()
			curve := recCurve{log: log}
			if tc.name == "no wait left" {
				curve.limit = 2
			}
			s := newRecSteps(t, append(tc.opts, retry.WithStrategy(recLearner{curve}))...)
			for i := 0; ; i++ {
				if i == len(tc.errs) {
					require.Equal(t, retry.Step{Action: retry.Done, Class: throttle.Success}, s.next().reports(0, throttle.Outcome{}))
					break
				}
				if s.fails(tc.errs[i]).Action == retry.Done {
					break
				}
			}
			require.Equal(t, tc.failed, log.seen["curve.Failed"])
			require.Equal(t, tc.succeed, log.seen["curve.Succeed"])
		})
	}
}

// TestStarterThatLearns: Next of the started curve, Failed and Succeed of the value that was configured.
func TestStarterThatLearns(t *testing.T) {
	log, started := newRecLog(), 0
	both := struct {
		recStarter
		recTeller
	}{recStarter{log, &started}, recTeller{log}}
	s := newRecSteps(t, retry.WithStrategy(both))
	s.fails(errRec)
	s.next().reports(0, throttle.Outcome{})
	log.require(t, `
		starter.Start
		started1.Next 1 0s
		told.Failed
		told.Succeed`)
}

type recTeller struct{ log *recLog }

func (r recTeller) Failed(strategy.State) { r.log.add("told.Failed") }
func (r recTeller) Succeed()              { r.log.add("told.Succeed") }

// TestStarterWithNothing: a Start that returns nil leaves the Starter's own answer.
func TestStarterWithNothing(t *testing.T) {
	require.Equal(t, time.Duration(7), newRecSteps(t, retry.WithStrategy(recNilStarter{})).fails(errRec).Delay)
}

type recNilStarter struct{}

func (recNilStarter) Next(strategy.State) (time.Duration, bool) { return 7, true }
func (recNilStarter) Start() strategy.Strategy                  { return nil }

// TestByThrottledInACall: the pair sees one State.
func TestByThrottledInACall(t *testing.T) {
	s := newRecSteps(t, retry.WithStrategy(strategy.ByThrottled{
		Normal:    strategy.Exponential{Base: time.Second},
		Throttled: strategy.Exponential{Base: time.Minute},
	}), retry.WithCondition(condition.Func(func(err error) condition.Verdict {
		if err == retry.ErrUnacceptable {
			return condition.Throttled
		}
		return condition.Unknown
	})), retry.WithMaxAttempts(9))
	require.Equal(t, time.Second, s.fails(errRec).Delay)
	require.Equal(t, 2*time.Minute, s.fails(retry.ErrUnacceptable).Delay)
	require.Equal(t, 4*time.Second, s.fails(errRec).Delay)
}

// TestChargeClasses: the budget is charged by class, with what the call holds.
func TestChargeClasses(t *testing.T) {
	log := newRecLog()
	log.began = recStart
	s := newRecSteps(t, recAtOnce, retry.WithBudget(&recBudget{log: log}), recSays(condition.Unknown), retry.WithMaxAttempts(4))
	s.fails(errRec)
	s.fails(retry.After(0, errRec))
	s.fails(retry.ErrAttemptTimeout)
	s.fails(errRec)
	log.require(t, `
		budget.Start @0s
		budget.Charge @0s transient 0 more
		budget.Charge @0s throttled 10 more
		budget.Charge @0s timeout 20 more
		budget.Charge @0s transient 30 last
		budget.Settle @0s failure 40`)
}

// recBelow is a strategy that does not keep its contract; a Func would do that for it.
type recBelow struct{}

func (recBelow) Next(strategy.State) (time.Duration, bool) { return -time.Second, true }

// TestJitterOfANegativeWait: what a strategy says below 0 is no wait, also to the jitter.
func TestJitterOfANegativeWait(t *testing.T) {
	var drawn []time.Duration
	s := newRecSteps(t,
		retry.WithStrategy(recBelow{}),
		retry.WithJitter(func(d, _ time.Duration, _ float64) time.Duration {
			drawn = append(drawn, d)
			return d + time.Millisecond
		}),
	)
	step := s.fails(errRec)
	require.Equal(t, retry.Wait, step.Action)
	require.Equal(t, time.Millisecond, step.Delay)
	require.Equal(t, []time.Duration{0}, drawn)
}
