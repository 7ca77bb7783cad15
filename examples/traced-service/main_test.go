package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/retrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wantOutput = `GET http://HOST/articles/lamp

shop   GET /articles/{name}       ok  |BAR|  TIME  http.response.status_code=200
shop     stock                    ok  |BAR|  TIME  retry.attempts=3 retry.outcome=success
shop       stock attempt          ERR |BAR|  TIME  retry.attempt=1 retry.outcome=retry retry.delay.source=policy "502 Bad Gateway"
shop         HTTP GET             ERR |BAR|  TIME  http.response.status_code=502
stock          GET /stock/{name}  ERR |BAR|  TIME  http.response.status_code=502
shop       stock attempt          ERR |BAR|  TIME  retry.attempt=2 retry.outcome=retry retry.delay.source=server "503 Service Unavailable"
shop         HTTP GET             ERR |BAR|  TIME  http.request.resend_count=1 http.response.status_code=503
stock          GET /stock/{name}  ERR |BAR|  TIME  http.response.status_code=503
shop       stock attempt          ok  |BAR|  TIME  retry.attempt=3 retry.outcome=success
shop         HTTP GET             ok  |BAR|  TIME  http.request.resend_count=2 http.response.status_code=200
stock          GET /stock/{name}  ok  |BAR|  TIME  http.response.status_code=200

lamp     200 3 left
chair    200 3 left
unicorn  404 no such article
piano    503 the stock is not known: 503 Service Unavailable (retry "stock": gave up after 4 attempts, TIME after the first failure: attempts exhausted)
organ    503 the stock is not known: 503 Service Unavailable (retry "stock": gave up after 1 attempt: asked to wait 1h0m0s, more than 1m0s (WithMaxHint))

metric                     attributes                                               count  sum      unit
retry.attempt.duration     error.type=404 retry.name=stock retry.outcome=give_up    1      TIME  s
retry.attempt.duration     error.type=502 retry.name=stock retry.outcome=retry      1      TIME  s
retry.attempt.duration     error.type=503 retry.name=stock retry.outcome=give_up    2      TIME  s
retry.attempt.duration     error.type=503 retry.name=stock retry.outcome=retry      4      TIME  s
retry.attempt.duration     retry.name=stock retry.outcome=success                   2      TIME  s
retry.delay.duration       retry.delay.source=policy retry.name=stock               4      TIME  s
retry.delay.duration       retry.delay.source=server retry.name=stock               1      TIME  s
retry.operation.active     retry.name=stock                                                0  {operation}
retry.operation.attempts   error.type=404 retry.name=stock retry.outcome=aborted    1      1  {attempt}
retry.operation.attempts   error.type=503 retry.name=stock retry.outcome=exhausted  1      4  {attempt}
retry.operation.attempts   error.type=503 retry.name=stock retry.outcome=throttled  1      1  {attempt}
retry.operation.attempts   retry.name=stock retry.outcome=success                   2      4  {attempt}
retry.operation.duration   error.type=404 retry.name=stock retry.outcome=aborted    1      TIME  s
retry.operation.duration   error.type=503 retry.name=stock retry.outcome=exhausted  1      TIME  s
retry.operation.duration   error.type=503 retry.name=stock retry.outcome=throttled  1      TIME  s
retry.operation.duration   retry.name=stock retry.outcome=success                   2      TIME  s
retry.throttle.rejections  retry.name=stock                                                1  {operation}
`

// masked is the output without what differs between two runs: the port and all times.
func masked(out string) string {
	for _, mask := range []struct{ pattern, word string }{
		{`127\.0\.0\.1:\d+`, "HOST"},
		{`\|[ =]+\| +[0-9.]+(ms|s)`, "|BAR|  TIME"},
		{`[0-9.]+m?s after`, "TIME after"},
		{`\d[0-9.e-]* +s\n`, "TIME  s\n"},
		{`(sum) +(unit)`, "$1      $2"},
		{`(\d) +(\{)`, "$1  $2"},
	} {
		out = regexp.MustCompile(mask.pattern).ReplaceAllString(out, mask.word)
	}
	return out
}

// virtual makes the shop's waits take no time. On a machine that is so slow that a wait is over before it begins there would
// be one less of them otherwise.
func virtual(ctx context.Context) context.Context {
	return retry.ContextWithClock(ctx, retrytest.NewClock())
}

func TestOutput(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(virtual(t.Context()), &out, settings{}))
	require.Equal(t, wantOutput, masked(out.String()))
}

