package retryhttp_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
)

// TestNotRepeated: a failure that is worth another attempt and does not get one says why; one that is not, or whose repetition
// is for the policy to decide, says nothing.
func TestNotRepeated(t *testing.T) {
	stream := func() io.Reader { return io.MultiReader(strings.NewReader("abc")) }
	never := func(t *retryhttp.Transport) { t.Idempotent = func(*http.Request) bool { return false } }
	for _, tc := range []struct {
		name, method string
		body         io.Reader
		code         int // 0: an error, after the request was sent
		fields       []string
		set          func(*retryhttp.Transport)
		want         string
	}{
		{name: "POST, 500", method: "POST", code: 500, want: "POST without a key"},
		{name: "PATCH, no answer", method: "PATCH", want: "PATCH without a key"},
		{name: "POST, 404", method: "POST", code: 404},
		{name: "POST, 429", method: "POST", code: 429},
		{name: "GET, 500", method: "GET", code: 500},
		{name: "PUT of a stream, 503", method: "PUT", body: stream(), code: 503, want: "body cannot be sent again"},
		{name: "PUT of a stream, no answer", method: "PUT", body: stream(), want: "body cannot be sent again"},
		{name: "PUT of a stream, 404", method: "PUT", body: stream(), code: 404},
		{name: "POST of a stream, 429", method: "POST", body: stream(), code: 429, want: "body cannot be sent again"},
		{name: "POST of a stream, 500", method: "POST", body: stream(), code: 500, want: "POST without a key"},
		{name: "POST of a stream, no answer", method: "POST", body: stream(), want: "POST without a key"},
		{name: "by Idempotent", method: "GET", code: 500, set: never, want: "Transport.Idempotent does not allow it"},
		{name: "by Idempotent, no answer", method: "GET", set: never, want: "Transport.Idempotent does not allow it"},
		{name: "X-Should-Retry", method: "GET", code: 503, fields: []string{"X-Should-Retry", "false"}, want: "server says not to"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var failures []*retryhttp.Failure
			transport := retryhttp.NewTransport(&answers{codes: []int{tc.code, 200}, fields: tc.fields}, atOnce,
				retry.WithObserver(onFailure(func(err error) { failures = append(failures, err.(*retryhttp.Failure)) })))
			if tc.set != nil {
				tc.set(transport)
			}
			_, _ = transport.RoundTrip(newRequest(t, tc.method, "http://example.com/", tc.body))
			require.Len(t, failures, 1)
			assert.Equal(t, tc.want, failures[0].NotRepeated())
		})
	}
	assert.Empty(t, (*retryhttp.Failure)(nil).NotRepeated())
	assert.Empty(t, new(retryhttp.Failure).NotRepeated())
}

// TestNotRepeatedIsLogged, at Debug, in the line that says that the failure is not retried.
func TestNotRepeatedIsLogged(t *testing.T) {
	for level, want := range map[slog.Level]int{slog.LevelDebug: 1, slog.LevelInfo: 0} {
		var lines bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: level}))
		response, err := retryhttp.NewTransport(&answers{codes: []int{500}}, retry.WithLogger(logger)).RoundTrip(post(t, "x"))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, want, strings.Count(lines.String(), `level=DEBUG msg="not retried"`))
		assert.Equal(t, want, strings.Count(lines.String(), `retry.not_repeated="POST without a key"`))
	}
}
