package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-89b3229b/retry/throttle"
)

func TestErrorText(t *testing.T) {
	boom := errors.New("429 too many requests")
	for _, c := range []struct {
		err  *throttle.Error
		want string
	}{
		{nil, "throttle: refused"},
		{&throttle.Error{}, `throttle: refused`},
		{&throttle.Error{Source: "adaptive"}, `throttle: refused (adaptive)`},
		{&throttle.Error{Remaining: sec}, `throttle: "" is cooling down for 1s`},
		{&throttle.Error{Key: "acme", Remaining: 30 * sec}, `throttle: "acme" is cooling down for 30s`},
		{&throttle.Error{Key: "acme", Remaining: 30 * sec, Source: "retry-after"}, `throttle: "acme" is cooling down for 30s (retry-after)`},
		{&throttle.Error{Key: "a\n\"b", Remaining: 1500 * ms, Err: boom}, `throttle: "a\n\"b" is cooling down for 1.5s: 429 too many requests`},
		{&throttle.Error{Key: "acme", Remaining: sec, Source: "block", Err: boom}, `throttle: "acme" is cooling down for 1s (block): 429 too many requests`},
		{&throttle.Error{Key: "acme", Err: (*nilError)(nil)}, `throttle: "acme" refused`},
		{&throttle.Error{Key: "acme", Remaining: -1, Source: "adaptive", Err: boom}, `throttle: "acme" refused (adaptive): 429 too many requests`},
	} {
		assert.Equal(t, c.want, c.err.Error())
	}
}

func TestErrorUnwrap(t *testing.T) {
	boom := errors.New("boom")
	err := fmt.Errorf("place order: %w", &throttle.Error{Key: "acme", Err: boom})
	assert.ErrorIs(t, err, boom)
	assert.NotErrorIs(t, err, context.DeadlineExceeded)
	assert.NoError(t, errors.Unwrap(&throttle.Error{}))
	assert.Nil(t, errors.Unwrap(&throttle.Error{Err: (*nilError)(nil)}))
}

func TestErrorRetryAfter(t *testing.T) {
	assert.Equal(t, 3*sec, (&throttle.Error{Remaining: 3 * sec}).RetryAfter())
	signal, ok := throttle.FromError(&throttle.Error{Remaining: 3 * sec})
	assert.True(t, ok)
	assert.Equal(t, 3*sec, signal.Delay)

	for _, remaining := range []time.Duration{0, -sec} {
		_, ok = throttle.FromError(&throttle.Error{Remaining: remaining, Source: "adaptive"})
		assert.False(t, ok, "no time is named, which is not the same as at once")
	}
}

func TestNilError(t *testing.T) {
	var err *throttle.Error
	assert.Equal(t, time.Duration(-1), err.RetryAfter())
	assert.Nil(t, err.Unwrap())
	assert.False(t, err.Is(context.DeadlineExceeded))
	_, ok := throttle.FromError(err)
	assert.False(t, ok)
}
