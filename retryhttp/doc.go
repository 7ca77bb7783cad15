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
// says that nothing was done (429, 503 with Retry-After; see Repeat). Not, unless a condition of the policy allows it: a failure
// of certificates (but for one that is not yet valid), a server without TLS where that was asked for, a request that net/http
// refuses to send. Never: a body that cannot be sent again, anything once the request's own context has ended.
//
// net/http makes some attempts by itself, on connections that were idle too long and on streams that a server did not
// begin. They are part of one attempt here.
//
// # Connections
//
// An attempt that ran out of time before the first byte of an answer may have been on a connection that is dead, and an answer
// 421 says that the connection leads to the wrong server. The next attempt goes on another connection. Over HTTP/1 those that
// have been idle since before are closed when their turn comes. Over HTTP/2 the connection gets no further request from anybody,
// and is closed with the last of its streams, which go on. That costs a new connection: a round trip for TCP and one or two for
// TLS, and the server's work for them. A server that is merely slow is asked for it too: about one connection for each attempt
// timeout over HTTP/2, while over HTTP/1 net/http closes a connection with each request that is given up anyway.
//
// It takes a Base that is a *http.Transport, or wraps one and has a method Unwrap() http.RoundTripper. Of any other Base the
// connections are not known: after such an attempt the next ones say Connection: close, so that a dead connection of HTTP/2
// takes at most one more, and none of their connections is used again. HTTP/2 without TLS gets a connection of its own for each
// further attempt.
//
// A connection that goes silent while no attempt has a timeout is found by pings alone. A nil Base sends them; for another,
// set http.Transport.HTTP2.
//
// # What comes back
//
// An answer, whatever its status, as from http.Client: the last one with its body open and a nil error. If the last
// attempt had no answer, the error: the base transport's own if it was not worth another attempt, else one in which
// errors.As finds the *retry.Error and the last *Failure. The responses in between are drained within limits, so that
// their connections are used again, and closed.
//
// The body of the answer is the caller's to read: if it breaks off, that is the error of Read, and nothing is repeated.
// Where that matters, have it read within the attempt: by Fetch, ReadAll or Download, with this client or any other.
//
//	user, err := retryhttp.Fetch(client, request, func(response *http.Response) (user User, err error) {
//		err = json.NewDecoder(response.Body).Decode(&user)
//		return user, err
//	})
//
// Attempts says how many attempts an answer took. Failure.NotRepeated says why a request was not sent again.
//
// # Which setting
//
//   - How often, how long, logs, metrics: the policy. Its conditions get a *Failure, with request and response.
//   - One attempt that hangs: retry.WithAttemptTimeout. It covers the time until the header of the response is there;
//     the body may then take as long as it likes. With Fetch it covers the body too; for large ones there is Download.Stall.
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
//   - Cookies of answers that are repeated: a Transport.Jar, the same as the client's.
//   - A dependency that is down for good: a Transport.Budget for each host.
//   - One request: retry.ContextWithoutRetry and ContextWithPolicy, through its context.
//
// Retries multiply: a client that retries, over this transport, makes the product of both.
package retryhttp
