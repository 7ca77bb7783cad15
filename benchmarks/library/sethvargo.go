package library

import (
	"context"
	"errors"
	"time"

	"github.com/sethvargo/go-retry"
)

func sethvargo() *Library {
	return &Library{
		Name:          "sethvargo",
		Module:        "github.com/sethvargo/go-retry",
		PassesContext: true,
		Zero:          OneCall, // WithMaxRetries counts retries
		New:           sethvargoNew,
		Permanent:     markPermanent, // what is not marked as retryable
		Delays: func(s Settings, n int) ([]time.Duration, error) {
			policy, err := sethvargoPolicy(s)
			if err != nil {
				return nil, err
			}
			delays := make([]time.Duration, n)
			for i := range delays {
				delays[i], _ = policy.Next()
			}
			return delays, nil
		},
	}
}

// sethvargoPolicy stacks the wrappers in the order that its documentation advises: the cap outside of the jitter.
func sethvargoPolicy(s Settings) (retry.Backoff, error) {
	if s.AttemptTimeout > 0 || s.OnRetry != nil || s.Timers != nil {
		return nil, ErrAbsent
	}
	var policy retry.Backoff
	switch {
	case s.Delay == 0: // NewConstant panics
		policy = retry.BackoffFunc(func() (time.Duration, bool) { return 0, false })
	case s.Doubling || s.Full:
		policy = retry.NewExponential(s.Delay)
	default:
		policy = retry.NewConstant(s.Delay)
	}
	if s.Full {
		policy = retry.WithFullJitter(policy)
	}
	if s.Spreads {
		policy = retry.WithJitter(time.Duration(s.Spread*float64(s.Delay)), policy)
	}
	if s.Cap > 0 {
		policy = retry.WithCappedDuration(s.Cap, policy)
	}
	if s.MaxElapsed > 0 {
		policy = retry.WithMaxDuration(s.MaxElapsed, policy)
	}
	if s.Attempts > 0 || s.ZeroAttempts {
		policy = retry.WithMaxRetries(uint64(max(s.Attempts-1, 0)), policy)
	}
	return policy, nil
}

func sethvargoNew(s Settings) (Call, error) {
	policy, err := sethvargoPolicy(s)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, op Op) (int, error) {
		return retry.DoValue(ctx, policy, func(ctx context.Context) (int, error) {
			v, err := op(ctx)
			if errors.Is(err, errPermanent) {
				return v, err
			}
			return v, retry.RetryableError(err)
		})
	}, nil
}
