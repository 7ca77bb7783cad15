// Package throttle decides whether an attempt may start now.
//
// A retry policy says how long one call waits after its own failure. A Throttle speaks for the dependency: it is shared
// by calls that know nothing of each other, is asked before every attempt, first attempts included, and is told how
// each one ended. What a server said about waiting travels in a Signal; a Gate turns it into a cool-down that holds
// everybody back, not only the call that heard it.
//
//	gate := new(throttle.Gate) // one per process, shared by all calls
//
//	func place(ctx context.Context, order Order) (*Receipt, error) {
//		return retry.Do(ctx, func(ctx context.Context) (*Receipt, error) {
//			resp, err := post(ctx, order)
//			if err != nil || resp.StatusCode < 400 {
//				return receipt(resp), err
//			}
//			told, _ := hint.Standard().Parse(resp.Header, resp.StatusCode, time.Now())
//			return nil, told.Wrap(&StatusError{resp.StatusCode}) // closes the gate for both keys, if it names a wait
//		}, retry.WithThrottle(gate.For("acme", "acme/PlaceOrder")))
//	}
//
// # Which one
//
//   - The server says when to come back, for a fixed set of names: [Gate.For], one key for each scope that the limit may
//     have, such as account and operation. A limit for one of them alone is told with [Gate.Observe].
//   - The name depends on the call, such as its tenant or host: [Gate.By].
//   - No executor around: [Gate.Check] to fail at once, [Gate.Wait] to wait, [Gate.Observe] to tell what was heard.
//   - Successes must be followed by a wait too, as in polling: [Pace].
//   - A rule of your own, such as a maintenance window: [Func].
//   - A limit that has to know how attempts ended, or counts those under way: implement [Throttle]. Admit never waits;
//     it says how long to wait, and gets its ticket back when it is asked again and when the attempt is over.
//     [Planner], [Attacher], [Labeler] and [Explainer] are what it may have besides.
//   - Limits on retries rather than on attempts, shared by all calls: a [Budget], [TokenBudget] if in doubt;
//     docs/budgets.md compares them; ParseBudget reads one from text.
//   - A dependency that accepts too little is to be asked less: [Adaptive]. With a circuit breaker of your own: [Breaker],
//     last among throttles.
//   - A rate limiter of your own: [Reserve] if it can tell how long to wait (golang.org/x/time/rate), else [Limit].
//   - The server limits each of several keys by itself, such as API tokens: package throttle/pool.
//
// Package throttle/hint reads what a response says about waiting, and [Signal.Wrap] puts it into the error of the attempt.
// [FromError] finds what a failure says, whichever code made the error. How a told wait and the planned one come together is
// the Signal's [Rule]: [AtLeast] unless the protocol says otherwise ([Exact] for gRPC's pushback, [Clamp] for AWS), [Ignore]
// where a throttle obeys the wait in the call's place.
//
// # Time
//
// Nothing here reads a clock, except what waits by itself: Gate.Wait uses the one of its context, and Limit's
// limiter has its own. Otherwise times are arguments, as in golang.org/x/time/rate: tests need no sleeping, and a
// simulation runs at its own speed.
package throttle
