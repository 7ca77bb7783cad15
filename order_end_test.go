package retry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// recAnswers makes a throttle answer with waits and errors in turn, and then go.
func recAnswers(answers ...any) func(int) (time.Duration, error) {
	return func(asked int) (time.Duration, error) {
		if asked > len(answers) {
			return 0, nil
		}
		switch a := answers[asked-1].(type) {
		case time.Duration:
			return a, nil
		case error:
			return 0, a
		}
		return 0, nil
	}
}

// TestOrderHeldBack: each throttle is asked until it says go, with its own ticket; the next only then.
func TestOrderHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		k.a.admit = recAnswers(time.Second, 2*time.Second, time.Duration(-5))
		k.b.admit = recAnswers(3 * time.Second)
		_, err := k.do(t.Context(), nil)
		require.NoError(t, err)
		k.require(t, `
			obs.Start @0s job 3
			budget.Start @0s
			a.Admit @0s 1s
			obs.Pause @0s 1 1s throttle
			a.Admit @1s 2s
			obs.Pause @1s 1 2s throttle
			a.Admit @3s go
			b.Admit @3s 3s
			obs.Pause @3s 1 3s throttle
			b.Admit @6s go
			a.Attach a3
			obs.Attempt @6s 1
			fn @6s 1
			a.Done @6s a3 success 1
			b.Done @6s b2 success 1
			curve.Succeed
			budget.Settle @6s success 0
			obs.AttemptDone @6s 1 success
			obs.Done @6s 1 success`)
		require.Equal(t, []int{1, 1}, []int{k.a.given, k.b.given})
	})
}

// TestOrderRefused before attempt 1: tickets given before are returned as Skipped, the refusing throttle has none.
func TestOrderRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		cooling := &throttle.Error{Key: "acme", Remaining: 30 * time.Second, Source: "retry-after"}
		k.b.admit = recAnswers(cooling)
		_, err := k.do(t.Context(), nil)
		e := recError(t, err)
		require.ErrorIs(t, err, retry.ErrRefused)
		require.ErrorIs(t, err, error(cooling))
		require.ErrorIs(t, e.Reason, retry.ErrRefused)
		require.ErrorIs(t, e.Reason, error(cooling))
		require.Equal(t, 30*time.Second, e.Delay)
		require.Zero(t, e.Attempts)
		require.NoError(t, e.Last)
		require.EqualError(t, err, `retry "job": not attempted: refused by a throttle: throttle: "acme" is cooling down for 30s (retry-after)`)
		k.require(t, `
			obs.Start @0s job 3
			budget.Start @0s
			a.Admit @0s go
			b.Admit @0s throttle: "acme" is cooling down for 30s (retry-after)
			a.Done @0s a1 skipped 1
			budget.Settle @0s failure 0
			logger WARN retry gave up
			obs.Done @0s 0 throttled`)
	})
}

// TestOrderRefusedAfterAWait: the ticket that came with the wait is returned too.
func TestOrderRefusedAfterAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		errFull := errors.New("full")
		k.b.admit = recAnswers(time.Second, errFull)
		_, err := k.do(t.Context(), nil)
		require.ErrorIs(t, err, retry.ErrRefused)
		require.ErrorIs(t, err, errFull)
		require.Zero(t, recError(t, err).Delay)
		k.require(t, `
			obs.Start @0s job 3
			budget.Start @0s
			a.Admit @0s go
			b.Admit @0s 1s
			obs.Pause @0s 1 1s throttle
			b.Admit @1s full
			a.Done @1s a1 skipped 1
			b.Done @1s b1 skipped 1
			budget.Settle @1s failure 0
			logger WARN retry gave up
			obs.Done @1s 0 throttled`)
	})
}

// TestOrderRefusedLater: a refusal of a retry keeps the failure.
func TestOrderRefusedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		errFull := errors.New("full")
		k.a.admit = recAnswers(nil, errFull)
		v, err := k.do(t.Context(), recTimes(9))
		require.Equal(t, 1, v)
		e := recError(t, err)
		require.Equal(t, errRec, e.Last)
		require.Equal(t, 1, e.Attempts)
		require.Equal(t, time.Second, e.Elapsed)
		require.ErrorIs(t, err, retry.ErrRefused)
		k.require(t, recRetried+`
			beforeRetry 1
			a.Admit @1s full
			budget.Settle @1s failure 10
			logger WARN retry gave up
			obs.Done @1s 1 throttled`)
	})
}

