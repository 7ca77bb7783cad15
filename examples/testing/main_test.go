package main

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What the tests of the three ways share.

var hello = Notification{"1", "hello"}

func notifier(t *testing.T, post func(context.Context, Notification) error, opts ...retry.Option) *Notifier {
	n, err := NewNotifier(post, opts...)
	require.NoError(t, err)
	return n
}

func seconds(all ...int) (durations []time.Duration) {
	for _, s := range all {
		durations = append(durations, time.Duration(s)*time.Second)
	}
	return durations
}

func TestNewNotifier(t *testing.T) {
	_, err := NewNotifier(nil, retry.WithMaxAttempts(0))
	require.ErrorIs(t, err, retry.ErrConfig)
}

func TestOutput(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, scenarios))
	for _, s := range scenarios {
		require.Contains(t, out.String(), "a receiver that "+s.receiver+":\n")
	}
	require.True(t, strings.HasSuffix(out.String(), "all waits were exact: 1m23.2s in all, and nobody slept\n"), out.String())
}

// The program fails where a call goes otherwise than the scenario says.
func TestScenariosBite(t *testing.T) {
	steps := retrytest.Steps[any]{{Err: StatusError(503)}, {Takes: time.Second}}
	for breaks, s := range map[string]scenario{
		"":                       {waits: seconds(1), elapsed: 2 * time.Second},
		"waits should have been": {waits: seconds(2), elapsed: 2 * time.Second},
		"should have taken":      {waits: seconds(1), elapsed: 3 * time.Second},
		"should have ended as":   {waits: seconds(1), elapsed: 2 * time.Second, ending: retry.EndAborted},
	} {
		s.receiver, s.steps = "is slow", steps
		err := run(io.Discard, []scenario{s})
		if breaks == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "a receiver that is slow: ")
		require.ErrorContains(t, err, breaks)
	}
}
