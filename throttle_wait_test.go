package retry_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// recReady makes a planner that always foresees d.
func recReady(log *recLog, name string, d time.Duration) recPlanner {
	return recPlanner{&recThrottle{log: log, name: name}, func(time.Time) time.Duration { return d }}
}

// TestForeseenWaits: the longest that a throttle foresees for the end of the wait is added to it.
func TestForeseenWaits(t *testing.T) {
	const s = time.Second
	for _, tc := range []struct {
		name   string
		ready  []time.Duration
		opts   []retry.Option
		err    error
		want   time.Duration
		source retry.Source
	}{
		{"nothing", []time.Duration{0, -5}, nil, errRec, s, retry.SourcePolicy},
		{"longest", []time.Duration{s, 3 * s, 2 * s}, nil, errRec, 4 * s, retry.SourceThrottle},
		{"equal to MaxHint", []time.Duration{time.Minute}, nil, errRec, time.Minute + s, retry.SourceThrottle},
		{"after a told wait", []time.Duration{2 * s}, []retry.Option{retry.WithHint(throttle.Exact())}, retry.After(5*s, errRec), 7 * s, retry.SourceThrottle},
		{"nothing after a told wait", []time.Duration{0}, []retry.Option{retry.WithHint(throttle.Exact())}, retry.After(5*s, errRec), 5 * s, retry.SourceServer},
		{"not capped by MaxDelay", []time.Duration{2 * s}, []retry.Option{retry.WithMaxDelay(1)}, errRec, 2*s + 1, retry.SourceThrottle},
		{"largest", []time.Duration{recForever}, []retry.Option{retry.WithMaxHint(recForever)}, errRec, recForever, retry.SourceThrottle},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log := newRecLog()
			log.began = recStart
			var throttles []throttle.Throttle
			for i, d := range tc.ready {
				throttles = append(throttles, recReady(log, string(rune('a'+i)), d))
			}
			step := newRecSteps(t, append([]retry.Option{recEvery(s), retry.WithThrottle(throttles...)}, tc.opts...)...).fails(tc.err)
			require.Equal(t, retry.Wait, step.Action)
			require.Equal(t, tc.want, step.Delay)
			require.Equal(t, tc.source, step.Source)
		})
	}
}

// TestForeseenWaitsAreAskedForTheEndOfTheWait.
func TestForeseenWaitsAreAskedForTheEndOfTheWait(t *testing.T) {
	log := newRecLog()
	log.began = recStart
	s := newRecSteps(t, retry.WithThrottle(recReady(log, "a", 2*time.Second)), retry.WithStrategy(recCurve{log: log}), retry.WithMaxAttempts(2))
	s.fails(errRec)
	s.fails(errRec)
	log.require(t, `
		a.Admit @0s go
		a.Done @0s a1 transient 1
		curve.Next 1 0s 0s
		a.Ready @1s 2s
		a.Admit @3s go
		a.Done @3s a2 transient 2`)
}

// TestForeseenTooLong: above MaxHint the call ends, and the throttle says why.
func TestForeseenTooLong(t *testing.T) {
	log := newRecLog()
	why := &throttle.Error{Key: "acme", Remaining: time.Minute + 1}
	planner := recReady(log, "b", time.Minute+1)
	explains := struct {
		recPlanner
		recExplains
	}{planner, recExplains{why}}
	budget := &recBudget{log: log}
	step := newRecSteps(t, recEvery(time.Second), retry.WithThrottle(recReady(log, "a", 1), explains), retry.WithBudget(budget)).fails(errRec)
	require.Equal(t, retry.Done, step.Action)
	require.ErrorIs(t, step.Reason, retry.ErrHintTooLong)
	require.ErrorIs(t, step.Reason, error(why))
	require.Equal(t, time.Minute+1+time.Second, step.Delay)
	require.Equal(t, retry.SourceThrottle, step.Source)
	require.ErrorIs(t, step.Err, errRec)
	require.Equal(t, 1, budget.settled)

	step = newRecSteps(t, recEvery(1), retry.WithMaxHint(0), retry.WithThrottle(recReady(log, "a", 1))).fails(errRec)
	require.Equal(t, retry.ErrHintTooLong, step.Reason, "without an explanation")
}

type recExplains struct{ why *throttle.Error }

func (e recExplains) Explain(context.Context, time.Time) *throttle.Error { return e.why }

// TestForeseenAgainstLimits: one check of the limits for the whole of the wait.
func TestForeseenAgainstLimits(t *testing.T) {
	for _, tc := range []struct {
		opts     []retry.Option
		deadline time.Duration
		want     error
	}{
		{[]retry.Option{retry.WithMaxElapsed(30)}, 0, retry.ErrMaxElapsed},
		{[]retry.Option{retry.WithMaxRetryElapsed(30)}, 0, retry.ErrMaxElapsed},
		{nil, 30, retry.ErrDeadline},
		{[]retry.Option{retry.WithMaxElapsed(31), retry.WithMaxRetryElapsed(31)}, 31, nil},
	} {
		deadline := time.Time{}
		if tc.deadline > 0 {
			deadline = recStart.Add(tc.deadline)
		}
		flow := retry.MustNew(append(tc.opts, recEvery(10), retry.WithThrottle(recReady(newRecLog(), "a", 20)))...).Begin(recStart, deadline, nil)
		flow.Next(t.Context(), recStart)
		step := flow.Report(t.Context(), recStart, throttle.Outcome{Err: errRec})
		require.Equal(t, tc.want, step.Reason)
		require.Equal(t, time.Duration(30), step.Delay)
		require.Equal(t, retry.SourceThrottle, step.Source)
	}
}

