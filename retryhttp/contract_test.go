package retryhttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/throttle"
)

// contractCases are ways through RoundTrip, with the answers of a base (0: an error).
var contractCases = []struct {
	name  string
	codes []int
	opts  []retry.Option
	set   func(*retryhttp.Transport)
	ctx   func(context.Context) context.Context
}{
	{name: "success", codes: []int{200}},
	{name: "success at last", codes: []int{503, 0, 200}},
	{name: "exhausted", codes: []int{503}},
	{name: "error", codes: []int{0}},
	{name: "error on exhaustion", codes: []int{503}, set: func(t *retryhttp.Transport) { t.ErrorOnExhausted = true }},
	{name: "no retry", codes: []int{503}, ctx: retry.ContextWithoutRetry},
	{name: "attempt timeout", codes: []int{503}, opts: []retry.Option{retry.WithAttemptTimeout(time.Hour)}},
	{name: "context done", codes: []int{200}, ctx: func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx
	}},
	{name: "config error", codes: []int{200}, opts: []retry.Option{retry.WithMaxAttempts(-1)}},
	{name: "refused", codes: []int{200}, opts: []retry.Option{retry.WithThrottle(refuse{})}},
	{name: "gate", codes: []int{503}, set: func(t *retryhttp.Transport) { t.Gate = new(throttle.Gate) }},
	{name: "before retry fails", codes: []int{503}, opts: []retry.Option{
		retry.WithBeforeRetry(func(context.Context, retry.Event) error { return errBoom }),
	}},
	{name: "signed", codes: []int{503, 200}, set: signing(99)},
	{name: "sign fails first", codes: []int{503}, set: signing(0)},
	{name: "sign fails later", codes: []int{503}, set: signing(1)},
	{name: "headers", codes: []int{503, 200}, set: func(t *retryhttp.Transport) { t.AttemptHeaders = retryhttp.AWSHeaders }},
	{name: "key", codes: []int{503, 200}, set: func(t *retryhttp.Transport) { t.IdempotencyKey = retryhttp.NewKey }},
	{name: "buffered", codes: []int{503, 0, 200}, set: func(t *retryhttp.Transport) { t.BufferBody = 1 << 10 }},
}

type refuse struct{ throttle.Func }

func (refuse) Admit(context.Context, time.Time, throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	return nil, 0, errBoom
}

// signing changes the attempt's request in every way, and fails after some attempts.
func signing(good int) func(*retryhttp.Transport) {
	return func(t *retryhttp.Transport) {
		n := 0
		t.Sign = func(r *http.Request) error {
			if n++; n > good {
				return errBoom
			}
			r.Header.Set("Authorization", "secret")
			r.Header["X-Given"][0] = "changed"
			r.URL.RawQuery, r.Host, r.Method = "signature", "elsewhere", "PATCH"
			return nil
		}
	}
}

// TestContract: whatever happens, the request is not changed, each of its bodies is closed exactly once, and so is each
// response that is not returned; the one that is returned is open.
func TestContract(t *testing.T) {
	for _, tc := range contractCases {
		for _, method := range []string{"GET", "PUT", "POST"} {
			for _, rewinds := range []bool{true, false} {
				t.Run(tc.name+" "+method, func(t *testing.T) { testContract(t, tc.codes, tc.opts, tc.set, tc.ctx, method, rewinds) })
			}
		}
	}
}

