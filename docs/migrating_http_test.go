package docs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// This file is the new code of migrating.md that is about HTTP, as migrating_test.go is the rest of it.

var likeRetryableHTTP = &retryhttp.Transport{
	Policy: retry.MustNew(
		retry.WithMaxAttempts(5),
		retry.WithStrategy(strategy.Exponential{Base: time.Second, Max: 30 * time.Second}),
		retry.WithHint(throttle.Exact()),
		retry.WithMaxHint(24*time.Hour),
		retry.WithCondition(condition.RetryableHTTP()),
	),
	Idempotent:       func(*http.Request) bool { return true },
	BufferBody:       1 << 20,
	ErrorOnExhausted: true,
}

func checkRetry(check func(context.Context, *http.Response, error) (bool, error)) retry.Option {
	return retry.WithRetryIf(func(err error) bool {
		f, ok := errors.AsType[*retryhttp.Failure](err)
		if !ok {
			return false
		}
		again, _ := check(f.Request.Context(), f.Response, f.Err)
		return again
	})
}

func backoff(wait func(min, max time.Duration, n int, r *http.Response) time.Duration, min, max time.Duration) retry.Option {
	return retry.WithStrategy(strategy.Func(func(s strategy.State) (time.Duration, bool) {
		f, ok := errors.AsType[*retryhttp.Failure](s.Err)
		if !ok {
			return 0, false
		}
		return wait(min, max, s.Number-1, f.Response), true
	}))
}

func migratingRetryableHTTP(address string) (*http.Response, error) {
	client := retryhttp.NewClient(
		retry.WithMaxAttempts(4),
		retry.WithStrategy(strategy.EqualJitter{Base: 100 * time.Millisecond, Max: 5 * time.Second}),
		retry.WithAttemptTimeout(10*time.Second),
		retry.WithLogger(slog.Default()),
	)
	response, err := client.Get(address)
	return response, err
}

func migratingRehttp(base http.RoundTripper) *http.Client {
	transport := retryhttp.NewTransport(base,
		retry.WithMaxAttempts(4),
		retry.WithCondition(condition.Only(condition.Network(), condition.Timeout(), condition.HTTPStatus(502, 503))),
		retry.WithStrategy(strategy.FullJitter{Base: 100 * time.Millisecond, Max: 5 * time.Second}),
		retry.WithAttemptTimeout(2*time.Second),
	)
	transport.Idempotent = func(r *http.Request) bool { return slices.Contains([]string{"GET", "PATCH"}, r.Method) }
	client := &http.Client{Transport: transport}
	return client
}

func migratingFailsafeHTTP(base http.RoundTripper) *http.Client {
	client := &http.Client{Transport: retryhttp.NewTransport(base,
		retry.WithMaxAttempts(4),
		retry.WithStrategy(strategy.Exponential{Base: 100 * time.Millisecond, Max: 5 * time.Second}),
		retry.WithJitter(strategy.Proportional(0.25)),
		retry.WithAttemptTimeout(2*time.Second),
	)}
	return client
}

