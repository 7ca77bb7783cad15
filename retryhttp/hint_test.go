package retryhttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// waitsFor lets a request fail once with the given answer, and returns the waits.
func waitsFor(t *testing.T, parser hint.Parser, code int, fields ...string) []time.Duration {
	t.Helper()
	clk := retrytest.NewClock()
	transport := retryhttp.NewTransport(&answers{codes: []int{code, 200}, fields: fields}, retry.WithClock(clk),
		retry.WithRand(func() float64 { return 0 }), retry.WithStrategy(strategy.Constant{Delay: time.Millisecond}))
	transport.Parser = parser
	response, err := transport.RoundTrip(get(t))
	require.NoError(t, err)
	_ = response.Body.Close()
	return clk.Waits()
}

const date = "Wed, 21 Oct 2015 07:28:00 GMT"

// TestP20RetryAfter: seconds, the three forms of a date, spaces around; what is not valid is not there.
func TestP20RetryAfter(t *testing.T) {
	const own = time.Millisecond
	for value, want := range map[string]time.Duration{
		"2": 2 * time.Second, " 5 ": 5 * time.Second, "0": own,
		"Wed, 21 Oct 2015 07:28:07 GMT":     7 * time.Second,
		"Wednesday, 21-Oct-15 07:28:07 GMT": 7 * time.Second,
		"Wed Oct 21 07:28:07 2015":          7 * time.Second,
		"Wed, 21 Oct 2015 07:27:00 GMT":     own,
		"-3":                                own, "soon": own, "": own, "Inf": own,
	} {
		for _, code := range []int{429, 503} {
			assert.Equal(t, []time.Duration{want}, waitsFor(t, nil, code, "Retry-After", value, "Date", date), "%d %q", code, value)
		}
	}
	assert.Empty(t, waitsFor(t, nil, 429, "Retry-After", "9999999999"), "saturated, not negative: too long")
}

// TestDatesWithoutDate count from the clock that the context carries.
func TestDatesWithoutDate(t *testing.T) {
	clk := retrytest.NewClock() // at 2000-01-01 00:00
	transport := retryhttp.NewTransport(&answers{codes: []int{503, 200}, fields: []string{"Retry-After", "Sat, 01 Jan 2000 00:00:09 GMT"}},
		retry.WithRand(func() float64 { return 0 }))
	response, err := transport.RoundTrip(get(t).WithContext(retry.ContextWithClock(t.Context(), clk)))
	require.NoError(t, err)
	_ = response.Body.Close()
	assert.Equal(t, []time.Duration{9 * time.Second}, clk.Waits())
}

// TestHintTooLong: the answer comes back at once, and the gate remembers for the host what it asked for.
func TestHintTooLong(t *testing.T) {
	clk := retrytest.NewClock()
	gate := new(throttle.Gate)
	base := &answers{codes: []int{429}, fields: []string{"Retry-After", "120"}}
	transport := retryhttp.NewTransport(base, retry.WithClock(clk))
	transport.Gate = gate
	response, err := transport.RoundTrip(get(t))
	require.NoError(t, err)
	assert.Equal(t, "body", read(t, response))
	assert.Equal(t, 429, response.StatusCode)
	assert.Empty(t, clk.Waits())
	assert.Len(t, base.requests, 1)

	// Within the two minutes the host is not asked at all; the request's body is closed.
	body := &trackedBody{Reader: newReader("x")}
	_, err = transport.RoundTrip(newRequest(t, "POST", "http://EXAMPLE.com:80/other", body))
	require.ErrorIs(t, err, retry.ErrHintTooLong)
	var why *throttle.Error
	require.ErrorAs(t, err, &why)
	assert.Equal(t, retryhttp.HostKey(get(t)), why.Key)
	assert.Equal(t, 2*time.Minute, why.Remaining)
	assert.Equal(t, "retry-after", why.Source)
	var failure *retryhttp.Failure
	require.ErrorAs(t, why.Err, &failure)
	assert.Equal(t, 429, failure.HTTPStatusCode())
	assert.EqualValues(t, 1, body.closes.Load())
	assert.Len(t, base.requests, 1)

	// Another host is another key, and after 70 s what is left of it can be waited for.
	base.codes = []int{200}
	for _, url := range []string{"https://example.com", "http://example.com:8080", "http://other.com"} {
		response, err = transport.RoundTrip(newRequest(t, "GET", url, nil))
		require.NoError(t, err, url)
		_ = response.Body.Close()
	}
	assert.Empty(t, clk.Waits())
	clk.Advance(70 * time.Second)
	response, err = transport.RoundTrip(get(t))
	require.NoError(t, err)
	_ = response.Body.Close()
	assert.Equal(t, []time.Duration{50 * time.Second}, clk.Waits())
}

