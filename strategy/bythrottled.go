package strategy

import (
	"reflect"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// ByThrottled uses one strategy where the server asked for less and another for all other failures. Both see the same
// State: Number counts every failure of the call, and Prev is the last wait of either. State.Limit caps both.
//
// It is a Starter and a Learner whatever its strategies are. Start starts those that are Starters, both at once. Failed
// is passed to the strategy that Next asks for the same State, and Succeed to both, where they are Learners. One and the
// same pointer in both places is started, told and cloned once.
//
// It is Jittered if either strategy is. Both must be set: Validate refuses nil (also a nil pointer or Func
// inside the interface), and Next answers not ok for it.
//
// It is safe for concurrent use if its strategies are.
type ByThrottled struct {
	// Normal is used where State.Throttled is false.
	Normal Strategy
	// Throttled is used where State.Throttled is true.
	Throttled Strategy
}

// Next returns what Throttled or Normal says, brought into 0..State.Limit; ok is theirs.
func (b ByThrottled) Next(s State) (delay time.Duration, ok bool) {
	child := b.pick(s)
	if errtree.IsNil(child) {
		return 0, false
	}
	if delay, ok = child.Next(s); !ok {
		return 0, false
	}
	return s.within(delay), true
}

// Start returns the same pair for one call, with the strategies that are Starters started. The result gets Next only.
func (b ByThrottled) Start() Strategy {
	return startedByThrottled{b.each(started)}
}

// startedByThrottled hides all but Next, so that nothing told to it can reach a Learner a second time.
type startedByThrottled struct{ pair ByThrottled }

func (p startedByThrottled) Next(s State) (delay time.Duration, ok bool) { return p.pair.Next(s) }

// Failed passes s to the strategy that Next asks for s, if it is a Learner.
func (b ByThrottled) Failed(s State) {
	child := b.pick(s)
	if l, ok := child.(Learner); ok && !errtree.IsNil(child) {
		l.Failed(s)
	}
}

// Succeed is passed to both strategies where they are Learners: a success says that the dependency is well, whichever
// of them was asked before.
func (b ByThrottled) Succeed() {
	b.each(func(child Strategy) Strategy {
		if l, ok := child.(Learner); ok {
			l.Succeed()
		}
		return child
	})
}

// Jittered says whether either strategy draws its delays itself.
func (b ByThrottled) Jittered() bool {
	return jittered(b.Normal) || jittered(b.Throttled)
}

// Ceiling returns the cap of the strategy that Next asks for s; 0: none.
func (b ByThrottled) Ceiling(s State) time.Duration {
	child := b.pick(s)
	if c, ok := child.(interface{ Ceiling(State) time.Duration }); ok && !errtree.IsNil(child) {
		return c.Ceiling(s)
	}
	return 0
}

// Clone returns a ByThrottled with clones of those strategies that have Clone, and the others as they are.
func (b ByThrottled) Clone() Strategy {
	return b.each(func(child Strategy) Strategy {
		if c, ok := child.(interface{ Clone() Strategy }); ok {
			return c.Clone()
		}
		return child
	})
}

// Validate returns a *ConfigError for a strategy that is nil, and what the strategies' own Validate says.
func (b ByThrottled) Validate() error { return check(b.table()) }

// String returns the text that Parse reads, such as "bythrottled(normal=exponential, throttled=constant(delay=1s))",
// provided that it reads the text of both strategies. One without a String method is written as its type.
func (b ByThrottled) String() string { return format(b.table()) }

func (b *ByThrottled) table() (kind string, fields []field) {
	return "ByThrottled", []field{{"Normal", &b.Normal}, {"Throttled", &b.Throttled}}
}

func (b ByThrottled) pick(s State) Strategy {
	if s.Throttled {
		return b.Throttled
	}
	return b.Normal
}

// each applies f to the strategies that are there, once if they are the same.
func (b ByThrottled) each(f func(Strategy) Strategy) ByThrottled {
	shared := same(b.Normal, b.Throttled)
	if !errtree.IsNil(b.Normal) {
		b.Normal = f(b.Normal)
	}
	if shared {
		b.Throttled = b.Normal
	} else if !errtree.IsNil(b.Throttled) {
		b.Throttled = f(b.Throttled)
	}
	return b
}

// started returns s with private memory of its own, if it wants one. A Starter that starts nothing is asked itself.
func started(s Strategy) Strategy {
	if starter, ok := s.(Starter); ok {
		if call := starter.Start(); !errtree.IsNil(call) {
			return call
		}
	}
	return s
}

func jittered(s Strategy) bool {
	j, ok := s.(interface{ Jittered() bool })
	return ok && !errtree.IsNil(s) && j.Jittered()
}

// same says whether a and b are one pointer. Values have no identity that sharing could be told by.
func same(a, b Strategy) bool {
	t := reflect.TypeOf(a)
	return t != nil && t.Kind() == reflect.Pointer && a == b
}
