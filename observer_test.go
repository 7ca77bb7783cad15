package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// recObserved makes a call whose attempts take 100 ms each, with waits of 1 s, 2 s and so on.
func recObserved(t *testing.T, ctx context.Context, errs []error, opts ...retry.Option) (*recObserver, error) {
	t.Helper()
	log := newRecLog()
	o := &recObserver{log: log, name: "o"}
	log.on["fn"] = func() { time.Sleep(100 * time.Millisecond) }
	_, err := retry.Do(ctx, log.script(errs...), append([]retry.Option{
		retry.WithName("job"), retry.WithObserver(o), retry.WithStrategy(recCurve{log: log}),
	}, opts...)...)
	require.Empty(t, log.wrong)
	require.Len(t, o.calls, 1)
	require.Len(t, o.ends, 1)
	return o, err
}

// TestObserverRecovered is every field of every event, in a call that succeeds at its third attempt.
func TestObserverRecovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		at := func(d time.Duration) time.Time { return began.Add(d * time.Millisecond) }
		const ms = time.Millisecond
		o, err := recObserved(t, t.Context(), []error{retry.After(0, errRec), retry.After(3*time.Second, errRec)},
			retry.WithInitialDelay(time.Second, nil), retry.WithHint(throttle.Exact()), retry.WithMaxAttempts(4), retry.WithThrottle(recLabeler{
				&recThrottle{log: newRecLog(), name: "a", admit: recAnswers(500 * ms)}, "token 3",
			}))
		require.NoError(t, err)
		require.Equal(t, []retry.Call{{Name: "job", MaxAttempts: 4, Start: at(0)}}, o.calls)
		require.Equal(t, []retry.Pause{
			{Before: 1, At: at(0), Delay: time.Second, Source: retry.SourcePolicy},
			{Before: 1, At: at(1000), Delay: 500 * ms, Source: retry.SourceThrottle},
			{Before: 3, At: at(1700), Delay: 3 * time.Second, Source: retry.SourceServer},
		}, o.pauses, "no Pause for a wait of 0")
		require.Equal(t, []retry.AttemptStart{
			{Number: 1, At: at(1500), Label: "token 3"}, {Number: 2, At: at(1600), Label: "token 3"}, {Number: 3, At: at(4700), Label: "token 3"},
		}, o.starts)
		told := func(d time.Duration) throttle.Signal {
			return throttle.Signal{HasDelay: true, Delay: d, Source: "RetryAfter()"}
		}
		require.Equal(t, []retry.Event{
			{Name: "job", Number: 1, Max: 4, At: at(1600), Duration: 100 * ms, Err: errRec, Class: throttle.Throttled, Signal: told(0),
				Retrying: true, Source: retry.SourceServer},
			{Name: "job", Number: 2, Max: 4, At: at(1700), Duration: 100 * ms, Err: errRec, Class: throttle.Throttled, Signal: told(3 * time.Second),
				Retrying: true, Delay: 3 * time.Second, Source: retry.SourceServer, Elapsed: 100 * ms},
			{Name: "job", Number: 3, Max: 4, At: at(4800), Duration: 100 * ms, Class: throttle.Success, Elapsed: 3200 * ms},
		}, o.events)
		require.Equal(t, []retry.Summary{
			{Attempts: 3, At: at(4800), Ending: retry.EndSucceeded, Elapsed: 4800 * ms, TotalDelay: 4500 * ms},
		}, o.ends, "the last attempt had no error")
	})
}

