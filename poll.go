package retry

import (
	"context"
	"time"
)

// Poll looks until what it looks for is done: fn is one look, and returns what it saw, whether that is the end, and an error
// if it could not look. The first look is at once (or after WithInitialDelay), each further one an interval after the look
// before has ended. done true ends the call with v and nil.
//
// Not done is no failure. It counts against no limit of attempts, charges no budget, moves no level that a strategy shares
// between calls, and is no error to anybody: observers see an Event without Err that is Retrying, WithOnRetry,
// WithBeforeRetry and WithLogger are not called. It ends a run of failures: WithMaxAttempts (default 5),
// WithMaxRetryElapsed, rules and waits count failures in a row, so that a poll of a day gets over an error now and then.
// WithMaxElapsed and the context's deadline limit the whole call: no wait is started that would not end before.
//
// An error is a failure as for Do (done does not count then), and the wait after it is the longer one of interval and the
// policy's, and a told wait (After) works on that as ever; WithMaxDelay and WithJitter are for the policy's only. The
// interval is neither jittered nor capped. Each look is an attempt to throttles, observers, WithAttemptTimeout and Results;
// what Results.Classify accepts is done if fn said so.
//
// With an error, Poll returns the value of the last look, whether that failed or not, unless it was thrown away (Results):
// how far things had come. To keep an earlier one over a failed look, let fn return it. Error.Last is nil where the
// last look was just not done.
//
// An interval of 0 or less, a nil fn and options that cannot be used are a *ConfigError, and fn is not called. The memory
// that Poll needs does not grow with the number of looks. It is safe for concurrent use.
func Poll[T any](ctx context.Context, interval time.Duration, fn func(context.Context) (v T, done bool, err error), opts ...Option) (T, error) {
	var c config
	var problems problems
	problems.add(required("fn", fn == nil))
	if interval <= 0 {
		problems.add(invalid("interval", interval, "must be above 0"))
	}
	problems.add(c.merge(opts))
	if err := problems.err(); err != nil {
		return *new(T), err
	}
	c.interval = interval
	done := false
	look := func(ctx context.Context) (v T, err error) {
		v, done, err = fn(ctx)
		return v, err
	}
	return doMore(ctx, look, &c, *new(T), nil, func() sequel {
		if done {
			return finished
		}
		return unfinished
	})
}
