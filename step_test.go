package retry_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

func TestNames(t *testing.T) {
	for want, got := range map[string]string{
		"none": retry.Action(0).String(), "go": retry.Go.String(), "wait": retry.Wait.String(), "done": retry.Done.String(),
		"policy": retry.SourcePolicy.String(), "server": retry.SourceServer.String(), "throttle": retry.SourceThrottle.String(),
		"success": retry.EndSucceeded.String(), "exhausted": retry.EndExhausted.String(), "deadline": retry.EndDeadline.String(),
		"aborted": retry.EndAborted.String(), "canceled": retry.EndCanceled.String(), "throttled": retry.EndThrottled.String(),
		"budget": retry.EndBudget.String(), "panic": retry.EndPanicked.String(),
	} {
		require.Equal(t, want, got)
	}
	for _, got := range []string{retry.Action(4).String(), retry.Source(3).String(), retry.Ending(8).String(), retry.Ending(255).String()} {
		require.Equal(t, "invalid", got)
	}
	require.Equal(t, retry.Ending(0), retry.EndSucceeded)
	require.Equal(t, retry.Source(0), retry.SourcePolicy)
}

// TestFlowOfASuccess, and that its last step stays.
func TestFlowOfASuccess(t *testing.T) {
	log := newRecLog()
	s := newRecSteps(t, retry.WithThrottle(&recThrottle{log: log, name: "a"}))
	s.next()
	s.next() // still running
	done := s.reports(0, throttle.Outcome{})
	require.Equal(t, 1, log.seen["a.Admit"])
	require.Contains(t, log.lines[1], "success 1")
	require.Equal(t, retry.Step{Action: retry.Done, Class: throttle.Success}, done)
	recStays(t, s, done)
}

// recStays wants every later step to be the same.
func recStays(t *testing.T, s *recSteps, done retry.Step) {
	t.Helper()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	later := s.now.Add(time.Hour)
	for range 2 {
		require.Equal(t, done, s.flow.Next(t.Context(), later))
		require.Equal(t, done, s.flow.Next(canceled, later))
		require.Equal(t, done, s.flow.Report(t.Context(), later, throttle.Outcome{Err: errRec}))
		require.Equal(t, done, s.flow.Report(t.Context(), later, throttle.Outcome{}))
		require.Equal(t, done, s.flow.Abort(canceled, later, throttle.Panicked))
	}
}

func TestFlowOfAFailure(t *testing.T) {
	log := newRecLog()
	log.began = recStart
	s := newRecSteps(t, retry.WithMaxAttempts(2), recEvery(time.Second), retry.WithBudget(&recBudget{log: log}), retry.WithThrottle(&recThrottle{log: log, name: "a"}))
	require.Equal(t, retry.Step{Action: retry.Wait, Delay: time.Second, Class: throttle.Transient, Err: errRec}, s.fails(errRec))
	done := s.fails(errRec)
	require.Equal(t, retry.Done, done.Action)
	require.Equal(t, throttle.Transient, done.Class)
	require.Equal(t, retry.ErrExhausted, done.Reason)
	require.Equal(t, &retry.Error{Attempts: 2, Elapsed: time.Second, Reason: retry.ErrExhausted, Last: errRec}, done.Err)
	recStays(t, s, done)
	require.Equal(t, map[string]int{"budget.Start": 1, "budget.Charge": 2, "budget.Settle": 1, "a.Admit": 2, "a.Done": 2}, log.seen)
}

// TestFlowUnasked: a Report without a Go is an attempt that was made, in any state between attempts.
func TestFlowUnasked(t *testing.T) {
	log := newRecLog()
	log.began = recStart
	s := newRecSteps(t, recEvery(time.Second), retry.WithMaxAttempts(3), retry.WithBudget(&recBudget{log: log}), retry.WithThrottle(&recThrottle{log: log, name: "a"}))
	require.Equal(t, retry.Wait, s.reports(0, throttle.Outcome{Err: errRec}).Action)
	require.Equal(t, retry.Wait, s.reports(0, throttle.Outcome{Err: errRec}).Action)
	s.now = s.now.Add(time.Second)
	require.Equal(t, retry.Step{Action: retry.Done, Class: throttle.Success}, s.next().reports(0, throttle.Outcome{}))
	log.require(t, `
		budget.Start @0s
		budget.Charge @0s transient 0 more
		budget.Charge @0s transient 10 more
		a.Admit @1s go
		a.Done @1s a1 success 3
		budget.Settle @1s success 20`)
}

