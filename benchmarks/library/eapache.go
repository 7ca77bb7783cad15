package library

import (
	"context"
	"time"

	"github.com/eapache/go-resiliency/retrier"
)

func eapache() *Library {
	return &Library{
		Name:          "eapache",
		Module:        "github.com/eapache/go-resiliency",
		PassesContext: true,
		Zero:          OneCall, // a list of no waits
		New:           eapacheNew,
		Permanent:     markPermanent,
		Delays: func(s Settings, n int) ([]time.Duration, error) {
			if s.Spreads || s.Full { // is not in the list
				return nil, ErrAbsent
			}
			return eapacheList(s, n), nil
		},
	}
}

func eapacheList(s Settings, n int) []time.Duration {
	switch {
	case s.Doubling && s.Cap > 0:
		return retrier.LimitedExponentialBackoff(n, s.Delay, s.Cap)
	case s.Doubling:
		return retrier.ExponentialBackoff(n, s.Delay)
	case s.Cap > 0:
		return retrier.ConstantBackoff(n, min(s.Delay, s.Cap))
	default:
		return retrier.ConstantBackoff(n, s.Delay)
	}
}

func eapacheNew(s Settings) (Call, error) {
	if s.Full || s.MaxElapsed > 0 || s.AttemptTimeout > 0 || s.OnRetry != nil || s.Timers != nil {
		return nil, ErrAbsent
	}
	retries := s.Attempts - 1
	if s.Attempts == 0 {
		retries = 16
	}
	if s.ZeroAttempts {
		retries = 0
	}
	policy := retrier.New(eapacheList(s, retries), retrier.BlacklistClassifier{errPermanent})
	if s.Attempts == 0 && !s.ZeroAttempts {
		policy = policy.WithInfiniteRetry()
	}
	if s.Spreads {
		policy.SetJitter(s.Spread)
	}
	return func(ctx context.Context, op Op) (v int, err error) {
		err = policy.RunCtx(ctx, func(ctx context.Context) error {
			var err error
			v, err = op(ctx)
			return err
		})
		return v, err
	}, nil
}
