package retryhttp_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/throttle"
)

// attemptsFor sends a request to a server that always gives the same answer, and returns how often.
func attemptsFor(t *testing.T, transport *retryhttp.Transport, r *http.Request, code int, fields ...string) int {
	t.Helper()
	base := &answers{codes: []int{code}, fields: fields}
	transport.Base = base
	response, err := transport.RoundTrip(r)
	require.NoError(t, err)
	assert.Equal(t, code, response.StatusCode)
	assert.Equal(t, "body", read(t, response))
	return len(base.requests)
}

// TestStatuses goes through all of them, by the table of Repeat.
func TestStatuses(t *testing.T) {
	always := map[int]bool{421: true, 425: true, 429: true, 521: true, 522: true, 523: true, 529: true}
	idempotent := map[int]bool{408: true, 500: true, 502: true, 503: true, 504: true, 520: true, 524: true}
	told := map[int]bool{403: true, 503: true} // always, with a wait
	clk := retrytest.NewClock()
	for code := 200; code < 700; code++ {
		for _, wait := range []bool{false, true} {
			var fields []string
			if wait {
				fields = []string{"Retry-After", "1"}
			}
			forAll := always[code] || wait && told[code]
			want := map[string]int{"GET": 1, "POST": 1}
			if forAll || idempotent[code] || wait && (code == 413 || code >= 500 && code <= 599) {
				want["GET"] = 2
			}
			if forAll {
				want["POST"] = 2
			}
			transport := retryhttp.NewTransport(nil, retry.WithMaxAttempts(2), retry.WithClock(clk))
			require.Equal(t, want["GET"], attemptsFor(t, transport, get(t), code, fields...), "GET %d %v", code, fields)
			require.Equal(t, want["POST"], attemptsFor(t, transport, post(t, "x"), code, fields...), "POST %d %v", code, fields)
		}
	}
}

func TestStatusesOfOnesOwn(t *testing.T) {
	transport := &retryhttp.Transport{
		Policy: retry.MustNew(retry.WithMaxAttempts(2), atOnce),
		Statuses: map[int]retryhttp.Repeat{
			202: retryhttp.RepeatIdempotent, 409: retryhttp.RepeatAlways, 500: retryhttp.RepeatAlways, 503: retryhttp.RepeatNever,
		},
	}
	for _, tc := range []struct{ code, get, post int }{{202, 2, 1}, {200, 1, 1}, {409, 2, 2}, {500, 2, 2}, {503, 1, 1}, {502, 2, 1}} {
		assert.Equal(t, tc.get, attemptsFor(t, transport, get(t), tc.code), "GET %d", tc.code)
		assert.Equal(t, tc.post, attemptsFor(t, transport, post(t, "x"), tc.code), "POST %d", tc.code)
	}
	for repeat, want := range map[retryhttp.Repeat]string{0: "never", 1: "idempotent", 2: "always", 3: "invalid"} {
		assert.Equal(t, want, repeat.String())
	}
}

// TestShouldRetry: the server's own word counts more than the table, both ways, for any method; a body that cannot be sent
// again still is not.
func TestShouldRetry(t *testing.T) {
	for _, field := range []string{"X-Should-Retry", "Stripe-Should-Retry"} {
		transport := retryhttp.NewTransport(nil, retry.WithMaxAttempts(2), atOnce)
		for _, code := range []int{404, 409, 500, 501} {
			assert.Equal(t, 2, attemptsFor(t, transport, get(t), code, field, "true"), code)
			assert.Equal(t, 2, attemptsFor(t, transport, post(t, "x"), code, field, "true"), code)
			assert.Equal(t, 1, attemptsFor(t, transport, newRequest(t, "PUT", "http://example.com", &trackedBody{Reader: http.NoBody}), 404))
		}
		for _, code := range []int{429, 500, 503} {
			assert.Equal(t, 1, attemptsFor(t, transport, get(t), code, field, "false"), code)
		}
		assert.Equal(t, 1, attemptsFor(t, transport, get(t), 200, field, "true"), "a success is one")

		// The server's word is charged for, where the request would not be repeated anyhow too.
		budget := &countingBudget{}
		transport = retryhttp.NewTransport(nil, retry.WithBudget(budget))
		attemptsFor(t, transport, post(t, "x"), 500, field, "false")
		assert.Equal(t, 1, budget.charged)
	}
}