// TestFlowUnaskedIsNotMeasured: nobody said when such an attempt began.
func TestFlowUnaskedIsNotMeasured(t *testing.T) {
	var told []throttle.Outcome
	learner := retry.WithStrategy(recLearner{recCurve{log: newRecLog()}})
	s := newRecSteps(t, learner, retry.WithThrottle(recKeeps{&told}))
	s.next().reports(time.Second, throttle.Outcome{Err: errRec})
	s.now = s.now.Add(time.Hour)
	s.reports(0, throttle.Outcome{Err: errRec})
	require.Equal(t, []throttle.Outcome{{Err: errRec, Class: throttle.Transient, Number: 1, Duration: time.Second}}, told)

	var next, failed []strategy.State
	s = newRecSteps(t, retry.WithStrategy(recStates{&next, &failed}))
	s.next().reports(time.Second, throttle.Outcome{Err: errRec})
	s.reports(0, throttle.Outcome{Err: errRec})
	require.Equal(t, recStart, next[0].Began)
	require.Zero(t, next[1].Began)
}

// TestFlowAbort in every state of a call.
func TestFlowAbort(t *testing.T) {
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(errRecCause)
	late, cancelLate := context.WithTimeout(t.Context(), 0)
	defer cancelLate()
	for _, tc := range []struct {
		name     string
		steps    func(s *recSteps)
		attempts int
		last     error
		class    string // told to throttle a, "": nothing
		heard    map[string]int
	}{
		{"fresh", func(*recSteps) {}, 0, nil, "", map[string]int{}},
		{"held", func(s *recSteps) { s.flow.Next(t.Context(), s.now) }, 0, nil, "a1 skipped 1",
			map[string]int{"budget.Start": 1, "budget.Settle": 1, "a.Admit": 1, "a.Done": 1}},
		{"running", func(s *recSteps) { s.flow.Next(t.Context(), s.now); s.next() }, 1, nil, "a2 timeout 1",
			map[string]int{"budget.Start": 1, "budget.Settle": 1, "a.Admit": 2, "a.Done": 1}},
		{"waiting", func(s *recSteps) { s.flow.Next(t.Context(), s.now); s.fails(errRec) }, 1, errRec, "a2 transient 1",
			map[string]int{"budget.Start": 1, "budget.Charge": 1, "budget.Settle": 1, "a.Admit": 2, "a.Done": 1}},
	} {
		for _, why := range []struct {
			ctx    context.Context
			reason string
			is     error
		}{
			{t.Context(), "retry: shut down", retry.ErrShutdown},
			{canceled, "context canceled: user left", errRecCause},
			{late, "context deadline exceeded", context.DeadlineExceeded},
		} {
			t.Run(tc.name+" "+why.reason, func(t *testing.T) {
				log := newRecLog()
				s := newRecSteps(t, recEvery(time.Second), retry.WithBudget(&recBudget{log: log}),
					retry.WithThrottle(&recThrottle{log: log, name: "a", admit: recAnswers(time.Second)}))
				tc.steps(s)
				step := s.flow.Abort(why.ctx, s.now, throttle.Timeout)
				e := recError(t, step.Err)
				require.Equal(t, retry.Step{Action: retry.Done, Err: e, Reason: e.Reason}, step)
				require.EqualError(t, step.Reason, why.reason)
				require.ErrorIs(t, step.Reason, why.is)
				require.Equal(t, tc.attempts, e.Attempts)
				require.Equal(t, tc.last, e.Last)
				require.Equal(t, tc.heard, log.seen)
				if tc.class != "" {
					done := ""
					for _, line := range log.lines {
						if len(line) > 6 && line[:6] == "a.Done" {
							done = line
						}
					}
					require.Contains(t, done, tc.class)
				}
				require.Empty(t, log.wrong)
				recStays(t, s, step)
				require.Equal(t, tc.heard, log.seen, "nothing happens a second time")
			})
		}
	}
}

// TestFlowAbortWithoutAClass: a running attempt is canceled then.
func TestFlowAbortWithoutAClass(t *testing.T) {
	var told throttle.Class
	s := newRecSteps(t, retry.WithThrottle(recTold{&told}))
	s.next().flow.Abort(t.Context(), s.now, throttle.Unset)
	require.Equal(t, throttle.Canceled, told)
}

