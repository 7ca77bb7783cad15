package retry_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/throttle"
)

// recKit is a policy with one of everything, all writing to one log.
type recKit struct {
	*recLog
	observer *recObserver
	a, b     *recThrottle
	budget   *recBudget
	attempts []context.Context
}

func newRecKit() *recKit {
	l := newRecLog()
	return &recKit{
		recLog: l, observer: &recObserver{log: l, name: "obs"}, budget: &recBudget{log: l},
		a: &recThrottle{log: l, name: "a"}, b: &recThrottle{log: l, name: "b"},
	}
}

// options holds for Run, Do[int] and Loop, in which order it is given does not matter.
func (k *recKit) options(more ...retry.Option) []retry.Option {
	return append([]retry.Option{
		retry.WithName("job"),
		retry.WithMaxAttempts(3),
		retry.WithObserver(k.observer),
		retry.WithThrottle(recAttacher{k.a}, k.b),
		retry.WithBudget(k.budget),
		retry.WithStrategy(recLearner{recCurve{log: k.recLog}}),
		retry.WithJitter(func(d, _ time.Duration, r float64) time.Duration { k.add("jitter", d, r); return d }),
		retry.WithCondition(condition.Func(func(err error) condition.Verdict { k.add("condition", err); return condition.Unknown })),
		retry.WithLogger(slog.New(recHandler{k.recLog})),
		retry.WithOnRetry(func(_ context.Context, e retry.Event) { k.add("onRetry", e.At, e.Number) }),
		retry.WithBeforeRetry(func(_ context.Context, e retry.Event) error { k.add("beforeRetry", e.Number); return nil }),
		retry.WithRand(func() float64 { k.add("rand"); return 0.5 }),
	}, more...)
}

// results are the hooks for values, which say whether the attempt's context is alive.
func (k *recKit) results() retry.Option {
	alive := func() string {
		if k.attempts[len(k.attempts)-1].Err() == nil {
			return "alive"
		}
		return "over"
	}
	return retry.WithResults(retry.Results[int]{
		Classify: func(v int, err error) throttle.Outcome { k.add("Classify", v); return throttle.Outcome{Err: err} },
		Discard:  func(v int) { k.add("Discard", v, alive()) },
		Keep:     func(v int, _ context.CancelFunc) int { k.add("Keep", v, alive()); return v },
	})
}

func (k *recKit) fallback() retry.Option {
	return retry.WithFallback(func(_ context.Context, err error) (int, error) { k.add("fallback"); return -1, err })
}

// do makes a call of an operation that goes through errs, then succeeds.
func (k *recKit) do(ctx context.Context, errs []error, opts ...retry.Option) (int, error) {
	fn := k.script(errs...)
	return retry.Do(ctx, func(ctx context.Context) (int, error) {
		k.attempts = append(k.attempts, ctx)
		return fn(ctx)
	}, k.options(opts...)...)
}

func recTimes(n int) (errs []error) {
	for range n {
		errs = append(errs, errRec)
	}
	return errs
}

func TestOrderSuccessAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		v, err := k.do(t.Context(), nil, k.results(), k.fallback())
		require.NoError(t, err)
		require.Equal(t, 1, v)
		k.require(t, `
			obs.Start @0s job 3
			budget.Start @0s
			a.Admit @0s go
			b.Admit @0s go
			a.Attach a1
			obs.Attempt @0s 1
			fn @0s 1
			Classify 1
			a.Done @0s a1 success 1
			b.Done @0s b1 success 1
			curve.Succeed
			budget.Settle @0s success 0
			obs.AttemptDone @0s 1 success
			Keep 1 alive
			obs.Done @0s 1 success`)
	})
}

func TestOrderRecovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		v, err := k.do(t.Context(), recTimes(2), k.results(), k.fallback(), retry.WithAttemptTimeout(time.Minute))
		require.NoError(t, err)
		require.Equal(t, 3, v)
		k.require(t, `
			obs.Start @0s job 3
			budget.Start @0s
			a.Admit @0s go
			b.Admit @0s go
			a.Attach a1
			obs.Attempt @0s 1
			fn @0s 1
			Classify 1
			condition boom
			a.Done @0s a1 transient 1
			b.Done @0s b1 transient 1
			curve.Next 1 0s 0s
			rand
			jitter 1s 0.5
			budget.Charge @0s transient 0 more
			curve.Failed 1 0s 0s
			obs.AttemptDone @0s 1 transient
			logger INFO retry scheduled
			onRetry @0s 1
			Discard 1 alive
			obs.Pause @0s 2 1s policy
			beforeRetry 1
			a.Admit @1s go
			b.Admit @1s go
			a.Attach a2
			obs.Attempt @1s 2
			fn @1s 2
			Classify 2
			condition boom
			a.Done @1s a2 transient 2
			b.Done @1s b2 transient 2
			curve.Next 2 1s 1s
			rand
			jitter 2s 0.5
			budget.Charge @1s transient 10 more
			curve.Failed 2 1s 1s
			obs.AttemptDone @1s 2 transient
			logger INFO retry scheduled
			onRetry @1s 2
			Discard 2 alive
			obs.Pause @1s 3 2s policy
			beforeRetry 2
			a.Admit @3s go
			b.Admit @3s go
			a.Attach a3
			obs.Attempt @3s 3
			fn @3s 3
			Classify 3
			a.Done @3s a3 success 3
			b.Done @3s b3 success 3
			curve.Succeed
			budget.Settle @3s success 20
			obs.AttemptDone @3s 3 success
			Keep 3 alive
			logger INFO succeeded after 3 attempts
			obs.Done @3s 3 success`)
	})
}

// recFirstFailure is how a call with a kit starts if its first attempt fails, up to the question for a wait.
const recFirstFailure = `
	obs.Start @0s job 3
	budget.Start @0s
	a.Admit @0s go
	b.Admit @0s go
	a.Attach a1
	obs.Attempt @0s 1
	fn @0s 1
	condition boom
	a.Done @0s a1 transient 1
	b.Done @0s b1 transient 1`

// recRetried is how it goes on if a retry follows.
const recRetried = recFirstFailure + `
	curve.Next 1 0s 0s
	rand
	jitter 1s 0.5
	budget.Charge @0s transient 0 more
	curve.Failed 1 0s 0s
	obs.AttemptDone @0s 1 transient
	logger INFO retry scheduled
	onRetry @0s 1
	obs.Pause @0s 2 1s policy`

func TestOrderExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		v, err := k.do(t.Context(), recTimes(9), retry.WithMaxAttempts(2))
		require.ErrorIs(t, err, retry.ErrExhausted)
		require.Equal(t, 2, v)
		k.lines[0] = "obs.Start @0s job 3" // the rest of the log is that of the kit's own limit
		k.require(t, recRetried+`
			beforeRetry 1
			a.Admit @1s go
			b.Admit @1s go
			a.Attach a2
			obs.Attempt @1s 2
			fn @1s 2
			condition boom
			a.Done @1s a2 transient 2
			b.Done @1s b2 transient 2
			budget.Charge @1s transient 10 last
			budget.Settle @1s failure 20
			obs.AttemptDone @1s 2 transient
			logger WARN retry gave up
			obs.Done @1s 2 exhausted`)
	})
}

// TestOrderFallback: after Discard, and before the observation's Done.
func TestOrderFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		v, err := k.do(t.Context(), recTimes(9), retry.WithMaxAttempts(1), k.results(), k.fallback(), retry.WithAttemptTimeout(time.Minute))
		require.ErrorIs(t, err, retry.ErrExhausted)
		require.Equal(t, -1, v)
		k.require(t, `
			obs.Start @0s job 1
			budget.Start @0s
			a.Admit @0s go
			b.Admit @0s go
			a.Attach a1
			obs.Attempt @0s 1
			fn @0s 1
			Classify 1
			condition boom
			a.Done @0s a1 transient 1
			b.Done @0s b1 transient 1
			budget.Charge @0s transient 0 last
			budget.Settle @0s failure 10
			obs.AttemptDone @0s 1 transient
			Discard 1 alive
			logger WARN retry gave up
			fallback
			obs.Done @0s 1 exhausted`)
	})
}

