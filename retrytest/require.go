package retrytest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed-89b3229b/retry"
)

// RequireWaits ends the test unless Waits returns exactly want.
func (c *Clock) RequireWaits(t testing.TB, want ...time.Duration) {
	t.Helper()
	require(t, "waits", c.Waits(), want, "")
}

// RequireElapsed ends the test unless Elapsed returns want.
func (c *Clock) RequireElapsed(t testing.TB, want time.Duration) {
	t.Helper()
	if got := c.Elapsed(); got != want {
		t.Fatalf("elapsed: got %v, want %v", got, want)
	}
}

// RequireCalls ends the test unless the script has been called n times.
func (s *Script[T]) RequireCalls(t testing.TB, n int) {
	t.Helper()
	if got := len(s.Calls()); got != n {
		t.Fatalf("calls: got %d, want %d", got, n)
	}
}

// RequireDone ends the test unless every step of the script was played as often as it says; a step for ever, at least once.
func (s *Script[T]) RequireDone(t testing.TB) {
	t.Helper()
	if got, want := len(s.Calls()), s.planned(); got < want {
		t.Fatalf("calls: got %d, and the script goes on for %d", got, want)
	}
}

// RequireAttempts ends the test unless n attempts were started in all.
func (r *Recorder) RequireAttempts(t testing.TB, n int) {
	t.Helper()
	if got := r.Attempts(); got != n {
		t.Fatalf("attempts: got %d, want %d\n%v", got, n, r)
	}
}

// RequireDelays ends the test unless Delays returns exactly want.
func (r *Recorder) RequireDelays(t testing.TB, want ...time.Duration) {
	t.Helper()
	require(t, "delays", r.Delays(), want, r.String())
}

// RequireEnding ends the test unless Endings returns exactly want: one for each call.
func (r *Recorder) RequireEnding(t testing.TB, want ...retry.Ending) {
	t.Helper()
	require(t, "endings", r.Endings(), want, r.String())
}

// RequireErrors ends the test unless there are as many Errors as targets, and each matches its target by errors.Is; nil
// is a success.
func (r *Recorder) RequireErrors(t testing.TB, targets ...error) {
	t.Helper()
	if got := r.Errors(); !slices.EqualFunc(got, targets, errors.Is) {
		t.Fatalf("errors: got %v, want %v\n%v", quote(got), quote(targets), r)
	}
}

func require[E comparable](t testing.TB, what string, got, want []E, detail string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %v, want %v\n%s", what, got, want, detail)
	}
}

// quote makes the ends of messages visible in a list.
func quote(errs []error) (texts []string) {
	for _, err := range errs {
		if err == nil {
			texts = append(texts, "success")
			continue
		}
		texts = append(texts, fmt.Sprintf("%q", err))
	}
	return texts
}
