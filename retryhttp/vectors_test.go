package retryhttp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
)

// loopVector is a run of go-retryablehttp: what its client made of a server's answers.
type loopVector struct {
	Name     string
	Method   string
	RetryMax int `json:"retry_max"`
	Statuses []int
	Requests int
	Status   int
	Body     string
	Bodies   []string `json:"bodies_seen"`
	Error    string
	IsCtx    bool `json:"error_is_ctx"`
}

// different lists where this library deliberately behaves otherwise, and how.
var different = map[string]func(v *loopVector){
	// The last answer is no error: its status and body are what the caller needs. ErrorOnExhausted makes it one.
	"500 forever, RetryMax 3":                     answered,
	"500, RetryMax 0":                             answered,
	"429 forever, RetryMax 2":                     answered,
	"500 forever with ErrorPropagatedRetryPolicy": answered,
	// A POST may have been done when a 500 comes back: it is sent once, unless it has a key (below).
	"POST is retried, body rewound": func(v *loopVector) {
		v.Requests, v.Status, v.Body, v.Bodies = 1, 500, "body0", v.Bodies[:1]
	},
	// No wait is begun that the deadline would cut short: the answer is returned at once, and not after the deadline.
	"ctx deadline during backoff": func(v *loopVector) { answered(v); v.Requests, v.Body = 1, "body0" },
}

func answered(v *loopVector) {
	v.Status, v.Body, v.Error = v.Statuses[len(v.Statuses)-1], "body"+itoa(v.Requests-1), ""
}

func loopVectors(t *testing.T) []loopVector {
	data, err := os.ReadFile("testdata/retryablehttp_loop.json")
	require.NoError(t, err)
	var file struct{ Vectors []loopVector }
	require.NoError(t, json.Unmarshal(data, &file))
	require.Len(t, file.Vectors, 10)
	return file.Vectors
}

// TestLoopsOfRetryableHTTP: the same client calls, with the same limits and waits, end in the same way, but for the
// table above.
func TestLoopsOfRetryableHTTP(t *testing.T) {
	found := 0
	for _, v := range loopVectors(t) {
		if change := different[v.Name]; change != nil {
			found++
			change(&v)
		}
		t.Run(v.Name, func(t *testing.T) { testLoop(t, v, false) })
	}
	assert.Len(t, different, found, "each difference is one of a vector")
}

// TestLoopsWithAKey: with a key even the POST goes the way of go-retryablehttp.
func TestLoopsWithAKey(t *testing.T) {
	vectors := loopVectors(t)
	i := slices.IndexFunc(vectors, func(v loopVector) bool { return v.Method == http.MethodPost })
	testLoop(t, vectors[i], true)
}

func testLoop(t *testing.T, v loopVector, keyed bool) {
	clk := retrytest.NewClock()
	ctx, cancel := clk.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	switch v.Name {
	case "ctx deadline during backoff":
		ctx, cancel = clk.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
	case "ctx canceled before":
		cancel()
	}
	var bodies []string
	transport := retryhttp.NewTransport(nil, retry.WithMaxAttempts(v.RetryMax+1), retry.WithClock(clk),
		retry.WithStrategy(strategy.Exponential{Base: time.Second, Max: 30 * time.Second}))
	if keyed {
		transport.IdempotencyKey = retryhttp.NewKey
	}
	s := newServer(t, transport, func(n int, w http.ResponseWriter, r *http.Request) {
		all, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(all))
		if strings.Contains(v.Name, "Retry-After 0") {
			w.Header().Set("Retry-After", "0")
		}
		w.WriteHeader(v.Statuses[min(n, len(v.Statuses))-1])
		_, _ = io.WriteString(w, "body"+itoa(n-1))
	})
	var body io.Reader
	if v.Bodies != nil {
		body = newReader(v.Bodies[0])
	}
	response, err := s.client.Do(newRequest(t, v.Method, s.URL, body).WithContext(ctx))
	assert.EqualValues(t, v.Requests, s.requests.Load())
	if v.Error != "" {
		require.Error(t, err)
		assert.Equal(t, v.IsCtx, strings.Contains(err.Error(), context.Canceled.Error()))
		return
	}
	require.NoError(t, err)
	assert.Equal(t, v.Status, response.StatusCode)
	assert.Equal(t, v.Body, read(t, response))
	if v.Bodies != nil {
		assert.Equal(t, v.Bodies, bodies)
	}
}
