package retry_test

import (
	"math"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
)

// What FuzzFlow knows of runs of failures: those since the last reset, and each kind of them.

// fzRun is what a reset sets back.
type fzRun struct {
	began     time.Time // from which MaxElapsed counts
	forgotten int       // attempts that count no more
	failing   bool
	failed    time.Time // the first failure
	kind      int       // of the last failure; 0: of no rule
	kinds     []fzKind
	restart   bool // the failure is marked
}

// fzKind is what is known of one kind. The first is that of no rule.
type fzKind struct {
	own     bool // it has a strategy of its own
	limit   int  // 0: none of its own
	elapsed time.Duration
	number  int // State.Number
	count   int // failures
	failed  time.Time
	prev    time.Duration
}

// rule makes a rule that matches as the script has it.
func (w *fzWorld) rule() retry.Option {
	n, k := len(w.kinds), fzKind{own: w.rarely(3), limit: fzOneOf(&w.fzScript, 0, 1, 3, math.MaxInt), elapsed: w.someLimit()}
	w.kinds = append(w.kinds, k)
	opts := []retry.Option{retry.WithMaxElapsed(k.elapsed)}
	if k.limit > 0 {
		opts = append(opts, retry.WithMaxAttempts(k.limit))
	}
	if k.own {
		opts = append(opts, retry.WithStrategy(strategy.Constant{Delay: max(w.someWait(), 0)}))
	}
	return retry.WithRule(condition.Func(func(error) condition.Verdict {
		w.maybePanic()
		if !w.rarely(2) {
			return fzOneOf(&w.fzScript, condition.Unknown, condition.Stop)
		}
		w.reached["rule"] = true
		w.counts(n)
		return fzOneOf(&w.fzScript, condition.Retry, condition.Throttled)
	}), opts...)
}

// advance takes the time of a step. What the clock was set back by is no time that has passed.
func (w *fzWorld) advance() {
	if back := w.now.Sub(w.latest); back < 0 {
		w.began, w.failed = w.began.Add(back), w.failed.Add(back)
		for i := range w.kinds {
			w.kinds[i].failed = w.kinds[i].failed.Add(back)
		}
		w.reached["set back"] = true
	}
	w.latest = w.now
}

// begins says what an attempt that has ended means for the run of failures, before it is reported. It is of no rule until
// one matches.
func (w *fzWorld) begins() {
	took := w.outcome.Duration
	if took == 0 && !w.launched.IsZero() {
		took = w.now.Sub(w.launched)
	}
	if w.again || w.lastFailed && (w.restart || w.healthy > 0 && took >= w.healthy) {
		w.forgotten, w.failing, w.kind = w.attempts, false, 0
		for i, k := range w.kinds {
			w.kinds[i] = fzKind{own: k.own, limit: k.limit, elapsed: k.elapsed}
		}
		if w.lastFailed {
			w.forgotten--
			w.began = w.now
			w.reached["reset"] = true
		}
	}
	if w.lastFailed {
		w.failures++
		if !w.failing {
			w.failing, w.failed = true, w.now
		}
		w.kind = 0
		w.kinds[0].number++
	}
}

// counts moves the failure that is being reported from no rule to a rule.
func (w *fzWorld) counts(kind int) {
	w.kinds[0].number--
	w.kind = kind
	k := &w.kinds[kind]
	k.number++
	if k.count++; k.count == 1 {
		k.failed = w.now
	}
	if !w.limitSet && (k.limit > 0 || k.elapsed > 0) {
		w.forgotten++
	}
}

// first is when the kind that failed last failed first; without a rule, when the run began.
func (w *fzWorld) first() time.Time {
	if w.kind == 0 {
		return w.failed
	}
	return w.kinds[w.kind].failed
}

func (w *fzWorld) exhausted() bool {
	k := w.kinds[w.kind]
	if k.limit > 0 && k.count >= k.limit {
		w.reached["rule's limit"] = true
		return true
	}
	return !w.again && w.attempts-w.forgotten >= w.limit
}

func (w *fzWorld) kindOutOfTime(wait time.Duration) bool {
	k := w.kinds[w.kind]
	if k.elapsed > 0 && !w.now.Add(wait).Before(k.failed.Add(k.elapsed)) {
		w.reached["rule's time"] = true
		return true
	}
	return false
}
