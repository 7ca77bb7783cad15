package retry_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// fzScript turns the fuzzer's bytes into decisions. When they are used up every further one is 0, which is the harmless
// choice everywhere, so that every script comes to an end.
type fzScript []byte

func (s *fzScript) pick(n int) int {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return int(b) % n
}

// rarely is true in about one of n cases.
func (s *fzScript) rarely(n int) bool { return s.pick(n) == n-1 }

func fzOneOf[T any](s *fzScript, from ...T) T { return from[s.pick(len(from))] }

func (s *fzScript) someWait() time.Duration {
	return fzOneOf(s, 0, 1, time.Millisecond, time.Second, 40*time.Second, time.Minute, time.Hour, kbForever, kbForever-1, -1, math.MinInt64)
}

func (s *fzScript) someLimit() time.Duration {
	return fzOneOf(s, 0, 0, time.Second, 20*time.Second, time.Hour, kbForever)
}

func (s *fzScript) draw() float64 {
	return fzOneOf(s, 0, 0.5, math.Nextafter(1, 0), 1, -1, math.NaN(), math.Inf(1))
}

var errFzPanic = errors.New("panic of a user's code")

// maybePanic stands for faulty code of users.
func (w *fzWorld) maybePanic() {
	if w.panics && w.rarely(12) {
		panic(errFzPanic)
	}
}

// fzWorld is a Flow, all that it talks to, and what must be true of it.
type fzWorld struct {
	fzScript
	t      testing.TB
	policy *retry.Policy
	flow   retry.Flow
	ctx    context.Context
	cancel context.CancelCauseFunc
	panics bool

	now, latest, deadline         time.Time
	maxElapsed, maxRetry, maxHint time.Duration
	maxDelay                      time.Duration // the largest if there is no cap
	healthy                       time.Duration // 0: none
	limit, history                int
	limitSet                      bool
	stop                          chan struct{}
	throttles                     []*fzThrottle
	budget                        *fzBudget
	curve                         *fzCurve

	fzRun
	attempts, failures         int
	launched                   time.Time // zero: nobody knows
	lastFailed, again          bool      // the last attempt failed; it is being said that it is not done
	running, reporting, closed bool
	initial                    bool          // the initial delay is still to come
	told                       time.Duration // throttles' waits before the coming attempt
	refused                    error         // in this step
	outcome                    throttle.Outcome
	base                       error // what the last failure is about
	verdict                    throttle.Tri
	pushback                   bool
	ended                      bool
	final                      retry.Step
	reached                    map[string]bool
}

func (w *fzWorld) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf(format+fmt.Sprintf("\n%d attempts, %d failures, running %v, final %+v", w.attempts, w.failures, w.running, w.final), args...)
}

func (w *fzWorld) must(ok bool, format string, args ...any) {
	if !ok {
		w.t.Helper()
		w.fail(format, args...)
	}
}