// TestFlowZero is a flow of the default policy that began at the zero time.
func TestFlowZero(t *testing.T) {
	var flow retry.Flow
	require.Equal(t, retry.Step{Action: retry.Go}, flow.Next(t.Context(), recStart))
	require.Equal(t, retry.Wait, flow.Report(t.Context(), recStart, throttle.Outcome{Err: errRec}).Action)
	flow = retry.Flow{}
	require.Equal(t, retry.ErrShutdown, flow.Abort(t.Context(), recStart, throttle.Canceled).Reason)
}

// TestFlowDropped: nothing is started by Begin.
func TestFlowDropped(t *testing.T) {
	log := newRecLog()
	_ = retry.MustNew(retry.WithBudget(&recBudget{log: log}), retry.WithObserver(&recObserver{log: log, name: "o"}),
		retry.WithThrottle(&recThrottle{log: log, name: "a"})).Begin(recStart, time.Time{}, func() float64 { log.add("rand"); return 0 })
	require.Empty(t, log.lines)
}

// TestFlowIsPlain: what needs a driver is not done.
func TestFlowIsPlain(t *testing.T) {
	log := newRecLog()
	s := newRecSteps(t, retry.WithFallback(func(context.Context, error) (int, error) { log.add("fallback"); return 0, nil }),
		retry.WithRetryResult(func(int) bool { log.add("result"); return true }), retry.WithAttemptTimeout(1), retry.WithMaxAttempts(2), recAtOnce)
	s.next()
	_, timed := s.flow.Context(t.Context()).Deadline()
	require.False(t, timed)
	s.reports(0, throttle.Outcome{Err: errRec})
	_, end := s.exhausts()
	require.Equal(t, retry.ErrExhausted, end.Reason)
	require.Empty(t, log.lines)
}

// TestFlowDeadline is the one that Begin got; contexts are asked only whether they are done.
func TestFlowDeadline(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	policy := retry.MustNew(recEvery(10 * time.Hour))
	flow := policy.Begin(time.Now(), time.Time{}, nil)
	require.Equal(t, retry.Wait, flow.Report(ctx, time.Now(), throttle.Outcome{Err: errRec}).Action)

	for left, want := range map[time.Duration]error{10 * time.Hour: retry.ErrDeadline, 10*time.Hour + 1: nil, -time.Hour: retry.ErrDeadline, 0: retry.ErrDeadline} {
		flow = policy.Begin(recStart, recStart.Add(left), nil)
		require.Equal(t, want, flow.Report(t.Context(), recStart, throttle.Outcome{Err: errRec}).Reason)
	}
	flow = retry.MustNew(recAtOnce).Begin(recStart, recStart, nil)
	require.Equal(t, retry.Go, flow.Next(t.Context(), recStart).Action, "no wait, nothing to predict")
	require.Equal(t, retry.ErrDeadline, flow.Report(t.Context(), recStart, throttle.Outcome{Err: errRec}).Reason, "a wait of 0 ends at the deadline")
}

// TestFlowTimeGoesBack: nothing overflows or goes negative with times that make no sense.
func TestFlowTimeGoesBack(t *testing.T) {
	times := []time.Time{recStart, {}, recStart.AddDate(-290, 0, 0), recStart.AddDate(280, 0, 0), time.Unix(1<<40, 0)}
	for _, began := range times {
		for _, now := range times {
			flow := retry.MustNew(recEvery(recForever), retry.WithMaxElapsed(recForever), retry.WithMaxRetryElapsed(recForever), retry.WithThrottle(recOpen)).
				Begin(began, time.Time{}, nil)
			flow.Next(t.Context(), began)
			step := flow.Report(t.Context(), now, throttle.Outcome{Err: errRec})
			require.GreaterOrEqual(t, step.Delay, time.Duration(0))
			step = flow.Abort(t.Context(), began, throttle.Canceled)
			require.GreaterOrEqual(t, recError(t, step.Err).Elapsed, time.Duration(0))
		}
	}
}

// TestFlowAbortByAClockSetBack: elapsed time does not shrink at the end either.
func TestFlowAbortByAClockSetBack(t *testing.T) {
	s := newRecSteps(t, retry.WithStrategy(strategy.Constant{Delay: 5 * time.Second}))
	require.Equal(t, retry.Wait, s.fails(errRec).Action)
	s.next() // five seconds after the failure
	step := s.flow.Abort(t.Context(), s.now.Add(-24*time.Hour), throttle.Unset)
	require.Equal(t, 5*time.Second, recError(t, step.Err).Elapsed)
}
