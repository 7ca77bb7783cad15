package retryhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/throttle"
)

// cutBody gives its text and then breaks off.
func cutBody(text string) io.ReadCloser {
	return io.NopCloser(io.MultiReader(strings.NewReader(text), broken{io.ErrUnexpectedEOF}))
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// steps is a base whose attempts are functions, the last for ever.
func steps(all ...step) (base roundTripper, requests *[]*http.Request) {
	requests = new([]*http.Request)
	return func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
			_ = r.Body.Close()
		}
		*requests = append(*requests, r)
		return all[min(len(*requests), len(all))-1](r)
	}, requests
}

type step = func(*http.Request) (*http.Response, error)

func gives(code int, body string, fields ...string) step {
	return func(*http.Request) (*http.Response, error) { return answer(code, body, fields...), nil }
}

// cuts announces a length and gives less.
func cuts(code int, body string, length int64, fields ...string) step {
	return func(*http.Request) (*http.Response, error) {
		response := answer(code, "", fields...)
		response.Body, response.ContentLength = cutBody(body), length
		return response, nil
	}
}

func readBody(response *http.Response) (string, error) {
	all, err := io.ReadAll(response.Body)
	return string(all), err
}

// fetchClients are the ways to have a client: without retries, and with them, which do not multiply.
var fetchClients = map[string]func(base http.RoundTripper) *http.Client{
	"plain": func(base http.RoundTripper) *http.Client { return &http.Client{Transport: base} },
	"retrying": func(base http.RoundTripper) *http.Client {
		return &http.Client{Transport: retryhttp.NewTransport(base, atOnce, retry.WithMaxAttempts(9))}
	},
	"wrapped": func(base http.RoundTripper) *http.Client {
		inner := retryhttp.NewTransport(base, atOnce, retry.WithMaxAttempts(9))
		return &http.Client{Transport: roundTripper(inner.RoundTrip)}
	},
	"with a timeout": func(base http.RoundTripper) *http.Client {
		return &http.Client{Transport: base, Timeout: time.Minute}
	},
}

// TestFetch: statuses, failures without an answer and bodies that break off are attempts of one and the same call, whatever
// the client is.
func TestFetch(t *testing.T) {
	fails := func(*http.Request) (*http.Response, error) { return nil, errBoom }
	for name, newClient := range fetchClients {
		for _, tc := range []struct {
			name     string
			steps    []step
			method   string
			want     string
			requests int
			status   int // of the *Failure
			reason   error
			veto     string
		}{
			{name: "at once", steps: []step{gives(200, "body")}, want: "body", requests: 1},
			{name: "another 2xx", steps: []step{gives(203, "body")}, want: "body", requests: 1},
			{name: "no content", steps: []step{gives(204, "")}, requests: 1},
			{name: "cut", steps: []step{cuts(200, "bo", 4), gives(200, "body")}, want: "body", requests: 2},
			{name: "all there is", steps: []step{gives(503, ""), fails, cuts(200, "b", 4), gives(200, "body")}, want: "body", requests: 4},
			{name: "cut for ever", steps: []step{cuts(200, "bo", 4)}, requests: 5, reason: retry.ErrExhausted},
			{name: "503 for ever", steps: []step{gives(503, "down")}, requests: 5, status: 503, reason: retry.ErrExhausted},
			{name: "404", steps: []step{gives(404, "down")}, requests: 1, status: 404},
			{name: "304", steps: []step{gives(304, "")}, requests: 1, status: 304},
			{name: "a redirect to nowhere", steps: []step{gives(300, "down")}, requests: 1, status: 300},
			{name: "POST", method: "POST", steps: []step{cuts(200, "bo", 4)}, requests: 1, veto: "POST without a key"},
			{name: "POST, 429", method: "POST", steps: []step{gives(429, ""), gives(200, "body")}, want: "body", requests: 2},
			{name: "HEAD", method: "HEAD", steps: []step{cuts(200, "", 4)}, requests: 5, reason: retry.ErrExhausted},
		} {
			t.Run(tc.name+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					base, requests := steps(tc.steps...)
					var opened, closed int
					counting := roundTripper(func(r *http.Request) (*http.Response, error) {
						response, err := base(r)
						if response != nil {
							opened++
							response.Body = closing{response.Body, func() { closed++ }}
						}
						return response, err
					})
					var numbers []int
					got, err := retryhttp.Fetch(newClient(counting), newRequest(t, tc.method, "http://example.com/", nil), func(response *http.Response) (string, error) {
						numbers = append(numbers, retryhttp.Attempts(response))
						assert.Equal(t, len(*requests), numbers[len(numbers)-1])
						return readBody(response)
					}, atOnce, retry.WithMaxAttempts(5))
					assert.Len(t, *requests, tc.requests)
					assert.Equal(t, tc.want, got)
					assert.Equal(t, opened, closed, "each answer is closed once")
					if tc.status == 0 && tc.reason == nil && tc.veto == "" {
						require.NoError(t, err)
						return
					}
					var failure *retryhttp.Failure
					require.ErrorAs(t, err, &failure)
					assert.Equal(t, tc.status, failure.HTTPStatusCode())
					assert.Equal(t, tc.veto, failure.NotRepeated())
					if tc.status >= 400 {
						assert.Equal(t, "down", read(t, failure.Response), "kept in memory")
					}
					if tc.reason != nil {
						require.ErrorIs(t, err, tc.reason)
					} else {
						assert.Same(t, failure, err, "not worth a retry: as it is")
					}
				})
			})
		}
	}
}