// fzBegin builds a policy and its world.
func fzBegin(t testing.TB, data []byte) *fzWorld {
	w := &fzWorld{t: t, fzScript: data, now: time.Unix(1_000_000, 0), maxHint: time.Minute, reached: map[string]bool{}}
	w.panics = w.rarely(3)
	w.began, w.latest = w.now, w.now
	w.kinds = make([]fzKind, 1)
	w.ctx, w.cancel = context.WithCancelCause(context.Background())
	var opts []retry.Option
	add := func(o ...retry.Option) { opts = append(opts, o...) }

	switch w.limit = w.pick(8); {
	case w.limit == 0:
		w.limit = 5
	case w.limit < 5:
		add(retry.WithMaxAttempts(w.limit))
	default:
		w.limit = math.MaxInt
		add(retry.WithUnlimitedAttempts())
	}
	w.limitSet = len(opts) > 0
	if w.rarely(3) {
		w.healthy = max(w.someWait(), 0)
		add(retry.WithResetAfter(w.healthy))
	}
	w.maxElapsed, w.maxRetry = w.someLimit(), w.someLimit()
	add(retry.WithMaxElapsed(w.maxElapsed), retry.WithMaxRetryElapsed(w.maxRetry))
	if !w.limitSet && (w.maxElapsed > 0 || w.maxRetry > 0) {
		w.limit = math.MaxInt
	}
	if w.maxDelay = w.someLimit(); w.maxDelay > 0 {
		add(retry.WithMaxDelay(w.maxDelay))
	} else {
		w.maxDelay = kbForever
	}
	if d := w.someLimit(); d > 0 {
		w.deadline = w.now.Add(min(d, kbForever/2)) // so that what is left always fits a Duration
	}
	if w.rarely(3) {
		w.maxHint = w.someLimit()
		add(retry.WithMaxHint(w.maxHint))
	}
	wild := func(d, limit time.Duration, r float64) time.Duration { return fzOneOf(&w.fzScript, d, limit, -d, -1) }
	if w.rarely(3) {
		d := max(w.someWait(), 0)
		w.initial = d > 0
		add(retry.WithInitialDelay(d, fzOneOf[strategy.Jitter](&w.fzScript, nil, strategy.Full, wild)))
	}
	w.history = fzOneOf(&w.fzScript, 0, 0, 1, 2, 5)
	add(retry.WithErrorHistory(w.history))
	if kind := w.pick(5); kind > 0 {
		w.curve = &fzCurve{fzWorld: w, ok: true}
		s := fzOneOf[strategy.Strategy](&w.fzScript, w.curve, fzLearner{w.curve}, fzStarter{w.curve})
		_, w.curve.learns = s.(strategy.Learner)
		add(retry.WithStrategy(s))
	}
	if w.rarely(3) && w.curve != nil {
		add(retry.WithJitter(fzOneOf(&w.fzScript, strategy.Equal, wild)))
	}
	for range w.pick(3) {
		add(w.rule())
	}
	for i := range w.pick(5) {
		h := &fzThrottle{fzWorld: w, index: i}
		w.throttles = append(w.throttles, h)
		add(retry.WithThrottle(fzOneOf[throttle.Throttle](&w.fzScript, h, fzPlanner{h}, fzExplainer{fzPlanner{h}})))
	}
	if w.rarely(2) {
		w.budget = &fzBudget{fzWorld: w}
		add(retry.WithBudget(w.budget))
	}
	if w.rarely(4) {
		add(retry.WithHint(fzOneOf(&w.fzScript, throttle.AtLeast(), throttle.Exact(), throttle.Clamp(time.Second), throttle.Clamp(kbForever), throttle.Ignore())))
	}
	if w.rarely(4) {
		add(retry.WithCondition(condition.Func(func(error) condition.Verdict { w.maybePanic(); return condition.Verdict(w.pick(4)) })))
	}
	if w.rarely(8) {
		add(retry.WithRetryIf(func(error) bool { return !w.rarely(4) }))
	}
	if w.rarely(2) {
		w.stop = make(chan struct{})
		add(retry.WithStop(w.stop))
	}
	policy, err := retry.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	w.policy = policy
	w.flow = policy.Begin(w.now, w.deadline, w.draw)
	return w
}

// fzExpired is a context whose deadline has passed.
type fzExpired struct{ context.Context }

func (fzExpired) Err() error { return context.DeadlineExceeded }

// nextOutcome makes up how an attempt ended, and what must come of it where that is not left to others.
func (w *fzWorld) nextOutcome() {
	w.outcome, w.verdict, w.base, w.pushback = throttle.Outcome{}, throttle.Undecided, errFlaky, false
	o := &w.outcome
	w.restart = false
	switch w.pick(17) {
	case 0:
		o.Class = fzOneOf(&w.fzScript, throttle.Unset, throttle.Success, throttle.Permanent)
		return
	case 1:
		o.Err, w.verdict = retry.Permanent(errFlaky), throttle.No
		o.Decided = fzOneOf(&w.fzScript, throttle.Undecided, throttle.Yes)
	case 2:
		o.Err, w.verdict = fmt.Errorf("x: %w", errors.Join(errKnown, retry.Permanent(errFlaky))), throttle.No
	case 3, 4:
		o.Err = retry.After(w.someWait(), errFlaky)
	case 5:
		o.Err, w.base = context.Canceled, context.Canceled
	case 6:
		o.Err, o.Decided = errFlaky, fzOneOf(&w.fzScript, throttle.Yes, throttle.No)
		w.verdict = o.Decided
	case 7:
		o.Err, o.Signal.Retry = errFlaky, fzOneOf(&w.fzScript, throttle.Yes, throttle.No)
		w.verdict, w.pushback = o.Signal.Retry, o.Signal.Retry == throttle.No
	case 8:
		o.Err, o.Signal = errFlaky, throttle.Signal{HasDelay: true, Delay: w.someWait(), RestartCurve: true,
			Rule: fzOneOf(&w.fzScript, throttle.Exact(), throttle.Clamp(-1), throttle.Ignore())}
	case 9:
		o.Err = retry.ErrAttemptTimeout
		w.base = o.Err
	case 10:
		o.Err = &retry.Error{Reason: retry.ErrExhausted, Last: retry.Permanent(retry.After(time.Hour, errFlaky))}
	case 11:
		o.Err, w.base = sql.ErrNoRows, sql.ErrNoRows
	case 16:
		o.Err, w.restart = fzOneOf(&w.fzScript, retry.Restart(errFlaky), fmt.Errorf("x: %w", retry.Restart(errFlaky))), true
		o.Duration = fzOneOf(&w.fzScript, 0, -1, time.Hour)
	default:
		o.Err = errFlaky
	}
	if w.rarely(4) {
		o.Class = fzOneOf(&w.fzScript, throttle.Throttled, throttle.Timeout, throttle.Transient)
	}
}