// TestThrottleWaitsTogether: those before one attempt count together against MaxHint; each attempt begins anew.
func TestThrottleWaitsTogether(t *testing.T) {
	const s = time.Second
	held := func(a, b []any) retry.Step {
		log := newRecLog()
		one, two := &recThrottle{log: log, name: "a", admit: recAnswers(a...)}, &recThrottle{log: log, name: "b", admit: recAnswers(b...)}
		flow := newRecSteps(t, recEvery(0), retry.WithThrottle(one, two))
		for range 20 {
			step := flow.flow.Next(t.Context(), flow.now)
			switch step.Action {
			case retry.Wait:
				flow.now = flow.now.Add(step.Delay)
			case retry.Go:
				flow.reports(0, throttle.Outcome{Err: errRec})
			case retry.Done:
				require.Equal(t, []int{one.given, two.given}, []int{one.returned, two.returned})
				require.Empty(t, log.wrong)
				return step
			}
		}
		return retry.Step{}
	}
	require.Equal(t, retry.ErrExhausted, held(nil, nil).Reason)
	require.Equal(t, retry.ErrExhausted, held([]any{40 * s, 20 * s}, nil).Reason)
	require.Equal(t, retry.ErrExhausted, held([]any{40 * s}, []any{20 * s}).Reason)
	require.Equal(t, retry.ErrExhausted, held([]any{40 * s, nil, 40 * s}, []any{20 * s, nil, 20 * s}).Reason, "anew for attempt 2")

	step := held([]any{40 * s, 20*s + 1}, nil)
	require.Equal(t, retry.ErrHintTooLong, step.Reason)
	require.Equal(t, 20*s+1, step.Delay, "the wait that was not taken")
	require.Equal(t, retry.SourceThrottle, step.Source)
	step = held([]any{40 * s}, []any{20*s + 1})
	require.Equal(t, retry.ErrHintTooLong, step.Reason)
	require.Zero(t, recError(t, step.Err).Attempts)
	step = held([]any{nil, 40 * s}, []any{nil, 20*s + 1})
	require.Equal(t, retry.ErrHintTooLong, step.Reason)
	require.Equal(t, 1, recError(t, step.Err).Attempts)
	require.Equal(t, retry.ErrHintTooLong, held([]any{recForever}, nil).Reason)
}

// TestForeseenWaitCountsTogether: what a throttle demanded of a retry's wait is demanded before that attempt too.
func TestForeseenWaitCountsTogether(t *testing.T) {
	for _, tc := range []struct {
		again time.Duration
		want  error
	}{{20 * time.Second, nil}, {20*time.Second + 1, retry.ErrHintTooLong}} {
		p := recReady(newRecLog(), "a", 40*time.Second)
		p.admit = recAnswers(nil, tc.again)
		s := newRecSteps(t, recEvery(time.Second), retry.WithThrottle(p))
		require.Equal(t, 41*time.Second, s.fails(errRec).Delay)
		require.Equal(t, tc.want, s.flow.Next(t.Context(), s.now).Reason)
	}
}

// TestThrottleWaitsOfANanosecond: every wait above 0 is one, and the throttle is asked again.
func TestThrottleWaitsOfANanosecond(t *testing.T) {
	log := newRecLog()
	log.began = recStart
	a := &recThrottle{log: log, name: "a", admit: recAnswers(time.Duration(1), time.Duration(0))}
	s := newRecSteps(t, retry.WithThrottle(a, &recThrottle{log: log, name: "b"}))
	require.Equal(t, retry.Step{Action: retry.Wait, Delay: 1, Source: retry.SourceThrottle}, s.flow.Next(t.Context(), s.now))
	s.now = s.now.Add(1)
	s.next().reports(0, throttle.Outcome{})
	log.require(t, `
		a.Admit @0s 1ns
		a.Admit @1ns go
		b.Admit @1ns go
		a.Done @1ns a2 success 1
		b.Done @1ns b1 success 1`)
}

// TestThrottleWaitsSaturate: two waits whose sum does not fit.
func TestThrottleWaitsSaturate(t *testing.T) {
	s := newRecSteps(t, retry.WithMaxHint(recForever), retry.WithThrottle(&recThrottle{log: newRecLog(), name: "a", admit: recAnswers(recForever, recForever)}))
	for range 2 {
		require.Equal(t, retry.Step{Action: retry.Wait, Delay: recForever, Source: retry.SourceThrottle}, s.flow.Next(t.Context(), s.now))
	}
	s.next()
}