func migratingHTTPLines(ctx context.Context, r *http.Request, client *http.Client, p *retry.Policy, observer retry.Observer, logger *slog.Logger, t *retryhttp.Transport) (found []any) {
	var (
		n            int
		d, max       time.Duration
		f            float64
		data         []byte
		method, url  string
		name         string
		base         http.RoundTripper
		codes        []int
		methods      []string
		errs         []error
		target       error
		a, b         condition.Condition
		throttled    throttle.Throttle
		log          func(*http.Request, int)
		sign         func(*http.Request) error
		is           func(error) bool
		again        func(*http.Request, *http.Response, error) bool
		handle       func(*http.Response, error) bool
		wait         func(int) time.Duration
		op           func(context.Context) (User, error)
		fromFailures = func(err error) { found = append(found, err) }
	)
	found = append(found,
		retryhttp.NewClient(policy), retryhttp.NewTransport(base, policy),
		&http.Client{Transport: t},
		retry.WithMaxAttempts(n+1),
		retry.WithMaxAttempts(1), retry.WithMaxAttempts(n), retry.WithUnlimitedAttempts(), retry.WithMaxElapsed(d), retry.WithAttemptInfo(),
		retry.WithAttemptTimeout(d), retry.WithObserver(observer), retry.WithLogger(logger),
		retry.WithJitter(strategy.Equal), retry.WithJitter(strategy.Proportional(0.2)), retry.WithJitter(strategy.Proportional(f)),
		retry.WithJitter(func(_, _ time.Duration, r float64) time.Duration { return d + time.Duration(r*float64(max-d)) }),
		retry.WithCondition(condition.Is(errs...)),
		retry.WithCondition(condition.StopIf(func(err error) bool { return errors.Is(err, target) })),
		retry.WithCondition(condition.Match(func(f *retryhttp.Failure) bool { return again(f.Request, f.Response, f.Err) })),
		retry.WithCondition(condition.Match(func(f *retryhttp.Failure) bool { return handle(f.Response, f.Err) })),
		condition.All(a, b), condition.Any(a, b), condition.HTTPStatus(codes...), condition.Timeout(), condition.Network(),
		condition.Match(func(f *retryhttp.Failure) bool { return f.HTTPStatusCode() >= 500 }),
		condition.Match(func(f *retryhttp.Failure) bool { return f.Err != nil && is(f.Err) }),
		strategy.Exponential{Base: d, Max: max}, strategy.Exponential{Base: d, Factor: f, Max: max}, strategy.Linear{Initial: d},
		strategy.Constant{Delay: d}, strategy.FullJitter{Base: d, Max: max},
		strategy.Func(func(s strategy.State) (time.Duration, bool) { return wait(s.Number - 1), true }),
		&retryhttp.Transport{Base: base}, &retryhttp.Transport{Sign: sign}, &retryhttp.Transport{ErrorOnExhausted: true},
		&retryhttp.Transport{Statuses: map[int]retryhttp.Repeat{409: retryhttp.RepeatIdempotent, 500: retryhttp.RepeatNever}},
		&retryhttp.Transport{Idempotent: func(r *http.Request) bool { return slices.Contains(methods, r.Method) }},
		&retryhttp.Transport{Idempotent: func(r *http.Request) bool { return r.Body == nil && retryhttp.IsIdempotent(r) }},
		&retryhttp.Transport{Budget: func(string) throttle.Budget { return throttle.NewTokenBudget() }},
		&retryhttp.Transport{IdempotencyKey: retryhttp.NewKey},
		&retryhttp.Transport{Sign: func(r *http.Request) error { a, _ := retry.AttemptFrom(r.Context()); log(r, a.Number); return nil }},
	)
	r.GetBody = func() (io.ReadCloser, error) { return os.Open(name) }
	r.Header["Idempotency-Key"] = nil
	_, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(data))
	found = append(found, err)
	response, err := client.Do(r.WithContext(retryhttp.ContextWithPolicy(ctx, p)))
	{
		read := func(*http.Response) (User, error) { return User{}, nil }
		user, err := retryhttp.Fetch(client, r, read)
		found = append(found, user, err)
	}
	found = append(found, response, errors.Is(err, context.Canceled), errors.Is(err, retry.ErrExhausted))
	if gaveUp, ok := errors.AsType[*retry.Error](err); ok {
		fromFailures(gaveUp)
	}
	if failure, ok := errors.AsType[*retryhttp.Failure](err); ok {
		fromFailures(failure)
	}
	{
		f := func(int, error, time.Duration) {}
		found = append(found,
			retry.WithOnRetry(func(_ context.Context, e retry.Event) { f(e.Number, e.Err, e.Delay) }),
			retry.WithBeforeRetry(func(_ context.Context, e retry.Event) error { f(e.Number, e.Err, e.Delay); return nil }),
		)
	}
	{
		t := throttled
		found = append(found, retry.WithThrottle(t))
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	_, err = retry.Do(ctx, op, policy)
	return append(found, err)
}