// step takes one step, in which users' code may panic.
func (w *fzWorld) step(name string, take func() retry.Step) (s retry.Step, panicked bool) {
	defer func() {
		if r := recover(); r != nil {
			if r != any(errFzPanic) {
				panic(r)
			}
			panicked = true
			w.reached["panic in "+name] = true
		}
	}()
	w.refused = nil
	return take(), false
}

// run plays the script to its end.
func (w *fzWorld) run() {
	for range 200 {
		switch w.pick(32) {
		case 29:
			w.cancel(errKnown)
		case 30:
			w.ctx = fzExpired{w.ctx}
		case 31:
			if w.stop != nil && !w.closed {
				w.closed = true
				close(w.stop)
			}
		}
		var s retry.Step
		var panicked bool
		switch odd := w.pick(16); {
		case odd == 15:
			w.abort(fzOneOf(&w.fzScript, throttle.Canceled, throttle.Panicked, throttle.Transient))
		case w.running && odd == 14:
			if s, _ = w.step("next", w.next); s.Action != retry.Go {
				w.fail("%+v while an attempt runs", s)
			}
			continue
		case w.running || odd == 13:
			if s, panicked = w.report(); w.again && !panicked {
				w.reached["again"] = true
			}
		default:
			if s, panicked = w.step("next", w.next); !panicked {
				w.check(s, false)
			}
		}
		if panicked {
			w.abort(throttle.Panicked)
		}
		if w.ended {
			break
		}
		w.pass(s)
	}
	if !w.ended {
		w.abort(throttle.Canceled)
	}
	for range 4 { // it stays as it is, and nobody hears of it
		w.pass(w.final)
		w.cancel(nil)
		s := fzOneOf(&w.fzScript, w.next, func() retry.Step { return w.flow.Again(w.ctx, w.now) }, func() retry.Step { return w.flow.Abort(w.ctx, w.now, throttle.Canceled) },
			func() retry.Step { return w.flow.Report(w.ctx, w.now, throttle.Outcome{Err: errKnown}) })()
		w.must(s == w.final, "then %+v", s)
	}
}

// pass lets time pass: a wait mostly, but drivers may be early, late or on a clock that was set back.
func (w *fzWorld) pass(s retry.Step) {
	by := fzOneOf(&w.fzScript, 0, 0, 0, time.Millisecond, 3*time.Second, -time.Millisecond)
	if s.Action == retry.Wait && !w.rarely(8) {
		by = s.Delay + min(by, kbForever-s.Delay)
	}
	w.now = w.now.Add(by)
}

func (w *fzWorld) next() retry.Step {
	w.advance()
	return w.flow.Next(w.ctx, w.now)
}

func (w *fzWorld) report() (s retry.Step, panicked bool) {
	if !w.running {
		w.attempts++ // made unasked
	}
	w.told = 0
	w.again = w.rarely(6)
	if w.again {
		w.outcome, w.verdict, w.pushback = throttle.Outcome{}, throttle.Undecided, false
	} else {
		w.nextOutcome()
	}
	w.lastFailed = w.outcome.Err != nil
	w.advance()
	w.begins()
	var charges, commits int
	if w.budget != nil {
		charges = w.budget.charges
	}
	if w.curve != nil {
		commits = w.curve.committed
	}
	w.reporting = true
	s, panicked = w.step("report", func() retry.Step {
		if w.again {
			return w.flow.Again(w.ctx, w.now)
		}
		return w.flow.Report(w.ctx, w.now, w.outcome)
	})
	w.reporting, w.running, w.launched = false, panicked, time.Time{}
	if panicked {
		return s, true
	}
	w.check(s, true)
	retrying := s.Action == retry.Wait && !w.again
	if retrying && w.outcome.Signal.RestartCurve {
		w.kinds[w.kind].number, w.kinds[w.kind].prev = 0, 0
	}
	if w.budget != nil {
		charged := w.budget.charges > charges
		planned := !w.again && s.Reason != nil && !slices.ContainsFunc([]error{retry.ErrNotRetryable, retry.ErrShutdown, context.Canceled, fzTimedOut},
			func(r error) bool { return fzIs(s.Reason, r) })
		w.must(charged == (retrying || planned || w.pushback && errors.Is(s.Reason, retry.ErrNotRetryable)), "charged: %v, %+v", charged, s)
		w.must(!charged || w.budget.lastRetry == !retrying || errors.Is(s.Reason, retry.ErrBudget), "told of the last: %v, %+v", w.budget.lastRetry, s)
		w.must(!retrying || w.budget.ok, "retried against the budget's word")
	}
	if w.curve != nil {
		w.must(w.curve.committed == commits || retrying, "a retry was learned that does not happen: %+v", s)
		w.must(w.curve.committed > commits || !retrying || !w.curve.learns || w.kinds[w.kind].own, "a retry was not learned")
		w.must(!retrying || w.curve.ok, "the strategy had ended")
	}
	return s, false
}

