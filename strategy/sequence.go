package strategy

import (
	"slices"
	"time"
)

// Sequence waits what a list says. With n counting failures from 1:
//
//	min(State.Limit, Delays[n−1])
//
// After the last element it ends the call (ok false), or with Repeat waits the last element for ever. So Delays of three
// elements without Repeat allow at most four attempts, whatever the policy allows.
//
// A zero element retries at once. An empty list and negative elements are invalid; Next answers not ok for the one and
// reads the others as 0.
//
// It is safe for concurrent use as long as nobody writes to Delays.
type Sequence struct {
	// Delays are the waits, in order.
	Delays []time.Duration
	// Repeat says that the last element is used for every later failure too. The list does not start again.
	Repeat bool
}

// Next returns element s.Number of Delays, counted from 1. It draws nothing. ok is false after the last element without
// Repeat, and for an empty list.
func (q Sequence) Next(s State) (delay time.Duration, ok bool) {
	n, last := s.steps(), len(q.Delays)-1
	if last < 0 || n > uint64(last) && !q.Repeat {
		return 0, false
	}
	return s.within(q.Delays[min(n, uint64(last))]), true
}

// Validate returns a *ConfigError for an empty list and for the first element that is negative.
func (q Sequence) Validate() error { return check(q.table()) }

// Clone returns a Sequence with Delays of its own.
func (q Sequence) Clone() Strategy {
	q.Delays = slices.Clone(q.Delays)
	return q
}

// String returns the text that Parse reads, such as "sequence(delays=[100ms, 1s], repeat=true)".
func (q Sequence) String() string { return format(q.table()) }

func (q *Sequence) table() (kind string, fields []field) {
	return "Sequence", []field{{"Delays", &q.Delays}, {"Repeat", &q.Repeat}}
}
