package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/grpccode"
	"github.com/seed-89b3229b/retry/throttle"
)

// verdict is what a failure means for the call. A nil reason: worth a retry.
type verdict struct {
	reason    error
	ending    Ending
	bare      bool // the caller gets the failure as the operation returned it
	throttled bool
	pushback  bool // the server itself forbade a retry
	restart   bool // the failure came after progress
	rule      int  // the rule that it matches, from 1; 0: none
}

var hopeless = condition.Hopeless()

// stop is the verdict that another attempt can't help.
func (v *verdict) stop() { v.reason, v.ending, v.bare = ErrNotRetryable, EndAborted, true }

// classify: step 4. It removes the marks at the top of o.Err, fills in the signal that the error carries, and settles
// o.Class.
func classify(ctx context.Context, c *config, o *throttle.Outcome, v *verdict) {
	if o.Err == nil {
		if o.Class == throttle.Unset {
			o.Class = throttle.Success
		}
		return
	}
	var t traits
	var marked bool
	if silent(o.Err) {
		t.canceled = o.Err == context.Canceled
	} else {
		t = traitsOf(o.Err)
		if o.Signal.IsZero() {
			o.Signal, _ = throttle.FromError(o.Err)
		}
		o.Err, marked = unmark(o.Err)
		v.restart = t.restart
	}
	o.Signal.Delay = max(o.Signal.Delay, 0)

	class := judge(ctx, c, o, t, marked, v)
	v.throttled = v.throttled || o.Signal.HasDelay || o.Class == throttle.Throttled
	if o.Class == throttle.Unset {
		switch {
		case class != throttle.Unset:
			o.Class = class
		case v.reason != nil:
			o.Class = throttle.Permanent
		case v.throttled:
			o.Class = throttle.Throttled
		case t.timeout:
			o.Class = throttle.Timeout
		default:
			o.Class = throttle.Transient
		}
	}
}

// silent reports whether err has none of the methods that the walks through its tree ask for. Most errors are so, and one
// look at the type then spares them the walks.
func silent(err error) bool {
	switch err.(type) {
	case interface{ Unwrap() error }, interface{ Unwrap() []error }, interface{ Is(error) bool }, interface{ Timeout() bool },
		throttle.Carrier, interface{ RetryAfter() time.Duration }, interface{ GetRetryAfter() *int64 }:
		return false
	}
	return true
}

// judge goes down the list of those who may decide. The class is set where the decision implies one.
func judge(ctx context.Context, c *config, o *throttle.Outcome, t traits, marked bool, v *verdict) throttle.Class {
	if ctx.Err() != nil {
		v.reason, v.ending = contextEnd(ctx)
		return throttle.Canceled
	}
	if t.permanent {
		v.stop()
		v.bare = marked // below other errors the mark can't be removed: the whole tree is kept in an *Error
		return throttle.Unset
	}
	decided := o.Decided
	if decided == throttle.Undecided {
		decided = o.Signal.Retry
		v.pushback = decided == throttle.No
	}
	for i := 0; i < len(c.rules) && decided == throttle.Undecided; i++ {
		switch c.rules[i].when.Check(o.Err) {
		case condition.Throttled:
			v.throttled = true
			fallthrough
		case condition.Retry:
			decided, v.rule = throttle.Yes, i+1
		}
	}
	if decided == throttle.Undecided && c.retryIf != nil {
		decided = throttle.No
		if c.retryIf(o.Err) {
			decided = throttle.Yes
		}
	}
	for i := 0; i < len(c.conditions) && decided == throttle.Undecided; i++ {
		switch c.conditions[i].Check(o.Err) {
		case condition.Stop:
			decided = throttle.No
		case condition.Throttled:
			v.throttled = true
			fallthrough
		case condition.Retry:
			decided = throttle.Yes
		}
	}
	switch {
	case decided == throttle.Yes:
	case decided == throttle.No:
		v.stop()
	case t.attemptTimeout:
	case t.canceled: // and the caller did not: somebody cancelled on purpose
		v.stop()
		return throttle.Canceled
	case hopeless.Check(o.Err) == condition.Stop:
		v.stop()
		if code, _ := grpccode.Of(o.Err); code == grpccode.Canceled {
			return throttle.Canceled
		}
	}
	return throttle.Unset
}

// refusedFor is how long a refusal lasts, where it says so.
func refusedFor(err error) (d time.Duration) {
	s, _ := throttle.FromError(err)
	return max(s.Delay, 0)
}
