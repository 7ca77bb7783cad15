package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wantOutput = `GET http://HOST/orders/42: at most 5 attempts, each of at most 800ms

 TIME  attempt 1 failed (transient): CONNECTION BROKEN
          waiting TIME, by the policy
 TIME  attempt 2 failed (throttled): 503 Service Unavailable
          waiting TIME: the server asks for 1s, and some is added to spread its clients
 TIME  attempt 3 failed (timeout): retry: attempt timed out
          waiting TIME, by the policy
 TIME  attempt 4 succeeded: order 42 is on its way
`

func TestOutput(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out, ""))
	require.Equal(t, wantOutput, masked(out.String()))
}

// masked is the output without what differs between two runs: times, the port, and the system's words for a reset.
func masked(out string) string {
	for pattern, word := range map[string]string{
		` +\d+\.\d{3}s`:     " TIME",
		`127\.0\.0\.1:\d+`:  "HOST",
		`(transient\)): .+`: "$1: CONNECTION BROKEN",
	} {
		out = regexp.MustCompile(pattern).ReplaceAllString(out, word)
	}
	return out
}

// The program fails where one of the things that it says does not hold.
func TestVerify(t *testing.T) {
	tests := []struct {
		breaks string
		change func(requests *int32, got *order, retried []retry.Event) []retry.Event
	}{
		{"", func(_ *int32, _ *order, r []retry.Event) []retry.Event { return r }},
		{"4 requests", func(n *int32, _ *order, r []retry.Event) []retry.Event { *n = 5; return r }},
		{"3 retries", func(_ *int32, _ *order, r []retry.Event) []retry.Event { return r[:2] }},
		{"first failure", func(_ *int32, _ *order, r []retry.Event) []retry.Event { r[0].Err = statusError(503); return r }},
		{"second failure", func(_ *int32, _ *order, r []retry.Event) []retry.Event { r[1].Err = io.EOF; return r }},
		{"second wait", func(_ *int32, _ *order, r []retry.Event) []retry.Event { r[1].Source = retry.SourcePolicy; return r }},
		{"second wait", func(_ *int32, _ *order, r []retry.Event) []retry.Event { r[1].Delay--; return r }},
		{"third attempt", func(_ *int32, _ *order, r []retry.Event) []retry.Event { r[2].Err = context.Canceled; return r }},
		{"the order", func(_ *int32, o *order, r []retry.Event) []retry.Event { o.ID = 0; return r }},
	}
	for _, test := range tests {
		requests, got := int32(4), order{42, "on its way"}
		retried := test.change(&requests, &got, []retry.Event{
			{Err: io.ErrUnexpectedEOF},
			{Err: statusError(http.StatusServiceUnavailable), Source: retry.SourceServer, Delay: time.Second},
			{Err: retry.ErrAttemptTimeout},
		})
		var s server
		s.requests.Store(requests)
		err := s.verify(got, retried)
		if test.breaks == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, test.breaks)
	}
}

// A wait ends at once when the user interrupts, and both errors are told.
func TestInterrupt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	out := &watcher{word: "waiting", then: cancel}
	err := run(ctx, out, server.URL)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, statusError(http.StatusServiceUnavailable))
	require.Contains(t, out.String(), "gave up after attempt 1: context canceled\n          the last failure: 503 Service Unavailable\n")
}

// watcher calls then when word is written to it.
type watcher struct {
	strings.Builder
	word string
	then func()
}

func (w *watcher) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.word) {
		w.then()
	}
	return w.Builder.Write(p)
}

func TestNotWorthAnotherAttempt(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		http.NotFound(w, r)
	}))
	defer server.Close()
	var out strings.Builder
	require.Equal(t, statusError(http.StatusNotFound), run(t.Context(), &out, server.URL))
	require.Contains(t, out.String(), "not worth another attempt: 404 Not Found\n")
	require.EqualValues(t, 1, requests.Load())
}

func TestAlreadyInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	require.ErrorIs(t, run(ctx, &out, "http://127.0.0.1/"), context.Canceled)
	require.Contains(t, out.String(), "not attempted: context canceled\n")
}

func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"0": 0, "1": time.Second, "4294967295": 4294967295 * time.Second,
		"": -1, "-1": -1, "soon": -1, "4294967296": -1, "99999999999999999999": -1,
	} {
		err := statusFailure(&http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {header}}})
		require.ErrorIs(t, err, statusError(429), header)
		signal, told := throttle.FromError(err)
		require.Equal(t, want >= 0, told, header)
		require.Equal(t, max(want, 0), signal.Delay, header)
	}
}