// TestObserverEndings is the last event and the summary of every kind of end.
func TestObserverEndings(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	permanent := retry.Permanent(errRec)
	for _, tc := range []struct {
		name   string
		errs   []error
		opts   []retry.Option
		event  retry.Event // without Name, Max, At; nothing: no attempt
		pauses int
		end    retry.Summary // without At, Err
		bare   error         // what the caller gets, where that is not an *Error
	}{
		{"success", nil, nil, retry.Event{Number: 1, Duration: 100 * ms, Class: throttle.Success}, 0,
			retry.Summary{Attempts: 1, Ending: retry.EndSucceeded, Elapsed: 100 * ms}, nil},
		{"exhausted", recTimes(9), []retry.Option{retry.WithMaxAttempts(2)},
			retry.Event{Number: 2, Duration: 100 * ms, Err: errRec, Class: throttle.Transient, Reason: retry.ErrExhausted, Elapsed: 1100 * ms}, 1,
			retry.Summary{Attempts: 2, Ending: retry.EndExhausted, Last: errRec, Reason: retry.ErrExhausted, Elapsed: 1200 * ms, TotalDelay: s}, nil},
		{"no delay", recTimes(9), []retry.Option{retry.WithStrategy(recEnded{newRecLog()})},
			retry.Event{Number: 1, Duration: 100 * ms, Err: errRec, Class: throttle.Transient, Reason: retry.ErrNoDelay}, 0,
			retry.Summary{Attempts: 1, Ending: retry.EndExhausted, Last: errRec, Reason: retry.ErrNoDelay, Elapsed: 100 * ms}, nil},
		{"elapsed", recTimes(9), []retry.Option{retry.WithMaxElapsed(s)},
			retry.Event{Number: 1, Duration: 100 * ms, Err: errRec, Class: throttle.Transient, Delay: s, Reason: retry.ErrMaxElapsed}, 0,
			retry.Summary{Attempts: 1, Ending: retry.EndDeadline, Last: errRec, Reason: retry.ErrMaxElapsed, Elapsed: 100 * ms}, nil},
		{"aborted", []error{errRec, permanent}, nil,
			retry.Event{Number: 2, Duration: 100 * ms, Err: errRec, Class: throttle.Permanent, Reason: retry.ErrNotRetryable, Elapsed: 1100 * ms}, 1,
			retry.Summary{Attempts: 2, Ending: retry.EndAborted, Last: errRec, Reason: retry.ErrNotRetryable, Elapsed: 1200 * ms, TotalDelay: s}, errRec},
		{"before retry", recTimes(9), []retry.Option{retry.WithBeforeRetry(func(context.Context, retry.Event) error { return errRecCause })},
			retry.Event{Number: 1, Duration: 100 * ms, Err: errRec, Class: throttle.Transient, Retrying: true, Delay: s}, 1,
			retry.Summary{Attempts: 1, Ending: retry.EndAborted, Last: errRec, Reason: errRecCause, Elapsed: 1100 * ms, TotalDelay: s}, nil},
		{"told too long", []error{retry.After(61*s, errRec)}, nil,
			retry.Event{Number: 1, Duration: 100 * ms, Err: errRec, Class: throttle.Throttled, Reason: retry.ErrHintTooLong, Delay: 61 * s,
				Source: retry.SourceServer, Signal: throttle.Signal{HasDelay: true, Delay: 61 * s, Source: "RetryAfter()"}}, 0,
			retry.Summary{Attempts: 1, Ending: retry.EndThrottled, Last: errRec, Reason: retry.ErrHintTooLong, Elapsed: 100 * ms}, nil},
		{"held too long", nil, []retry.Option{retry.WithThrottle(throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 61 * s, nil }))},
			retry.Event{}, 0, retry.Summary{Ending: retry.EndThrottled, Reason: retry.ErrHintTooLong}, nil},
		{"budget", recTimes(9), []retry.Option{retry.WithBudget(recRefusing{})},
			retry.Event{Number: 1, Duration: 100 * ms, Err: errRec, Class: throttle.Transient, Delay: s, Reason: retry.ErrBudget}, 0,
			retry.Summary{Attempts: 1, Ending: retry.EndBudget, Last: errRec, Reason: retry.ErrBudget, Elapsed: 100 * ms}, nil},
		{"initial delay", nil, []retry.Option{retry.WithInitialDelay(s, nil), retry.WithMaxElapsed(s)},
			retry.Event{}, 0, retry.Summary{Ending: retry.EndDeadline, Reason: retry.ErrMaxElapsed}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				o, err := recObserved(t, t.Context(), tc.errs, tc.opts...)
				if tc.event.Number == 0 {
					require.Empty(t, o.events)
				} else {
					got := o.events[len(o.events)-1]
					tc.event.Name, tc.event.Max = "job", o.calls[0].MaxAttempts
					tc.event.At = o.starts[len(o.starts)-1].At.Add(100 * ms)
					require.Equal(t, tc.event, got)
				}
				require.Len(t, o.pauses, tc.pauses)
				tc.end.At, tc.end.Err = began.Add(tc.end.Elapsed), err
				require.Equal(t, tc.end, o.ends[0])
				switch {
				case tc.bare != nil:
					require.Equal(t, tc.bare, err)
				case tc.end.Ending != retry.EndSucceeded:
					require.Equal(t, tc.end.Reason, recError(t, err).Reason)
				}
			})
		})
	}
}