// TestOrderTooLong before attempt 1: the throttle that knows says why.
func TestOrderTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		k.b.admit = recAnswers(time.Minute + 1)
		why := &throttle.Error{Key: "acme", Remaining: time.Minute + 1}
		_, err := k.do(t.Context(), nil, retry.WithThrottle(recExplainer{k.b, why}))
		require.ErrorIs(t, err, retry.ErrHintTooLong)
		require.NotErrorIs(t, err, error(why), "the first b cannot explain")
		require.Equal(t, time.Minute+1, recError(t, err).Delay)
		require.Equal(t, retry.ErrHintTooLong, recError(t, err).Reason)

		k = newRecKit()
		k.b.admit = recAnswers(time.Minute + 1)
		_, err = retry.Do(t.Context(), k.script(), retry.WithThrottle(k.a, recExplainer{k.b, why}), retry.WithObserver(k.observer))
		require.ErrorIs(t, err, retry.ErrHintTooLong)
		require.ErrorIs(t, recError(t, err).Reason, error(why))
		require.Equal(t, time.Minute+1, recError(t, err).Delay)
		require.EqualError(t, err, `retry: not attempted: asked to wait 1m0.000000001s, more than 1m0s (WithMaxHint): throttle: "acme" is cooling down for 1m0.000000001s`)
		k.require(t, `
			obs.Start @0s  5
			a.Admit @0s go
			b.Admit @0s 1m0.000000001s
			b.Explain @0s
			a.Done @0s a1 skipped 1
			b.Done @0s b1 skipped 1
			obs.Done @0s 0 throttled`)

		k = newRecKit() // nothing to say
		k.b.admit = recAnswers(time.Hour)
		_, err = retry.Do(t.Context(), k.script(), retry.WithThrottle(recExplainer{k.b, nil}))
		require.Equal(t, retry.ErrHintTooLong, recError(t, err).Reason)
	})
}

// TestOrderBudgetRefusal: it is asked with last=false, and the curve does not move.
func TestOrderBudgetRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		k.budget.charge = func(int, throttle.Class, bool) (int, bool) { return 3, false }
		_, err := k.do(t.Context(), recTimes(9))
		require.Equal(t, retry.ErrBudget, recError(t, err).Reason)
		require.Equal(t, errRec, recError(t, err).Last)
		k.require(t, recFirstFailure+`
			curve.Next 1 0s 0s
			rand
			jitter 1s 0.5
			budget.Charge @0s transient 0 more
			budget.Settle @0s failure 3
			obs.AttemptDone @0s 1 transient
			logger WARN retry gave up
			obs.Done @0s 1 budget`)
	})
}

// TestErrorDelayOfBudget: an outer loop has the wait that was planned, and need not spin
// (github.com/aws/aws-sdk-go-v2/issues/3413).
func TestErrorDelayOfBudget(t *testing.T) {
	step := newRecSteps(t, retry.WithBudget(recRefusing{}), recEvery(time.Second)).fails(errRec)
	require.Equal(t, retry.ErrBudget, step.Reason)
	require.Equal(t, time.Second, recError(t, step.Err).Delay)
}

// TestOrderStopWinsOverBudget: the first stop of the steps before wins, with last=true.
func TestOrderStopWinsOverBudget(t *testing.T) {
	refuse := func(int, throttle.Class, bool) (int, bool) { return 0, false }
	const asked, drawn = "curve.Next 1 0s 0s", "rand\njitter 1s 0.5"
	for _, tc := range []struct {
		reason error
		ending string
		lines  []string
		option func(k *recKit) retry.Option
	}{
		{retry.ErrExhausted, "exhausted", nil, func(*recKit) retry.Option { return retry.WithMaxAttempts(1) }},
		{retry.ErrNoDelay, "exhausted", []string{asked}, func(k *recKit) retry.Option { return retry.WithStrategy(recEnded{k.recLog}) }},
		{retry.ErrMaxElapsed, "deadline", []string{asked, drawn}, func(*recKit) retry.Option { return retry.WithMaxElapsed(time.Second) }},
		{retry.ErrMaxElapsed, "deadline", []string{asked, drawn}, func(*recKit) retry.Option { return retry.WithMaxRetryElapsed(time.Second) }},
	} {
		synctest.Test(t, func(t *testing.T) {
			k := newRecKit()
			k.budget.charge = refuse
			_, err := k.do(t.Context(), recTimes(9), tc.option(k))
			require.Equal(t, tc.reason, recError(t, err).Reason)
			k.lines[0] = "obs.Start @0s job 3"
			k.require(t, recFirstFailure+"\n"+strings.Join(tc.lines, "\n")+`
				budget.Charge @0s transient 0 last
				budget.Settle @0s failure 0
				obs.AttemptDone @0s 1 transient
				logger WARN retry gave up
				obs.Done @0s 1 `+tc.ending)
		})
	}
}

// recEnded is a strategy that has no wait to give.
type recEnded struct{ log *recLog }

