package retry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// hdError is an error whose methods cannot bear a nil pointer.
type hdError struct{ text string }

func (e *hdError) Error() string { return e.text }

var errHdNil error = (*hdError)(nil)

// hdGaveUp is recError for errors that hold a nil pointer.
func hdGaveUp(t *testing.T, err error) *retry.Error {
	t.Helper()
	e, ok := err.(*retry.Error)
	require.True(t, ok, "%T is not a *retry.Error", err)
	return e
}

// TestTypedNilErrors: a nil pointer in an error, wherever it comes from, is written as nil and breaks nothing.
func TestTypedNilErrors(t *testing.T) {
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(errHdNil)
	refused := retry.WithThrottle(throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, errHdNil }))
	before := retry.WithBeforeRetry(func(context.Context, retry.Event) error { return errHdNil })
	two := retry.WithMaxAttempts(2)
	for name, tc := range map[string]struct {
		ctx  context.Context
		err  error
		opts []retry.Option
		want string
	}{
		"last":          {t.Context(), errHdNil, []retry.Option{two}, "<nil> (retry: gave up after 2 attempts: attempts exhausted)"},
		"history":       {t.Context(), errHdNil, []retry.Option{two, retry.WithErrorHistory(3)}, "<nil> (retry: gave up after 2 attempts: attempts exhausted)"},
		"cause":         {canceled, errRec, nil, "retry: not attempted: context canceled: <nil>"},
		"refusal":       {t.Context(), errRec, []retry.Option{refused}, "retry: not attempted: refused by a throttle: <nil>"},
		"before retry":  {t.Context(), errRec, []retry.Option{before}, "boom (retry: gave up after 1 attempt: <nil>)"},
		"below":         {t.Context(), fmt.Errorf("x: %w", errors.Join(errRec, retry.Permanent(errHdNil))), nil, "x: boom\n<nil> (retry: gave up after 1 attempt: not retryable)"},
		"told":          {t.Context(), retry.After(0, errHdNil), []retry.Option{two}, "<nil> (retry: gave up after 2 attempts: attempts exhausted)"},
		"told below":    {t.Context(), fmt.Errorf("x: %w", retry.After(0, errHdNil)), []retry.Option{two}, "x: <nil> (retry: gave up after 2 attempts: attempts exhausted)"},
		"typed refusal": {t.Context(), errRec, []retry.Option{hdRefuses((*throttle.Error)(nil))}, "retry: not attempted: refused by a throttle: <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lines bytes.Buffer
				log := slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
				opts := append([]retry.Option{recAtOnce, retry.WithLogger(log)}, tc.opts...)
				err := retry.Run(tc.ctx, func(context.Context) error { return tc.err }, opts...)
				require.EqualError(t, err, tc.want)
				require.NotEmpty(t, lines.String())
				require.NotErrorIs(t, err, retry.ErrMaxElapsed)
			})
		})
	}
}

func hdRefuses(err error) retry.Option {
	return retry.WithThrottle(throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, err }))
}

// TestTypedNilMarked: the marks around a nil pointer say what they say around any error.
func TestTypedNilMarked(t *testing.T) {
	for _, err := range []error{retry.Permanent(errHdNil), retry.After(time.Second, errHdNil), retry.After(0, retry.Permanent(errHdNil))} {
		require.EqualError(t, err, "<nil>")
	}
	require.Equal(t, errHdNil, errors.Unwrap(retry.Permanent(errHdNil)))
	calls := 0
	err := retry.Run(t.Context(), func(context.Context) error { calls++; return retry.Permanent(errHdNil) })
	require.Equal(t, errHdNil, err, "as the operation returned it")
	require.Equal(t, 1, calls)
	step := newRecSteps(t, retry.WithHint(throttle.Exact())).fails(retry.After(3*time.Second, errHdNil))
	require.Equal(t, retry.Step{Action: retry.Wait, Delay: 3 * time.Second, Source: retry.SourceServer, Class: throttle.Throttled, Err: errHdNil}, step)
}