// TestHintTooLongAsAnError: the same with ErrorOnExhausted, and where Base's own error says how long to wait.
func TestHintTooLongAsAnError(t *testing.T) {
	for name, base := range map[string]http.RoundTripper{
		"answer": &answers{codes: []int{429}, fields: []string{"Retry-After", "120"}},
		"error": roundTripper(func(*http.Request) (*http.Response, error) {
			return nil, throttle.Signal{Delay: 2 * time.Minute, HasDelay: true}.Wrap(errBoom)
		}),
	} {
		clk := retrytest.NewClock()
		transport := retryhttp.NewTransport(base, retry.WithClock(clk))
		transport.Gate, transport.ErrorOnExhausted = new(throttle.Gate), true
		_, err := transport.RoundTrip(get(t))
		require.ErrorIs(t, err, retry.ErrHintTooLong, name)
		assert.Equal(t, name == "error", errors.Is(err, errBoom))
		assert.Empty(t, clk.Waits())
		var why *throttle.Error
		require.ErrorAs(t, transport.Gate.Check(clk.Now(), retryhttp.HostKey(get(t))), &why, name)
		assert.Equal(t, 2*time.Minute, why.Remaining)
	}
}

// TestKeys: keys of one's own, several for a request.
func TestKeys(t *testing.T) {
	clk := retrytest.NewClock()
	gate := new(throttle.Gate)
	base := &answers{codes: []int{429}, fields: []string{"Retry-After", "120"}}
	transport := retryhttp.NewTransport(base, retry.WithClock(clk))
	transport.Gate = gate
	transport.Keys = func(r *http.Request, keys []throttle.Key) []throttle.Key {
		return append(keys, throttle.Key(r.Header.Get("Tenant")), retryhttp.HostKey(r)+throttle.Key(r.URL.Path))
	}
	send := func(tenant, path string) error {
		r := newRequest(t, "GET", "http://example.com"+path, nil)
		r.Header.Set("Tenant", tenant)
		response, err := transport.RoundTrip(r)
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	}
	require.NoError(t, send("acme", "/a"))
	for _, key := range []throttle.Key{"acme", "http://example.com/a"} {
		assert.Error(t, gate.Check(clk.Now(), key))
	}
	assert.NoError(t, gate.Check(clk.Now(), "http://example.com"))
	base.codes = []int{200}
	refused := send("acme", "/b")
	assert.ErrorIs(t, refused, retry.ErrHintTooLong)
	var why *throttle.Error
	require.ErrorAs(t, refused, &why)
	assert.Equal(t, throttle.Key("acme"), why.Key)
	assert.ErrorIs(t, send("other", "/a"), retry.ErrHintTooLong)
	assert.NoError(t, send("other", "/b"))
	assert.NoError(t, send("", "/b"))

	clk.Advance(90 * time.Second)
	assert.NoError(t, send("acme", "/a"))
	assert.Equal(t, []time.Duration{30 * time.Second}, clk.Waits())

	// A cool-down that others set during an attempt is part of the one wait that follows.
	clk = retrytest.NewClock()
	calls := 0
	transport = retryhttp.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
		if calls++; calls > 1 {
			return answer(200, ""), nil
		}
		gate.Block(clk.Now(), 20*time.Second, "late")
		return answer(503, ""), nil
	}), retry.WithClock(clk), retry.WithStrategy(constant(5*time.Second)))
	transport.Gate = gate
	transport.Keys = func(_ *http.Request, keys []throttle.Key) []throttle.Key { return append(keys, "late") }
	assert.NoError(t, send("", "/"))
	assert.Equal(t, []time.Duration{20 * time.Second}, clk.Waits())
}

