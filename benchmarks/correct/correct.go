// Package correct asks every library the same questions about defects that retry libraries have had, and judges what it
// does. The ids are those of the tests of this repository. Time is virtual (testing/synctest), and so exact, but where a
// question is about a race.
package correct

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-89b3229b/retry/benchmarks/library"
)

// Case is one question.
type Case struct {
	// ID is the defect's. Title says in a few words what is looked at.
	ID, Title string
	// Asks says what a library must do.
	Asks string
	// Real asks in real time.
	Real bool

	check func(l *library.Library) Verdict
}

// Answer is how a library does in a case.
type Answer uint8

// The answers. Absent: the library does not have what the case is about.
const (
	Right Answer = iota + 1
	Wrong
	Absent
)

// String returns the word for a table.
func (a Answer) String() string { return [...]string{"", "right", "wrong", "n/a"}[a] }

// Verdict is an answer, and for a wrong one what was seen.
type Verdict struct {
	Answer Answer
	Seen   string
}

func wrong(format string, args ...any) Verdict { return Verdict{Wrong, fmt.Sprintf(format, args...)} }

// require is Right if ok, else Wrong with what was seen.
func require(ok bool, format string, args ...any) Verdict {
	if ok {
		return Verdict{Answer: Right}
	}
	return wrong(format, args...)
}

// all is the first verdict that is not Right.
func all(verdicts ...Verdict) Verdict {
	for _, v := range verdicts {
		if v.Answer != Right {
			return v
		}
	}
	return Verdict{Answer: Right}
}

// Judge asks one library. A panic of the library is a wrong answer.
func (c *Case) Judge(t *testing.T, l *library.Library) (v Verdict) {
	check := func() {
		defer func() {
			if p := recover(); p != nil {
				v = wrong("panics: %v", p)
			}
		}()
		v = c.check(l)
	}
	if c.Real {
		check()
		return v
	}
	synctest.Test(t, func(*testing.T) { check() })
	return v
}

var (
	errOp    = errors.New("operation failed")
	errOther = errors.New("another one")
	errCause = errors.New("shutting down")
)

// outcome is what came of one call.
type outcome struct {
	value int
	err   error
	at    []time.Duration // of each call of the operation
	took  time.Duration
}

func (o *outcome) calls() int { return len(o.at) }

// endless is a number of attempts after which a call is made to end.
const endless = 20_000

