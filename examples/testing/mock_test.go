package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
)

// Second way: a mock clock that the test moves by hand, for a code base that has one already. github.com/benbjohnson/clock
// fits retry.WithClock as it is. The call runs in a goroutine of its own, and there is one trap: a move that comes before
// the call has begun its wait is lost, and the test hangs. Either of these two techniques avoids it.

// Inside a bubble, synctest.Wait returns when the call is in its wait. Here the test looks at the state between two steps:
// a nanosecond before the end of each wait nothing has happened yet.
func TestMockInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mock, done := clock.NewMock(), make(chan error, 1)
		r := newReceiver(StatusError(503), StatusError(503), StatusError(503))
		n := notifier(t, r.post, retry.WithClock(mock))
		go func() { done <- n.Notify(t.Context(), hello) }()
		for i, wait := range seconds(1, 5, 30) {
			synctest.Wait()
			mock.Add(wait - 1)
			synctest.Wait()
			require.Len(t, r.called, i+1)
			mock.Add(1)
		}
		require.NoError(t, <-done)
		require.Len(t, r.called, 4)
		require.Equal(t, 36*time.Second, mock.Since(time.Unix(0, 0))) // where the mock begins
	})
}

// signalling is the mock, and says when a wait has begun and how long it is to be.
type signalling struct {
	*clock.Mock
	waiting chan time.Duration
}

// After is what the call waits by. The signal comes once the timer exists.
func (s signalling) After(d time.Duration) <-chan time.Time {
	fired := s.Mock.After(d)
	s.waiting <- d
	return fired
}

// Outside a bubble, the clock itself says when it is time to move. retry.WithOnRetry would come too early: the timer does
// not exist yet.
func TestMockThatSignals(t *testing.T) {
	mock, done := signalling{clock.NewMock(), make(chan time.Duration)}, make(chan error, 1)
	r := newReceiver(StatusError(503), StatusError(503), StatusError(503))
	n := notifier(t, r.post, retry.WithClock(mock))
	go func() { done <- n.Notify(t.Context(), hello) }()
	for _, want := range seconds(1, 5, 30) {
		wait := <-mock.waiting
		require.Equal(t, want, wait)
		mock.Add(wait)
	}
	require.NoError(t, <-done)
	require.Len(t, r.called, 4)
	require.Equal(t, 36*time.Second, mock.Since(time.Unix(0, 0)))
}