// TestP36ConditionsSeeTheFailure: every failure and every answer from 400 on, with its request; what they leave open is the
// table's; what is not safe is not asked of them.
func TestP36ConditionsSeeTheFailure(t *testing.T) {
	var seen []string
	look := condition.Func(func(err error) condition.Verdict {
		f := err.(*retryhttp.Failure)
		seen = append(seen, fmt.Sprint(f.Request.Method, f.Request.URL.Path, f.HTTPStatusCode(), f.Sent, f.Err))
		if f.HTTPStatusCode() == 409 {
			return condition.Retry
		}
		return condition.Unknown
	})
	transport := retryhttp.NewTransport(nil, retry.WithMaxAttempts(2), atOnce, retry.WithCondition(look))
	for _, tc := range []struct {
		r    *http.Request
		code int
		want int
		seen []string
	}{
		{get(t), 200, 1, nil},
		{get(t), 404, 1, []string{"GET/404 true <nil>"}},
		{get(t), 409, 2, []string{"GET/409 true <nil>", "GET/409 true <nil>"}},
		{get(t), 500, 2, []string{"GET/500 true <nil>", "GET/500 true <nil>"}},
		{get(t), 501, 1, []string{"GET/501 true <nil>"}},
		{post(t, "x"), 409, 2, []string{"POST/409 true <nil>", "POST/409 true <nil>"}},
		{post(t, "x"), 500, 1, nil},
		{post(t, "x"), 501, 1, nil},
	} {
		seen = nil
		assert.Equal(t, tc.want, attemptsFor(t, transport, tc.r, tc.code))
		assert.Equal(t, tc.seen, seen, "%s %d", tc.r.Method, tc.code)
	}

	// RetryIf stands in for all conditions, the table too.
	transport = retryhttp.NewTransport(nil, retry.WithMaxAttempts(2), atOnce, retry.WithRetryIf(func(error) bool { return true }))
	assert.Equal(t, 2, attemptsFor(t, transport, get(t), 404))
	assert.Equal(t, 1, attemptsFor(t, transport, post(t, "x"), 502))

	// Behind a condition that always decides nothing is asked.
	transport = retryhttp.NewTransport(nil, retry.WithMaxAttempts(2), atOnce,
		retry.WithCondition(condition.Only(condition.Network(), condition.HTTPStatus(429, 503))))
	assert.Equal(t, 2, attemptsFor(t, transport, get(t), 503))
	assert.Equal(t, 1, attemptsFor(t, transport, get(t), 500))
}

// TestClasses: what throttles and breakers are told of each end.
func TestClasses(t *testing.T) {
	told := &recorder{}
	transport := retryhttp.NewTransport(nil, retry.WithMaxAttempts(1), retry.WithThrottle(told))
	unrepeatable := func() *http.Request {
		return newRequest(t, "PUT", "http://example.com", &trackedBody{Reader: newReader("x")})
	}
	for _, tc := range []struct {
		r      *http.Request
		code   int
		fields []string
		want   throttle.Class
	}{
		{get(t), 200, nil, throttle.Success},
		{get(t), 304, nil, throttle.Success},
		{get(t), 404, nil, throttle.Permanent},
		{get(t), 500, nil, throttle.Transient},
		{get(t), 501, nil, throttle.Permanent},
		{get(t), 429, nil, throttle.Throttled},
		{get(t), 529, nil, throttle.Throttled},
		{get(t), 503, []string{"Retry-After", "1"}, throttle.Throttled},
		{post(t, "x"), 500, nil, throttle.Transient},
		{post(t, "x"), 408, nil, throttle.Transient},
		{post(t, "x"), 501, nil, throttle.Permanent},
		{post(t, "x"), 404, nil, throttle.Permanent},
		{unrepeatable(), 429, nil, throttle.Throttled},
		{unrepeatable(), 503, nil, throttle.Transient},
		{unrepeatable(), 400, nil, throttle.Permanent},
		{get(t), 500, []string{"X-Should-Retry", "false"}, throttle.Permanent},
	} {
		attemptsFor(t, transport, tc.r, tc.code, tc.fields...)
		assert.Equal(t, tc.want, told.last.Class, "%s %d %v", tc.r.Method, tc.code, tc.fields)
	}
}

// recorder is a throttle that remembers what it was told last.
type recorder struct {
	throttle.Func
	last throttle.Outcome
}

func (r *recorder) Done(_ context.Context, _ time.Time, _ throttle.Ticket, o throttle.Outcome) {
	r.last = o
}

// TestClassesOfErrors: what was cancelled says nothing about the server.
func TestClassesOfErrors(t *testing.T) {
	timeout := &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
	for _, tc := range []struct {
		r    *http.Request
		err  error
		want throttle.Class
	}{
		{get(t), errBoom, throttle.Transient},
		{get(t), timeout, throttle.Timeout},
		{get(t), context.Canceled, throttle.Canceled},
		{post(t, "x"), errBoom, throttle.Transient},
		{post(t, "x"), timeout, throttle.Timeout},
		{post(t, "x"), context.Canceled, throttle.Canceled},
		{post(t, "x"), http.ErrSchemeMismatch, throttle.Permanent},
	} {
		told := &recorder{}
		ctx, cancel := context.WithCancel(t.Context())
		ended := false
		transport := retryhttp.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
			if ended {
				cancel()
			}
			return nil, tc.err
		}), retry.WithMaxAttempts(1), retry.WithThrottle(told))
		_, err := transport.RoundTrip(tc.r.WithContext(ctx))
		require.ErrorIs(t, err, tc.err)
		assert.Equal(t, tc.want, told.last.Class, "%s %v", tc.r.Method, tc.err)
		ended = true
		_, err = transport.RoundTrip(tc.r.WithContext(ctx))
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, throttle.Canceled, told.last.Class, "%s %v", tc.r.Method, tc.err)
	}
}