// TestFetchErrorsOfTheReader end the call, unless the policy knows better; never is a POST repeated for them.
func TestFetchErrorsOfTheReader(t *testing.T) {
	for _, tc := range []struct {
		name, method string
		err          error
		opts         []retry.Option
		want         int
	}{
		{name: "its own", err: errBoom, want: 1},
		{name: "a decoder's early end", err: fmt.Errorf("decoding: %w", io.ErrUnexpectedEOF), want: 3},
		{name: "a condition", err: errBoom, opts: []retry.Option{retry.WithCondition(condition.Is(errBoom))}, want: 3},
		{name: "a condition, POST", method: "POST", err: errBoom, opts: []retry.Option{retry.WithCondition(condition.Is(errBoom))}, want: 1},
		{name: "permanent", err: retry.Permanent(io.ErrUnexpectedEOF), want: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base, requests := steps(gives(200, "body"))
			_, err := retryhttp.Fetch(&http.Client{Transport: base}, newRequest(t, tc.method, "http://example.com/", nil),
				func(*http.Response) (int, error) { return 7, tc.err }, append(tc.opts, atOnce, retry.WithMaxAttempts(3))...)
			require.ErrorIs(t, err, tc.err)
			assert.Len(t, *requests, tc.want)
		})
	}
}

// TestFetchKeepsBothErrors: that of the body is there too if the reader hides it.
func TestFetchKeepsBothErrors(t *testing.T) {
	base, requests := steps(cuts(200, "b", 4), gives(200, "body"))
	calls := 0
	got, err := retryhttp.Fetch(&http.Client{Transport: base}, get(t), func(response *http.Response) (string, error) {
		calls++
		all, err := readBody(response)
		if err != nil {
			return "", errBoom
		}
		return all, nil
	}, atOnce, retry.WithCondition(condition.Only(condition.All(condition.Is(errBoom), condition.Is(io.ErrUnexpectedEOF)))))
	require.NoError(t, err)
	assert.Equal(t, "body", got)
	assert.Len(t, *requests, 2)
	assert.Equal(t, 2, calls)
}

// TestFetchPolicy: whose policy counts.
func TestFetchPolicy(t *testing.T) {
	three, two := retry.MustNew(atOnce, retry.WithMaxAttempts(3)), retry.MustNew(atOnce, retry.WithMaxAttempts(2))
	transport := func(base http.RoundTripper) http.RoundTripper { return retryhttp.NewTransport(base, three) }
	plain := func(base http.RoundTripper) http.RoundTripper { return base }
	for name, tc := range map[string]struct {
		over func(http.RoundTripper) http.RoundTripper
		opts []retry.Option
		ctx  *retry.Policy
		want int
	}{
		"the transport's":        {over: transport, want: 3},
		"options are added":      {over: transport, opts: []retry.Option{retry.WithMaxAttempts(4)}, want: 4},
		"a policy replaces":      {over: transport, opts: []retry.Option{two}, want: 2},
		"a policy with options":  {over: transport, opts: []retry.Option{two, retry.WithMaxAttempts(6)}, want: 6},
		"the context's":          {over: transport, ctx: two, want: 2},
		"added to the context's": {over: transport, ctx: two, opts: []retry.Option{retry.WithName("x")}, want: 2},
		"plain":                  {over: plain, opts: []retry.Option{two}, want: 2},
		"plain, the context's":   {over: plain, ctx: two, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			base, requests := steps(cuts(200, "b", 4))
			r := get(t)
			r = r.WithContext(retryhttp.ContextWithPolicy(r.Context(), tc.ctx))
			_, err := retryhttp.Fetch(&http.Client{Transport: tc.over(base)}, r, readBody, tc.opts...)
			require.ErrorIs(t, err, retry.ErrExhausted)
			assert.Len(t, *requests, tc.want)
		})
	}
	base, requests := steps(cuts(200, "b", 4))
	r := get(t)
	_, err := retryhttp.Fetch(&http.Client{Transport: base}, r.WithContext(retry.ContextWithoutRetry(r.Context())), readBody)
	require.Error(t, err)
	assert.Len(t, *requests, 1, "no retry")
}