// TestOrderStop: a failure not worth a retry is not charged, and moves no curve.
func TestOrderStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		_, err := k.do(t.Context(), []error{retry.Permanent(errRec)}, k.results())
		require.Equal(t, errRec, err)
		k.require(t, `
			obs.Start @0s job 3
			budget.Start @0s
			a.Admit @0s go
			b.Admit @0s go
			a.Attach a1
			obs.Attempt @0s 1
			fn @0s 1
			Classify 1
			a.Done @0s a1 permanent 1
			b.Done @0s b1 permanent 1
			budget.Settle @0s failure 0
			obs.AttemptDone @0s 1 permanent
			Keep 1 alive
			logger DEBUG not retried
			obs.Done @0s 1 aborted`)
	})
}

// TestOrderPushback: the server's own No is charged as the last failure.
func TestOrderPushback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		_, err := k.do(t.Context(), []error{recCarrier{throttle.Signal{Retry: throttle.No}}})
		require.Equal(t, recCarrier{throttle.Signal{Retry: throttle.No}}, err)
		k.require(t, `
			obs.Start @0s job 3
			budget.Start @0s
			a.Admit @0s go
			b.Admit @0s go
			a.Attach a1
			obs.Attempt @0s 1
			fn @0s 1
			a.Done @0s a1 permanent 1
			b.Done @0s b1 permanent 1
			budget.Charge @0s permanent 0 last
			budget.Settle @0s failure 10
			obs.AttemptDone @0s 1 permanent
			logger DEBUG not retried
			obs.Done @0s 1 aborted`)
	})
}

// recCarrier is an error that knows what the server said.
type recCarrier struct{ signal throttle.Signal }

func (c recCarrier) Error() string                           { return "told" }
func (c recCarrier) ThrottleSignal() (throttle.Signal, bool) { return c.signal, true }

func TestOrderBeforeRetryError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		errLogin := errors.New("no login")
		_, err := k.do(t.Context(), recTimes(9),
			retry.WithBeforeRetry(func(context.Context, retry.Event) error { k.add("login"); return errLogin }),
			retry.WithBeforeRetry(func(context.Context, retry.Event) error { t.Error("called after an error"); return nil }))
		e := recError(t, err)
		require.Equal(t, &retry.Error{Name: "job", Attempts: 1, Elapsed: time.Second, Reason: errLogin, Last: errRec}, e)
		k.require(t, recRetried+`
			beforeRetry 1
			login
			budget.Settle @1s failure 10
			logger WARN retry gave up
			obs.Done @1s 1 aborted`)
	})
}

// TestOrderInitialDelay: the call has begun, but no throttle is asked before it is over.
func TestOrderInitialDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecKit()
		_, err := k.do(t.Context(), nil, retry.WithInitialDelay(4*time.Second, func(d, _ time.Duration, r float64) time.Duration {
			k.add("initial", d, r)
			return d / 2
		}))
		require.NoError(t, err)
		k.require(t, `
			obs.Start @0s job 3
			budget.Start @0s
			rand
			initial 4s 0.5
			obs.Pause @0s 1 2s policy
			a.Admit @2s go
			b.Admit @2s go
			a.Attach a1
			obs.Attempt @2s 1
			fn @2s 1
			a.Done @2s a1 success 1
			b.Done @2s b1 success 1
			curve.Succeed
			budget.Settle @2s success 0
			obs.AttemptDone @2s 1 success
			obs.Done @2s 1 success`)
	})
}
