package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/internal/carry"
	"github.com/seed-89b3229b/retry/throttle"
)

// Flow decides one call, step by step, without waiting and without a clock: for select loops, reconcilers, job queues
// that put work back, and simulations. Do and the other entry points drive one themselves. Begin makes it.
//
//	step := flow.Next(ctx, now)
//	for step.Action != retry.Done {
//		switch step.Action {
//		case retry.Go:
//			step = flow.Fail(ctx, work(flow.Context(ctx)), time.Now()) // a nil error: it succeeded
//		case retry.Wait:
//			// come back after step.Delay
//			step = flow.Next(ctx, time.Now())
//		}
//	}
//	return step.Err
//
// A Flow holds the limits, the curve, rules, resets, told waits, conditions, throttles, budget, history, initial delay and
// stop channel of its policy. Its observers, logger, WithOnRetry and WithBeforeRetry are told of every step as if Do made
// the call, with the times that the steps are given; what they cost is paid only by a policy that has them. Waits, attempt
// timeouts, Results and WithFallback are its driver's. Every Flow that was begun must come to its end, by Abort if need be,
// or what throttles and budget gave it is lost, and its span never ends. One goroutine at a time. It must not be copied
// once it has made a step: go vet finds a copy.
type Flow struct {
	_      noCopy
	policy *Policy
	watch  *watch // nil: nobody is told
	flow
}

// noCopy makes go vet report copies of what has it as a field.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Begin makes a Flow for a call that starts now. deadline is the call's deadline on the same clock; zero: none. rnd draws
// from [0, 1); nil: the policy's. Nothing is started: a Flow without a step may be dropped. A nil Policy, and a Flow that
// was not begun, are those of the default policy.
func (p *Policy) Begin(now, deadline time.Time, rnd func() float64) (f Flow) {
	if p == nil {
		p = &defaultPolicy
	}
	f.policy = p
	f.begin(&p.config, now, deadline)
	if rnd != nil {
		f.rand = rnd
	}
	if p.config.watched() {
		f.watch = &watch{entered: now}
	}
	return // not "return f", which would be a copy
}

// Next says what to do before the first attempt and after every wait: Go, Wait or Done. While an attempt runs it is Go
// again. ctx is the call's: throttles see it, and the call ends when it is done.
func (f *Flow) Next(ctx context.Context, now time.Time) Step {
	c := f.open(ctx, now)
	if f.watch != nil {
		f.watch.next(ctx, &f.flow, c, now)
		return f.step
	}
	f.next(ctx, c, now)
	return f.step
}

// Context returns the context for the attempt that runs: ctx, which is the driver's own for it, with what observers and
// throttles have for the operation (the attempt's span, a Pool's key), and the facts of WithAttemptInfo. It ends with ctx, and
// has no timeout. A value that the first step's context has too is that one's. While no attempt runs it is ctx.
func (f *Flow) Context(ctx context.Context) context.Context {
	switch {
	case f.phase != running:
		return ctx
	case f.watch != nil:
		return withValues(ctx, f.watch.attempt)
	}
	return f.furnish(ctx, &f.policyOrDefault().config)
}

// Report says what to do after an attempt that ended with o: Wait or Done. Of o, Number is ignored; Signal may be left to
// what Err carries, and Duration to the time since Go. A Report without a Go before it counts as an attempt that was made
// unasked.
func (f *Flow) Report(ctx context.Context, now time.Time, o throttle.Outcome) Step {
	return f.after(ctx, now, &o, finished)
}

// Fail is Report of an attempt that ended with err, as Do judges it; nil: it succeeded. The error stands before the time, so that
// in a call written on one line the attempt is made first, and the clock is read after it.
func (f *Flow) Fail(ctx context.Context, err error, now time.Time) Step {
	return f.after(ctx, now, &throttle.Outcome{Err: err}, finished)
}

// Again says what to do after an attempt that did not fail, but is to be made again, because what it looked for is not done
// yet: Wait or Done. It is Try.Again, in step form: the wait is that of a first failure, and nothing is counted, charged or
// learned; throttles are told of a success. It ends a run of failures. A Poll in step form is one with a strategy.Constant
// of its interval, and a WithRule with another strategy for its failures. A supervision in step form, whose work has ended
// well and goes on, is a Report and another Flow.
func (f *Flow) Again(ctx context.Context, now time.Time) Step {
	return f.after(ctx, now, &throttle.Outcome{}, unfinished)
}

func (f *Flow) after(ctx context.Context, now time.Time, o *throttle.Outcome, s sequel) Step {
	c := f.open(ctx, now)
	if f.watch != nil {
		f.watch.report(ctx, &f.flow, c, now, o, s)
		return f.step
	}
	f.report(ctx, c, now, o, s)
	return f.step
}

// Abort ends the call from outside: a wait that was interrupted, an attempt that panicked, a driver that gives up. c is
// what becomes of a running attempt, Unset being Canceled; a permission that led to no attempt is Skipped. The reason is
// the context's error if ctx is done, else ErrShutdown. With Panicked, observers are told of a panic.
func (f *Flow) Abort(ctx context.Context, now time.Time, c throttle.Class) Step {
	if c == throttle.Unset {
		c = throttle.Canceled
	}
	demandContext(ctx)
	reason, ending := ErrShutdown, EndCanceled
	if ctx.Err() != nil {
		reason, ending = contextEnd(ctx)
	}
	if c == throttle.Panicked {
		ending = EndPanicked
	}
	if f.watch != nil {
		f.watch.abort(ctx, &f.flow, &f.policy.config, now, c, reason, ending)
		return f.step
	}
	f.abort(ctx, &f.policyOrDefault().config, now, c, reason, ending)
	return f.step
}

func (f *Flow) policyOrDefault() *Policy {
	if f.policy == nil { // the zero Flow
		f.policy = &defaultPolicy
	}
	return f.policy
}

// open readies a Flow for its first step.
func (f *Flow) open(ctx context.Context, now time.Time) *config {
	demandContext(ctx)
	c := &f.policyOrDefault().config
	if f.phase == fresh {
		f.noRetry = carry.From(ctx).NoRetry
		if f.watch != nil {
			f.watch.start(ctx, &f.flow, c)
		}
		f.start(c, now)
	}
	return c
}

// Step is what to do next.
type Step struct {
	// Action is Go, Wait or Done.
	Action Action
	// Delay is how long to wait, for Wait; the wait that was not taken, for Done, if that is why.
	Delay time.Duration
	// Source says who asked for Delay.
	Source Source
	// Class is what the attempt that was reported came to; throttle.Unset if the step follows none.
	Class throttle.Class
	// Err is the attempt's failure, for Wait; what the caller of the operation should get, for Done: nil on success.
	Err error
	// Reason is why the call ended without success, for Done; ErrNotRetryable where Err is the operation's own.
	Reason error
}

// Action is what a driver has to do.
type Action uint8

const (
	// Go starts an attempt now, then calls Report.
	Go Action = iota + 1
	// Wait lets Step.Delay pass, then calls Next.
	Wait
	// Done ends the call with Step.Err. Every later step is the same.
	Done
)

// String returns the action's name in lower case.
func (a Action) String() string {
	return word([]string{"none", "go", "wait", "done"}, int(a))
}