// TestObserverCanceledInWait: TotalDelay is what was spent, not what was planned.
func TestObserverCanceledInWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(400*time.Millisecond, cancel)
		began := time.Now()
		o, err := recObserved(t, ctx, recTimes(9))
		require.Equal(t, retry.Summary{
			Attempts: 1, At: began.Add(400 * time.Millisecond), Ending: retry.EndCanceled, Err: err, Last: errRec, Reason: context.Canceled,
			Elapsed: 400 * time.Millisecond, TotalDelay: 300 * time.Millisecond,
		}, o.ends[0])
		require.Equal(t, time.Second, o.pauses[0].Delay)
	})
}

// TestObserverFallback: Err is what the caller gets, Ending and Reason are why the attempts ended.
func TestObserverFallback(t *testing.T) {
	for _, answer := range []error{nil, errRecCause} {
		synctest.Test(t, func(t *testing.T) {
			o, err := recObserved(t, t.Context(), recTimes(9), retry.WithMaxAttempts(1),
				retry.WithFallback(func(context.Context, error) (int, error) { time.Sleep(time.Second); return 0, answer }))
			require.Equal(t, answer, err)
			end := o.ends[0]
			require.Equal(t, 1100*time.Millisecond, end.Elapsed, "a fallback is part of the call")
			require.Equal(t, retry.Summary{
				Attempts: 1, At: end.At, Ending: retry.EndExhausted, Err: answer, Last: errRec, Reason: retry.ErrExhausted, Elapsed: end.Elapsed,
			}, end)
		})
	}
}

// TestObserverMaxAttempts: 0 says that there is no limit.
func TestObserverMaxAttempts(t *testing.T) {
	for _, tc := range []struct {
		opt  retry.Option
		want int
	}{{retry.WithName("x"), 5}, {retry.WithMaxAttempts(1), 1}, {retry.WithUnlimitedAttempts(), 0}} {
		synctest.Test(t, func(t *testing.T) {
			o, _ := recObserved(t, t.Context(), nil, tc.opt)
			require.Equal(t, tc.want, o.calls[0].MaxAttempts)
			require.Equal(t, tc.want, o.events[0].Max)
		})
	}
}

// recQuiet is an observer that returns no context and no Observation, or only no contexts.
type recQuiet struct{ observation retry.Observation }

func (q recQuiet) Start(context.Context, retry.Call) (context.Context, retry.Observation) {
	return nil, q.observation
}

type recQuietObservation struct{ log *recLog }

func (q recQuietObservation) Attempt(context.Context, retry.AttemptStart) context.Context {
	q.log.add("Attempt")
	return nil
}
func (q recQuietObservation) AttemptDone(ctx context.Context, _ retry.Event) {
	q.log.add("AttemptDone", ctx.Value(recKey("caller")))
}
func (q recQuietObservation) Pause(context.Context, retry.Pause)  { q.log.add("Pause") }
func (q recQuietObservation) Done(context.Context, retry.Summary) { q.log.add("Done") }

// TestObserverNils: a nil context leaves the context as it is, a nil Observation is not interested.
// dozing is an observer that says whether anybody looks.
type dozing struct {
	*seen
	awake bool
}

func (d dozing) Enabled() bool { return d.awake }

func TestObserverThatIsOff(t *testing.T) {
	var off, on seen
	policy := retry.MustNew(retry.WithObserver(dozing{&off, false}), retry.WithObserver(dozing{&on, true}), retry.WithObserver(dozing{&off, false}))
	require.NoError(t, retry.Run(t.Context(), func(context.Context) error { return nil }, policy, retry.WithObserver(dozing{&off, false})))
	require.Zero(t, off.starts)
	require.Equal(t, 1, on.starts)
}

type seen struct{ starts int }

func (s *seen) Start(ctx context.Context, _ retry.Call) (context.Context, retry.Observation) {
	s.starts++
	return ctx, nil
}