// TestTypedNilAfterTheTimeout: the same errors from an attempt whose deadline has passed.
func TestTypedNilAfterTheTimeout(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		text string // "": not even its own can be had
	}{
		"nil pointer":      {errHdNil, "<nil>"},
		"permanent":        {retry.Permanent(errHdNil), "<nil>"},
		"unwraps":          {(*url.Error)(nil), "<nil>"},
		"wrapped":          {fmt.Errorf("x: %w", errHdNil), "x: <nil>"},
		"url.Error of DNS": {&url.Error{Op: "Get", URL: "x", Err: (*net.DNSError)(nil)}, `Get "x": <nil>`},
		"OpError of DNS":   {&net.OpError{Op: "dial", Err: (*net.DNSError)(nil)}, "dial: <nil>"},
		"joined":           {errors.Join((*url.Error)(nil), errRec), ""},
		"within an Error":  {&retry.Error{Last: (*url.Error)(nil)}, "<nil> (retry: not attempted)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				require.NotPanics(t, func() {
					got := retry.Run(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return tc.err },
						retry.WithAttemptTimeout(time.Second), retry.WithMaxAttempts(2), recAtOnce)
					require.ErrorIs(t, got, retry.ErrAttemptTimeout)
					if e, ok := got.(*retry.Error); ok {
						require.Equal(t, 2, e.Attempts)
						got = e.Last
					} else {
						require.Equal(t, "permanent", name)
					}
					if tc.text != "" {
						require.EqualError(t, got, tc.text)
					}
				})
			})
		})
	}
}

// TestTypedNilIsNoElement of the tree: errors.Is would ask it, and here find neither the reason nor the way back.
func TestTypedNilIsNoElement(t *testing.T) {
	var unwraps error = (*url.Error)(nil)
	for name, err := range map[string]error{
		"last":    retry.Run(t.Context(), func(context.Context) error { return unwraps }, recAtOnce),
		"history": retry.Run(t.Context(), func(context.Context) error { return unwraps }, recAtOnce, retry.WithErrorHistory(2)),
		"refusal": retry.Run(t.Context(), func(context.Context) error { return nil }, hdRefuses(unwraps)),
		"all":     &retry.Error{Reason: unwraps, Last: unwraps, History: []error{unwraps}},
	} {
		require.NotPanics(t, func() { require.NotErrorIs(t, err, errRecCause) }, name)
	}
}

// TestTimeoutOfANestedCall: that an inner call says so of its own attempts does not matter. It is the outer attempt that has
// timed out, and whoever limits attempts is told.
func TestTimeoutOfANestedCall(t *testing.T) {
	for name, opt := range map[string]retry.Option{"own timeouts": retry.WithAttemptTimeout(time.Second), "none": retry.WithName("")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []throttle.Outcome
				err := retry.Run(t.Context(), func(ctx context.Context) error {
					return retry.Run(ctx, recWaitsForContext, opt, recAtOnce, retry.WithUnlimitedAttempts())
				}, retry.WithAttemptTimeout(10500*time.Millisecond), retry.WithMaxAttempts(2), recAtOnce, retry.WithThrottle(recKeeps{&told}))
				require.ErrorIs(t, err, retry.ErrAttemptTimeout)
				require.Len(t, told, 2)
				for _, o := range told {
					require.Equal(t, throttle.Timeout, o.Class)
					require.Equal(t, 10500*time.Millisecond, o.Duration)
				}
			})
		})
	}
}

// TestTypedNilBelowNetworkErrors: the standard library's wrappers put every question to the nil pointer that they hold.
func TestTypedNilBelowNetworkErrors(t *testing.T) {
	for _, err := range []error{
		&url.Error{Op: "Get", URL: "x", Err: (*net.DNSError)(nil)},
		&url.Error{Op: "Get", URL: "x", Err: &net.OpError{Op: "dial", Err: (*net.DNSError)(nil)}},
		&net.OpError{Op: "dial", Err: (*net.DNSError)(nil)},
		&net.OpError{Op: "dial", Err: errHdNil},
		(*url.Error)(nil), (*net.OpError)(nil), (*net.DNSError)(nil),
	} {
		for _, opt := range []retry.Option{retry.WithName(""), retry.WithCondition(condition.Network(), condition.Timeout(), condition.HTTPStatus(503)), retry.WithErrorHistory(2)} {
			calls := 0
			got := retry.Run(t.Context(), func(context.Context) error { calls++; return err }, recAtOnce, retry.WithMaxAttempts(2), opt)
			require.Equal(t, 2, calls)
			e := hdGaveUp(t, got)
			require.Equal(t, err, e.Last)
			require.Equal(t, retry.ErrExhausted, e.Reason)
		}
	}
}

