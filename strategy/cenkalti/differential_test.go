package cenkalti_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/strategy/cenkalti"
)

// script is a call: a policy, what the attempts do, when the context ends. Both engines run it in a bubble of their own.
type script struct {
	policy   uint8   // which one
	around   uint8   // what is wrapped around it
	retries  uint8   // for WithMaxRetries
	attempts []uint8 // what each does; the last goes on for ever
	ctx      uint8   // how the context ends, and when
	timer    bool
}

// trace is how a call went, by the bubble's clock.
type trace struct {
	value    int
	err      error
	began    []time.Duration
	notified []string
	ended    time.Duration
	asked    int
	resets   int
	timer    *zeroTimer
	ctxErr   error
}

// errOf are errors that both engines must hand through as they are.
var errOf = []error{errDown, context.DeadlineExceeded, context.Canceled, fmt.Errorf("wrapped: %w", errDown)}

// run runs the script on one engine: the functions of v4 or of this package.
func (s script) run(
	t *testing.T, engine func(backoff.OperationWithData[int], backoff.BackOff, backoff.Notify, backoff.Timer) (int, error),
) (r trace) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		since := func() time.Duration { return time.Since(began) }
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		at := time.Duration(s.ctx>>2)*ms + 1 // never at the moment that a wait or an attempt ends
		switch s.ctx & 3 {
		case 1:
			defer time.AfterFunc(at, cancel).Stop()
		case 2:
			ctx, cancel = context.WithTimeout(ctx, at)
			defer cancel()
		case 3:
			cancel()
		}
		inner := &counted{}
		var b backoff.BackOff = inner
		switch s.policy % 9 {
		case 0:
			inner.answers = []time.Duration{ms, 0, 5 * ms, -2, 30 * ms, time.Hour, math.MinInt64, 2 * ms}
		case 1:
			b = &backoff.ZeroBackOff{}
		case 2:
			b = &backoff.StopBackOff{}
		case 3:
			b = backoff.NewConstantBackOff(2 * ms)
		case 4:
			b = backoff.NewExponentialBackOff(backoff.WithInitialInterval(ms), backoff.WithMultiplier(2), backoff.WithRandomizationFactor(0),
				backoff.WithMaxInterval(50*ms), backoff.WithMaxElapsedTime(200*ms))
		case 5:
			b = backoff.NewExponentialBackOff(backoff.WithInitialInterval(ms), backoff.WithMultiplier(4), backoff.WithRandomizationFactor(0),
				backoff.WithMaxElapsedTime(100*ms), backoff.WithRetryStopDuration(3*ms)) // which is a wait like any other
		case 6:
			b = strategy.ToBackOff(strategy.Fibonacci{First: ms, Max: 20 * ms})
		case 7:
			b = (*backoff.ZeroBackOff)(nil) // whose methods need no value
		case 8:
			b = stubborn{backoff.NewConstantBackOff(2 * ms), ctx}
			if s.timer { // when that has fired and the context is done, v4 tosses a coin
				b = stubborn{&backoff.StopBackOff{}, ctx}
			}
		}
		switch s.around % 5 {
		case 1:
			b = backoff.WithMaxRetries(b, uint64(s.retries))
		case 2:
			b = backoff.WithContext(b, ctx)
		case 3:
			b = backoff.WithMaxRetries(backoff.WithContext(b, ctx), uint64(s.retries))
		case 4:
			b = backoff.WithContext(backoff.WithMaxRetries(b, uint64(s.retries)), ctx)
		}

		op := func() (int, error) {
			n := len(r.began)
			r.began = append(r.began, since())
			if n >= 40 {
				return n, nil // enough: some policies go on for ever
			}
			todo := uint8(1)
			if len(s.attempts) > 0 {
				todo = s.attempts[min(n, len(s.attempts)-1)]
			}
			time.Sleep(time.Duration(todo>>4) * ms)
			err := errOf[todo>>2&3]
			switch todo & 15 {
			case 0:
				err = nil
			case 4:
				err = backoff.Permanent(errDown)
			case 8:
				err = fmt.Errorf("wrapped: %w", errors.Join(errDown, backoff.Permanent(errOf[3])))
			case 12:
				cancel()
			}
			return n, err
		}
		var notify backoff.Notify
		if s.retries&1 == 0 {
			notify = func(err error, d time.Duration) { r.notified = append(r.notified, fmt.Sprint(since(), err, d)) }
		}
		var timer backoff.Timer
		if s.timer {
			r.timer = new(zeroTimer)
			timer = r.timer
		}
		r.value, r.err = engine(op, b, notify, timer)
		r.ended, r.asked, r.resets, r.ctxErr = since(), inner.asked, inner.resets, ctx.Err()
	})
	return r
}

// check holds that the two engines cannot be told apart.
func (s script) check(t *testing.T) {
	theirs := s.run(t, backoff.RetryNotifyWithTimerAndData[int])
	ours := s.run(t, cenkalti.RetryNotifyWithTimerAndData[int])

	require.Equal(t, theirs, ours, "%+v", s)
	require.True(t, theirs.err == ours.err, "another error with the same text: %+v", s)
}

// TestSameAsV4 runs 3000 calls drawn at random on v4's engine and on this one.
func TestSameAsV4(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	count := map[string]int{}
	for range 3000 {
		s := script{
			policy: uint8(draw.Uint32()), around: uint8(draw.Uint32()), retries: uint8(draw.IntN(8)), ctx: uint8(draw.Uint32()), timer: draw.IntN(4) == 0,
		}
		for range draw.IntN(8) {
			s.attempts = append(s.attempts, uint8(draw.Uint32())|1)
			if draw.IntN(6) == 0 {
				s.attempts[len(s.attempts)-1] &^= 3
			}
		}
		s.check(t)
		count[fmt.Sprint(s.ctx&3, s.around%5)]++
	}
	require.Len(t, count, 20, "all kinds of ends and wrappers")
}

func FuzzAgainstV4(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add(uint8(0), uint8(3), uint8(4), []byte{1, 17, 33, 4}, uint8(50), false)
	f.Add(uint8(4), uint8(2), uint8(0), []byte{1}, uint8(130), false)
	f.Add(uint8(5), uint8(0), uint8(1), []byte{7, 8}, uint8(0), true)
	f.Add(uint8(6), uint8(4), uint8(2), []byte{5, 12, 1}, uint8(3), true)
	f.Fuzz(func(t *testing.T, policy, around, retries uint8, attempts []byte, ctx uint8, timer bool) {
		script{policy, around, retries, attempts, ctx, timer}.check(t)
	})
}