func TestHostKey(t *testing.T) {
	for url, want := range map[string]throttle.Key{
		"http://example.com": "http://example.com", "http://Example.COM:80/x?y": "http://example.com",
		"https://example.com:443": "https://example.com", "https://example.com:80": "https://example.com:80",
		"http://[::1]:80": "http://[::1]", "http://example.com:443": "http://example.com:443",
	} {
		assert.Equal(t, want, retryhttp.HostKey(newRequest(t, "GET", url, nil)), url)
	}
	r := get(t)
	r.URL.Host += ":" // http.NewRequest takes it away, a redirect does not
	assert.Equal(t, throttle.Key("http://example.com"), retryhttp.HostKey(r))
	assert.Equal(t, throttle.Key("://"), retryhttp.HostKey(nil))
	assert.Equal(t, throttle.Key("://"), retryhttp.HostKey(&http.Request{}))
}

// TestGitHub: primary limits by their reset, secondary ones by Retry-After and never by the reset.
func TestGitHub(t *testing.T) {
	at := func(offset time.Duration) string {
		now, err := http.ParseTime(date)
		require.NoError(t, err)
		return strconv.FormatInt(now.Add(offset).Unix(), 10)
	}
	limit := func(remaining, reset string, more ...string) []string {
		return append([]string{"Date", date, "X-RateLimit-Limit", "5000", "X-RateLimit-Remaining", remaining,
			"X-RateLimit-Reset", reset, "X-RateLimit-Resource", "core"}, more...)
	}
	for _, parser := range []hint.Parser{nil, hint.GitHub()} {
		for _, code := range []int{403, 429} {
			assert.Equal(t, []time.Duration{40 * time.Second}, waitsFor(t, parser, code, limit("0", at(40*time.Second))...), "primary %d", code)
			assert.Empty(t, waitsFor(t, parser, code, limit("0", at(40*time.Minute))...), "primary %d, too long", code)
			assert.Equal(t, []time.Duration{30 * time.Second},
				waitsFor(t, parser, code, limit("4987", at(50*time.Minute), "Retry-After", "30")...), "secondary %d", code)
		}
		assert.Equal(t, []time.Duration{time.Millisecond}, waitsFor(t, parser, 429, limit("4987", at(50*time.Minute))...), "secondary, without a wait")
		assert.Empty(t, waitsFor(t, parser, 403, limit("4987", at(50*time.Minute))...), "an ordinary refusal")
	}
}

// TestParserGetsTheAnswer: its header, status, and the time of the call; not asked for successes.
func TestParserGetsTheAnswer(t *testing.T) {
	calls := 0
	parser := hint.ParserFunc(func(h http.Header, status int, now time.Time) (throttle.Signal, bool) {
		calls++
		assert.Equal(t, "7", h.Get("Wait"))
		assert.Equal(t, 418, status)
		assert.False(t, now.IsZero())
		return throttle.Signal{Delay: 7 * time.Second, HasDelay: true, Rule: throttle.Exact(), Retry: throttle.Yes}, true
	})
	assert.Equal(t, []time.Duration{7 * time.Second}, waitsFor(t, parser, 418, "Wait", "7"))
	assert.Equal(t, 1, calls)
}

