package retryhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// flakyServer answers with the given codes, one after the other, then with 200.
func flakyServer(codes ...int) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(codes) > 0 {
			w.WriteHeader(codes[0])
			codes = codes[1:]
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "done: %s", body)
	}))
}

func ExampleNewTransport() {
	server := flakyServer(503, 502)
	defer server.Close()

	policy := retry.MustNew(retry.WithMaxAttempts(4), retry.WithStrategy(strategy.Exponential{Base: time.Millisecond}))
	client := &http.Client{Transport: retryhttp.NewTransport(http.DefaultTransport, policy)}
	response, err := client.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	fmt.Println(response.Status)
	// Output: 200 OK
}

func ExampleNewClient() {
	server := flakyServer(500, 500, 500)
	defer server.Close()

	client := retryhttp.NewClient(retry.WithMaxAttempts(2), retry.WithMaxDelay(time.Millisecond))
	response, err := client.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	fmt.Println(response.Status) // the last answer
	// Output: 500 Internal Server Error
}

// A transport with more than a policy is written as a struct: here one that remembers what servers ask for, and turns
// giving up into an error.
func ExampleTransport() {
	server := flakyServer(503, 503, 503)
	defer server.Close()

	client := &http.Client{Transport: &retryhttp.Transport{
		Policy:           retry.MustNew(retry.WithMaxAttempts(2), retry.WithMaxDelay(time.Millisecond)),
		Gate:             new(throttle.Gate),
		Statuses:         map[int]retryhttp.Repeat{http.StatusConflict: retryhttp.RepeatIdempotent},
		ErrorOnExhausted: true,
	}}
	response, err := client.Get(server.URL)
	if err == nil {
		defer response.Body.Close()
	}
	var failure *retryhttp.Failure
	if errors.As(err, &failure) {
		fmt.Println(errors.Is(err, retry.ErrExhausted), failure.Response.Status)
	}
	// Output: true 503 Service Unavailable
}

// A request that is turned away for its token is sent again at once, with another one.
func ExampleTransport_pool() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get("Authorization")
		if fmt.Println(token); token == "Bearer first" {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer server.Close()

	tokens := pool.New("first", "second")
	client := &http.Client{Transport: &retryhttp.Transport{
		Policy: retry.MustNew(
			retry.WithThrottle(tokens),
			retry.WithHint(throttle.Ignore()), // the 30 s are the token's
			retry.WithStrategy(strategy.ByThrottled{Normal: strategy.FullJitter{}, Throttled: strategy.Constant{}}),
		),
		Sign: func(r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+tokens.Key(r.Context()))
			return nil
		},
	}}
	response, err := client.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	fmt.Println(response.Status)
	// Output:
	// Bearer first
	// Bearer second
	// 200 OK
}

// A POST is repeated where its server knows a request by its key.
func ExampleNewKey() {
	server := flakyServer(500)
	defer server.Close()

	transport := retryhttp.NewTransport(http.DefaultTransport, retry.WithMaxDelay(time.Millisecond))
	transport.IdempotencyKey = retryhttp.NewKey
	client := &http.Client{Transport: transport}
	response, err := client.Post(server.URL, "text/plain", strings.NewReader("pay 5"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	fmt.Printf("%s\n", body)
	// Output: done: pay 5
}

func ExampleContextWithPolicy() {
	server := flakyServer(503, 503, 503)
	defer server.Close()

	patient := retry.MustNew(retry.WithMaxAttempts(10), retry.WithMaxDelay(time.Millisecond))
	client := retryhttp.NewClient(retry.WithMaxAttempts(1))
	ctx := retryhttp.ContextWithPolicy(context.Background(), patient)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	response, err := client.Do(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	fmt.Println(response.Status)
	// Output: 200 OK
}

// Conditions get the request with its failure, and come before the transport's own table.
func ExampleFailure() {
	server := flakyServer(404)
	defer server.Close()

	soon := condition.Match(func(f *retryhttp.Failure) bool { // a copy that may not be there yet
		return f.HTTPStatusCode() == http.StatusNotFound && f.Request.URL.Path == "/fresh"
	})
	client := retryhttp.NewClient(retry.WithCondition(soon), retry.WithMaxDelay(time.Millisecond))
	response, err := client.Get(server.URL + "/fresh")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	fmt.Println(response.Status)
	// Output: 200 OK
}

// Every attempt can carry its number, and be signed anew.
func ExampleAWSHeaders() {
	server := flakyServer(503)
	defer server.Close()

	client := &http.Client{Transport: &retryhttp.Transport{
		Policy:         retry.MustNew(retry.WithMaxDelay(time.Millisecond)),
		AttemptHeaders: retryhttp.AWSHeaders,
		Sign: func(r *http.Request) error {
			r.Header.Set("Authorization", "signature of "+r.URL.Path)
			fmt.Println(r.Header.Get("Amz-Sdk-Request"))
			return nil
		},
	}}
	response, err := client.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	// Output:
	// attempt=1; max=5
	// attempt=2; max=5
}
