package retrytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-89b3229b/retry"
)

// ErrScript is matched by what a call returns for which the script has no step.
var ErrScript = errors.New("retrytest: script ended")

// Script is an operation whose outcomes are written down: call number n goes as the n-th of its steps says. Its methods Do
// and Run are operations for retry.Do and retry.Run, or a fake's inside the code under test. It keeps a record of every call.
// NewScript makes one. Safe for concurrent use: calls are numbered in the order in which they begin.
type Script[T any] struct {
	t     testing.TB
	clock *Clock
	begun time.Time
	steps Steps[T]

	mu    sync.Mutex
	calls []Call
}

// Call is what a Script knows of one call.
type Call struct {
	// Number counts the script's calls from 1.
	Number int
	// Start is when it began, on the script's clock.
	Start time.Time
	// Context is what it was given.
	Context context.Context
	// Attempt holds the facts that Context carried (retry.WithAttemptInfo); zero if it carried none.
	Attempt retry.Attempt
	// Timeout is how long Context was given at Start; 0 if it had no deadline.
	Timeout time.Duration

	// Ended says that the call is over; the fields below are zero before.
	Ended bool
	// Took is how long it took.
	Took time.Duration
	// Err is what it returned.
	Err error
	// Panicked says that it did not return, but panicked or called runtime.Goexit.
	Panicked bool
}

// NewScript returns a Script of the given steps, which are copied.
//
// A call after the last step fails the test t, and fails itself with an error that names the call, matches ErrScript and is
// retry.Permanent: it ends the loop. Step.Times can say Forever where any number of calls is right. With a nil t only the
// error tells.
//
// Time passes on clk, which should be the one that the code under test lives by. A nil clk is the system's clock, for a
// script inside a bubble of testing/synctest.
func NewScript[T any](t testing.TB, clk *Clock, steps Steps[T]) *Script[T] {
	s := &Script[T]{t: t, clock: clk, steps: slices.Clone(steps)}
	s.begun = s.now()
	return s
}

func (s *Script[T]) now() time.Time {
	if s.clock == nil {
		return time.Now()
	}
	return s.clock.Now()
}

// Do is one call: an operation for retry.Do.
func (s *Script[T]) Do(ctx context.Context) (v T, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	n := s.begin(ctx)
	returned := false
	defer func() { s.end(n, err, !returned) }()
	if step := s.step(n); step != nil {
		v, err = step.play(ctx, s.clock)
	} else {
		err = s.surplus(n)
	}
	returned = true
	return v, err
}

// Run is Do without the value: an operation for retry.Run.
func (s *Script[T]) Run(ctx context.Context) error {
	_, err := s.Do(ctx)
	return err
}

func (s *Script[T]) begin(ctx context.Context) (n int) {
	call := Call{Start: s.now(), Context: ctx}
	call.Attempt, _ = retry.AttemptFrom(ctx)
	if deadline, ok := ctx.Deadline(); ok {
		call.Timeout = deadline.Sub(call.Start)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	call.Number = len(s.calls) + 1
	s.calls = append(s.calls, call)
	return call.Number
}

func (s *Script[T]) end(n int, err error, panicked bool) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	call := &s.calls[n-1]
	call.Ended, call.Took, call.Err, call.Panicked = true, now.Sub(call.Start), err, panicked
}

// step returns the step for call n; nil if there is none.
func (s *Script[T]) step(n int) *Step[T] {
	for i := range s.steps {
		if n -= s.steps[i].times(); n <= 0 {
			return &s.steps[i]
		}
	}
	return nil
}

func (s *Script[T]) surplus(n int) error {
	err := fmt.Errorf("%w: call %d, where %d were planned", ErrScript, n, s.planned())
	if s.t != nil {
		s.t.Helper()
		s.t.Error(err)
	}
	return retry.Permanent(err)
}

// planned is how many calls the script is for; a step for ever counts once, since any number will do.
func (s *Script[T]) planned() (n int) {
	for i := range s.steps {
		if times := s.steps[i].times(); times < Forever-n {
			n += times
		} else {
			n++
		}
	}
	return n
}

// Calls returns the record of all calls that have begun, in order. It is a copy.
func (s *Script[T]) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Starts returns when each call began, counted from the making of the script.
func (s *Script[T]) Starts() []time.Duration {
	starts := []time.Duration{}
	for _, call := range s.Calls() {
		starts = append(starts, call.Start.Sub(s.begun))
	}
	return starts
}
