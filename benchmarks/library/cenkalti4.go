package library

import (
	"context"
	"math"
	"time"

	"github.com/cenkalti/backoff/v4"
)

func cenkalti4() *Library {
	return &Library{
		Name:      "cenkalti 4",
		Module:    "github.com/cenkalti/backoff/v4",
		Zero:      OneCall, // WithMaxRetries counts retries
		New:       cenkalti4New,
		Permanent: backoff.Permanent,
		Delays: func(s Settings, n int) ([]time.Duration, error) {
			policy, err := cenkalti4Policy(s)
			if err != nil {
				return nil, err
			}
			policy.Reset()
			delays := make([]time.Duration, n)
			for i := range delays {
				delays[i] = policy.NextBackOff()
			}
			return delays, nil
		},
		Leave: func(context.Context) {
			ticker := backoff.NewTicker(backoff.NewExponentialBackOff())
			for range ticker.C {
				ticker.Stop()
				break
			}
		},
	}
}

func cenkalti4Policy(s Settings) (backoff.BackOff, error) {
	if s.Full || s.AttemptTimeout > 0 {
		return nil, ErrAbsent
	}
	exponential := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(s.Delay), backoff.WithMultiplier(1), backoff.WithMaxInterval(math.MaxInt64),
		backoff.WithRandomizationFactor(s.Spread), backoff.WithMaxElapsedTime(s.MaxElapsed))
	if s.Doubling {
		exponential.Multiplier = 2
	}
	if s.Cap > 0 {
		exponential.MaxInterval = s.Cap
	}
	if s.Attempts > 0 || s.ZeroAttempts {
		return backoff.WithMaxRetries(exponential, uint64(max(s.Attempts-1, 0))), nil
	}
	return exponential, nil
}

func cenkalti4New(s Settings) (Call, error) {
	policy, err := cenkalti4Policy(s)
	if err != nil {
		return nil, err
	}
	var notify backoff.Notify
	if s.OnRetry != nil {
		notify = func(error, time.Duration) { s.OnRetry() }
	}
	return func(ctx context.Context, op Op) (int, error) {
		var timer backoff.Timer
		if s.Timers != nil {
			timer = &cenkalti4Timer{timers: s.Timers}
		}
		work := func() (int, error) { return op(ctx) }
		return backoff.RetryNotifyWithTimerAndData(work, backoff.WithContext(policy, ctx), notify, timer)
	}, nil
}

// cenkalti4Timer is a Timer of the library on counted timers.
type cenkalti4Timer struct {
	timers *Timers
	fired  <-chan time.Time
	stop   func() bool
}

func (t *cenkalti4Timer) Start(d time.Duration) { t.fired, t.stop = t.timers.NewTimer(d) }
func (t *cenkalti4Timer) C() <-chan time.Time   { return t.fired }
func (t *cenkalti4Timer) Stop() {
	if t.stop != nil {
		t.stop()
	}
}
