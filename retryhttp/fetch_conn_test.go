package retryhttp_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
)

// TestFetchLeavesConnections: what an attempt learns of its connection holds for the next, as without Fetch.
func TestFetchLeavesConnections(t *testing.T) {
	for _, tc := range connectionCases {
		t.Run(tc.name, func(t *testing.T) {
			transport := retryhttp.NewTransport(nil, atOnce)
			transport.DrainTime = time.Minute
			handler, met := onFirst(func(_ int32, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMisdirectedRequest) })
			s := newConnServer(t, transport, tc.start, tc.wrap, handler)
			got, err := retryhttp.Fetch(s.client, newRequest(t, "POST", s.URL, newReader("x")), readBody)
			require.NoError(t, err)
			assert.Equal(t, "found x", got)
			assert.LessOrEqual(t, met.Load(), tc.lost)
			assert.EqualValues(t, 2, s.used.Load())
		})
	}
}

// TestFetchKeyInUse: a keyed POST whose answer broke off may have been done, so that a 409 after it says that it is under way.
func TestFetchKeyInUse(t *testing.T) {
	base, requests := steps(cuts(200, "b", 4), gives(409, ""), gives(200, "body"))
	transport := retryhttp.NewTransport(base, atOnce)
	transport.IdempotencyKey = func(*http.Request) string { return "key" }
	got, err := retryhttp.Fetch(&http.Client{Transport: transport}, newRequest(t, "POST", "http://example.com/", nil), readBody)
	require.NoError(t, err)
	assert.Equal(t, "body", got)
	assert.Len(t, *requests, 3)

	base, requests = steps(gives(409, ""))
	transport.Base = base
	_, err = retryhttp.Fetch(&http.Client{Transport: transport}, newRequest(t, "POST", "http://example.com/", nil), readBody)
	require.Error(t, err)
	assert.Len(t, *requests, 1)
}

// TestFetchRedirectRefused: the client's own word on a redirect is final.
func TestFetchRedirectRefused(t *testing.T) {
	base, requests := steps(gives(302, "", "Location", "/to"))
	client := &http.Client{Transport: base, CheckRedirect: func(*http.Request, []*http.Request) error { return errBoom }}
	_, err := retryhttp.Fetch(client, get(t), readBody, atOnce)
	require.ErrorIs(t, err, errBoom)
	assert.Len(t, *requests, 1)
}

// TestFetchRedirectNotSent: a POST that was redirected has been sent, also where what it became was not.
func TestFetchRedirectNotSent(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	base, requests := steps(gives(303, "", "Location", "/to"), func(*http.Request) (*http.Response, error) { return nil, refused })
	_, err := retryhttp.Fetch(&http.Client{Transport: base}, post(t, "x"), readBody, atOnce)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	assert.Len(t, *requests, 2)
}

// TestFetchBodyGone: a request whose body cannot be sent again is not, and says so.
func TestFetchBodyGone(t *testing.T) {
	base, requests := steps(cuts(200, "b", 4))
	_, err := retryhttp.Fetch(&http.Client{Transport: base}, newRequest(t, "PUT", "http://example.com/", io.MultiReader(newReader("x"))), readBody, atOnce)
	var failure *retryhttp.Failure
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, "body cannot be sent again", failure.NotRepeated())
	assert.Len(t, *requests, 1)
}

// TestFetchSignsByTheSameClient: a request that Sign makes with the attempt's context, such as for a token, is no part of the
// attempt, and what it meets is not the attempt's failure.
func TestFetchSignsByTheSameClient(t *testing.T) {
	asked := 0
	base := roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/token" {
			return answer(404, ""), nil
		}
		if asked++; asked == 1 {
			return nil, errBoom
		}
		return answer(200, "body"), nil
	})
	transport := retryhttp.NewTransport(base, atOnce)
	client := &http.Client{Transport: transport}
	transport.Sign = func(r *http.Request) error {
		if r.URL.Path == "/token" {
			return nil
		}
		token, err := client.Do(newRequest(t, "GET", "http://example.com/token", nil).WithContext(r.Context()))
		if err != nil {
			return err
		}
		return token.Body.Close()
	}
	got, err := retryhttp.Fetch(client, get(t), readBody)
	require.NoError(t, err)
	assert.Equal(t, "body", got)
	assert.Equal(t, 2, asked)
}

// TestFetchOverrideReachesBelow: a policy in the context is also that of transports below the client's.
func TestFetchOverrideReachesBelow(t *testing.T) {
	name := ""
	inner := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		a, _ := retry.AttemptFrom(r.Context())
		name = a.Name
		return answer(200, "body"), nil
	}), retry.WithName("inner"), retry.WithAttemptInfo())
	ctx := retryhttp.ContextWithPolicy(context.Background(), retry.MustNew(retry.WithName("context's"), retry.WithAttemptInfo()))
	_, err := retryhttp.Fetch(&http.Client{Transport: roundTripper(inner.RoundTrip)}, get(t).WithContext(ctx), readBody)
	require.NoError(t, err)
	assert.Equal(t, "context's", name)
}
