// Command testing shows how to test code that retries without sleeping. The code under test is notifier.go, a client as
// many programs have one; the three ways to test it are in
//
//	bubble_test.go     testing/synctest, nothing injected
//	mock_test.go       github.com/benbjohnson/clock, moved by the test
//	retrytest_test.go  package retrytest: a clock that moves by itself, scripts, records
//
//	go test -v ./examples/testing
//
// The command itself does it the third way: it plays four receivers against the notifier in virtual time, prints what
// happened, and fails if a wait is off by a nanosecond.
//
//	go run ./examples/testing
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
)

func main() {
	if err := run(os.Stdout, scenarios); err != nil {
		fmt.Fprintln(os.Stderr, "testing:", err)
		os.Exit(1)
	}
}

// scenario is a receiver, and how the call must go.
type scenario struct {
	receiver string
	steps    retrytest.Steps[any]
	waits    []time.Duration
	elapsed  time.Duration
	ending   retry.Ending
}

var scenarios = []scenario{
	{
		"comes back after half a minute",
		retrytest.Steps[any]{{Err: StatusError(503), Times: 3}, {}},
		[]time.Duration{time.Second, 5 * time.Second, 30 * time.Second}, 36 * time.Second, retry.EndSucceeded,
	},
	{
		"does not come back",
		retrytest.Steps[any]{{Err: StatusError(503), Times: retrytest.Forever}},
		[]time.Duration{time.Second, 5 * time.Second, 30 * time.Second}, 36 * time.Second, retry.EndExhausted,
	},
	{
		"hangs once",
		retrytest.Steps[any]{{Blocks: true}, {Takes: 200 * time.Millisecond}},
		[]time.Duration{time.Second}, 11200 * time.Millisecond, retry.EndSucceeded,
	},
	{
		"does not exist",
		retrytest.Steps[any]{{Err: StatusError(404)}},
		nil, 0, retry.EndAborted,
	},
}

// run plays the scenarios.
func run(out io.Writer, scenarios []scenario) error {
	var virtual time.Duration
	for _, s := range scenarios {
		fmt.Fprintf(out, "a receiver that %s:\n", s.receiver)
		elapsed, err := s.play(out)
		if err != nil {
			return fmt.Errorf("a receiver that %s: %w", s.receiver, err)
		}
		virtual += elapsed
	}
	fmt.Fprintf(out, "all waits were exact: %v in all, and nobody slept\n", virtual)
	return nil
}

// play makes one call in virtual time, prints what it did, and reports what went otherwise than expected.
func (s scenario) play(out io.Writer) (elapsed time.Duration, err error) {
	clk, rec := retrytest.NewClock(), new(retrytest.Recorder)
	receiver := retrytest.NewScript(nil, clk, s.steps)
	post := func(ctx context.Context, _ Notification) error { return receiver.Run(ctx) }
	notifier, err := NewNotifier(post, retry.WithClock(clk), retry.WithObserver(rec))
	if err != nil {
		return 0, err
	}
	failure := notifier.Notify(context.Background(), Notification{"1", "hello"})
	fmt.Fprintf(out, "%v", rec)
	if failure != nil {
		fmt.Fprintf(out, "  error: %v\n", failure)
	}
	fmt.Fprintln(out)

	switch endings := rec.Endings(); {
	case !slices.Equal(clk.Waits(), s.waits):
		return 0, fmt.Errorf("the waits should have been %v, not %v", s.waits, clk.Waits())
	case clk.Elapsed() != s.elapsed:
		return 0, fmt.Errorf("it should have taken %v, not %v", s.elapsed, clk.Elapsed())
	case !slices.Equal(endings, []retry.Ending{s.ending}):
		return 0, fmt.Errorf("it should have ended as %v, not %v", s.ending, endings)
	case (failure == nil) != (s.ending == retry.EndSucceeded):
		return 0, fmt.Errorf("the error should go with the end %v: %v", s.ending, failure)
	case clk.Pending()+clk.OpenContexts() > 0:
		return 0, fmt.Errorf("%d timers and %d contexts were left behind", clk.Pending(), clk.OpenContexts())
	}
	return clk.Elapsed(), nil
}
