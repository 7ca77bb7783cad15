package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/throttle"
)

// verdict is what a failure means for the call. A nil reason: worth a retry.
type verdict struct {
	reason    error
	ending    Ending
	bare      bool // the caller gets the failure as the operation returned it
	throttled bool
	pushback  bool // the server itself forbade a retry
}

var (
	hopeless = condition.Hopeless()
	stop     = verdict{reason: ErrNotRetryable, ending: EndAborted, bare: true}
)

// classify: step 4. It removes the marks at the top of o.Err, fills in the signal that the error carries, and settles
// o.Class.
func (f *flow) classify(ctx context.Context, c *config, o *throttle.Outcome) verdict {
	if o.Err == nil {
		if o.Class == throttle.Unset {
			o.Class = throttle.Success
		}
		return verdict{}
	}
	t := traitsOf(o.Err)
	if o.Signal.IsZero() {
		o.Signal, _ = throttle.FromError(o.Err)
	}
	if o.Signal.Delay < 0 {
		o.Signal.Delay, o.Signal.HasDelay = 0, false
	}
	var marked bool
	o.Err, marked = unmark(o.Err)

	v, class := judge(ctx, c, o, t, marked)
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
	return v
}

// judge goes down the list of those who may decide. class is set where the decision implies one.
func judge(ctx context.Context, c *config, o *throttle.Outcome, t traits, marked bool) (v verdict, class throttle.Class) {
	if ctx.Err() != nil {
		v.reason, v.ending = contextEnd(ctx)
		return v, throttle.Canceled
	}
	if t.permanent {
		v = stop
		v.bare = marked // below other errors the mark can't be removed, so the whole tree is kept in an *Error
		return v, throttle.Unset
	}
	switch o.Decided {
	case throttle.Yes:
		return verdict{}, throttle.Unset
	case throttle.No:
		return stop, throttle.Unset
	}
	switch o.Signal.Retry {
	case throttle.Yes:
		return verdict{}, throttle.Unset
	case throttle.No:
		v = stop
		v.pushback = true
		return v, throttle.Unset
	}
	if c.retryIf != nil {
		if c.retryIf(o.Err) {
			return verdict{}, throttle.Unset
		}
		return stop, throttle.Unset
	}
	for _, cond := range c.conditions {
		switch cond.Check(o.Err) {
		case condition.Stop:
			return stop, throttle.Unset
		case condition.Retry:
			return verdict{}, throttle.Unset
		case condition.Throttled:
			return verdict{throttled: true}, throttle.Unset
		}
	}
	switch {
	case t.attemptTimeout:
		return verdict{}, throttle.Timeout
	case t.canceled: // and the caller did not: somebody cancelled on purpose
		return stop, throttle.Canceled
	case hopeless.Check(o.Err) == condition.Stop:
		return stop, throttle.Unset
	}
	return verdict{}, throttle.Unset
}

// refusedFor is how long a refusal lasts, where it says so.
func refusedFor(err error) (d time.Duration) {
	s, _ := throttle.FromError(err)
	return max(s.Delay, 0)
}
