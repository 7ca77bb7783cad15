package retry_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// What must be true in FuzzFlow: after every step, and of its reason and its error.

func (w *fzWorld) settled() {
	for _, h := range w.throttles {
		w.must(!h.given, "throttle %d was not told", h.index)
	}
	if w.budget != nil {
		w.must(w.budget.starts == w.budget.settled, "started %d times, settled %d times", w.budget.starts, w.budget.settled)
	}
}

// fzTimedOut stands for a context's deadline, which ErrDeadline is too.
var fzTimedOut = errors.New("the context's deadline")

func fzIs(reason, target error) bool {
	if target == fzTimedOut {
		return errors.Is(reason, context.DeadlineExceeded) && !errors.Is(reason, retry.ErrDeadline)
	}
	return errors.Is(reason, target)
}

var fzAllReasons = []error{
	retry.ErrExhausted, retry.ErrMaxElapsed, retry.ErrDeadline, retry.ErrRefused, retry.ErrHintTooLong, retry.ErrBudget, retry.ErrNoDelay,
	retry.ErrNotRetryable, retry.ErrShutdown, context.Canceled, fzTimedOut,
}

func fzReasons(reason error) (all []error) {
	for _, r := range fzAllReasons {
		if fzIs(reason, r) {
			all = append(all, r)
		}
	}
	return all
}

// check says whether a step is a right one after what has happened.
func (w *fzWorld) check(s retry.Step, reported bool) {
	w.must(s.Class == throttle.Unset || reported, "a class after no attempt: %+v", s)
	switch s.Action {
	case retry.Go:
		w.must(!reported && !w.running, "an attempt out of turn")
		w.must(s == retry.Step{Action: retry.Go}, "%+v", s)
		for _, h := range w.throttles {
			w.must(h.admitted, "throttle %d did not let pass", h.index)
		}
		w.running, w.told, w.launched = true, 0, w.now
		w.attempts++
	case retry.Wait:
		w.reached[s.Source.String()+" wait"] = true
		w.must(s.Delay >= 0 && s.Reason == nil && s.Err == nil == (!reported || w.again), "%+v", s)
		w.must(w.ctx.Err() == nil && !w.closed, "a wait after the end: %+v", s)
		w.must(!w.outOfTime(s.Delay), "a wait beyond the limits: %+v", s)
		if !reported && s.Source == retry.SourcePolicy {
			w.must(w.initial, "a wait that nobody asked for: %+v", s)
			w.initial = false
		}
		w.must(w.told <= w.maxHint, "throttles hold the call back for %v in all", w.told)
		w.must(s.Source != retry.SourcePolicy || s.Delay <= w.maxDelay, "above the cap: %+v", s)
		w.must(!reported || w.again || errors.Is(s.Err, w.base) && w.verdict != throttle.No, "%+v is retried", s)
		w.must(!reported || !w.exhausted(), "no attempt is left")
	case retry.Done:
		w.ended, w.final = true, s
		w.settled()
		if s.Err == nil {
			w.must(reported && !w.again && w.outcome.Err == nil && s.Reason == nil, "a success: %+v", s)
			w.reached["success"] = true
			break
		}
		w.must(!reported || w.again || w.outcome.Err != nil, "a success ended with %v", s.Err)
		w.checkReason(s, reported)
		w.checkError(s)
	default:
		w.fail("%+v", s)
	}
	w.must(w.attempts-w.forgotten <= w.limit, "too many attempts")
}

// outOfTime says whether a wait that starts now would end at a limit or beyond.
func (w *fzWorld) outOfTime(wait time.Duration) bool {
	end := w.now.Add(wait)
	return w.maxElapsed > 0 && !end.Before(w.began.Add(w.maxElapsed)) || w.pastDeadline(wait) ||
		w.maxRetry > 0 && w.failing && !end.Before(w.failed.Add(w.maxRetry)) || w.kindOutOfTime(wait)
}

func (w *fzWorld) pastDeadline(wait time.Duration) bool {
	return !w.deadline.IsZero() && !w.now.Add(wait).Before(w.deadline)
}

// checkReason says whether the reason is one, and holds.
func (w *fzWorld) checkReason(s retry.Step, reported bool) {
	reasons := fzReasons(s.Reason)
	w.must(len(reasons) == 1, "%v is %q", s.Reason, reasons)
	w.reached[reasons[0].Error()] = true
	done := w.ctx.Err() != nil
	holds := false
	switch reasons[0] {
	case retry.ErrExhausted:
		holds = reported && !w.again && w.exhausted()
	case retry.ErrMaxElapsed:
		holds = w.outOfTime(s.Delay)
	case retry.ErrDeadline:
		holds = w.pastDeadline(s.Delay)
	case retry.ErrRefused:
		holds = !reported && w.refused != nil && errors.Is(s.Reason, w.refused) && s.Delay >= 0
	case retry.ErrHintTooLong:
		holds = s.Delay > w.maxHint || w.told > w.maxHint
	case retry.ErrBudget:
		holds = reported && !w.again && !w.budget.ok && !w.budget.lastRetry
	case retry.ErrNoDelay:
		holds = reported && !w.curve.ok
	case retry.ErrNotRetryable:
		holds = reported && !w.again && w.verdict != throttle.Yes
	case retry.ErrShutdown:
		holds = w.closed
	case context.Canceled, fzTimedOut:
		holds = done
	}
	w.must(holds, "no reason: %v", s.Reason)
	w.must(s.Delay == 0 || slices.Contains([]error{retry.ErrMaxElapsed, retry.ErrDeadline, retry.ErrRefused, retry.ErrHintTooLong, retry.ErrBudget}, reasons[0]),
		"a wait that is not the reason: %+v", s)
	w.must(done == (reasons[0] == context.Canceled || reasons[0] == fzTimedOut), "the context comes first, not %v", s.Reason)
	w.must(!reported || done || w.verdict != throttle.No || reasons[0] == retry.ErrNotRetryable, "the verdict comes first, not %v", s.Reason)
}

// checkError says whether the error tells what has happened.
func (w *fzWorld) checkError(s retry.Step) {
	w.must(!w.lastFailed || errors.Is(s.Err, w.base), "%v does not match %v", s.Err, w.base)
	w.must(!strings.Contains(s.Err.Error(), "nil>"), "%v", s.Err)
	e, ok := s.Err.(*retry.Error)
	if ok && w.lastFailed && e == w.outcome.Err {
		ok = false // another call's, as it is
	}
	if !ok {
		w.must(errors.Is(s.Reason, retry.ErrNotRetryable) && w.history == 0, "the bare error for %v", s.Reason)
		return
	}
	w.must(errors.Is(s.Err, s.Reason) && e.Reason == s.Reason && e.Delay == s.Delay && e.Elapsed >= 0, "%+v for %+v", *e, s)
	w.must(e.Attempts == w.attempts, "%+v after %d attempts", *e, w.attempts)
	w.must(e.Last == nil == !w.lastFailed && !slices.Contains(e.Unwrap(), nil), "%+v", *e)
	w.must(len(e.History) == min(w.history, w.failures) && len(e.History)+e.Dropped == w.failures || w.history == 0 && e.History == nil, "%+v", *e)
}
