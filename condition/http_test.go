package condition_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/fuzzed"
)

// The ways in which errors carry a status.
type (
	withStatus     int // as smithy-go
	withStatusCode int
	withHTTPCode   int
	withPointer    struct{ code *int }
	wrapping       struct { // a status of its own and an error below
		status int
		err    error
	}
)

func (e withStatus) Error() string       { return fmt.Sprintf("match status %d", int(e)) }
func (e withStatus) HTTPStatusCode() int { return int(e) }

func (e withStatusCode) Error() string   { return "status" }
func (e withStatusCode) StatusCode() int { return int(e) }

func (e withHTTPCode) Error() string { return "status" }
func (e withHTTPCode) HTTPCode() int { return int(e) }

func (e withPointer) Error() string       { return "status" }
func (e withPointer) GetStatusCode() *int { return e.code }

func (e wrapping) Error() string   { return "wrapping" }
func (e wrapping) Unwrap() error   { return e.err }
func (e wrapping) StatusCode() int { return e.status }

// statusOf is a function from an error to a code.
func statusOf(err error) int {
	if e, ok := errors.AsType[withStatus](err); ok {
		return int(e)
	}
	return 0
}

func TestHTTPStatus(t *testing.T) {
	c := condition.HTTPStatus(408, 429, 503)
	code := func(n int) *int { return &n }
	for _, tt := range []struct {
		name string
		err  error
		want condition.Verdict
	}{
		{"listed", withStatus(503), again},
		{"too many requests", withStatus(429), throttled},
		{"not listed", withStatus(500), unknown},
		{"success", withStatus(200), unknown},
		{"no status", errA, unknown},
		{"StatusCode", withStatusCode(408), again},
		{"HTTPCode", withHTTPCode(429), throttled},
		{"GetStatusCode", withPointer{code(503)}, again},
		{"GetStatusCode nil", withPointer{}, unknown},
		{"outermost wins", wrapping{404, withStatus(503)}, unknown},
		{"outermost wins, listed", wrapping{503, withStatus(404)}, again},
		{"none outside", wrapping{0, withStatus(503)}, again},
		{"an exit status outside", wrapping{-1, withStatus(503)}, again},
		{"nil outside", errors.Join(withPointer{}, withStatus(503)), again},
		{"first of joined", errors.Join(withStatus(404), withStatus(503)), unknown},
		{"first of joined, listed", errors.Join(withStatus(503), withStatus(404)), again},
		{"typed nil before", errors.Join((*fault)(nil), withStatus(503)), again},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, c.Check(tt.err)) })
	}
}

// TestHTTPStatusUnlisted429: Throttled is for a code that is listed, like any other.
func TestHTTPStatusUnlisted429(t *testing.T) {
	require.Equal(t, unknown, condition.HTTPStatus(503).Check(withStatus(429)))
}

// FuzzHTTPStatus: a code matches exactly if it is a status and listed.
func FuzzHTTPStatus(tf *testing.F) {
	f := fuzzed.New(tf)
	for _, n := range []int{0, -1, 99, 100, 429, 503, 999, 1000, math.MaxInt, math.MinInt} {
		f.Add(n, n)
		f.Add(n, 503)
	}
	f.Fuzz(func(t *testing.T, listed, got int) {
		c := condition.HTTPStatus(listed)
		want := unknown
		if listed == got && got >= 100 && got <= 999 {
			want = again
			if got == 429 {
				want = throttled
			}
		}
		for _, err := range []error{withStatus(got), withStatusCode(got), withHTTPCode(got), withPointer{&got}} {
			require.Equal(t, want, c.Check(err))
		}
		require.Equal(t, listed >= 100 && listed <= 999, validate(c) == nil)
	})
}
