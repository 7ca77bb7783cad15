package retryhttp_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/throttle"
)

// failures are how a server fails: by these codes, or 0 for a reset of the connection.
var failures = []int{500, 502, 503, 504, 0}

// scripted says how request number id ends at its n-th arrival: three in ten fail, each in its own way.
func scripted(id string, n int) (code int, fails bool) {
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, id, "/", n)
	draw := h.Sum32() >> 7
	return failures[draw/10%uint32(len(failures))], draw%10 < 3
}

// counting counts the response bodies that its transport gave out and that were closed.
type counting struct {
	http.RoundTripper
	given, closed atomic.Int64
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.RoundTripper.RoundTrip(r)
	if response != nil {
		c.given.Add(1)
		response.Body = &countedBody{response.Body, &c.closed, sync.Once{}}
	}
	return response, err
}

type countedBody struct {
	io.ReadCloser
	closed *atomic.Int64
	once   sync.Once
}

func (b *countedBody) Close() error {
	b.once.Do(func() { b.closed.Add(1) })
	return b.ReadCloser.Close()
}

// arrivals counts how often each request reached a handler.
type arrivals struct {
	mu sync.Mutex
	of map[string]int
}

func (a *arrivals) add(id string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.of[id]++
	return a.of[id]
}

// flood sends requests at the same time to a server that fails by the script, and returns which got a 200. It checks
// that no body and no connection is left behind; goroutines are looked for at the end of all tests.
func flood(t *testing.T, count int, method string, fail func(id string, n int) (int, bool)) (
	succeeded map[string]bool, reached map[string]int,
) {
	seen := &arrivals{of: map[string]int{}}
	transport := retryhttp.NewTransport(nil, retry.WithClock(retrytest.NewClock()))
	s := newServer(t, transport, func(_ int, w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		id := r.Header.Get("Id")
		code, fails := fail(id, seen.add(id))
		switch {
		case fails && code == 0:
			reset(t, w)
		case fails:
			w.WriteHeader(code)
			_, _ = io.WriteString(w, "failed")
		default:
			_, _ = io.WriteString(w, "fine")
		}
	})
	s.base.MaxIdleConnsPerHost, s.base.MaxConnsPerHost = 100, 100
	bodies := &counting{RoundTripper: s.base}
	transport.Base = bodies
	transport.DrainTime = time.Minute

	succeeded = map[string]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			r, _ := http.NewRequestWithContext(context.Background(), method, s.URL, newReader("x"))
			id := itoa(i)
			r.Header.Set("Id", id)
			response, err := s.client.Do(r)
			if err != nil {
				return
			}
			text, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err == nil && response.StatusCode == 200 && string(text) == "fine" {
				mu.Lock()
				defer mu.Unlock()
				succeeded[id] = true
			}
		})
	}
	all.Wait()
	assert.Equal(t, bodies.given.Load(), bodies.closed.Load(), "bodies")
	s.base.CloseIdleConnections()
	s.Close() // waits for its connections
	assert.Equal(t, s.opened.Load(), s.closed.Load(), "connections")
	return succeeded, seen.of
}

// TestThousandRequests: of idempotent requests to a server that fails three in ten, at least 99 in a hundred succeed
// with the default policy: exactly those whose script lets one of five attempts through.
func TestThousandRequests(t *testing.T) {
	const count = 1000
	succeeded, reached := flood(t, count, http.MethodPut, scripted)
	assert.GreaterOrEqual(t, len(succeeded), count*99/100)
	assert.Len(t, reached, count)
	for i := range count {
		id := itoa(i)
		first := 1
		for _, fails := scripted(id, first); fails; _, fails = scripted(id, first) {
			first++
		}
		assert.Equal(t, first <= 5, succeeded[id], id)
		assert.Equal(t, min(first, 5), reached[id], id)
	}
}

// TestPostsReachTheServerOnce: after a reset, 500, 502, 504 and 503 without a wait.
func TestPostsReachTheServerOnce(t *testing.T) {
	const count = 300
	succeeded, reached := flood(t, count, http.MethodPost, func(id string, _ int) (int, bool) {
		return failures[int(id[len(id)-1])%len(failures)], true
	})
	assert.Empty(t, succeeded)
	require.Len(t, reached, count)
	for id, n := range reached {
		assert.Equal(t, 1, n, id)
	}
}

// TestConcurrentSafeTransport: one Transport, with a gate, budgets and overrides, used by many at once.
func TestConcurrentSafeTransport(t *testing.T) {
	transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
			_ = r.Body.Close()
		}
		if _, fails := scripted(r.URL.Path, 1); fails {
			return answer(503, "failed"), nil
		}
		return answer(200, "fine"), nil
	}), atOnce)
	transport.Gate = new(throttle.Gate)
	transport.Budget = func(string) throttle.Budget { return allowAll{} }
	transport.AttemptHeaders = retryhttp.AWSHeaders
	transport.IdempotencyKey = retryhttp.NewKey
	transport.BufferBody = 10
	other := retry.MustNew(retry.WithMaxAttempts(2), atOnce, retry.WithAttemptTimeout(time.Minute))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 25 {
				ctx := t.Context()
				if j%3 == 0 {
					ctx = retryhttp.ContextWithPolicy(ctx, other)
				}
				r, _ := http.NewRequestWithContext(ctx, "POST", fmt.Sprintf("http://host-%d.com/%d", j%5, i), streamed("abc"))
				response, err := transport.RoundTrip(r)
				if assert.NoError(t, err) {
					_ = response.Body.Close()
				}
			}
		})
	}
	all.Wait()
}

type allowAll struct{}

func (allowAll) Start(time.Time)                                         {}
func (allowAll) Charge(time.Time, throttle.Class, int, bool) (int, bool) { return 0, true }
func (allowAll) Settle(time.Time, bool, int)                             {}

// TestSoak: a hundred thousand requests to three thousand hosts, one in ten with a failure, leave nothing behind.
func TestSoak(t *testing.T) {
	rounds := 100_000
	if raceEnabled {
		rounds = 10_000
	}
	base := &soakBase{}
	transport := retryhttp.NewTransport(base, atOnce)
	transport.Gate = new(throttle.Gate)
	transport.Budget = func(string) throttle.Budget { return allowAll{} }
	run := func(n int) {
		for i := range n {
			r, _ := http.NewRequest(http.MethodGet, "http://host-"+itoa(i%3000)+".com", nil)
			response, err := transport.RoundTrip(r)
			require.NoError(t, err)
			_ = response.Body.Close()
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	run(rounds / 10) // three times each host: the maps have their size
	before, goroutines := heap(), runtime.NumGoroutine()
	run(rounds - rounds/10)
	assert.LessOrEqual(t, heap(), before+before/10+(256<<10))
	assert.LessOrEqual(t, runtime.NumGoroutine(), goroutines+1)
	assert.EqualValues(t, base.given, base.closed)
}

// soakBase fails every tenth attempt, with a body that is counted.
type soakBase struct{ n, given, closed int }

func (b *soakBase) RoundTrip(*http.Request) (*http.Response, error) {
	b.given++
	response := answer(200, "fine")
	if b.n++; b.n%10 == 0 {
		response = answer(503, "failed")
	}
	response.Body = closing{response.Body, func() { b.closed++ }}
	return response, nil
}