// hdContext is a context of the caller's own making.
type hdContext struct {
	context.Context
	deadline func() (time.Time, bool)
	err      func() error
}

func (c *hdContext) Deadline() (time.Time, bool) {
	if c.deadline != nil {
		return c.deadline()
	}
	return c.Context.Deadline()
}

func (c *hdContext) Err() error {
	if c.err != nil {
		return c.err()
	}
	return c.Context.Err()
}

// TestContextWithoutADeadline may answer with any time beside its false.
func TestContextWithoutADeadline(t *testing.T) {
	for _, past := range []time.Duration{-time.Hour, 0, time.Second} {
		for name, opt := range map[string]retry.Option{"plain": retry.WithName(""), "observed": retry.WithObserver(&recObserver{log: newRecLog(), name: "o"})} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					at := time.Now().Add(past)
					ctx := &hdContext{Context: t.Context(), deadline: func() (time.Time, bool) { return at, false }}
					calls, err := kbRun(ctx, errKnown, recEvery(time.Hour), opt)
					require.Equal(t, 5, calls)
					require.ErrorIs(t, err, retry.ErrExhausted)
					require.NotErrorIs(t, err, context.DeadlineExceeded)
				})
			})
		}
	}
}

// hdErrors cannot be compared.
type hdErrors []error

func (hdErrors) Error() string { return "several" }

// TestContextWithAnErrorOfItsOwn: it ends the call, even if it cannot be compared.
func TestContextWithAnErrorOfItsOwn(t *testing.T) {
	for _, own := range []error{errRecCause, hdErrors{errRecCause}, errHdNil} {
		var ended error
		ctx := &hdContext{Context: t.Context(), err: func() error { return ended }}
		for _, opts := range [][]retry.Option{nil, {retry.WithAttemptTimeout(time.Hour)}, {retry.WithErrorHistory(2), retry.WithThrottle(recOpen)}} {
			ended = own
			err := retry.Run(ctx, func(context.Context) error { t.Error("called"); return nil }, opts...)
			require.Equal(t, own, hdGaveUp(t, err).Reason, "before the first attempt")

			ended = nil
			o := &recObserver{log: newRecLog(), name: "o"}
			err = retry.Run(ctx, func(context.Context) error { ended = own; return own }, append(opts, retry.WithObserver(o))...)
			e := hdGaveUp(t, err)
			require.Equal(t, own, e.Reason, "in the attempt")
			require.Equal(t, 1, e.Attempts)
			require.Equal(t, retry.EndCanceled, o.ends[0].Ending)
			require.Equal(t, throttle.Canceled, o.events[0].Class)

			ended = nil
			err = retry.Run(ctx, func(context.Context) error { return errRec }, append(opts, recEvery(time.Hour),
				retry.WithOnRetry(func(context.Context, retry.Event) { ended = own }))...)
			require.Equal(t, own, hdGaveUp(t, err).Reason, "before the wait")
			require.NotEmpty(t, err.Error())
		}
	}
}

