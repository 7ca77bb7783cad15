package main

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
)

// Third way: package retrytest. Its Clock jumps to the end of every wait and remembers it, a Script is an operation whose
// outcomes are written down, and a Recorder keeps what a call did. All in the test's own goroutine; for one call at a time.

// script is a receiver that goes as the steps say.
func script(t *testing.T, clk *retrytest.Clock, steps ...retrytest.Step[any]) (*retrytest.Script[any], func(context.Context, Notification) error) {
	s := retrytest.NewScript(t, clk, steps)
	return s, func(ctx context.Context, _ Notification) error { return s.Run(ctx) }
}

func TestClock(t *testing.T) {
	clk := retrytest.NewClock()
	receiver, post := script(t, clk, retrytest.Step[any]{Err: StatusError(503), Times: 3}, retrytest.Step[any]{})
	require.NoError(t, notifier(t, post, retry.WithClock(clk)).Notify(t.Context(), hello))
	require.Equal(t, seconds(1, 5, 30), clk.Waits())
	require.Equal(t, 36*time.Second, clk.Elapsed())
	receiver.RequireDone(t)
}

// Where the test can't reach the policy, the clock travels in the context.
func TestClockInTheContext(t *testing.T) {
	clk := retrytest.NewClock()
	_, post := script(t, clk, retrytest.Step[any]{Err: StatusError(429)}, retrytest.Step[any]{})
	require.NoError(t, notifier(t, post).Notify(retry.ContextWithClock(t.Context(), clk), hello))
	require.Equal(t, seconds(1), clk.Waits())
}

// What an attempt takes is written down too: here it is slow, then it hangs until its timeout.
func TestScript(t *testing.T) {
	clk := retrytest.NewClock()
	receiver, post := script(t, clk,
		retrytest.Step[any]{Err: StatusError(503), Takes: 3 * time.Second},
		retrytest.Step[any]{Blocks: true},
		retrytest.Step[any]{},
	)
	require.NoError(t, notifier(t, post, retry.WithClock(clk)).Notify(t.Context(), hello))
	require.Equal(t, seconds(0, 3+1, 3+1+10+5), receiver.Starts())
	require.Equal(t, seconds(1, 5), clk.Waits())
	require.Zero(t, clk.Pending(), "no timer is left behind")
	require.Zero(t, clk.OpenContexts(), "nor is a context")
}

// A cancellation in the middle of a wait, at its exact moment.
func TestScriptCancelled(t *testing.T) {
	clk := retrytest.NewClock()
	ctx, cancel := context.WithCancel(t.Context())
	clk.AfterFunc(2500*time.Millisecond, cancel)
	_, post := script(t, clk, retrytest.Step[any]{Err: io.ErrUnexpectedEOF, Times: 2})
	err := notifier(t, post, retry.WithClock(clk)).Notify(ctx, hello)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, 2500*time.Millisecond, clk.Elapsed())
}

func TestRecorder(t *testing.T) {
	clk, rec := retrytest.NewClock(), new(retrytest.Recorder)
	errUnknown := errors.New("unknown receiver")
	_, post := script(t, clk, retrytest.Step[any]{Err: StatusError(502)}, retrytest.Step[any]{Err: errUnknown})
	err := notifier(t, post, retry.WithClock(clk), retry.WithObserver(rec)).Notify(t.Context(), hello)
	require.Equal(t, errUnknown, err)
	rec.RequireAttempts(t, 2)
	rec.RequireErrors(t, StatusError(502), errUnknown)
	rec.RequireDelays(t, time.Second)
	rec.RequireEnding(t, retry.EndAborted)
}
