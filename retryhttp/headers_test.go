package retryhttp_test

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrytest"
)

const uuid = `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`

// headersOf sends a request that is answered by 503 twice, and returns the header of each attempt.
func headersOf(t *testing.T, ctx context.Context, write func(http.Header, retryhttp.Attempt), opts ...retry.Option) (all []http.Header) {
	base := &answers{codes: []int{503, 503, 200}}
	transport := retryhttp.NewTransport(base, append(opts, atOnce)...)
	transport.AttemptHeaders = write
	response, err := transport.RoundTrip(get(t).WithContext(ctx))
	require.NoError(t, err)
	_ = response.Body.Close()
	for _, r := range base.requests {
		all = append(all, r.Header)
	}
	return all
}

func TestAttemptHeaders(t *testing.T) {
	for _, h := range headersOf(t, t.Context(), nil) {
		assert.Empty(t, h)
	}

	all := headersOf(t, t.Context(), retryhttp.AWSHeaders)
	require.Len(t, all, 3)
	id := all[0].Get("amz-sdk-invocation-id")
	assert.Regexp(t, uuid, id)
	for i, h := range all {
		assert.Equal(t, "attempt="+itoa(i+1)+"; max=5", h.Get("amz-sdk-request"))
		assert.Equal(t, id, h.Get("amz-sdk-invocation-id"))
	}
	assert.NotEqual(t, id, headersOf(t, t.Context(), retryhttp.AWSHeaders)[0].Get("amz-sdk-invocation-id"), "another call")

	clk := retrytest.NewClock() // 2000-01-01 00:00
	all = headersOf(t, retry.ContextWithClock(t.Context(), clk), retryhttp.AWSHeaders,
		retry.WithAttemptTimeout(90*time.Second), retry.WithUnlimitedAttempts())
	require.Len(t, all, 3)
	assert.Equal(t, "ttl=20000101T000130Z; attempt=3", all[2].Get("amz-sdk-request"))

	all = headersOf(t, t.Context(), retryhttp.GRPCHeaders)
	require.Len(t, all, 3)
	assert.NotContains(t, all[0], "Grpc-Previous-Rpc-Attempts")
	assert.Equal(t, "1", all[1].Get("grpc-previous-rpc-attempts"))
	assert.Equal(t, "2", all[2].Get("grpc-previous-rpc-attempts"))

	var facts []retryhttp.Attempt
	headersOf(t, t.Context(), func(h http.Header, a retryhttp.Attempt) {
		facts = append(facts, a)
		h.Set("Retry-Attempt", itoa(a.Number))
	}, retry.WithMaxAttempts(7))
	require.Len(t, facts, 3)
	assert.Equal(t, retryhttp.Attempt{Number: 2, Max: 7, ID: facts[0].ID}, facts[1])

	retryhttp.AWSHeaders(nil, retryhttp.Attempt{})
	retryhttp.GRPCHeaders(nil, retryhttp.Attempt{Number: 2})
}

// TestContextOverrides: another policy or no retry at all for one request, with the rest of the transport in force.
func TestContextOverrides(t *testing.T) {
	base := &answers{codes: []int{503}}
	transport := retryhttp.NewTransport(base, atOnce, retry.WithMaxAttempts(3))
	attempts := func(ctx context.Context) int {
		base.requests = nil
		response, err := transport.RoundTrip(post(t, "x").WithContext(ctx))
		require.NoError(t, err)
		_ = response.Body.Close()
		return len(base.requests)
	}
	ctx := t.Context()
	assert.Equal(t, 1, attempts(ctx), "a POST")
	transport = retryhttp.NewTransport(base, atOnce, retry.WithMaxAttempts(3))
	transport.Idempotent = func(r *http.Request) bool { return r.Method == http.MethodPost }
	assert.Equal(t, 3, attempts(ctx), "one that is declared safe")
	four := retryhttp.ContextWithPolicy(ctx, retry.MustNew(atOnce, retry.WithMaxAttempts(4)))
	assert.Equal(t, 4, attempts(four))
	assert.Equal(t, 1, attempts(retry.ContextWithoutRetry(four)))
	assert.Equal(t, 1, attempts(retry.ContextWithoutRetry(ctx)))
	assert.Equal(t, 2, attempts(retryhttp.ContextWithPolicy(four, retry.MustNew(atOnce, retry.WithMaxAttempts(2)))), "the nearest")
	assert.Equal(t, ctx, retryhttp.ContextWithPolicy(ctx, nil))
}

