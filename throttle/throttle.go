package throttle

import (
	"context"
	"time"
)

// Class is what one attempt's outcome means for whoever limits attempts.
type Class uint8

const (
	// Unset lets the executor decide. It is the zero value.
	Unset Class = iota
	// Success is an accepted result.
	Success
	// Permanent was answered, and repeating it is pointless: the dependency works.
	Permanent
	// Transient is a failure that may pass.
	Transient
	// Timeout is a failure for lack of time.
	Timeout
	// Throttled was turned away by the server, which asked for less.
	Throttled
	// Canceled ended because somebody on the caller's side gave up: it says nothing about the dependency.
	Canceled
	// Panicked left the attempt by panic or runtime.Goexit.
	Panicked
	// Skipped was admitted and never started.
	Skipped
)

var classNames = [...]string{"unset", "success", "permanent", "transient", "timeout", "throttled", "canceled", "panicked", "skipped"}

// String returns the class's name in lower case.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "invalid"
}

// Tri is a decision that may still be open.
type Tri uint8

const (
	// Undecided leaves the decision to others. It is the zero value.
	Undecided Tri = iota
	// Yes is a decision for.
	Yes
	// No is a decision against, and final.
	No
)

// String returns the decision's name in lower case.
func (t Tri) String() string {
	switch t {
	case Undecided:
		return "undecided"
	case Yes:
		return "yes"
	case No:
		return "no"
	}
	return "invalid"
}

// Outcome is how one attempt ended.
type Outcome struct {
	// Err is the failure. Nil: success.
	Err error
	// Class is what it means. Unset: the executor decides, before throttles are told.
	Class Class
	// Decided says whether a retry is wanted: Yes and No are final, Undecided asks the policy's conditions.
	Decided Tri
	// Signal is what the server said about waiting.
	Signal Signal
	// Number counts the call's attempts from 1. Set by the executor.
	Number int
	// Duration is how long the attempt took; 0 where nobody measures. Set by the executor.
	Duration time.Duration
}

// Ticket is what a Throttle hands out with a permission and gets back with the outcome. Nil is a ticket like any other.
type Ticket = any

// Throttle decides whether an attempt may start now. Policies share throttles between calls, so all methods must be
// safe for concurrent use. None may block: the executor does every wait.
type Throttle interface {
	// Admit answers for one attempt. A wait of 0 or less: go. Above 0: not yet, ask again then with the same ticket.
	// An error refuses the attempt and ends the call. t is nil at first, later the ticket of the previous answer.
	Admit(ctx context.Context, now time.Time, t Ticket) (ticket Ticket, wait time.Duration, err error)
	// Done is called exactly once for every ticket, nil ones included, that an Admit gave with a nil error (where it
	// gave several for one attempt, for the last). Outcome.Class is Skipped if no attempt was made.
	Done(ctx context.Context, now time.Time, t Ticket, o Outcome)
}

// Planner is what a Throttle may also be: one that can foresee. Ready says how much longer than at an attempt would be held back; it only
// looks. The executor adds it to a retry's wait, so that one wait and one check of the limits suffice.
type Planner interface {
	Ready(ctx context.Context, at time.Time) time.Duration
}

// Forecaster is what a Throttle may also be: one that can say beforehand that it would refuse. Forecast is asked when a retry has been
// decided, before its wait; it only looks, and gives no permission. An error ends the call at once, as one of Admit after the wait would:
// no wait is begun that leads to a refusal. Nil: the attempt may be admitted.
type Forecaster interface {
	Forecast(ctx context.Context, now time.Time, wait time.Duration) error
}

// Attacher is what a Throttle may also be: one whose ticket the operation needs, such as a token. Attach returns the attempt's context with
// the ticket in it.
type Attacher interface {
	Attach(ctx context.Context, t Ticket) context.Context
}

// Labeler is what a Throttle may also be: one whose tickets have a name for telemetry, an index and never the key itself.
type Labeler interface {
	Label(t Ticket) string
}

// Explainer is what a Throttle may also be: one that can say why it holds attempts back. The executor asks it when a wait that the throttle
// demanded is too long, and returns the answer within the call's error. Nil: nothing to say.
type Explainer interface {
	Explain(ctx context.Context, now time.Time) *Error
}

// Func is a function that is a Throttle: it answers how long to wait, or an error to refuse, and is told nothing
// afterwards. A nil Func lets everything pass.
type Func func(ctx context.Context, now time.Time) (wait time.Duration, err error)

// Admit calls f.
func (f Func) Admit(ctx context.Context, now time.Time, _ Ticket) (Ticket, time.Duration, error) {
	if f == nil {
		return nil, 0, nil
	}
	wait, err := f(ctx, now)
	return nil, wait, err
}

// Done does nothing.
func (Func) Done(context.Context, time.Time, Ticket, Outcome) {}

// Budget limits retries across calls. It must be safe for concurrent use.
type Budget interface {
	// Start is called when a call begins, before its first attempt.
	Start(now time.Time)
	// Charge is called for a failure that is worth a retry, before its wait. held is what the call holds so far (0 at
	// first), cost what it holds from now on. ok false refuses the retry. last says that no retry follows, whatever the
	// answer.
	Charge(now time.Time, c Class, held int, last bool) (cost int, ok bool)
	// Settle is called once for every Start, when the call ends in whatever way, with what it still holds.
	Settle(now time.Time, success bool, held int)
}