// TestFetchTimeouts: the attempt's timeout and the client's cover reading, and lead to another attempt; the request's context
// ends the call.
func TestFetchTimeouts(t *testing.T) {
	slow := func(r *http.Request) (*http.Response, error) {
		response := answer(200, "")
		response.ContentLength = -1
		response.Body = io.NopCloser(readerFunc(func([]byte) (int, error) {
			<-r.Context().Done()
			return 0, context.Cause(r.Context())
		}))
		return response, nil
	}
	for name, tc := range map[string]struct {
		client time.Duration
		opts   []retry.Option
		limit  time.Duration // of the context
		reason error
	}{
		"attempt timeout": {opts: []retry.Option{retry.WithAttemptTimeout(time.Second)}},
		"client timeout":  {client: time.Second},
		"context":         {limit: time.Second, reason: context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				if tc.limit > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), tc.limit)
				}
				defer cancel()
				base, requests := steps(slow, gives(200, "body"))
				began := time.Now()
				got, err := retryhttp.Fetch(&http.Client{Transport: base, Timeout: tc.client}, get(t).WithContext(ctx), readBody, append(tc.opts, atOnce)...)
				assert.Equal(t, time.Second, time.Since(began))
				require.ErrorIs(t, err, tc.reason)
				if tc.reason == nil {
					assert.Equal(t, "body", got)
					assert.Len(t, *requests, 2)
				}
			})
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestFetchCanceledByTheReader: the context's end is the reason, and the reader's error is kept.
func TestFetchCanceledByTheReader(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	base, requests := steps(gives(200, "body"))
	_, err := retryhttp.Fetch(&http.Client{Transport: base}, get(t).WithContext(ctx), func(*http.Response) (int, error) {
		cancel(errBoom)
		return 0, io.ErrUnexpectedEOF
	}, atOnce)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, errBoom)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Len(t, *requests, 1)
}

// TestFetchPanics: what the reader or a condition throws passes through, with everything closed.
func TestFetchPanics(t *testing.T) {
	for _, code := range []int{200, 503} {
		synctest.Test(t, func(t *testing.T) {
			body := &trackedBody{Reader: newReader("body")}
			base, _ := steps(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: code, Header: http.Header{}, Body: body, ContentLength: 4}, nil
			})
			sent := &trackedBody{Reader: newReader("abc")}
			assert.PanicsWithValue(t, errBoom, func() {
				transport := &retryhttp.Transport{Base: base, BufferBody: 3}
				_, _ = retryhttp.Fetch(&http.Client{Transport: transport}, newRequest(t, "PUT", "http://example.com/", sent),
					func(*http.Response) (int, error) { panic(errBoom) }, retry.WithRetryIf(func(error) bool { panic(errBoom) }))
			})
			assert.EqualValues(t, 1, body.closes.Load(), code)
			assert.EqualValues(t, 1, sent.closes.Load())
		})
	}
}

// TestFetchRedirects: each attempt begins with the first request. What came of a redirected POST is not known, whatever the
// last server says.
func TestFetchRedirects(t *testing.T) {
	for _, tc := range []struct {
		name, method string
		redirect     int
		key          bool
		want         []string
	}{
		{"GET", "GET", 302, false, []string{"GET /", "GET /to", "GET /", "GET /to"}},
		{"POST that becomes a GET", "POST", 303, false, []string{"POST /", "GET /to"}},
		{"POST that becomes a GET, with a key", "POST", 303, true, []string{"POST / k1", "GET /to", "POST / k1", "GET /to"}},
		{"POST", "POST", 307, false, []string{"POST /", "POST /to"}},
		{"POST with a key", "POST", 307, true, []string{"POST / k1", "POST /to k1", "POST / k1", "POST /to k1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			base := roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.Body != nil {
					_ = r.Body.Close()
				}
				got = append(got, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Idempotency-Key")))
				switch {
				case r.URL.Path == "/":
					return answer(tc.redirect, "", "Location", "/to"), nil
				case len(got) == 2:
					return answer(429, ""), nil
				}
				return answer(200, "body"), nil
			})
			transport := retryhttp.NewTransport(base, atOnce)
			keys := 0
			if tc.key {
				transport.IdempotencyKey = func(*http.Request) string { keys++; return "k" + itoa(keys) }
			}
			_, err := retryhttp.Fetch(&http.Client{Transport: transport}, newRequest(t, tc.method, "http://example.com/", newReader("abc")), readBody)
			assert.Equal(t, tc.want, got)
			assert.Equal(t, len(tc.want) == 2, err != nil)
		})
	}
	base, requests := steps(gives(302, "", "Location", "/"))
	_, err := retryhttp.Fetch(&http.Client{Transport: base}, get(t), readBody, atOnce)
	require.ErrorContains(t, err, "stopped after 10 redirects")
	assert.Len(t, *requests, 10, "the client's own word is final")
}