var _ = []any{migratingRetryableHTTP, migratingHTTPLines}

// script is a server that answers by the given statuses, the last for ever, and keeps the bodies that it is sent.
type script struct {
	*httptest.Server
	requests atomic.Int32
	bodies   []string
}

func newScript(t *testing.T, header http.Header, codes ...int) *script {
	s := new(script)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(s.requests.Add(1))
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		s.bodies = append(s.bodies, string(body)) // one request at a time
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(codes[min(n, len(codes))-1])
		_, _ = io.WriteString(w, "said")
	}))
	t.Cleanup(s.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return s
}

// send makes a request on a virtual clock, with a body that cannot be had anew. An answer's body is read.
func send(t *testing.T, client *http.Client, method, url string) (*retrytest.Clock, *http.Response, error) {
	clk := retrytest.NewClock()
	r, err := http.NewRequestWithContext(retry.ContextWithClock(t.Context(), clk), method, url, io.MultiReader(strings.NewReader("abc")))
	require.NoError(t, err)
	response, err := client.Do(r)
	if err == nil {
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, "said", string(body))
		require.NoError(t, response.Body.Close())
	}
	return clk, response, err
}

// What the page says of the transport that stands for go-retryablehttp's defaults.
func TestMigratingLikeRetryableHTTP(t *testing.T) {
	client := &http.Client{Transport: likeRetryableHTTP}
	s := newScript(t, nil, 503)
	clk, _, err := send(t, client, http.MethodPost, s.URL)
	require.ErrorIs(t, err, retry.ErrExhausted)
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}, clk.Waits())
	require.Equal(t, []string{"abc", "abc", "abc", "abc", "abc"}, s.bodies)
	failure, ok := errors.AsType[*retryhttp.Failure](err)
	require.True(t, ok)
	require.Equal(t, 503, failure.Response.StatusCode)
	body, err := io.ReadAll(failure.Response.Body)
	require.NoError(t, err)
	require.Equal(t, "said", string(body))

	s = newScript(t, http.Header{"Retry-After": {"90"}}, 429, 200)
	clk, response, err := send(t, client, http.MethodPost, s.URL)
	require.NoError(t, err)
	require.Equal(t, 200, response.StatusCode)
	require.Equal(t, []time.Duration{90 * time.Second}, clk.Waits())

	s = newScript(t, http.Header{"Retry-After": {"86401"}}, 429)
	clk, _, err = send(t, client, http.MethodPost, s.URL)
	require.ErrorIs(t, err, retry.ErrHintTooLong)
	require.Empty(t, clk.Waits())

	s = newScript(t, nil, 408)
	_, response, err = send(t, client, http.MethodGet, s.URL)
	require.NoError(t, err)
	require.Equal(t, 408, response.StatusCode)
	require.EqualValues(t, 1, s.requests.Load())
}

// What the page says of POSTs, bodies and the last answer.
func TestMigratingHTTPDefaults(t *testing.T) {
	for _, tc := range []struct {
		method   string
		buffer   int64
		code     int
		requests int32
	}{
		{http.MethodPut, 0, 503, 1},
		{http.MethodPut, 3, 503, 5},
		{http.MethodPost, 3, 503, 1},
		{http.MethodPost, 3, 429, 5},
		{http.MethodPut, 3, 501, 1},
	} {
		s := newScript(t, nil, tc.code)
		transport := retryhttp.NewTransport(nil)
		transport.BufferBody = tc.buffer
		_, response, err := send(t, &http.Client{Transport: transport}, tc.method, s.URL)
		require.NoError(t, err)
		require.Equal(t, tc.code, response.StatusCode)
		require.Equal(t, tc.requests, s.requests.Load(), "%+v", tc)
	}
}

