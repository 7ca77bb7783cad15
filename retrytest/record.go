package retrytest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry"
)

// Record is what a Recorder was told of one call, each list in order.
type Record struct {
	Call   retry.Call
	Starts []retry.AttemptStart
	// Events are the ends of attempts. An attempt that panicked has a start and no end.
	Events []retry.Event
	// Pauses are the waits, those before attempt 1 included.
	Pauses []retry.Pause
	// Summary is the end of the call; zero unless Ended.
	Summary retry.Summary
	Ended   bool
}

// Errors returns how each attempt that returned came out: its error as classified, nil for a success.
func (r Record) Errors() []error {
	var all []error
	for _, e := range r.Events {
		all = append(all, e.Err)
	}
	return all
}

// Delays returns the waits before attempts, at the length that they had when they began.
func (r Record) Delays() []time.Duration {
	var all []time.Duration
	for _, p := range r.Pauses {
		all = append(all, p.Delay)
	}
	return all
}

// String returns the call's course, a line for each attempt and each wait, with times from the start of the call:
//
//	call "orders"
//	  0s: attempt 1: connection refused
//	  0s: wait 1s (policy)
//	  1s: attempt 2, 300ms: success
//	  1.3s: ended: success
func (r Record) String() string {
	var b strings.Builder
	b.WriteString("call")
	if r.Call.Name != "" {
		fmt.Fprintf(&b, " %q", r.Call.Name)
	}
	b.WriteByte('\n')
	line := func(at time.Time, format string, args ...any) {
		fmt.Fprintf(&b, "  %v: %s\n", at.Sub(r.Call.Start), fmt.Sprintf(format, args...))
	}
	pauses := r.Pauses
	wait := func(before int) {
		for len(pauses) > 0 && pauses[0].Before <= before {
			line(pauses[0].At, "wait %v (%v)", pauses[0].Delay, pauses[0].Source)
			pauses = pauses[1:]
		}
	}
	for i, s := range r.Starts {
		wait(s.Number)
		line(s.At, "attempt %d%s", s.Number, r.outcome(i))
	}
	wait(r.Summary.Attempts + 1)
	if r.Ended {
		line(r.Summary.At, "ended: %v", r.Summary.Ending)
	}
	return b.String()
}

func (r Record) outcome(i int) string {
	if i >= len(r.Events) {
		return ": did not return"
	}
	e, took, result := r.Events[i], "", "success"
	if e.Duration != 0 {
		took = fmt.Sprintf(", %v", e.Duration)
	}
	if e.Err != nil {
		result = e.Err.Error()
	}
	return took + ": " + result
}

func (r Record) clone() Record {
	r.Starts, r.Events, r.Pauses = slices.Clone(r.Starts), slices.Clone(r.Events), slices.Clone(r.Pauses)
	return r
}