// abort ends the Flow from outside. Even if that panics itself, everything is settled after it.
func (w *fzWorld) abort(c throttle.Class) {
	for i := 0; ; i++ {
		s, panicked := w.step("abort", func() retry.Step { return w.flow.Abort(w.ctx, w.now, c) })
		w.settled()
		w.running = false
		if !panicked {
			w.must(s.Action == retry.Done, "aborted, then %+v", s)
			w.must(s.Err == nil || len(fzReasons(s.Reason)) == 1, "aborted for %v: %q", s.Reason, fzReasons(s.Reason))
			w.ended, w.final = true, s
			return
		}
		w.must(i == 0, "panicked again after everything was settled")
	}
}

// fzScripts are the seeds: random ones, and the empty one.
func fzScripts() (scripts [][]byte) {
	source := rand.NewChaCha8([32]byte{'f', 'l', 'o', 'w'})
	for i := range 600 {
		script := make([]byte, 20+i)
		_, _ = source.Read(script)
		scripts = append(scripts, script)
	}
	return append(scripts, nil)
}

// FuzzFlow plays random scripts against a Flow: what its attempts, throttles, budget and strategy do, when the call is
// cancelled, and what panics.
func FuzzFlow(tf *testing.F) {
	f := fuzzed.New(tf)
	for _, script := range fzScripts() {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) { fzBegin(t, script).run() })
}

// TestFlowScriptsReachEverything holds that the seeds of FuzzFlow are worth something.
func TestFlowScriptsReachEverything(t *testing.T) {
	reached := map[string]bool{}
	for _, script := range fzScripts() {
		w := fzBegin(t, script)
		w.run()
		for what := range w.reached {
			reached[what] = true
		}
	}
	for _, r := range fzAllReasons {
		require.Contains(t, reached, r.Error())
	}
	for _, what := range []string{"success", "again", "reset", "rule", "rule's time", "rule's limit", "policy wait", "server wait", "throttle wait", "panic in next", "panic in report", "panic in abort"} {
		require.Contains(t, reached, what)
	}
}

// fzHolding is a throttle that lets pass or holds back in turn, and notes what it is told.
type fzHolding struct {
	waits []time.Duration
	told  []throttle.Outcome
}

func (h *fzHolding) Admit(context.Context, time.Time, throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	wait := h.waits[0]
	h.waits = h.waits[1:]
	return nil, wait, nil
}

func (h *fzHolding) Done(_ context.Context, _ time.Time, _ throttle.Ticket, o throttle.Outcome) {
	h.told = append(h.told, o)
}

// TestFlowUnaskedAttempt: an attempt that nobody asked for counts like any other, and what is counted for each attempt
// begins anew with it. How long it took is not known.
func TestFlowUnaskedAttempt(t *testing.T) {
	h := &fzHolding{waits: []time.Duration{0, 40 * time.Second, 40 * time.Second}}
	policy := retry.MustNew(retry.WithThrottle(h), kbConstant(time.Second))
	now := time.Unix(0, 0)
	flow := policy.Begin(now, time.Time{}, nil)
	require.Equal(t, retry.Go, flow.Next(t.Context(), now).Action)
	now = now.Add(5 * time.Second)
	retried := retry.Step{Action: retry.Wait, Delay: time.Second, Class: throttle.Transient, Err: errFlaky}
	require.Equal(t, retried, flow.Report(t.Context(), now, throttle.Outcome{Err: errFlaky}))

	held := retry.Step{Action: retry.Wait, Delay: 40 * time.Second, Source: retry.SourceThrottle}
	require.Equal(t, held, flow.Next(t.Context(), now))
	require.Equal(t, retried, flow.Report(t.Context(), now, throttle.Outcome{Err: errFlaky}), "made in spite of the throttle")
	assert.Equal(t, held, flow.Next(t.Context(), now), "60 s is what throttles may ask for before each attempt")
	flow.Abort(t.Context(), now, throttle.Canceled)
	assert.Equal(t, []throttle.Outcome{
		{Err: errFlaky, Class: throttle.Transient, Number: 1, Duration: 5 * time.Second},
		{Err: errFlaky, Class: throttle.Transient, Number: 2},
		{Class: throttle.Skipped, Number: 3},
	}, h.told)
}