// The collector gets what was drawn, and the traces of the other requests.
func TestOTLP(t *testing.T) {
	var mu sync.Mutex
	var got bytes.Buffer
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodPost && r.URL.Path == "/v1/traces" {
			_, _ = io.Copy(&got, r.Body)
		}
	}))
	defer collector.Close()
	var out strings.Builder
	require.NoError(t, run(virtual(t.Context()), &out, settings{otlp: collector.Listener.Addr().String()}))
	require.Contains(t, out.String(), "\n5 traces sent to "+collector.URL+"/v1/traces\n")
	for _, text := range []string{"stock attempt", "retry.attempts", "exhausted", "aborted", "throttled", "http.request.resend_count"} {
		require.Contains(t, got.String(), text)
	}
	collector.Close()
	require.Error(t, run(virtual(t.Context()), io.Discard, settings{otlp: collector.Listener.Addr().String()}), "nobody is there")
}

// scraped is what the program serves to Prometheus. It runs once, until it has been asked.
func scraped(t *testing.T) string {
	t.Helper()
	text, err := scrapeOnce()
	require.NoError(t, err)
	return text
}

var scrapeOnce = sync.OnceValues(func() (text string, err error) {
	ctx, interrupt := context.WithCancel(virtual(context.Background()))
	defer interrupt()
	reader, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, out, settings{prometheus: "127.0.0.1:0"})
		out.CloseWithError(io.EOF)
		ended <- err
	}()
	lines := bufio.NewScanner(reader)
	for lines.Scan() {
		address := regexp.MustCompile(`^metrics at (http://\S+), until`).FindStringSubmatch(lines.Text())
		if address == nil {
			continue
		}
		text, err = fetch(address[1])
		interrupt()
	}
	return text, firstOf(err, <-ended)
})

func fetch(address string) (string, error) {
	defer http.DefaultClient.CloseIdleConnections()
	resp, err := http.Get(address)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// The metrics can be scraped until the program is interrupted, which is no error.
func TestPrometheus(t *testing.T) {
	require.Regexp(t, `(?m)^retry_operation_duration_seconds_count\{error_type="503",.*retry_outcome="exhausted"\} \d+$`, scraped(t))
	require.Error(t, run(t.Context(), io.Discard, settings{prometheus: "no address"}))
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, run(ctx, io.Discard, settings{}), context.Canceled)
}

// The program fails where the metrics do not say what has happened.
func TestVerify(t *testing.T) {
	series := func(metric string, count uint64, sum float64, key attribute.Key, value string) row {
		return row{metric, "", attribute.NewSet(key.String(value)), count, sum}
	}
	tests := []struct {
		breaks string
		change func(rows []row, requests *int)
	}{
		{"", func([]row, *int) {}},
		{"2 calls should have ended with success, not 3", func(rows []row, _ *int) { rows[0].count = 3 }},
		{"1 calls should have ended with aborted, not 0", func(rows []row, _ *int) { rows[1].count = 0 }},
		{"1 calls should have ended with exhausted, not 0", func(rows []row, _ *int) { rows[2].attributes = attribute.NewSet(observe.KeyOutcome.String("panic")) }},
		{"should have ended as in", func(rows []row, _ *int) {
			rows[3] = series(observe.MetricOperationDuration, 1, 1, observe.KeyOutcome, "budget")
		}},
		{"9 attempts of calls do not go with 10 requests", func(_ []row, requests *int) { *requests = 10 }},
		{"8 attempts of calls do not go with 9 requests", func(rows []row, _ *int) { rows[3].sum = 8 }},
		{"8 single attempts do not go with 9 requests", func(rows []row, _ *int) { rows[4].count = 8 }},
		{"1 wait should have been the server's, not 0", func(rows []row, _ *int) {
			rows[5].attributes = attribute.NewSet(observe.KeyDelaySource.String("policy"))
		}},
	}
	for _, test := range tests {
		rows, requests := []row{
			series(observe.MetricOperationDuration, 2, 1, observe.KeyOutcome, "success"),
			series(observe.MetricOperationDuration, 1, 1, observe.KeyOutcome, "aborted"),
			series(observe.MetricOperationDuration, 1, 1, observe.KeyOutcome, "exhausted"),
			series(observe.MetricOperationAttempts, 4, 9, observe.KeyOutcome, "success"),
			series(observe.MetricAttemptDuration, 9, 1, observe.KeyOutcome, "success"),
			series(observe.MetricDelayDuration, 1, 1, observe.KeyDelaySource, "server"),
			series(observe.MetricOperationDuration, 1, 1, observe.KeyOutcome, "throttled"),
		}, 9
		test.change(rows, &requests)
		err := verify(rows, requests)
		if test.breaks == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, test.breaks)
	}
}