// CheckRetry and Backoff of old, through the page's adapters.
func TestMigratingAdapters(t *testing.T) {
	var asked []int
	transport := retryhttp.NewTransport(nil, retry.WithMaxAttempts(3),
		checkRetry(func(_ context.Context, r *http.Response, err error) (bool, error) {
			asked = append(asked, r.StatusCode)
			return r.StatusCode == 404 || r.StatusCode == 202, err
		}),
		backoff(func(min, max time.Duration, n int, r *http.Response) time.Duration {
			require.NotNil(t, r)
			return (min << n) + max
		}, time.Second, time.Minute),
	)
	client := &http.Client{Transport: transport}
	s := newScript(t, nil, 404, 500)
	clk, response, err := send(t, client, http.MethodGet, s.URL)
	require.NoError(t, err)
	require.Equal(t, 404, response.StatusCode, "its body cannot be had anew")
	require.Empty(t, clk.Waits())

	transport.BufferBody = 3
	s = newScript(t, nil, 404, 404, 500)
	clk, response, err = send(t, client, http.MethodGet, s.URL)
	require.NoError(t, err)
	require.Equal(t, 500, response.StatusCode)
	require.Equal(t, []int{404, 404, 500}, asked)
	require.Equal(t, []time.Duration{61 * time.Second, 62 * time.Second}, clk.Waits())

	s = newScript(t, nil, 202, 200)
	_, response, err = send(t, client, http.MethodGet, s.URL)
	require.NoError(t, err)
	require.Equal(t, 202, response.StatusCode)

	again := &http.Client{Transport: &retryhttp.Transport{
		Policy: transport.Policy, BufferBody: 3, Statuses: map[int]retryhttp.Repeat{202: retryhttp.RepeatIdempotent},
	}}
	s = newScript(t, nil, 202, 200)
	_, response, err = send(t, again, http.MethodGet, s.URL)
	require.NoError(t, err)
	require.Equal(t, 200, response.StatusCode)
}

// What the pages' clients for rehttp and failsafehttp do.
func TestMigratingOthers(t *testing.T) {
	client := migratingRehttp(nil)
	client.Transport.(*retryhttp.Transport).BufferBody = 3
	for _, tc := range []struct {
		method   string
		code     int
		requests int32
	}{
		{http.MethodGet, 503, 4}, {http.MethodPatch, 502, 4}, {http.MethodPut, 503, 1}, {http.MethodGet, 500, 1}, {http.MethodGet, 429, 1},
	} {
		s := newScript(t, nil, tc.code)
		_, response, err := send(t, client, tc.method, s.URL)
		require.NoError(t, err)
		require.Equal(t, tc.code, response.StatusCode)
		require.Equal(t, tc.requests, s.requests.Load(), "%+v", tc)
	}

	client = migratingFailsafeHTTP(nil)
	client.Transport.(*retryhttp.Transport).BufferBody = 3
	s := newScript(t, nil, 500)
	clk, response, err := send(t, client, http.MethodGet, s.URL)
	require.NoError(t, err)
	require.Equal(t, 500, response.StatusCode)
	for i, wait := range clk.Waits() {
		require.InDelta(t, 100*time.Millisecond<<i, wait, float64(25*time.Millisecond<<i))
	}
	require.Len(t, clk.Waits(), 3)
}

// The waits that the table of the page names, of a transport with nothing set.
func TestMigratingHTTPDefaultWaits(t *testing.T) {
	client := retryhttp.NewClient()
	client.Transport.(*retryhttp.Transport).BufferBody = 3
	s := newScript(t, nil, 500)
	clk, response, err := send(t, client, http.MethodGet, s.URL)
	require.NoError(t, err)
	require.Equal(t, 500, response.StatusCode)
	require.Len(t, clk.Waits(), 4)
	require.LessOrEqual(t, clk.Elapsed(), 3*time.Second)

	for told, waits := range map[string]int{"60": 1, "61": 0} {
		s = newScript(t, http.Header{"Retry-After": {told}}, 503, 200)
		clk, response, err = send(t, client, http.MethodPost, s.URL)
		require.NoError(t, err)
		require.Len(t, clk.Waits(), waits)
		require.Equal(t, 503-303*waits, response.StatusCode)
	}
}
