// Package strategy says how long to wait after a failure.
//
// A Strategy answers one question: given that this was failure number n of a call, how long is the wait before the next
// attempt, or is there none? The strategies are plain values. Zero fields mean the documented default, Validate says what
// cannot be used, and one value serves any number of calls at once, because all that belongs to a call is in the State.
// LILD, LIMD, MILD and MIMD have memory of their own, a level that is shared on purpose: they are used as pointers.
//
//	policy := retry.MustNew(
//		retry.WithStrategy(strategy.Exponential{Base: 50 * time.Millisecond, Max: 10 * time.Second}),
//		retry.WithJitter(strategy.Equal),
//	)
//	err := retry.Run(ctx, send, policy)
//
//	for _, wait := range strategy.Delays(strategy.Fibonacci{}, 5, nil) {
//		fmt.Println(wait) // 100ms 100ms 200ms 300ms 500ms
//	}
//	s, err := strategy.Parse(os.Getenv("STRATEGY")) // such as fulljitter(base=200ms, max=20s)
//
// # Which one
//
// Many clients, one service, the usual case: FullJitter. It spreads a crowd best, with few attempts in all.
//
// The same, but each failure must be followed by some rest: EqualJitter, which never draws less than half.
//
// Waits that depend on the last wait rather than on the number of failures: Decorrelated, with Capped unless the
// published formula is wanted to the letter. It makes more attempts than FullJitter.
//
// One client, or a server that spreads the load itself: Exponential; Fibonacci grows slower (1.6 instead of 2), Linear
// slower still, Constant not at all. These draw nothing; a Jitter in the policy spreads them.
//
// A list that somebody wrote down: Sequence.
//
// One wait for all who use the same dependency, that failures raise and successes lower again: LIMD, LILD, MILD, MIMD. LIMD
// suits most; LILD where the right wait is about known, MILD where recovery takes long, MIMD where the right wait may be
// anything between milliseconds and minutes.
//
// A wait after successes too: Pacer, which is for loops of one's own and for throttle.Pace.
//
// A slower curve when the server says "too many requests" than when it breaks: ByThrottled.
//
// Anything else: Func, or a type with Next.
//
// # Defaults
//
//	Base, First, Initial   100 ms
//	Factor                 2
//	Second                 First
//	Increment              Initial
//	IncrementOnFailure     Initial
//	IncrementOnSuccess     -Initial
//	MultipleOnFailure      2
//	MultipleOnSuccess      0.5
//	Min                    0
//	Max                    none: saturates at the largest Duration
//
// # Caps and jitter
//
// Each curve has its own Max, and State.Limit, the policy's cap, holds over all. Strategies that draw take both into
// account before the draw, and a Jitter gets the limit for the same reason: a cap after the draw gathers callers at
// exactly the cap, where they meet again. Decorrelated without Capped is the one exception, and says so.
//
// # Totality
//
// Next answers for every State and every field, also for those that Validate refuses: it never panics, and the delay is
// never negative and never above Max or State.Limit (a Min above Max wins over it). Invalid fields are read as not set.
package strategy
