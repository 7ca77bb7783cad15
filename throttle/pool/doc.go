// Package pool hands out keys, such as API tokens, accounts or proxies, for a server that limits each of them by itself. An
// attempt takes another key while one cools down, and waits only when all do.
//
//	var tokens = pool.New("token-a", "token-b") // one for the process, shared by all calls
//
//	func find(ctx context.Context, id string) (*User, error) {
//		return retry.Do(ctx, func(ctx context.Context) (*User, error) {
//			return api.User(ctx, tokens.Key(ctx), id)
//		}, retry.WithThrottle(tokens), retry.WithHint(throttle.Ignore()))
//	}
//
// # Which one
//
//   - With the executor: the [Pool] is the throttle, and [Pool.Key] finds the attempt's key in its context.
//   - Without it: [Pool.Acquire] to have a key or an error at once, [Pool.AcquireWait] to wait for one.
//   - Settings from the environment: [FromEnv].
//   - Keys that come and go: [Pool.Add] and [Pool.Remove]. How each of them fares: [Pool.Stats].
package pool