// TestClassifyAfterTheTimeout: what Classify makes of a late attempt is a timeout too, and is retried as one.
func TestClassifyAfterTheTimeout(t *testing.T) {
	gone := fmt.Errorf("gone: %w", context.Canceled) // would not be retried on its own
	for name, returned := range map[string]error{"another error": errRec, "no error": nil} {
		for kept, opt := range map[string]retry.Results[int]{"": {}, " kept": {Keep: func(v int, _ context.CancelFunc) int { return v }}} {
			t.Run(name+kept, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					calls := 0
					var seen []error
					opt.Classify = func(_ int, err error) throttle.Outcome {
						if returned == nil {
							require.NoError(t, err)
						} else {
							require.ErrorIs(t, err, retry.ErrAttemptTimeout)
						}
						return throttle.Outcome{Err: gone}
					}
					_, err := retry.Do(t.Context(), func(ctx context.Context) (int, error) {
						calls++
						<-ctx.Done()
						return 0, returned
					}, retry.WithAttemptTimeout(time.Second), retry.WithMaxAttempts(3), recAtOnce, retry.WithResults(opt),
						retry.WithOnRetry(func(_ context.Context, e retry.Event) {
							seen = append(seen, e.Err)
							require.Equal(t, throttle.Timeout, e.Class)
						}))
					require.Equal(t, 3, calls)
					e := recError(t, err)
					require.Equal(t, retry.ErrExhausted, e.Reason)
					require.EqualError(t, e.Last, "gone: context canceled", "its own text")
					for _, err := range append(seen, e.Last) {
						require.ErrorIs(t, err, retry.ErrAttemptTimeout)
						require.ErrorIs(t, err, context.DeadlineExceeded)
						require.ErrorIs(t, err, gone)
					}
				})
			})
		}
	}
	synctest.Test(t, func(t *testing.T) { // in time it is what it says
		calls := 0
		_, err := retry.Do(t.Context(), func(context.Context) (int, error) { calls++; return 0, nil }, retry.WithAttemptTimeout(time.Second),
			retry.WithResults(retry.Results[int]{Classify: func(int, error) throttle.Outcome { return throttle.Outcome{Err: gone} }}))
		require.Equal(t, 1, calls)
		require.Equal(t, gone, err)
	})
}

// TestLoopKeptTry: what is done to a try later has no effect, and what it says stays.
func TestLoopKeptTry(t *testing.T) {
	var kept []*retry.Try
	loop := retry.NewLoop(t.Context(), recAtOnce, retry.WithMaxAttempts(5), retry.WithAttemptInfo())
	for try := range loop.Tries() {
		kept = append(kept, try)
		switch try.Number() {
		case 1:
			try.Fail(errRec)
		case 2:
			try.Fail(errRec)
			kept[0].Fail(nil) // would end the loop
		case 3:
			try.Fail(nil)
			kept[0].Fail(errRecCause) // would go on
			kept[1].Fail(errRecCause)
		}
	}
	require.NoError(t, loop.Err())
	require.Len(t, kept, 3)
	for i, try := range kept {
		require.Equal(t, i+1, try.Number())
		attempt, _ := retry.AttemptFrom(try.Context())
		require.Equal(t, i+1, attempt.Number)
	}
}

// TestLoopErrAfterAPanic is no success, at whichever point the loop was left.
func TestLoopErrAfterAPanic(t *testing.T) {
	for name, blow := range map[string]func(){"panic": recBlowUp, "goexit": runtime.Goexit} {
		for _, number := range []int{1, 2} {
			for _, opt := range []retry.Option{retry.WithName(""), retry.WithObserver(&recObserver{log: newRecLog(), name: "o"})} {
				loop := retry.NewLoop(t.Context(), recAtOnce, opt)
				body := func() {
					for try := range loop.Tries() {
						require.NoError(t, loop.Err())
						if try.Number() == number {
							blow()
						}
						try.Fail(errRec)
					}
				}
				if name == "panic" {
					require.Same(t, errRecPanic, recPanics(t, body))
				} else {
					require.True(t, recExits(body))
				}
				require.EqualError(t, loop.Err(), "retry: loop left by a panic", "%s in %d", name, number)
			}
		}
	}
	log := newRecLog() // not in the body
	log.on["o.Done"] = recBlowUp
	loop := retry.NewLoop(t.Context(), retry.WithObserver(&recObserver{log: log, name: "o"}))
	require.Same(t, errRecPanic, recPanics(t, func() { recLoop(loop, func(*retry.Try) bool { return true }) }))
	require.Error(t, loop.Err())
}

// TestAbortWithoutAClass: an attempt that its driver gave up is Canceled, and one that was not begun is Skipped.
func TestAbortWithoutAClass(t *testing.T) {
	for _, running := range []bool{true, false} {
		var told []throttle.Outcome
		waits := []any{}
		if !running {
			waits = append(waits, time.Second)
		}
		s := newRecSteps(t, retry.WithThrottle(recKeeps{&told}, &recThrottle{log: newRecLog(), name: "b", admit: recAnswers(waits...)}))
		s.flow.Next(t.Context(), s.now)
		step := s.flow.Abort(t.Context(), s.now, throttle.Unset)
		require.Equal(t, retry.ErrShutdown, step.Reason)
		want := throttle.Canceled
		if !running {
			want = throttle.Skipped
		}
		require.Equal(t, []throttle.Outcome{{Class: want, Number: 1}}, told)
	}
}

