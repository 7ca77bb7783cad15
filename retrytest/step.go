package retrytest

import (
	"context"
	"math"
	"time"

	"github.com/seed-89b3229b/retry/internal/clock"
)

// Forever is a Step.Times for every call from there on.
const Forever = math.MaxInt

// Steps are the outcomes of a Script, in order.
type Steps[T any] []Step[T]

// Step is the outcome of one call, or of several in a row. The zero Step succeeds at once with the zero value.
//
// In order: Takes passes, Blocks blocks, then the first of Panic, Func, and Value with Err is the outcome.
type Step[T any] struct {
	// Value and Err are what the call returns.
	Value T
	Err   error
	// Takes is how long the call takes. If its context ends before, so does the call, with the context's error. 0 or less:
	// nothing.
	Takes time.Duration
	// Deaf makes the call take all of Takes, whatever its context does.
	Deaf bool
	// Blocks makes the call hang until its context is done (Clock.Block). If Err is nil, it then returns the context's error.
	// A context that cannot end is an error at once.
	Blocks bool
	// Panic is what the call panics with, unless nil.
	Panic any
	// Func is called for the outcome, unless nil.
	Func func(context.Context) (T, error)
	// Times is how many calls in a row go like this. 0 or less: one. Forever: all that are left.
	Times int
}

func (s *Step[T]) times() int { return max(s.Times, 1) }

// play is one call on the clock; nil is the system's.
func (s *Step[T]) play(ctx context.Context, c *Clock) (zero T, err error) {
	if err := s.take(ctx, c); err != nil {
		return zero, err
	}
	if s.Blocks {
		if err := block(ctx, c); s.Err == nil || err == errNeverDone {
			return zero, err
		}
	}
	switch {
	case s.Panic != nil:
		panic(s.Panic)
	case s.Func != nil:
		return s.Func(ctx)
	}
	return s.Value, s.Err
}

func (s *Step[T]) take(ctx context.Context, c *Clock) error {
	switch {
	case s.Takes <= 0:
		return nil
	case s.Deaf:
		ctx = context.Background()
	}
	if c != nil {
		return c.Sleep(ctx, s.Takes)
	}
	new(clock.Sleeper).Sleep(ctx, nil, s.Takes)
	return ctx.Err()
}

func block(ctx context.Context, c *Clock) error {
	switch {
	case c != nil:
		return c.Block(ctx)
	case ctx.Done() == nil:
		return errNeverDone
	}
	<-ctx.Done()
	return ctx.Err()
}