func (e recEnded) Next(s strategy.State) (time.Duration, bool) {
	e.log.add("curve.Next", s.Number, s.Prev, s.Elapsed)
	return time.Second, false
}

// TestOrderDeadline: no wait is started that would end at the deadline (P10).
func TestOrderDeadline(t *testing.T) {
	for _, left := range []time.Duration{time.Second, time.Second / 2} {
		synctest.Test(t, func(t *testing.T) {
			k := newRecKit()
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			_, err := k.do(ctx, recTimes(9))
			require.Equal(t, retry.ErrDeadline, recError(t, err).Reason)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, errRec)
			require.Equal(t, time.Second, recError(t, err).Delay)
			require.NoError(t, ctx.Err(), "it is not waited for")
			k.require(t, recFirstFailure+`
				curve.Next 1 0s 0s
				rand
				jitter 1s 0.5
				budget.Charge @0s transient 0 last
				budget.Settle @0s failure 10
				obs.AttemptDone @0s 1 transient
				logger WARN retry gave up
				obs.Done @0s 1 deadline`)
		})
	}
	synctest.Test(t, func(t *testing.T) { // one nanosecond more, and there is a retry
		ctx, cancel := context.WithTimeout(t.Context(), time.Second+1)
		defer cancel()
		k := newRecKit()
		_, err := k.do(ctx, recTimes(1))
		require.NoError(t, err)
	})
}

// TestElapsedBeforeDeadline: where one wait is too long for both limits, the time budget is the reason.
func TestElapsedBeforeDeadline(t *testing.T) {
	for reason, opts := range map[error][]retry.Option{
		retry.ErrMaxElapsed: {retry.WithMaxElapsed(5)},
		retry.ErrDeadline:   {retry.WithMaxElapsed(6)},
	} {
		flow := retry.MustNew(append(opts, recEvery(5))...).Begin(recStart, recStart.Add(5), nil)
		require.Equal(t, reason, flow.Report(t.Context(), recStart, throttle.Outcome{Err: errRec}).Reason)
	}
}

// TestDrawOrder: the strategy's, the jitter's, the told wait's; each where it is used.
func TestDrawOrder(t *testing.T) {
	var got []string
	note := func(what string, r float64) { got = append(got, fmt.Sprintf("%s %.1f", what, r)) }
	draws := retry.WithStrategy(strategy.Func(func(s strategy.State) (time.Duration, bool) {
		note("strategy", s.Rand())
		return 10, true
	}))
	jitter := retry.WithJitter(func(d, _ time.Duration, r float64) time.Duration { note("jitter", r); return d })
	told := retry.After(time.Second, errRec)
	for _, tc := range []struct {
		name string
		err  error
		opts []retry.Option
		want []string
		wait time.Duration
	}{
		{"strategy", errRec, []retry.Option{draws}, []string{"strategy 0.1"}, 10},
		{"jitter", errRec, []retry.Option{recEvery(10), jitter}, []string{"jitter 0.1"}, 10},
		{"strategy, jitter", errRec, []retry.Option{draws, jitter}, []string{"strategy 0.1", "jitter 0.2"}, 10},
		{"strategy, jitter, told", told, []retry.Option{draws, jitter}, []string{"strategy 0.1", "jitter 0.2"}, 1030 * time.Millisecond},
		{"strategy, told", told, []retry.Option{draws}, []string{"strategy 0.1"}, 1020 * time.Millisecond},
		{"told", told, []retry.Option{recEvery(10)}, nil, 1010 * time.Millisecond},
		{"told is shorter", told, []retry.Option{recEvery(2 * time.Second), jitter}, []string{"jitter 0.1"}, 2 * time.Second},
		{"exact", told, []retry.Option{draws, retry.WithHint(throttle.Exact())}, []string{"strategy 0.1"}, time.Second},
		{"clamp", told, []retry.Option{draws, retry.WithHint(throttle.Clamp(20))}, []string{"strategy 0.1"}, 30},
		{"ignore", told, []retry.Option{draws, jitter, retry.WithHint(throttle.Ignore())}, []string{"strategy 0.1", "jitter 0.2"}, 10},
		{"last attempt", told, []retry.Option{draws, jitter, retry.WithMaxAttempts(1)}, nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			drawn := 0
			got = nil
			step := newRecSteps(t, append(tc.opts, retry.WithRand(func() float64 { drawn++; return float64(drawn) / 10 }))...).fails(tc.err)
			require.Equal(t, tc.want, got)
			require.Equal(t, tc.wait, step.Delay)
			used := len(tc.want)
			if strings.Contains(tc.name, "told") && tc.wait < 2*time.Second {
				used++
			}
			require.Equal(t, used, drawn)
		})
	}
}
