package library

import (
	"context"
	"time"

	"github.com/avast/retry-go/v4"
)

func avast4() *Library {
	return &Library{
		Name:      "avast 4",
		Module:    "github.com/avast/retry-go/v4",
		Zero:      NoLimit,
		New:       avast4New,
		Permanent: retry.Unrecoverable,
		After:     markHint,
		Delays: func(s Settings, n int) ([]time.Duration, error) {
			opts, err := avast4Options(s)
			if err != nil {
				return nil, err
			}
			timer := new(instant)
			opts = append(opts, retry.Attempts(uint(n+1)), retry.WithTimer(timer))
			_ = retry.Do(func() error { return context.DeadlineExceeded }, opts...)
			return timer.delays, nil
		},
	}
}

func avast4Options(s Settings) ([]retry.Option, error) {
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
		retry.DelayType(func(n uint, err error, config *retry.Config) time.Duration {
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

func avast4New(s Settings) (Call, error) {
	opts, err := avast4Options(s)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, op Op) (int, error) {
		own := append(opts[:len(opts):len(opts)], retry.Context(ctx))
		return retry.DoWithData(func() (int, error) { return op(ctx) }, own...)
	}, nil
}