func testContract(t *testing.T, codes []int, opts []retry.Option, set func(*retryhttp.Transport), with func(context.Context) context.Context, method string, rewinds bool) {
	ctx := t.Context()
	if with != nil {
		ctx = with(ctx)
	}
	var sent, answered []*trackedBody
	newBody := func() (io.ReadCloser, error) {
		sent = append(sent, streamed("abc"))
		return sent[len(sent)-1], nil
	}
	first, _ := newBody()
	r, err := http.NewRequestWithContext(ctx, method, "http://example.com/path?query", first)
	require.NoError(t, err)
	if rewinds {
		r.GetBody = newBody
	}
	r.Header.Set("X-Given", "given")
	before, header, url := *r, r.Header.Clone(), *r.URL

	scripted := &answers{codes: codes}
	transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := scripted.RoundTrip(r)
		if response != nil {
			response.Body = &trackedBody{Reader: response.Body}
			answered = append(answered, response.Body.(*trackedBody))
		}
		return response, err
	}), append(opts, retry.WithClock(retrytest.NewClock()))...)
	if set != nil {
		set(transport)
	}
	response, err := transport.RoundTrip(r)

	require.True(t, (response == nil) != (err == nil), "one of both")
	assert.Equal(t, header, r.Header)
	assert.Equal(t, url, *r.URL)
	before.GetBody, r.GetBody = nil, nil // functions do not compare
	assert.True(t, reflect.DeepEqual(&before, r))
	for i, body := range sent {
		assert.EqualValues(t, 1, body.closes.Load(), "request body %d", i)
	}
	for i, body := range answered {
		want := 1
		if response != nil && i == len(answered)-1 {
			want = 0
		}
		assert.EqualValues(t, want, body.closes.Load(), "response body %d", i)
	}
	if response != nil {
		if retryhttp.Attempts(response) == 1 {
			assert.Same(t, r, response.Request)
		}
		given := response.Request.WithContext(ctx)
		given.GetBody = nil
		assert.True(t, reflect.DeepEqual(&before, given), "the request, or a copy that knows the number of attempts")
		assert.Equal(t, "body", read(t, response))
		assert.EqualValues(t, 1, answered[len(answered)-1].closes.Load())
	}
}

// TestAttemptsOfARequest: what the base gets is a copy with the same content, also after it was changed for an attempt.
func TestAttemptsOfARequest(t *testing.T) {
	base := &answers{codes: []int{503, 503, 200}}
	transport := retryhttp.NewTransport(base, atOnce)
	transport.IdempotencyKey = func(*http.Request) string { return "key" }
	n := 0
	transport.Sign = func(r *http.Request) error {
		assert.Empty(t, r.Header.Get("Authorization"), "nothing is left of the attempt before")
		assert.Equal(t, "key", r.Header.Get("Idempotency-Key"))
		r.Header.Set("Authorization", strings.Repeat("s", n))
		n++
		return nil
	}
	r := post(t, "x")
	response, err := transport.RoundTrip(r)
	require.NoError(t, err)
	_ = response.Body.Close()
	require.Len(t, base.requests, 3)
	for i, got := range base.requests {
		assert.NotSame(t, r, got)
		assert.Equal(t, strings.Repeat("s", i), got.Header.Get("Authorization"))
		assert.Equal(t, r.URL, got.URL)
	}
	assert.Equal(t, []string{"x", "x", "x"}, base.bodies)
	assert.Empty(t, r.Header)

	r.Header = nil // http.Client makes one; others may not
	transport = retryhttp.NewTransport(base, atOnce)
	response, err = transport.RoundTrip(r)
	require.NoError(t, err)
	_ = response.Body.Close()
	assert.Nil(t, r.Header)
}

// TestSignError ends the call and is its error, beside the failure that the attempt was to make good.
func TestSignError(t *testing.T) {
	base := &answers{codes: []int{503}}
	told := &recorder{}
	transport := retryhttp.NewTransport(base, atOnce, retry.WithThrottle(told))
	transport.Sign = func(r *http.Request) error {
		if len(base.requests) == 2 {
			return errBoom
		}
		return nil
	}
	_, err := transport.RoundTrip(get(t))
	require.ErrorIs(t, err, errBoom)
	var failure *retryhttp.Failure
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, 503, failure.HTTPStatusCode())
	assert.EqualError(t, err, "boom (after: 503 Service Unavailable (GET example.com/))")
	assert.Len(t, base.requests, 2)
	assert.Equal(t, throttle.Skipped, told.last.Class, "no attempt was made")
	assert.False(t, errors.Is(err, retryhttp.ErrBody))

	base.requests = nil
	transport.Sign = func(*http.Request) error { return errBoom }
	_, err = transport.RoundTrip(get(t))
	assert.Equal(t, errBoom, err, "nothing came before")
}