// TestIdempotencyKey: the same for all attempts of a request that needs one; a new one for the next.
func TestIdempotencyKey(t *testing.T) {
	base := &answers{codes: []int{500}}
	transport := retryhttp.NewTransport(base, atOnce, retry.WithMaxAttempts(3))
	transport.IdempotencyKey = retryhttp.NewKey
	keys := func(r *http.Request) (all []string) {
		base.requests = nil
		response, err := transport.RoundTrip(r)
		require.NoError(t, err)
		_ = response.Body.Close()
		for _, r := range base.requests {
			all = append(all, r.Header.Get("Idempotency-Key"))
		}
		return all
	}
	first := keys(post(t, "x"))
	require.Len(t, first, 3)
	assert.Regexp(t, uuid, first[0])
	assert.Equal(t, []string{first[0], first[0], first[0]}, first)
	assert.NotEqual(t, first[0], keys(post(t, "x"))[0])
	assert.Equal(t, []string{"", "", ""}, keys(get(t)), "not needed")

	r := post(t, "x")
	r.Header.Set("Idempotency-Key", "given")
	assert.Equal(t, []string{"given", "given", "given"}, keys(r))
	r.Header = http.Header{"X-Idempotency-Key": nil}
	assert.Equal(t, []string{"", "", ""}, keys(r))

	transport.IdempotencyKey = func(*http.Request) string { return "" }
	assert.Equal(t, []string{""}, keys(post(t, "x")), "none for this one")
}

// TestRedirect: what is set for an attempt does not go with a redirect, which is another request, with attempts and a key of
// its own.
func TestRedirect(t *testing.T) {
	var seen []string
	transport := retryhttp.NewTransport(nil, atOnce)
	transport.AttemptHeaders = retryhttp.GRPCHeaders
	keys := 0
	transport.IdempotencyKey = func(*http.Request) string { keys++; return itoa(keys) }
	s := newServer(t, transport, func(n int, w http.ResponseWriter, r *http.Request) {
		all, _ := io.ReadAll(r.Body)
		seen = append(seen, r.URL.Path+" "+string(all)+" key "+r.Header.Get("Idempotency-Key")+" before "+r.Header.Get("Grpc-Previous-Rpc-Attempts"))
		switch n {
		case 1, 3:
			w.WriteHeader(503)
		case 2:
			http.Redirect(w, r, "/b", http.StatusTemporaryRedirect)
		}
	})
	response, err := s.client.Post(s.URL+"/a", "text/plain", newReader("x"))
	require.NoError(t, err)
	assert.Empty(t, read(t, response))
	assert.Equal(t, []string{"/a x key 1 before ", "/a x key 1 before 1", "/b x key 2 before ", "/b x key 2 before 1"}, seen)
	assert.NotContains(t, response.Request.Header, "Idempotency-Key")
}

func TestIsIdempotent(t *testing.T) {
	for _, method := range []string{"", "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY"} {
		assert.True(t, retryhttp.IsIdempotent(&http.Request{Method: method}), method)
	}
	for _, method := range []string{"POST", "PATCH", "CONNECT", "get", "OTHER"} {
		r := &http.Request{Method: method, Header: http.Header{}}
		assert.False(t, retryhttp.IsIdempotent(r), method)
		r.Header["Idempotency-Key"] = nil
		assert.True(t, retryhttp.IsIdempotent(r), method)
		r.Header = http.Header{"X-Idempotency-Key": {"x"}}
		assert.True(t, retryhttp.IsIdempotent(r), method)
	}
	assert.False(t, retryhttp.IsIdempotent(nil))
	assert.Regexp(t, regexp.MustCompile(uuid), retryhttp.NewKey(nil))
}
