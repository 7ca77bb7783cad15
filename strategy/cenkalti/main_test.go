package cenkalti_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

var errDown = errors.New("down")

// counted is a v4 policy that writes down what is done to it. It answers from a list, then Stop.
type counted struct {
	answers []time.Duration
	asked   int
	resets  int
}

func (c *counted) Reset() { c.resets++; c.asked = 0 }
func (c *counted) NextBackOff() time.Duration {
	c.asked++
	if c.asked > len(c.answers) {
		return backoff.Stop
	}
	return c.answers[c.asked-1]
}

// zeroTimer is a v4 Timer whose waits are over at once, and which writes down how long they were to be.
type zeroTimer struct {
	started []time.Duration
	stops   int
}

func (z *zeroTimer) Start(d time.Duration) { z.started = append(z.started, d) }
func (z *zeroTimer) Stop()                 { z.stops++ }
func (z *zeroTimer) C() <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Unix(int64(len(z.started)), 0)
	return c
}

// deafTimer is a v4 Timer whose waits never end.
type deafTimer struct{ zeroTimer }

func (*deafTimer) C() <-chan time.Time { return nil }

// failUntil is an operation that succeeds at its nth call.
func failUntil(n int) (op func() error, calls *int) {
	calls = new(int)
	return func() error {
		if *calls++; *calls < n {
			return errDown
		}
		return nil
	}, calls
}

// cancelled is a context that is done.
func cancelled(cause error) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	return ctx
}