// TestThrottleWaitsAgainstLimits: a throttle's wait is checked like any other, on equality too.
func TestThrottleWaitsAgainstLimits(t *testing.T) {
	for _, tc := range []struct {
		name     string
		answers  []any
		opts     []retry.Option
		deadline time.Duration
		attempts int
		want     error
	}{
		{"elapsed", []any{10 * time.Second}, []retry.Option{retry.WithMaxElapsed(10 * time.Second)}, 0, 0, retry.ErrMaxElapsed},
		{"elapsed, second wait", []any{4 * time.Second, 6 * time.Second}, []retry.Option{retry.WithMaxElapsed(10 * time.Second)}, 0, 0, retry.ErrMaxElapsed},
		{"elapsed, of a retry", []any{nil, 9 * time.Second}, []retry.Option{retry.WithMaxElapsed(10 * time.Second)}, 0, 1, retry.ErrMaxElapsed},
		{"retry elapsed, of a retry", []any{5 * time.Second, nil, 9 * time.Second}, []retry.Option{retry.WithMaxRetryElapsed(10 * time.Second)}, 0, 1, retry.ErrMaxElapsed},
		{"retry elapsed does not count before", []any{10 * time.Second}, []retry.Option{retry.WithMaxRetryElapsed(10 * time.Second), retry.WithMaxAttempts(5)}, 0, 5, retry.ErrExhausted},
		{"deadline", []any{10 * time.Second}, nil, 10 * time.Second, 0, retry.ErrDeadline},
		{"deadline, of a retry", []any{nil, 9 * time.Second}, nil, 10 * time.Second, 1, retry.ErrDeadline},
		{"room", []any{10 * time.Second}, []retry.Option{retry.WithMaxElapsed(15 * time.Second), retry.WithMaxAttempts(5)}, 15 * time.Second, 5, retry.ErrExhausted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log := newRecLog()
			th := &recThrottle{log: log, name: "a", admit: recAnswers(tc.answers...)}
			deadline := time.Time{}
			if tc.deadline > 0 {
				deadline = recStart.Add(tc.deadline)
			}
			first := true
			opts := append(tc.opts, retry.WithThrottle(th), retry.WithJitter(func(time.Duration, time.Duration, float64) time.Duration {
				if first {
					first = false
					return time.Second // the first wait only, so that limits are met by throttles
				}
				return 0
			}))
			flow, now := retry.MustNew(opts...).Begin(recStart, deadline, nil), recStart
			for {
				step := flow.Next(t.Context(), now)
				if step.Action == retry.Go {
					step = flow.Report(t.Context(), now, throttle.Outcome{Err: errRec})
				}
				if step.Action == retry.Done {
					require.Equal(t, tc.want, step.Reason)
					require.Equal(t, tc.attempts, recError(t, step.Err).Attempts)
					if tc.want != retry.ErrExhausted {
						require.Equal(t, tc.answers[len(tc.answers)-1], step.Delay)
						require.Equal(t, retry.SourceThrottle, step.Source)
						require.Contains(t, log.lines[len(log.lines)-1], fmt.Sprintf("skipped %d", tc.attempts+1))
					}
					require.False(t, th.out)
					return
				}
				now = now.Add(step.Delay)
			}
		})
	}
}

// TestManyThrottles: tickets stay with their throttles, however many there are.
func TestManyThrottles(t *testing.T) {
	for n := range 7 {
		log := newRecLog()
		var throttles []throttle.Throttle
		var all []*recThrottle
		for i := range n {
			r := &recThrottle{log: log, name: string(rune('a' + i)), admit: recAnswers(nil, time.Second)}
			all, throttles = append(all, r), append(throttles, r)
		}
		_, end := recWaits(t, recAtOnce, retry.WithThrottle(throttles...), retry.WithMaxAttempts(1))
		require.Equal(t, retry.ErrExhausted, end.Reason)
		s := newRecSteps(t, recAtOnce, retry.WithThrottle(throttles...))
		for range n {
			require.Equal(t, time.Second, s.flow.Next(t.Context(), s.now).Delay)
		}
		s.next().reports(0, throttle.Outcome{})
		require.Empty(t, log.wrong)
		for _, r := range all {
			require.Equal(t, []int{2, 2}, []int{r.given, r.returned})
		}
	}
}

// TestThrottleBlocksUntilContextEnds: its refusal is the context's doing then.
func TestThrottleBlocksUntilContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	blocks := throttle.Func(func(ctx context.Context, _ time.Time) (time.Duration, error) {
		cancel(errRecCause)
		<-ctx.Done()
		return 0, ctx.Err()
	})
	o := &recObserver{log: newRecLog(), name: "o"}
	err := retry.Run(ctx, func(context.Context) error { return nil }, retry.WithThrottle(blocks), retry.WithObserver(o))
	require.EqualError(t, recError(t, err).Reason, "context canceled: user left")
	require.NotErrorIs(t, err, retry.ErrRefused)
	require.Equal(t, retry.EndCanceled, o.ends[0].Ending)
}
