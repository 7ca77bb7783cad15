package retrysim

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/seed-89b3229b/retry"
)

// Step is what happened in one step of the series, added up over the trials.
type Step struct {
	// At is when the step begins.
	At time.Duration
	// Calls began in it. Of them, Ended have ended, whenever that was, and Succeeded ended well.
	Calls, Ended, Succeeded int
	// Attempts were sent in it, and Completed calls ended well in it, whenever they began.
	Attempts, Completed int
	// Refused calls ended in it because a throttle or a budget refused to go on.
	Refused int
	// InFlight requests were in the server at its end, Queue of them in its line, and Waiting calls waited for their next attempt.
	InFlight, Queue, Waiting int
	// Budget is what the watched budgets (Client.Watch) held at its end: tokens, or the balance of a throttle.RatioBudget; of a
	// throttle.InFlightBudget, how many calls retry, as a negative number.
	Budget float64
}

// Success returns the share of the calls that succeeded, of those that began in the step. Without any it is 1.
func (s Step) Success() float64 {
	if s.Calls == 0 {
		return 1
	}
	return float64(s.Succeeded) / float64(s.Calls)
}

// healthy is the share of calls that succeed in a step in which all is well.
const healthy = 0.95

// Counts are what is counted over a whole run.
type Counts struct {
	// Calls began; Succeeded of them ended well, FirstTry of those with their first attempt.
	Calls, Succeeded, FirstTry int
	// Attempts were sent to the server (with Layers: to the one that does the work).
	Attempts int
	// Of the attempts, Served were worked on, Rejected turned away at once, Dropped because their client had gone, and Lost on
	// the way. What is missing was under way at the end.
	Served, Rejected, Dropped, Lost int
	// Wasted is how many of the served ones were for nothing: the answer was a failure, or nobody waited for it any more.
	Wasted int
	// Waited is the sum of all waits between attempts, in nanoseconds.
	Waited float64

	endings [endingKinds]int
}

// tally is what is counted while a world runs.
type tally struct {
	step, boundary int64
	steps          []Step
	total          Counts
	good, bad      latencies // of the calls that succeeded, and of the others
	peakQueue      int
	last           int64 // when the last call ended

	present  int // requests in the server
	inside   area
	sojourns float64 // of those that have left, in nanoseconds
	busy     area    // of workers
	streak   int     // steps in a row that went well after the faults
	settled  int     // the first step that streak has not looked at
}

// area is the integral of a number over time, in nanoseconds.
type area struct {
	since int64
	sum   float64
}

// to goes on to now, the number having been n since the last call.
func (a *area) to(now int64, n int) {
	if now != a.since {
		a.sum += float64(float64(now-a.since) * float64(n))
		a.since = now
	}
}

func (t *tally) ready(s *Scenario) {
	t.step = int64(s.step())
	t.boundary = t.step
	t.settled = int((int64(s.faultsEnd()) + t.step - 1) / t.step)
	t.good.samples = make([]int64, 0, int(min(1.05*s.calls(), exactly)))
	t.steps = make([]Step, 1, min((int64(s.Length)+t.step-1)/t.step+1, maxSteps))
}

// current is the step of now. What happens beyond the longest series is counted in its last step.
func (t *tally) current() *Step { return &t.steps[len(t.steps)-1] }

// close ends the steps that are over at now.
func (w *world) close(now int64) {
	for {
		s := w.current()
		s.InFlight, s.Queue, s.Waiting = w.present, w.server.line(), w.waiting
		for _, b := range w.budgets {
			s.Budget += level(b, clock(min(w.boundary, w.length)))
		}
		if w.enough > 0 {
			w.look()
		}
		if now < w.boundary || now == math.MaxInt64 {
			return
		}
		if len(w.steps) == maxSteps || w.boundary >= math.MaxInt64-w.step {
			w.boundary = math.MaxInt64
			return
		}
		w.steps = append(w.steps, Step{At: time.Duration(w.boundary)})
		w.boundary += w.step
		if now < w.boundary {
			return
		}
	}
}

// look goes through the steps whose calls have all ended.
func (t *tally) look() {
	for ; t.settled < len(t.steps)-1; t.settled++ {
		s := &t.steps[t.settled]
		if s.Ended < s.Calls {
			return
		}
		if t.streak++; s.Success() < healthy {
			t.streak = 0
		}
	}
}

func (t *tally) countCall() {
	t.total.Calls++
	t.current().Calls++
}

func (t *tally) countAttempt() {
	t.total.Attempts++
	t.current().Attempts++
}

func (t *tally) countAnswer(wasted bool) {
	if wasted {
		t.total.Wasted++
	}
}

func (w *world) enter() {
	w.inside.to(w.now, w.present)
	w.present++
}

func (w *world) leave(id int32) {
	w.inside.to(w.now, w.present)
	w.present--
	w.sojourns += float64(w.now - w.attempts[id].reached)
}

// countEnd counts how a call ended.
func (w *world) countEnd(c *call, step retry.Step) {
	began, took := &w.steps[c.step], w.now-c.began
	began.Ended++
	w.last = w.now
	kind := endingOf(step)
	w.total.endings[kind]++
	switch kind {
	case succeeded:
		began.Succeeded++
		w.total.Succeeded++
		w.current().Completed++
		w.good.add(took)
		if c.tries == 1 {
			w.total.FirstTry++
		}
	case refused, budget, hintTooLong:
		w.current().Refused++
	}
	if kind != succeeded {
		w.bad.add(took)
	}
}

// How calls end.
const (
	succeeded = iota
	exhausted
	budget
	maxElapsed
	pastDeadline
	refused
	hintTooLong
	noDelay
	notRetryable
	unfinished
	otherEnding
	endingKinds
)

var endingNames = [endingKinds]string{
	"succeeded", "exhausted", "budget", "max elapsed", "deadline", "refused", "hint too long", "no delay", "not retryable",
	"unfinished", "other",
}

var endingReasons = [endingKinds]error{
	exhausted: retry.ErrExhausted, budget: retry.ErrBudget, maxElapsed: retry.ErrMaxElapsed, pastDeadline: context.DeadlineExceeded,
	refused: retry.ErrRefused, hintTooLong: retry.ErrHintTooLong, noDelay: retry.ErrNoDelay, notRetryable: retry.ErrNotRetryable,
}

func endingOf(step retry.Step) int {
	if step.Err == nil {
		return succeeded
	}
	for i, reason := range endingReasons { // most reasons come as they are
		if reason != nil && step.Reason == reason {
			return i
		}
	}
	for i, reason := range endingReasons {
		if reason != nil && errors.Is(step.Reason, reason) {
			return i
		}
	}
	return otherEnding
}
