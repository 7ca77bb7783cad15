package throttle_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-89b3229b/retry/throttle"
)

func TestClassString(t *testing.T) {
	names := []string{"unset", "success", "permanent", "transient", "timeout", "throttled", "canceled", "panicked", "skipped"}
	for i, want := range names {
		assert.Equal(t, want, throttle.Class(i).String())
	}
	assert.Equal(t, throttle.Skipped, throttle.Class(len(names)-1))
	assert.Equal(t, "invalid", throttle.Class(len(names)).String())
	assert.Equal(t, "invalid", throttle.Class(255).String())
	var zero throttle.Class
	assert.Equal(t, throttle.Unset, zero)
}

func TestTriString(t *testing.T) {
	for want, tri := range map[string]throttle.Tri{"undecided": 0, "yes": throttle.Yes, "no": throttle.No, "invalid": 3} {
		assert.Equal(t, want, tri.String())
	}
}

func TestFunc(t *testing.T) {
	refusal := errors.New("closed")
	var asked time.Time
	f := throttle.Func(func(_ context.Context, now time.Time) (time.Duration, error) { asked = now; return 3 * sec, refusal })
	ticket, wait, err := f.Admit(t.Context(), t0, 7)
	assert.Nil(t, ticket)
	assert.Equal(t, 3*sec, wait)
	assert.Equal(t, refusal, err)
	assert.Equal(t, t0, asked)

	ticket, wait, err = throttle.Func(nil).Admit(t.Context(), t0, 7)
	assert.Nil(t, ticket)
	assert.Zero(t, wait)
	assert.NoError(t, err)
	throttle.Func(nil).Done(t.Context(), t0, nil, throttle.Outcome{})
}
