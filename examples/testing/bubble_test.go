package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
)

// First way: testing/synctest, and nothing is injected. Inside the bubble time.Now, time.Sleep and the timeouts of contexts
// are virtual: as soon as all goroutines of the bubble wait, time moves on to the next thing that is due. The code under
// test needs no clock of its own. It must not wait for anything outside the bubble, such as a connection.

// receiver is a fake that fails as written down, in turn, and then accepts. It notes when it was called.
type receiver struct {
	failures []error
	start    time.Time
	called   []time.Duration
}

func newReceiver(failures ...error) *receiver {
	return &receiver{failures: failures, start: time.Now()}
}

func (r *receiver) post(context.Context, Notification) error {
	r.called = append(r.called, time.Since(r.start))
	if n := len(r.called); n <= len(r.failures) {
		return r.failures[n-1]
	}
	return nil
}

func TestBubbleOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceiver(StatusError(503), StatusError(503), StatusError(503))
		require.NoError(t, notifier(t, r.post).Notify(t.Context(), hello))
		require.Equal(t, seconds(0, 1, 6, 36), r.called)
		require.Equal(t, 36*time.Second, time.Since(r.start))
	})
}

func TestBubbleGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceiver(StatusError(503), StatusError(503), StatusError(502), StatusError(504))
		err := notifier(t, r.post).Notify(t.Context(), hello)
		require.ErrorIs(t, err, retry.ErrExhausted)
		require.ErrorIs(t, err, StatusError(504), "the last one")
		require.Equal(t, 36*time.Second, time.Since(r.start))
	})
}

func TestBubbleNotWorthARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceiver(StatusError(404))
		require.Equal(t, StatusError(404), notifier(t, r.post).Notify(t.Context(), hello), "as it came")
		require.Equal(t, seconds(0), r.called)
	})
}

// A receiver that hangs: the timeout of the attempt is a timer like any other.
func TestBubbleHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		hang := func(ctx context.Context, _ Notification) error {
			<-ctx.Done()
			return ctx.Err()
		}
		err := notifier(t, hang).Notify(t.Context(), hello)
		require.ErrorIs(t, err, retry.ErrAttemptTimeout)
		require.Equal(t, (10+1+10+5+10+30+10)*time.Second, time.Since(start))
	})
}

// The caller's deadline: the wait of 5 s would not end before it, so it is not begun.
func TestBubbleDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
		defer cancel()
		r := newReceiver(StatusError(503), StatusError(503))
		err := notifier(t, r.post).Notify(ctx, hello)
		require.ErrorIs(t, err, retry.ErrDeadline)
		require.Equal(t, time.Second, time.Since(r.start))
	})
}

// A cancellation in the middle of a wait.
func TestBubbleCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		errDeploy := errors.New("deploying")
		time.AfterFunc(2500*time.Millisecond, func() { cancel(errDeploy) })
		r := newReceiver(StatusError(503), StatusError(503))
		err := notifier(t, r.post).Notify(ctx, hello)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, errDeploy)
		require.ErrorIs(t, err, StatusError(503))
		require.Equal(t, 2500*time.Millisecond, time.Since(r.start))
	})
}

// Waits that are drawn are exact once the draws are: with 0.5, Equal takes half of the half that it draws from.
func TestBubbleJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceiver(StatusError(503), StatusError(503))
		n := notifier(t, r.post, retry.WithJitter(strategy.Equal), retry.WithRand(func() float64 { return 0.5 }))
		require.NoError(t, n.Notify(t.Context(), hello))
		require.Equal(t, []time.Duration{0, 750 * time.Millisecond, 4500 * time.Millisecond}, r.called)
	})
}
