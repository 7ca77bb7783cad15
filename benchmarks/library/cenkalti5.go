package library

import (
	"context"
	"math"
	"time"

	"github.com/cenkalti/backoff/v5"
)

func cenkalti5() *Library {
	return &Library{
		Name:      "cenkalti 5",
		Module:    "github.com/cenkalti/backoff/v5",
		Zero:      NoLimit, // it is the default of WithMaxTries
		New:       cenkalti5New,
		Permanent: backoff.Permanent,
		After: func(d time.Duration, _ error) error { // has no place for the error
			return backoff.RetryAfter(int(d / time.Second))
		},
		Delays: func(s Settings, n int) ([]time.Duration, error) {
			policy, err := cenkalti5Policy(s)
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
			defer ticker.Stop()
			for range ticker.C {
				break
			}
		},
	}
}

func cenkalti5Policy(s Settings) (*backoff.ExponentialBackOff, error) {
	if s.Full || s.AttemptTimeout > 0 || s.Timers != nil {
		return nil, ErrAbsent
	}
	policy := &backoff.ExponentialBackOff{
		InitialInterval: s.Delay, Multiplier: 1, MaxInterval: math.MaxInt64, RandomizationFactor: s.Spread,
	}
	if s.Doubling {
		policy.Multiplier = 2
	}
	if s.Cap > 0 {
		policy.MaxInterval = s.Cap
	}
	return policy, nil
}

func cenkalti5New(s Settings) (Call, error) {
	policy, err := cenkalti5Policy(s)
	if err != nil {
		return nil, err
	}
	opts := []backoff.RetryOption{
		backoff.WithBackOff(policy), backoff.WithMaxTries(uint(s.Attempts)), backoff.WithMaxElapsedTime(s.MaxElapsed),
	}
	if s.OnRetry != nil {
		opts = append(opts, backoff.WithNotify(func(error, time.Duration) { s.OnRetry() }))
	}
	return func(ctx context.Context, op Op) (int, error) {
		return backoff.Retry(ctx, func() (int, error) { return op(ctx) }, opts...)
	}, nil
}
