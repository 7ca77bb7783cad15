package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/throttle"
)

// Observer watches calls. It must be safe for concurrent use; its Observations serve one call each, one method at a
// time. Where a policy has several, they start in the order given and end in reverse.
type Observer interface {
	// Start is told that a call begins. A nil context leaves ctx as it is; a nil Observation is not interested.
	Start(ctx context.Context, c Call) (context.Context, Observation)
}

// Observation watches one call.
type Observation interface {
	// Attempt is told that an attempt starts. The returned context goes to the operation; nil leaves ctx as it is.
	Attempt(ctx context.Context, s AttemptStart) context.Context
	// AttemptDone is told the end of every attempt that returned, with the context that Attempt returned. It is not
	// called for an attempt that panicked.
	AttemptDone(ctx context.Context, e Event)
	// Pause is told every wait before it starts, also those before attempt 1.
	Pause(ctx context.Context, p Pause)
	// Done is called once, whatever ended the call, after a fallback ran.
	Done(ctx context.Context, s Summary)
}

// Call is what is known when a call begins.
type Call struct {
	Name        string
	MaxAttempts int // 0: no limit
	Start       time.Time
}

// AttemptStart is what is known when an attempt starts.
type AttemptStart struct {
	Number int
	At     time.Time
	Label  string // a throttle ticket's, such as a token's index; never a secret
}

// Event is the end of an attempt.
type Event struct {
	Name        string
	Number, Max int // as in Attempt: Number may go beyond Max; Max 0: no limit
	At          time.Time
	// Duration is how long the attempt took; 0 unless an observation, a throttle or a learning strategy has it measured.
	Duration time.Duration
	Err      error // as classified, without marks at the top; nil: no failure
	Class    throttle.Class
	Signal   throttle.Signal
	Retrying bool          // another attempt is planned, also without a failure; a context that ends in the wait still ends the call
	Delay    time.Duration // the planned wait, or the one that was not taken
	Source   Source        // who asked for that wait
	Reason   error         // why there is no retry; nil if there is one, or on success
	Elapsed  time.Duration // since the first failure, or the first since a reset
}

// Pause is a wait.
type Pause struct {
	Before int // the number of the attempt to come
	At     time.Time
	Delay  time.Duration
	Source Source
}

// Summary is the end of a call, for observers and WithSummary.
type Summary struct {
	Attempts   int
	At         time.Time
	Ending     Ending
	Err        error         // what the caller gets
	Last       error         // the last attempt's error, as classified
	Reason     error         // why the call gave up; nil on success
	Elapsed    time.Duration // since Call.Start
	TotalDelay time.Duration // spent in waits, not planned
}

// Source says who asked for a wait.
type Source uint8

const (
	// SourcePolicy is the policy's strategy or initial delay.
	SourcePolicy Source = iota
	// SourceServer is a told wait: an After, or a Signal.
	SourceServer
	// SourceThrottle is a throttle.
	SourceThrottle
)

// String returns the source's name in lower case.
func (s Source) String() string {
	return word([]string{"policy", "server", "throttle"}, int(s))
}

// Ending is why a call ended.
type Ending uint8

const (
	// EndSucceeded: an attempt succeeded.
	EndSucceeded Ending = iota
	// EndExhausted: ErrExhausted, ErrNoDelay.
	EndExhausted
	// EndDeadline: ErrMaxElapsed, ErrDeadline, or the context's deadline passed.
	EndDeadline
	// EndAborted: the failure is not worth a retry, or WithBeforeRetry returned an error.
	EndAborted
	// EndCanceled: the context was cancelled, or ErrShutdown.
	EndCanceled
	// EndThrottled: ErrRefused, ErrHintTooLong.
	EndThrottled
	// EndBudget: ErrBudget.
	EndBudget
	// EndPanicked: something in the call panicked or called runtime.Goexit.
	EndPanicked
)

// String returns the ending's word in telemetry.
func (e Ending) String() string {
	return word([]string{"success", "exhausted", "deadline", "aborted", "canceled", "throttled", "budget", "panic"}, int(e))
}

func word(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return "invalid"
}

// observers are several Observers as one, so that the executor need know only one.
type observers []Observer

func (all observers) Start(ctx context.Context, c Call) (context.Context, Observation) {
	var started observations
	complete := false
	defer func() {
		if !complete { // one panicked: end those that had started
			started.Done(ctx, Summary{At: c.Start, Ending: EndPanicked})
		}
	}()
	for _, o := range all {
		next, observation := o.Start(ctx, c)
		if next != nil {
			ctx = next
		}
		if observation != nil {
			started = append(started, observation)
		}
	}
	complete = true
	switch len(started) {
	case 0:
		return ctx, nil
	case 1:
		return ctx, started[0]
	}
	return ctx, started
}

type observations []Observation

func (all observations) Attempt(ctx context.Context, s AttemptStart) context.Context {
	for _, o := range all {
		if next := o.Attempt(ctx, s); next != nil {
			ctx = next
		}
	}
	return ctx
}

func (all observations) AttemptDone(ctx context.Context, e Event) {
	for i := len(all) - 1; i >= 0; i-- {
		all[i].AttemptDone(ctx, e)
	}
}

func (all observations) Pause(ctx context.Context, p Pause) {
	for _, o := range all {
		o.Pause(ctx, p)
	}
}

// Done ends the last one first and, by its defer, the others even if that one panics.
func (all observations) Done(ctx context.Context, s Summary) {
	if len(all) == 0 {
		return
	}
	defer all[:len(all)-1].Done(ctx, s)
	all[len(all)-1].Done(ctx, s)
}
