package docs_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// bare is a retrying transport whose errors are those of its base, and which has the base say that a context has ended.
type bare struct{ *retryhttp.Transport }

func (b bare) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Context().Err() != nil && b.Base != nil {
		return b.Base.RoundTrip(r)
	}
	response, err := b.Transport.RoundTrip(r)
	if f, ok := errors.AsType[*retryhttp.Failure](err); ok && f.Err != nil {
		err = f.Err
	}
	if errors.Is(err, retry.ErrAttemptTimeout) {
		err = context.DeadlineExceeded
	}
	return response, err
}

func requestFunc(evaluate func(error) (again bool, told time.Duration)) func(context.Context, func(context.Context) error) error {
	policy := retry.MustNew(
		retry.WithStrategy(strategy.Exponential{Base: 5 * time.Second, Factor: 1.5, Max: 30 * time.Second}),
		retry.WithJitter(strategy.Proportional(0.5)),
		retry.WithMaxElapsed(time.Minute),
		retry.WithHint(throttle.Clamp(time.Minute)),
		retry.WithRetryIf(func(err error) bool { again, _ := evaluate(err); return again }),
	)
	return func(ctx context.Context, fn func(context.Context) error) error {
		return retry.Run(ctx, func(ctx context.Context) error {
			err := fn(ctx)
			if err == nil {
				return nil
			}
			_, told := evaluate(err)
			if told == 0 {
				told = -1 // none
			}
			return retry.After(told, err)
		}, policy)
	}
}

type baseFunc func(*http.Request) (*http.Response, error)

func (f baseFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestMigratingBare: the table of what a close look finds, without bare and with it.
func TestMigratingBare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		slow := baseFunc(func(r *http.Request) (*http.Response, error) {
			attempts++
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		broken := baseFunc(func(*http.Request) (*http.Response, error) { return nil, errFlaky })
		for _, old := range []bool{false, true} {
			get := func(ctx context.Context, base http.RoundTripper) (*http.Response, error) {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://example.com/", nil)
				require.NoError(t, err)
				transport := retryhttp.NewTransport(base, retry.WithMaxAttempts(2), retry.WithAttemptTimeout(time.Second))
				if old {
					return bare{transport}.RoundTrip(r)
				}
				return transport.RoundTrip(r)
			}
			_, err := get(t.Context(), slow)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, old, err == context.DeadlineExceeded)
			assert.Equal(t, !old, errors.Is(err, retry.ErrAttemptTimeout))

			_, err = get(t.Context(), broken)
			assert.Equal(t, old, err == errFlaky)
			assert.Equal(t, !old, errors.Is(err, retry.ErrExhausted))

			ended, cancel := context.WithCancel(t.Context())
			cancel()
			attempts = 0
			_, err = get(ended, slow)
			require.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, old, attempts == 1)
		}
	})
}

// TestMigratingToldWaits: the wait that is told, to the letter; without the option up to a tenth more.
func TestMigratingToldWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for hint, want := range map[throttle.Rule]time.Duration{throttle.AtLeast(): 5250 * time.Millisecond, throttle.Exact(): 5 * time.Second} {
			answered := 0
			transport := retryhttp.NewTransport(baseFunc(func(*http.Request) (*http.Response, error) {
				answered++
				if answered > 1 {
					return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
				}
				return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"5"}}, Body: http.NoBody}, nil
			}), retry.WithHint(hint), retry.WithRand(func() float64 { return 0.5 }))
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.com/", nil)
			require.NoError(t, err)
			began := time.Now()
			_, err = transport.RoundTrip(r)
			require.NoError(t, err)
			assert.Equal(t, 2, answered)
			assert.Equal(t, want, time.Since(began))
		}
	})
}

// TestMigratingExporter: the lines about OpenTelemetry's exporters.
func TestMigratingExporter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		again, told := true, time.Duration(0)
		call := requestFunc(func(error) (bool, time.Duration) { return again, told })
		calls := 0
		fails := func(context.Context) error { calls++; return errFlaky }

		began := time.Now()
		err := call(t.Context(), fails)
		require.ErrorIs(t, err, errFlaky)
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
		assert.Less(t, time.Since(began), time.Minute)
		assert.Greater(t, calls, 2)

		told, calls, began = 20*time.Second, 0, time.Now()
		require.ErrorIs(t, call(t.Context(), fails), retry.ErrMaxElapsed)
		assert.Equal(t, 40*time.Second, time.Since(began), "two told waits to the letter, and none for a third")
		assert.Equal(t, 3, calls)

		again, calls = false, 0
		assert.Equal(t, errFlaky, call(t.Context(), fails), "as it is")
		assert.Equal(t, 1, calls)

		ended, cancel := context.WithCancel(t.Context())
		cancel()
		calls = 0
		require.ErrorIs(t, call(ended, fails), context.Canceled)
		assert.Zero(t, calls)
	})
}
