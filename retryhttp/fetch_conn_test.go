package retryhttp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