// TestBudget: one for each host, whatever the policy.
func TestBudget(t *testing.T) {
	var made []string
	budgets := map[string]*countingBudget{}
	transport := retryhttp.NewTransport(&answers{codes: []int{503}}, atOnce, retry.WithMaxAttempts(3))
	transport.Budget = func(host string) throttle.Budget {
		made = append(made, host)
		if host == "free.com" {
			return nil
		}
		budgets[host] = &countingBudget{}
		return budgets[host]
	}
	other := retry.MustNew(atOnce, retry.WithMaxAttempts(2))
	for range 2 {
		for _, url := range []string{"http://a.com/x", "http://a.com/y", "http://b.com:8080", "http://free.com"} {
			r := newRequest(t, "GET", url, nil)
			for _, ctx := range []*http.Request{r, r.WithContext(retryhttp.ContextWithPolicy(r.Context(), other))} {
				response, err := transport.RoundTrip(ctx)
				require.NoError(t, err)
				_ = response.Body.Close()
			}
		}
	}
	assert.Equal(t, []string{"a.com", "b.com:8080", "free.com"}, made)
	assert.Equal(t, &countingBudget{started: 8, charged: 4*3 + 4*2, settled: 8}, budgets["a.com"])
	assert.Equal(t, &countingBudget{started: 4, charged: 2*3 + 2*2, settled: 4}, budgets["b.com:8080"])
}

// TestBudgetIsMadeOnce, though fifty first requests come at the same time, with two policies.
func TestBudgetIsMadeOnce(t *testing.T) {
	var made atomic.Int32
	transport := retryhttp.NewTransport(&answers{codes: []int{200}})
	transport.Budget = func(string) throttle.Budget {
		made.Add(1)
		for range 1000 {
			runtime.Gosched() // the others come meanwhile
		}
		return new(throttle.TokenBudget)
	}
	other := retry.MustNew(atOnce)
	var all sync.WaitGroup
	for i := range 50 {
		r := newRequest(t, "GET", "http://a.com", nil)
		if i%2 == 0 {
			r = r.WithContext(retryhttp.ContextWithPolicy(r.Context(), other))
		}
		all.Go(func() {
			response, err := transport.RoundTrip(r)
			if assert.NoError(t, err) {
				_ = response.Body.Close()
			}
		})
	}
	all.Wait()
	assert.Equal(t, int32(1), made.Load())
}

// TestBudgetOfABusyHost is not forgotten while the host is called, however many others there are: a policy that comes later
// shares it.
func TestBudgetOfABusyHost(t *testing.T) {
	made := 0
	transport := retryhttp.NewTransport(&answers{codes: []int{200}})
	transport.Budget = func(host string) throttle.Budget {
		if host == "busy.com" {
			made++
		}
		return nil
	}
	send := func(ctx context.Context, host string) {
		response, err := transport.RoundTrip(newRequest(t, "GET", "http://"+host, nil).WithContext(ctx))
		require.NoError(t, err)
		_ = response.Body.Close()
	}
	for i := range 5000 {
		send(t.Context(), "busy.com")
		send(t.Context(), "host-"+itoa(i)+".com")
	}
	send(retryhttp.ContextWithPolicy(t.Context(), retry.MustNew()), "busy.com")
	assert.Equal(t, 1, made)
}

type countingBudget struct{ started, charged, settled int }

func (b *countingBudget) Start(time.Time) { b.started++ }
func (b *countingBudget) Charge(time.Time, throttle.Class, int, bool) (int, bool) {
	b.charged++
	return 0, true
}
func (b *countingBudget) Settle(time.Time, bool, int) { b.settled++ }

// TestHintsOverTheWire: the same through a real server.
func TestHintsOverTheWire(t *testing.T) {
	clk := retrytest.NewClock()
	transport := retryhttp.NewTransport(nil, retry.WithClock(clk), retry.WithRand(func() float64 { return 0 }))
	s := newServer(t, transport, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = io.WriteString(w, "ok")
	})
	response, err := s.client.Post(s.URL, "text/plain", newReader("x"))
	require.NoError(t, err)
	assert.Equal(t, "ok", read(t, response))
	assert.Equal(t, []time.Duration{3 * time.Second}, clk.Waits())
}