// run makes one call. fail says how the n-th attempt ends, from 1. It is run in the case's bubble, so its times are exact.
func run(ctx context.Context, l *library.Library, s library.Settings, fail func(ctx context.Context, n int) error) (outcome, error) {
	call, err := l.New(s)
	if err != nil {
		return outcome{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return observe(ctx, call, func(ctx context.Context, n int) error {
		if n > endless {
			cancel()
		}
		return fail(ctx, n)
	}), nil
}

// observe makes a call that is ready.
func observe(ctx context.Context, call library.Call, fail func(ctx context.Context, n int) error) (o outcome) {
	start := time.Now()
	o.value, o.err = call(ctx, func(ctx context.Context) (int, error) {
		o.at = append(o.at, time.Since(start))
		return len(o.at), fail(ctx, len(o.at))
	})
	o.took = time.Since(start)
	return o
}

// always fails with err.
func always(err error) func(context.Context, int) error {
	return func(context.Context, int) error { return err }
}

// refused is the verdict on an error of New.
func refused(err error) Verdict {
	if errors.Is(err, library.ErrAbsent) {
		return Verdict{Answer: Absent}
	}
	return wrong("refuses the settings: %v", err)
}

// keeps says whether err matches all of the targets.
func keeps(err error, targets ...error) Verdict {
	if err == nil {
		return wrong("returns no error")
	}
	for _, target := range targets {
		if !errors.Is(err, target) {
			return wrong("errors.Is(err, %s) is false", name(target))
		}
	}
	return Verdict{Answer: Right}
}

func name(err error) string {
	switch err {
	case errOp:
		return "the operation's error"
	case errOther:
		return "a joined error"
	case errCause:
		return "the cause"
	case context.Canceled:
		return "context.Canceled"
	case context.DeadlineExceeded:
		return "context.DeadlineExceeded"
	}
	return err.Error()
}

// Cases are the questions, in the order of their ids.
var Cases = []Case{
	{ID: "P01", Title: "doubling saturates", check: saturates,
		Asks: "1 s doubling without a cap: no wait of 200 is negative or shorter than the one before; with a cap of 30 s all from the sixth on are 30 s"},
	{ID: "P02", Title: "full jitter, no cap", check: fullJitter,
		Asks: "full jitter on 1 s doubling without a cap, 1100 waits: no panic, none negative"},
	{ID: "P03", Title: "no jitter", check: noJitter,
		Asks: "jitter of zero leaves a wait of 1 s as it is; a negative one is refused or makes no negative wait; neither panics"},
	{ID: "P04", Title: "cap holds with jitter", check: capWithJitter,
		Asks: "first wait 1 s, cap 1 s, jitter ±50 %: none of 10 000 waits is longer than 1 s"},
	{ID: "P05", Title: "jitter on the largest", check: largestWithJitter,
		Asks: "the largest wait there is with jitter ±50 %: none of 1000 is negative, which would mean at once, or stop"},
	{ID: "P06", Title: "timeout in a wait", check: timeoutInWait,
		Asks: "the context times out in a wait: the error matches both the operation's and context.DeadlineExceeded"},
	{ID: "P07", Title: "cancel in a wait", check: cancelInWait,
		Asks: "the context is cancelled in a wait: the call returns at once, and the error matches both the operation's and context.Canceled"},
	{ID: "P07a", Title: "the context's cause", check: causeInWait,
		Asks: "cancelled with a cause in a wait: the error matches the cause"},
	{ID: "P07b", Title: "Canceled beside a cause", check: canceledBesideCause,
		Asks: "cancelled with a cause in a wait: the error still matches context.Canceled"},
	{ID: "P08", Title: "context done before", check: doneBefore,
		Asks: "the context is done before the call: the operation is not called"},
	{ID: "P09", Title: "cancel in an attempt", check: cancelInAttempt, Real: true,
		Asks: "the operation cancels its context and fails, the wait is 1 ns, 1000 calls: never a second attempt"},
	{ID: "P10", Title: "wait past the deadline", check: waitPastDeadline,
		Asks: "the deadline is in 1 s, the wait would be 10 s: the call ends at once, with the operation's error and context.DeadlineExceeded"},
	{ID: "P12", Title: "wrapped permanent", check: wrappedPermanent,
		Asks: "a permanent error below fmt.Errorf or errors.Join: one attempt"},
	{ID: "P13", Title: "around a permanent", check: aroundPermanent,
		Asks: "a permanent error below fmt.Errorf or errors.Join, in the first or second attempt: the text around it and the errors beside it are returned too"},
	{ID: "P16", Title: "zero attempts", check: zeroAttempts,
		Asks: "a limit of zero attempts (or retries) is refused, or does what the documentation says"},
	{ID: "P19", Title: "told wait over budget", check: hintOverBudget,
		Asks: "a server tells to wait for 30 min, the budget is 15 min: the call ends at once"},
	{ID: "P21", Title: "told wait keeps error", check: hintKeepsError,
		Asks: "an error with a told wait of 1 s, two attempts: the wait is 1 s, and the error that is returned matches the operation's"},
	{ID: "P22", Title: "shared policy", check: sharedPolicy,
		Asks: "two calls at a time on one policy: each sees its own waits of 1, 2, 4 s"},
	{ID: "P23", Title: "callback per retry", check: callbackPerRetry,
		Asks: "three failing attempts: the retry callback is called twice"},
	{ID: "P29", Title: "no goroutine left", check: goroutineLeft,
		Asks: "100 calls cancelled in a wait, and 100 loops left early where there is a loop form: no goroutine remains"},
	{ID: "P30", Title: "no timer left", check: timerLeft,
		Asks: "cancelled in a wait on an injected clock: no timer of it is pending"},
	{ID: "P37", Title: "attempt timeout", check: attemptTimeout,
		Asks: "an attempt that runs out of its own time is retried, and the error says so; the caller's deadline ends the call, and the error says that"},
	{ID: "P44", Title: "budget met exactly", check: budgetMetExactly,
		Asks: "1 s doubling, a budget of 5 s, a clock that stands still in attempts: the call ends by 5 s"},
	{ID: "ctx", Title: "context for attempts", check: contextForAttempts,
		Asks: "the operation gets a context from the library: it has the caller's values, and ends with the caller's"},
}
