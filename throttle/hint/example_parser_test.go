package hint_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

func ExampleStandard() {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for _, response := range []struct {
		status int
		header http.Header
	}{
		{503, http.Header{"Retry-After": {"Sun, 29 Nov 2026 12:01:30 GMT"}}},
		{429, http.Header{"Ratelimit": {`"burst";r=0;t=3, "daily";r=900;t=40000`}}},
		// A secondary limit of GitHub's: the reset belongs to another one, which has calls left.
		{403, http.Header{"X-Ratelimit-Remaining": {"4987"}, "X-Ratelimit-Reset": {"1795956000"}}},
		{200, http.Header{"Content-Type": {"application/json"}}},
	} {
		signal, ok := hint.Standard().Parse(response.header, response.status, now)
		fmt.Println(ok, signal.HasDelay, signal.Delay, signal.Source, signal.Quotas)
	}
	// Output:
	// true true 1m30s retry-after []
	// true true 3s ratelimit [{burst -1 0 3s true} {daily -1 900 11h6m40s true}]
	// true false 0s  [{x-ratelimit -1 4987 40m0s true}]
	// false false 0s  []
}

// The error of an attempt carries what the response said, and the policy obeys.
func ExampleSignal_Wrap() {
	responses := []*http.Response{
		{StatusCode: 429, Header: http.Header{"Retry-After": {"30"}}},
		{StatusCode: 503, Header: http.Header{"Retry-After-Ms": {"250"}}},
		{StatusCode: 200},
	}
	clock := retrytest.NewClock() // no need to wait in an example
	err := retry.Run(context.Background(), func(context.Context) error {
		resp := responses[0]
		responses = responses[1:]
		if resp.StatusCode < 400 {
			return nil
		}
		told, _ := hint.Standard().Parse(resp.Header, resp.StatusCode, clock.Now())
		return told.Wrap(fmt.Errorf("status %d", resp.StatusCode))
	}, retry.WithHint(throttle.Exact()), retry.WithClock(clock), retry.WithOnRetry(func(_ context.Context, e retry.Event) {
		fmt.Printf("%v: again in %v (%s)\n", e.Err, e.Delay, e.Signal.Source)
	}))
	fmt.Println(err)
	// Output:
	// status 429: again in 30s (retry-after)
	// status 503: again in 250ms (retry-after-ms)
	// <nil>
}

// This server counts milliseconds, which nobody could tell from seconds.
func ExampleFieldParser() {
	parser := hint.Parsers(
		hint.FieldParser(hint.FieldSpec{Wait: "X-Rate-Limit-Reset", Remaining: "X-Rate-Limit-Remaining", Unit: hint.DeltaMillis}),
		hint.Standard(), // for Retry-After and all the rest
	)
	for _, header := range []http.Header{
		{"X-Rate-Limit-Reset": {"600000"}, "X-Rate-Limit-Remaining": {"0"}},
		{"Retry-After": {"5"}},
	} {
		signal, _ := parser.Parse(header, 429, time.Now())
		fmt.Println(signal.Delay, signal.Source)
	}
	// Output:
	// 10m0s x-rate-limit-reset
	// 5s retry-after
}

func ExampleRetryInfo() {
	body := []byte(`{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [
		{"@type": "type.googleapis.com/google.rpc.QuotaFailure"},
		{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.074824224s"}
	]}}`)
	signal, ok := hint.RetryInfo(body)
	fmt.Println(signal.Delay, signal.Source, ok)
	// Output: 34.075s retryinfo true
}

func ExampleParseRetryAfter() {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for _, value := range []string{"120", "1.5", "Sun, 29 Nov 2026 12:01:30 GMT", "0", "-5", "9999999999"} {
		fmt.Println(hint.ParseRetryAfter([]string{value}, time.Time{}, now))
	}
	// Output:
	// 2m0s true
	// 1.5s true
	// 1m30s true
	// 0s true
	// 0s false
	// 2562047h47m16.854775807s true
}