// hdClones is a strategy whose Clone is up to the test, and hdStarts one whose Start is.
type (
	hdClones struct{ clone strategy.Strategy }
	hdStarts struct{ call strategy.Strategy }
)

func (hdClones) Next(strategy.State) (time.Duration, bool)   { return time.Second, true }
func (s hdClones) Clone() strategy.Strategy                  { return s.clone }
func (hdStarts) Next(s strategy.State) (time.Duration, bool) { return time.Duration(s.Number), true }
func (s hdStarts) Start() strategy.Strategy                  { return s.call }

var hdNothing = map[string]strategy.Strategy{"nil": nil, "nil pointer": (*strategy.Exponential)(nil), "nil func": strategy.Func(nil)}

// TestStrategyThatClonesToNothing cannot be used.
func TestStrategyThatClonesToNothing(t *testing.T) {
	for name, clone := range hdNothing {
		s := hdClones{clone}
		_, err := retry.New(retry.WithStrategy(s))
		var invalid *retry.ConfigError
		require.ErrorAs(t, err, &invalid, name)
		require.Equal(t, "WithStrategy", invalid.Option)
		require.Equal(t, s, invalid.Value)
		_, err = retry.New(retry.WithStrategy(strategy.ByThrottled{Normal: s, Throttled: strategy.Constant{}}))
		require.ErrorIs(t, err, retry.ErrConfig, "%s, inside another", name)
	}
}

// TestStrategyThatStartsNothing is asked itself, as its preview is.
func TestStrategyThatStartsNothing(t *testing.T) {
	for name, call := range hdNothing {
		for _, s := range []strategy.Strategy{hdStarts{call}, strategy.ByThrottled{Normal: hdStarts{call}, Throttled: strategy.Constant{}}} {
			waits, end := recWaits(t, retry.WithStrategy(s), retry.WithMaxAttempts(4))
			require.Equal(t, []time.Duration{1, 2, 3}, waits, name)
			require.Equal(t, retry.ErrExhausted, end.Reason)
			require.Equal(t, waits, strategy.Delays(s, 3, nil), name)
		}
	}
}

// TestOptionsCopyWhenCalled: what the caller does with a list afterwards has no effect, though no policy has been made yet.
func TestOptionsCopyWhenCalled(t *testing.T) {
	conditions := []condition.Condition{condition.Func(func(error) condition.Verdict { return condition.Retry })}
	throttles := []throttle.Throttle{recOpen}
	opts := []retry.Option{retry.WithCondition(conditions...), retry.WithThrottle(throttles...)}
	conditions[0] = condition.Func(func(error) condition.Verdict { return condition.Stop })
	throttles[0] = throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, errRecCause })
	waits, end := recWaits(t, append(opts, recEvery(1), retry.WithMaxAttempts(3))...)
	require.Equal(t, []time.Duration{1, 1}, waits)
	require.Equal(t, retry.ErrExhausted, end.Reason)
}

// TestConditionBehindAListThatDecides would never be asked.
func TestConditionBehindAListThatDecides(t *testing.T) {
	is, other := condition.Is(errRec), condition.Is(errRecCause)
	only := condition.Only(is)
	for name, tc := range map[string]struct {
		first   condition.Condition
		decides bool
	}{
		"last":         {condition.Any(is, only), true},
		"alone":        {condition.Any(only), true},
		"deeper":       {condition.Any(is, condition.Any(is, only)), true},
		"none":         {condition.Any(is, is), false},
		"empty":        {condition.Any(), false},
		"all":          {condition.All(is, only), false},
		"within Only":  {condition.Only(condition.Any(is)), true},
		"the other is": {is, false},
	} {
		_, err := retry.New(retry.WithCondition(tc.first, other))
		if !tc.decides {
			require.NoError(t, err, name)
			continue
		}
		var invalid *retry.ConfigError
		require.ErrorAs(t, err, &invalid, name)
		require.Equal(t, other, invalid.Value, name)
		_, err = retry.New(retry.WithCondition(other, tc.first))
		require.NoError(t, err, "%s: at the end it may stand", name)
	}
}
