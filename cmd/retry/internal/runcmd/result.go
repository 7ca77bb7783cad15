package runcmd

import (
	"fmt"
	"time"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
	"github.com/seed-89b3229b/retry/throttle"
)

// Exit statuses that mean something of their own.
const (
	codeNotNow      = 75 // EX_TEMPFAIL: a state file says not yet
	codeUnavailable = 69 // EX_UNAVAILABLE: no good answer from a URL
	codeTimeout     = 124
	codeCannotRun   = 126
	codeNotFound    = 127
	codeSignal      = 128 // and the signal's number
)

// result is how one attempt ended.
type result struct {
	number   int
	code     int
	signal   int   // that the command died of; 0: none
	timeout  bool  // ended by us for lack of time
	deadline bool  // which was that of the whole run
	broken   error // a failure of ours, such as no room for what it wrote; nothing more is to be done
	cannot   error // why it could not be started
	duration time.Duration
	stdout   *tail
	stderr   *tail

	told throttle.Signal
}

// String is what a log line says.
func (r *result) String() string {
	switch {
	case r.cannot != nil:
		return r.cannot.Error()
	case r.timeout:
		return "timed out"
	case r.signal > 0:
		return "killed by " + signalName(r.signal)
	}
	return fmt.Sprintf("exit status %d", r.code)
}

// Error makes a result the error of its attempt.
func (r *result) Error() string { return r.String() }

// verdict is what follows from a result.
type verdict uint8

const (
	repeat verdict = iota
	throttled
	well
	final
)

// decide goes down the rules. The first that matches decides.
func (c *Command) decide(r *result) verdict {
	switch {
	case r.broken != nil:
		return final
	case c.Stop.has(r) || c.StopOutput.found(r):
		return final
	case r.deadline: // whatever it was to be, there is no time for it
		return repeat
	case c.OnOutput.found(r) || c.UntilOutput.given() && !c.UntilOutput.found(r):
		return repeat
	case c.Throttled.has(r) || c.ThrottledOutput.found(r):
		return throttled
	case c.ends(r):
		return well
	case c.On.given:
		if c.On.has(r) {
			return repeat
		}
		return final
	case !r.timeout && (r.code == codeCannotRun || r.code == codeNotFound || meant(r.signal)):
		return final
	case r.told.Retry == throttle.No: // the server's word, in the file of --headers
		return final
	}
	return repeat
}

// ends says whether the result is in --until.
func (c *Command) ends(r *result) bool {
	if !c.Until.given {
		return r.code == 0 && !r.timeout
	}
	return c.Until.has(r)
}

// outcome is a result that is not good, as the library wants it.
func (r *result) outcome(v verdict) throttle.Outcome {
	o := throttle.Outcome{Err: r, Duration: r.duration, Signal: r.told, Decided: throttle.Yes}
	switch {
	case v == final:
		o.Decided = throttle.No
	case v == throttled:
		o.Class = throttle.Throttled
	case r.timeout:
		o.Class = throttle.Timeout
	}
	return o
}

// status is the exit status of a run whose last attempt this was.
func (r *result) status() int {
	if r.broken != nil {
		return frame.Failed
	}
	return r.code
}
