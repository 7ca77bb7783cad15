package strategy

import (
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/internal/saturate"
)

// Delays returns the first n waits of a call that keeps failing, to look at or to print. Fewer come back where s ends
// the call earlier, and none where n is below 1 or s is nil (also a nil pointer or Func inside the interface).
//
// A Starter is started (where that gives nothing, it is asked itself), and of a Learner only Next is called, so nothing
// that calls in progress use is changed; a Learner therefore shows its present level n times. Number and Prev are carried on as in a call; Elapsed is the sum of
// the waits, as if attempts took no time. Limit, Began, Now and Err are not set and Throttled is false: wrap s in a Func
// to look at other states.
//
// rnd draws from [0, 1); nil: math/rand/v2. The waits are held in memory, 8 bytes each.
func Delays(s Strategy, n int, rnd func() float64) []time.Duration {
	if n < 1 || errtree.IsNil(s) {
		return nil
	}
	s = started(s)
	// n may be any number while s may have only a few waits to give.
	delays := make([]time.Duration, 0, min(n, 64))
	state := State{Rand: rnd}
	for state.Number = 1; state.Number <= n; state.Number++ {
		delay, ok := s.Next(state)
		if !ok {
			break
		}
		state.Prev = max(delay, 0)
		state.Elapsed = saturate.Add(state.Elapsed, state.Prev)
		delays = append(delays, state.Prev)
		if state.Number == n {
			break // n may be the largest int
		}
	}
	return delays
}
