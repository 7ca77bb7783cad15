package throttle_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
)

func TestWrap(t *testing.T) {
	s := throttle.Signal{Delay: 3 * sec, HasDelay: true, Source: "retry-after", Quotas: []throttle.Quota{{Name: "x-ratelimit", Limit: -1}}}
	err := s.Wrap(boom)
	require.EqualError(t, err, "boom")
	require.ErrorIs(t, err, boom)
	var carrier throttle.Carrier
	require.ErrorAs(t, err, &carrier)
	for _, err := range []error{err, fmt.Errorf("place: %w", err), errors.Join(boom, err)} {
		got, ok := throttle.FromError(err)
		require.True(t, ok)
		require.Equal(t, s, got)
	}
	// The outer one is asked first.
	got, _ := throttle.FromError(throttle.Signal{Retry: throttle.No}.Wrap(err))
	require.Equal(t, throttle.Signal{Retry: throttle.No}, got)
}

func TestWrapNothing(t *testing.T) {
	s := throttle.Signal{Delay: sec, HasDelay: true}
	require.NoError(t, s.Wrap(nil))
	require.Equal(t, boom, throttle.Signal{}.Wrap(boom), "the very same error")
	var none *nilError
	require.Equal(t, error(none), s.Wrap(none))
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = throttle.Signal{}.Wrap(boom) }))
}
