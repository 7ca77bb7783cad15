package strategy

import (
	"math/rand/v2"
	"time"

	"github.com/seed-89b3229b/retry/internal/draw"
)

// State is what a strategy may know about the failure it is asked to follow with a wait. It is passed by value and
// describes one call; a strategy keeps nothing of it.
type State struct {
	// Number counts the call's failures from 1 (since the last reset), so the wait after the first failure has Number 1.
	// Values below 1 are read as 1.
	Number int
	// Prev is what Next returned last in this call, before cap and jitter; 0 at first.
	Prev time.Duration
	// Elapsed is the time since the first failure of the call (since the last reset).
	Elapsed time.Duration
	// Limit is the policy's cap on waits (WithMaxDelay); 0: none. A strategy that draws caps at it before the draw.
	Limit time.Duration
	// Began is when the failed attempt started and Now when it ended, on the call's clock. Began is the zero time where
	// nobody measures attempts.
	Began, Now time.Time
	// Err is the failure, as classified; nil where the wait follows none, as in a supervision whose work ended well.
	Err error
	// Throttled says that the failure was the server asking for less.
	Throttled bool
	// Rand draws from [0, 1). Nil: math/rand/v2.
	Rand func() float64
}

// Strategy says how long to wait after a failure. The same value serves any number of calls at once: Next only looks,
// and everything it may look at is in the State. It must be safe for concurrent use.
//
// A delay below 0 is read as 0. ok false ends the call: no further attempt is worth a wait.
//
// A strategy may also have Validate() error, which is called when it is given to a policy; Jittered() bool, which says
// that it draws its delays itself, so that a second jitter on top is refused; Ceiling(State) time.Duration, the cap on its
// delay in that state (0: none), which a jitter on top then keeps too; and Clone() Strategy, which a policy calls to be safe
// from later changes to slices inside it.
type Strategy interface {
	Next(s State) (delay time.Duration, ok bool)
}

// Starter is a Strategy with private memory for one call. Start is called at the call's first failure that needs a
// wait; its result gets Next only, from one goroutine at a time. Next on the Starter itself answers as a fresh call.
type Starter interface {
	Strategy
	Start() Strategy
}

// Learner is a Strategy with memory across calls. Next shows the wait that a failure would lead to; Failed commits it,
// once a retry is certain to follow; Succeed is told every success. All three must be safe for concurrent use.
type Learner interface {
	Strategy
	Failed(s State)
	Succeed()
}

// rand draws the State's next random number, brought into [0, 1).
func (s State) rand() float64 {
	if s.Rand == nil {
		return rand.Float64()
	}
	return draw.Unit(s.Rand())
}