func TestObserverNils(t *testing.T) {
	log := newRecLog()
	ctx := context.WithValue(t.Context(), recKey("caller"), "yes")
	fn := func(ctx context.Context) error {
		require.Equal(t, "yes", ctx.Value(recKey("caller")))
		return nil
	}
	other := &recObserver{log: newRecLog(), name: "other"}
	for _, observers := range [][]retry.Observer{
		{recQuiet{}}, {recQuiet{}, recQuiet{}}, {recQuiet{recQuietObservation{log}}}, {recQuiet{}, recQuiet{recQuietObservation{log}}},
		{recQuiet{recQuietObservation{log}}, other, recQuiet{}},
	} {
		var opts []retry.Option
		for _, o := range observers {
			opts = append(opts, retry.WithObserver(o))
		}
		require.NoError(t, retry.Run(ctx, fn, opts...))
	}
	log.require(t, `
		Attempt
		AttemptDone yes
		Done
		Attempt
		AttemptDone yes
		Done
		Attempt
		AttemptDone yes
		Done`)
	require.Empty(t, other.log.wrong)
	require.Len(t, other.ends, 1)
}

// TestObserverContexts: what Attempt returns goes to the operation, what Start returns to everything.
func TestObserverContexts(t *testing.T) {
	outer, inner := &recObserver{log: newRecLog(), name: "outer"}, &recObserver{log: newRecLog(), name: "inner"}
	err := retry.Run(t.Context(), func(ctx context.Context) error {
		require.Equal(t, 1, ctx.Value(recKey("outer")))
		require.Equal(t, 1, ctx.Value(recKey("inner")))
		return nil
	}, retry.WithObserver(outer), retry.WithObserver(inner), retry.WithThrottle(recAttacher{&recThrottle{log: newRecLog(), name: "a"}}))
	require.NoError(t, err)
	require.Equal(t, 1, inner.contexts[0].Value(recKey("outer")), "one observer's context goes through the next")
	require.Equal(t, "a1", outer.contexts[0].Value(recKey("a")), "and has what throttles attach")
}

// TestTwoObserversOrder: in order at the start of things, in reverse at their end.
func TestTwoObserversOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newRecLog()
		var opts []retry.Option
		for _, name := range []string{"x", "y", "z"} {
			opts = append(opts, retry.WithObserver(&recObserver{log: log, name: name}))
		}
		_, err := retry.Do(t.Context(), log.script(errRec), append(opts, recEvery(time.Second))...)
		require.NoError(t, err)
		log.require(t, `
			x.Start @0s  5
			y.Start @0s  5
			z.Start @0s  5
			x.Attempt @0s 1
			y.Attempt @0s 1
			z.Attempt @0s 1
			fn @0s 1
			z.AttemptDone @0s 1 transient
			y.AttemptDone @0s 1 transient
			x.AttemptDone @0s 1 transient
			x.Pause @0s 2 1s policy
			y.Pause @0s 2 1s policy
			z.Pause @0s 2 1s policy
			x.Attempt @1s 2
			y.Attempt @1s 2
			z.Attempt @1s 2
			fn @1s 2
			z.AttemptDone @1s 2 success
			y.AttemptDone @1s 2 success
			x.AttemptDone @1s 2 success
			z.Done @1s 2 success
			y.Done @1s 2 success
			x.Done @1s 2 success`)
	})
}

// TestLabel is the first that a throttle's ticket has.
func TestLabel(t *testing.T) {
	log := newRecLog()
	label := func(name, text string) throttle.Throttle {
		return recLabeler{&recThrottle{log: log, name: name}, text}
	}
	o := &recObserver{log: newRecLog(), name: "o"}
	require.NoError(t, retry.Run(t.Context(), func(context.Context) error { return nil }, retry.WithObserver(o),
		retry.WithThrottle(&recThrottle{log: log, name: "a"}, label("b", ""), label("c", "token 2"), label("d", "token 9"))))
	require.Equal(t, "token 2", o.starts[0].Label)
	require.Zero(t, log.seen["d.Label"])
	log = newRecLog()
	require.NoError(t, retry.Run(t.Context(), func(context.Context) error { return nil }, retry.WithThrottle(label("b", "x"))))
	require.Zero(t, log.seen["b.Label"], "nobody wants to know")
}
