package statefile

import (
	"context"
	"errors"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// State is a run's view of the file. It is a throttle.Throttle that holds attempts back until the time in the file, so the
// limits on waits are the run's. One goroutine at a time.
type State struct {
	path     string
	warn     func(format string, args ...any)
	off      bool // the file can't be used: go on without
	text     string
	strategy strategy.Strategy
	level    leveled // nil: the strategy has none
	written  time.Duration
	now      time.Time
	number   int // failures in this run since the last success, for the wait after the last
	prev     time.Duration
}

// leveled is a strategy with a level.
type leveled interface {
	strategy.Learner
	Level() time.Duration
	Resume(time.Duration)
}

// Open reads the file, and gives the strategy the level that is kept there if it belongs to the same strategy. warn is told, once,
// why the file cannot be used; the run then goes on without.
func Open(path string, s strategy.Strategy, warn func(format string, args ...any)) *State {
	state := &State{path: path, warn: warn, strategy: s}
	if n, ok := s.(interface{ String() string }); ok {
		state.text = n.String()
	}
	state.level, _ = s.(leveled)
	state.update(func(c *content) bool {
		if state.level != nil && c.Strategy == state.text {
			state.written = time.Duration(c.Level * float64(time.Millisecond))
			state.level.Resume(state.written)
		}
		return false
	})
	return state
}

// update changes the file, unless it can't be used.
func (s *State) update(change func(*content) bool) {
	if s.off {
		return
	}
	broken, err := update(s.path, change)
	switch {
	case err != nil:
		s.off = true
		s.warn("state %s cannot be used, going on without: %v", s.path, err)
	case broken:
		s.off = true
		s.warn("state %s is not valid, going on without; it is now %s.broken", s.path, s.path)
	}
}

// until is when an attempt may be made.
func (s *State) until(now time.Time) (until time.Time) {
	if s.off {
		return until
	}
	c, err := read(s.path)
	if err != nil { // put aside
		s.update(func(read *content) bool { c = *read; return false })
	}
	if latest := now.Add(farthest); c.Until.After(latest) {
		return latest
	}
	return c.Until
}

// Admit holds an attempt back until it is time.
func (s *State) Admit(_ context.Context, now time.Time, _ throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	return nil, max(s.until(now).Sub(now), 0), nil
}

// Ready foresees that.
func (s *State) Ready(_ context.Context, at time.Time) time.Duration {
	return max(s.until(at).Sub(at), 0)
}

// Done does nothing: After is told more.
func (s *State) Done(context.Context, time.Time, throttle.Ticket, throttle.Outcome) {}

// After is told what follows an attempt. told says that the attempt brought a wait with it.
func (s *State) After(now time.Time, step retry.Step, told bool) {
	if s.off {
		return
	}
	var wait time.Duration
	good := step.Action == retry.Done && step.Err == nil
	switch {
	case step.Action == retry.Wait && step.Err != nil:
		s.number++
		s.prev = step.Delay
		if told && step.Source == retry.SourceServer {
			wait = step.Delay
		}
	case step.Action == retry.Wait: // another look
		s.number, s.prev = 0, 0
	case errors.Is(step.Reason, retry.ErrExhausted):
		wait = s.next(now, step)
	case !good && !errors.Is(step.Reason, retry.ErrNotRetryable):
		wait = step.Delay
	}
	level := s.written
	if s.level != nil {
		level = s.level.Level()
	}
	if wait <= 0 && level == s.written && step.Action != retry.Done {
		return
	}
	s.update(func(c *content) bool {
		if until := now.Add(min(wait, farthest)).UTC(); wait > 0 && until.After(c.Until) {
			c.Until = until
		}
		if s.level != nil {
			c.Level, c.Strategy = float64(level)/float64(time.Millisecond), s.text
		}
		switch {
		case good:
			c.Until, c.Failures = time.Time{}, 0
		case step.Action == retry.Done:
			c.Failures++
		}
		return true
	})
	s.written = level
}

// next is the wait that was not taken, because attempts were used up, and moves the level as if it had been: the next run is the
// retry that follows.
func (s *State) next(now time.Time, step retry.Step) time.Duration {
	if s.strategy == nil {
		return 0
	}
	state := strategy.State{Number: s.number + 1, Prev: s.prev, Now: now, Throttled: step.Class == throttle.Throttled}
	wait, ok := s.strategy.Next(state)
	if !ok {
		return 0
	}
	if l, is := s.strategy.(strategy.Learner); is {
		l.Failed(state)
	}
	return wait
}
