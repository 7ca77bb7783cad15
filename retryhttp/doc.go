// Package retryhttp retries HTTP requests: an http.RoundTripper that makes the attempts of a request by a policy of package
// retry, and repeats only what is safe to repeat.
//
//	policy := retry.MustNew(
//		retry.WithMaxAttempts(4),
//		retry.WithAttemptTimeout(5*time.Second),
//	)
//	client := &http.Client{Transport: retryhttp.NewTransport(http.DefaultTransport, policy)}
//
//	response, err := client.Get("https://example.com/orders/7")
//	if err != nil {
//		return err // errors.As finds a *retry.Error in it, if a retry was worth it
//	}
//	defer response.Body.Close()
//
// # What is repeated
//
// A request that the server has not seen, because its header was never written or the server said so, whatever the
// method. One that it may have seen only if that is safe: IsIdempotent, a generated Idempotency-Key, or an answer that
// says that nothing was done (429, 503 with Retry-After; see Repeat). Never: a failure of certificates, a server without
// TLS where that was asked for, a request that net/http refuses to send, a body that cannot be sent again, anything once
// the request's own context has ended.
//
// net/http makes some attempts by itself, on connections that were idle too long and on streams that a server did not
// begin. They are part of one attempt here.
//
// # What comes back
//
// An answer, whatever its status, as from http.Client: the last one with its body open and a nil error. If the last
// attempt had no answer, the error: the base transport's own if it was not worth another attempt, else one in which
// errors.As finds the *retry.Error and the last *Failure. The responses in between are drained within limits, so that
// their connections are used again, and closed.
//
// The body of the answer is the caller's to read: if it breaks off, that is the error of Read, and nothing is repeated.
// Where that matters, read it within the operation of a retry.Do around a plain client.
//
// # Which setting
//
//   - How often, how long, logs, metrics: the policy. Its conditions get a *Failure, with request and response.
//   - One attempt that hangs: retry.WithAttemptTimeout. It covers the time until the header of the response is there;
//     the body may then take as long as it likes.
//   - The whole call with all its waits: a deadline in the request's context. No wait is begun that would outlast it.
//   - http.Client.Timeout is the trap: it spans all attempts and waits, and reading the body too. A Timeout that was
//     right for one attempt leaves no time for a second.
//   - Other statuses: Transport.Statuses, or a condition such as condition.HTTPStatus(409).
//   - POST: let the client make a key (Transport.IdempotencyKey), or say which ones are safe (Transport.Idempotent).
//     Bodies made by http.NewRequest from a bytes.Buffer, bytes.Reader or strings.Reader can be sent again; for others
//     set Request.GetBody or Transport.BufferBody.
//   - Waits that a server asks for: up to retry.WithMaxHint they are waited for; a longer one ends the call at once
//     with that very response. With a Transport.Gate the other requests to the host are held back too, and later ones
//     for as long; without it nothing is remembered.
//   - Several API tokens: a pool.Pool and retry.WithHint(throttle.Ignore()) in the policy, and a Transport.Sign that
//     sets the field with Pool.Key of the request's context.
//   - A dependency that is down for good: a Transport.Budget for each host.
//   - One request: retry.ContextWithoutRetry and ContextWithPolicy, through its context.
//
// Retries multiply: a client that retries, over this transport, makes the product of both.
package retryhttp
