// Package retrygrpc retries gRPC calls: client interceptors, unary and stream, that make the attempts of a call by a policy
// of package retry, repeat only what is safe to repeat, and obey what the server says about waiting.
//
//	calls := retrygrpc.New(retry.WithMaxAttempts(4)) // one for any number of connections
//	conn, err := grpc.NewClient(target, append(calls.DialOptions(), grpc.WithTransportCredentials(creds))...)
//	if err != nil {
//		return err
//	}
//	defer conn.Close()
//
//	order, err := orders.NewOrdersClient(conn).Get(ctx, request) // as ever
//
// # What is repeated
//
//   - UNAVAILABLE, of an idempotent method, or where the request never left the client, or where the server names a wait.
//   - DEADLINE_EXCEEDED of an attempt whose own time was up, of an idempotent method, or where it never left the client.
//   - RESOURCE_EXHAUSTED where the server names a wait.
//
// Nothing else, unless Interceptor.Codes or the policy's conditions say so, and never a request that the server may have
// seen of a method which is not idempotent. A method is idempotent if its option idempotency_level in the .proto file says
// so, or Method.Idempotent, or WithIdempotent. The whole table is in docs/grpc.md.
//
// A server names a wait by the trailer grpc-retry-pushback-ms (gRPC proposal A6) or by a google.rpc.RetryInfo in the status;
// Pushback and After do that on the server's side.
//
// # Streams
//
// A stream is repeated until a header of the server has arrived: by then nothing of it has reached the caller. What the caller has
// sent so far is kept for that, up to Interceptor.BufferBytes, and sent again. After the header, the stream is the server's and the
// caller's, and nothing in between repeats anything; retry.Supervise keeps up a stream that should never end.
//
// # What comes back
//
// A failure that is not worth another attempt is the very error of that attempt. Any other end is an error with the code and
// details of the last attempt (CANCELLED or DEADLINE_EXCEEDED if it was the caller's context), in which errors.As finds the
// *retry.Error and the last *Failure.
//
// # Which setting
//
//   - How often, how long, logs, metrics: the policy. Its conditions get a *Failure.
//   - One attempt that hangs: retry.WithAttemptTimeout; it goes to the server as the attempt's deadline. It does not touch streams.
//   - The whole call, and a stream: a deadline in the call's context.
//   - A dependency that is down for good: Interceptor.Budget, such as throttle.NewFailureBudget, which is gRPC's own.
//   - Waits that also hold back other calls: Interceptor.Gate.
//   - One method: Interceptor.Methods. One call: WithPolicy, WithIdempotent, retry.ContextWithoutRetry.
//
// gRPC's own retries (retryPolicy in the service config) must be off, or the attempts multiply: DialOptions sees to it.
package retrygrpc