// TestFetchRepeatsBodiesAndCookies: each attempt sends the whole body and each cookie once.
func TestFetchRepeatsBodiesAndCookies(t *testing.T) {
	for _, buffer := range []bool{false, true} {
		var sent, cookies []string
		base := roundTripper(func(r *http.Request) (*http.Response, error) {
			all, _ := io.ReadAll(r.Body)
			_ = r.Body.Close()
			sent, cookies = append(sent, string(all)), append(cookies, r.Header.Get("Cookie"))
			response := answer(200, "", "Set-Cookie", "n="+itoa(len(sent)))
			if len(sent) < 3 {
				response.Body, response.ContentLength = cutBody(""), 4
			}
			return response, nil
		})
		transport := retryhttp.NewTransport(base, atOnce)
		body := &trackedBody{Reader: newReader("abc")}
		r := newRequest(t, "PUT", "http://example.com/", newReader("abc"))
		if buffer {
			transport.BufferBody = 3
			r = newRequest(t, "PUT", "http://example.com/", body)
		}
		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		_, err = retryhttp.Fetch(&http.Client{Transport: transport, Jar: jar}, r, readBody)
		require.NoError(t, err)
		assert.Equal(t, []string{"abc", "abc", "abc"}, sent)
		assert.Equal(t, []string{"", "n=1", "n=2"}, cookies)
		if buffer {
			assert.EqualValues(t, 1, body.closes.Load())
		}
	}
}

// TestFetchTellsThrottles of a body that broke off as of a failure, and asks a transport's Gate and Budget once an attempt.
func TestFetchTellsThrottles(t *testing.T) {
	told := &history{}
	budget := &countingBudget{}
	base, _ := steps(cuts(200, "b", 4), gives(503, ""), gives(200, "body"))
	transport := retryhttp.NewTransport(base, atOnce, retry.WithThrottle(told))
	transport.Budget = func(string) throttle.Budget { return budget }
	transport.Gate = new(throttle.Gate)
	transport.Keys = func(r *http.Request, keys []throttle.Key) []throttle.Key { return append(keys, retryhttp.HostKey(r)) }
	transport.AttemptHeaders = retryhttp.GRPCHeaders
	_, err := retryhttp.Fetch(&http.Client{Transport: transport}, get(t), readBody)
	require.NoError(t, err)
	assert.Equal(t, []throttle.Class{throttle.Transient, throttle.Transient, throttle.Success}, told.classes)
	assert.Equal(t, &countingBudget{started: 1, charged: 2, settled: 1}, budget)
}

// TestFetchWithinFetch: a request that the reader makes with the context of the answer is a call of its own.
func TestFetchWithinFetch(t *testing.T) {
	base, requests := steps(gives(200, "outer"), gives(503, ""), gives(200, "inner"))
	client := &http.Client{Transport: retryhttp.NewTransport(base, atOnce)}
	got, err := retryhttp.Fetch(client, get(t), func(response *http.Response) (string, error) {
		inner, err := client.Do(get(t).WithContext(response.Request.Context()))
		if err != nil {
			return "", err
		}
		return read(t, inner), nil
	})
	require.NoError(t, err)
	assert.Equal(t, "inner", got)
	assert.Len(t, *requests, 3)
}

// TestFetchJSON over a real connection that ends in the middle of a chunk.
func TestFetchJSON(t *testing.T) {
	s := newServer(t, retryhttp.NewTransport(nil, atOnce), func(n int, w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"name":`)
		_ = http.NewResponseController(w).Flush()
		if n < 3 {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, `"lamp"}`)
	})
	type item struct{ Name string }
	got, err := retryhttp.Fetch(s.client, newRequest(t, "GET", s.URL, nil), func(response *http.Response) (v item, err error) {
		err = json.NewDecoder(response.Body).Decode(&v)
		return v, err
	})
	require.NoError(t, err)
	assert.Equal(t, item{"lamp"}, got)
	assert.EqualValues(t, 3, s.requests.Load())
}
