// Package retry runs an operation until it succeeds or there is a good reason to stop, and always says which.
//
// The operation must be safe to repeat: a failure does not tell whether it took effect.
//
//	user, err := retry.Do(ctx, func(ctx context.Context) (*User, error) {
//		return api.User(ctx, id)
//	})
//
//	var policy = retry.MustNew(
//		retry.WithName("orders"),
//		retry.WithStrategy(strategy.Exponential{Base: 50 * time.Millisecond, Max: 5 * time.Second}),
//		retry.WithJitter(strategy.Equal),
//		retry.WithMaxElapsed(30*time.Second),
//		retry.WithCondition(condition.Only(condition.Network(), condition.HTTPStatus(429, 503))),
//	)
//	order, err := retry.Do(ctx, place, policy)
//
// # Which entry point
//
//   - Do for operations with a value, Run for those without.
//   - Poll for looking, at an interval, until something is done.
//   - Supervise for work that is to go on for hours, and is begun again when it ends: a stream, a worker.
//   - NewLoop where the attempt is better written as the body of a for statement.
//   - For HTTP requests package retryhttp, for transactions of database/sql package retrysql.
//   - Policy.Begin, which returns a Flow, where something else does the waiting: a select loop, a job queue, a simulation.
//
// # How a call goes
//
// Before every attempt, the first included: a context that is done, or a closed WithStop channel, ends the call. Throttles
// are asked in order, and the executor does any wait they demand. Then the attempt runs. A nil error is success. A failure
// is judged by the first of these that decides: a done context (stop), Permanent (stop), Results.Classify, a
// throttle.Signal that says Yes or No, the rules in order (retry), WithRetryIf, the conditions in order, the attempt's own
// timeout (retry), context.Canceled (stop; one within an inner call's *Error is that call's), condition.Hopeless (stop);
// else it is retried. Throttles are told the outcome.
//
// A retry needs an attempt left, a delay from the strategy, and a wait that ends before the time budget and the context's
// deadline do: no wait is started that cannot end in time, or that leads to a throttle which says now that it will
// refuse. The budget is charged last. Then the wait, WithBeforeRetry, and
// from the top. The first thing that fails ends the call.
//
// A rule (WithRule) gives one kind of failure limits and waits of its own, counted apart in each call.
//
// An attempt that ran well for a while before it failed (WithResetAfter), or made progress by its own account (Restart), is
// the first of a new run of failures: limits and waits begin again.
//
// # Errors
//
// A failure that is not worth retrying comes back as the operation returned it. Everything else that ends a call is an
// *Error, through which errors.Is and errors.As reach both the operation's last error and the reason:
//
//	var gaveUp *retry.Error
//	switch {
//	case err == nil:
//	case errors.Is(err, sql.ErrNoRows): // the operation's own error is always there
//	case errors.Is(err, retry.ErrExhausted): // so is the reason
//	case errors.As(err, &gaveUp): // Attempts, Elapsed, Delay, Reason, Last
//	}
//
// # Defaults
//
//	attempts            5
//	waits               strategy.FullJitter{Base: 200ms, Max: 20s}: 1.5s in all on average, 3s at most
//	time                no limit but the context's deadline
//	attempt timeout     none
//	told waits          up to 60s
//	retried             every failure but cancellations, Permanent and what condition.Hopeless knows
//	resets              none
//
// Of Supervise:
//
//	attempts            no limit
//	waits               strategy.EqualJitter{Base: 1s, Max: 1m}
//	resets              after 1m
//
// Of Poll: 5 failures in a row, the interval between looks, and the longer one of interval and wait after a failure.
//
// # Time
//
// Waits and limits live by the system's clock, so tests under testing/synctest are exact with nothing injected. WithClock
// and ContextWithClock take another one; package retrytest has one that does not wait at all.
package retry
