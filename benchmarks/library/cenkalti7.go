package library

import (
	"context"
	"math"
	"time"

	"github.com/cenkalti/backoff/v7"
)

func cenkalti7() *Library {
	return &Library{
		Name:      "cenkalti 7",
		Module:    "github.com/cenkalti/backoff/v7",
		Zero:      NoLimit,
		New:       cenkalti7New,
		Permanent: backoff.Permanent,
		After:     backoff.RetryAfter,
		Delays: func(s Settings, n int) ([]time.Duration, error) {
			policy, err := cenkalti7Policy(s)
			if err != nil {
				return nil, err
			}
			policy.Reset()
			delays := make([]time.Duration, n)
			for i := range delays {
				delays[i] = policy.NextBackOff()
				if delays[i] != backoff.Stop {
					delays[i] = max(delays[i], 0) // as Retry reads it
				}
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

func cenkalti7Policy(s Settings) (*backoff.ExponentialBackOff, error) {
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

func cenkalti7New(s Settings) (Call, error) {
	policy, err := cenkalti7Policy(s)
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
