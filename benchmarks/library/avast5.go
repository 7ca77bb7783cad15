package library

import (
	"context"
	"sync"
	"time"

	"github.com/avast/retry-go/v5"
)

func avast5() *Library {
	return &Library{
		Name:      "avast 5",
		Module:    "github.com/avast/retry-go/v5",
		Zero:      NoLimit,
		New:       avast5New,
		Permanent: retry.Unrecoverable,
		After:     markHint,
		Delays: func(s Settings, n int) ([]time.Duration, error) {
			opts, err := avast5Options(s)
			if err != nil {
				return nil, err
			}
			timer := new(instant)
			opts = append(opts, retry.Attempts(uint(n+1)), retry.WithTimer(timer))
			_ = retry.New(opts...).Do(func() error { return context.DeadlineExceeded })
			return timer.delays, nil
		},
	}
}

func avast5Options(s Settings) ([]retry.Option, error) {
	if s.MaxElapsed > 0 || s.AttemptTimeout > 0 {
		return nil, ErrAbsent
	}
	curve := retry.FixedDelay
	switch {
	case s.Full:
		curve = retry.FullJitterBackoffDelay
	case s.Doubling:
		curve = retry.BackOffDelay
	}
	if s.Spreads {
		curve = retry.CombineDelay(curve, retry.RandomDelay)
	}
	opts := []retry.Option{
		retry.Attempts(uint(s.Attempts)), retry.Delay(s.Delay), retry.MaxDelay(s.Cap),
		retry.MaxJitter(time.Duration(s.Spread * float64(s.Delay))),
		retry.DelayType(func(n uint, err error, config retry.DelayContext) time.Duration {
			if d, ok := hinted(err); ok {
				return d
			}
			return curve(n, err, config)
		}),
	}
	if s.OnRetry != nil {
		opts = append(opts, retry.OnRetry(func(uint, error) { s.OnRetry() }))
	}
	if s.Timers != nil {
		opts = append(opts, retry.WithTimer(s.Timers))
	}
	return opts, nil
}

// avast5New makes one retrier for each context, which is fixed when a retrier is made.
func avast5New(s Settings) (Call, error) {
	opts, err := avast5Options(s)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	retriers := map[context.Context]*retry.RetrierWithData[int]{}
	return func(ctx context.Context, op Op) (int, error) {
		mu.Lock()
		retrier := retriers[ctx]
		if retrier == nil {
			retrier = retry.NewWithData[int](append(opts[:len(opts):len(opts)], retry.Context(ctx))...)
			retriers[ctx] = retrier
		}
		mu.Unlock()
		return retrier.Do(func() (int, error) { return op(ctx) })
	}, nil
}
