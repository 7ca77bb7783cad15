package retryhttp_test

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/throttle"
)

// FuzzBufferedBody: a body without GetBody, of which two attempts read some and fail and a third reads all. It is sent
// again while what was read fits the limit, and every attempt reads it from its first byte.
func FuzzBufferedBody(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add([]byte("abcdef"), int64(4), uint8(2), uint8(4))
	f.Add([]byte("abcdef"), int64(0), uint8(0), uint8(1))
	f.Add([]byte("abcdef"), int64(-1), uint8(9), uint8(0))
	f.Add([]byte{}, int64(3), uint8(1), uint8(1))
	f.Add(make([]byte, 300), int64(255), uint8(255), uint8(200))
	f.Fuzz(func(t *testing.T, content []byte, limit int64, first, second uint8) {
		parts, calls := []int{int(first), int(second)}, 0
		transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
			defer func() { _ = r.Body.Close() }()
			calls++
			if calls > len(parts) {
				all, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				require.Equal(t, string(content), string(all))
				return answer(200, ""), nil
			}
			part := make([]byte, parts[calls-1])
			n, err := io.ReadFull(r.Body, part)
			require.Equal(t, string(content[:n]), string(part[:n]))
			require.Equal(t, min(len(part), len(content)), n, err)
			return nil, errBoom
		}), atOnce)
		transport.BufferBody = limit
		body := &trackedBody{Reader: newReader(string(content))}
		r, err := http.NewRequest(http.MethodPut, "http://example.com", body)
		require.NoError(t, err)
		response, err := transport.RoundTrip(r)
		fits := func(n int) bool { return int64(min(n, len(content))) <= max(limit, 0) }
		switch {
		case !fits(parts[0]):
			require.Equal(t, 1, calls)
		case !fits(parts[1]):
			require.Equal(t, 2, calls)
		default:
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, 3, calls)
		}
		if calls < 3 {
			require.ErrorIs(t, err, retryhttp.ErrBody)
			require.ErrorIs(t, err, errBoom)
			require.False(t, errors.As(err, new(*retry.Error)))
		}
		require.EqualValues(t, 1, body.closes.Load())
	})
}

// FuzzAnswer: no status and no header makes a request that is not safe reach a server twice after an answer that leaves
// open what was done, and none makes anything panic.
func FuzzAnswer(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add(503, "Retry-After", "5")
	f.Add(429, "X-RateLimit-Reset", "99999999999999999999")
	f.Add(403, "X-Should-Retry", "true")
	f.Add(-1, "", "")
	f.Fuzz(func(t *testing.T, code int, field, value string) {
		base := &answers{codes: []int{code}, fields: []string{field, value}}
		if code == 0 {
			t.Skip()
		}
		transport := retryhttp.NewTransport(base, atOnce, retry.WithMaxAttempts(2), retry.WithHint(throttle.Ignore()))
		r, err := http.NewRequest(http.MethodPost, "http://example.com", newReader("x"))
		require.NoError(t, err)
		response, err := transport.RoundTrip(r)
		require.NoError(t, err)
		require.Equal(t, code, response.StatusCode)
		_ = response.Body.Close()
		if code == 500 || code == 502 || code == 504 || code < 400 {
			if http.CanonicalHeaderKey(field) != "X-Should-Retry" && http.CanonicalHeaderKey(field) != "Stripe-Should-Retry" || code < 400 {
				require.Len(t, base.requests, 1)
			}
		}
	})
}
