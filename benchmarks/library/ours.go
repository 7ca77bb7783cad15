package library

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

func ours() *Library {
	return &Library{
		Name:           "retry",
		Module:         "github.com/seed-89b3229b/retry",
		PassesContext:  true,
		New:            oursNew,
		Delays:         oursDelays,
		Permanent:      retry.Permanent,
		After:          retry.After,
		AttemptTimeout: retry.ErrAttemptTimeout,
		Leave: func(ctx context.Context) {
			for range retry.NewLoop(ctx).Tries() {
				break
			}
		},
	}
}

func oursOptions(s Settings) []retry.Option {
	limit := retry.WithMaxAttempts(s.Attempts)
	if s.Attempts == 0 && !s.ZeroAttempts {
		limit = retry.WithUnlimitedAttempts()
	}
	var curve strategy.Strategy = strategy.Constant{Delay: s.Delay}
	switch {
	case s.Full:
		curve = strategy.FullJitter{Base: s.Delay}
	case s.Doubling:
		curve = strategy.Exponential{Base: s.Delay}
	}
	opts := []retry.Option{
		limit, retry.WithStrategy(curve), retry.WithMaxDelay(s.Cap),
		retry.WithMaxElapsed(s.MaxElapsed), retry.WithAttemptTimeout(s.AttemptTimeout),
	}
	if s.Spreads {
		opts = append(opts, retry.WithJitter(strategy.Proportional(s.Spread)))
	}
	if s.OnRetry != nil {
		opts = append(opts, retry.WithOnRetry(func(context.Context, retry.Event) { s.OnRetry() }))
	}
	if s.Timers != nil {
		opts = append(opts, retry.WithClock(s.Timers))
	}
	return opts
}

func oursNew(s Settings) (Call, error) {
	policy, err := retry.New(oursOptions(s)...)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, op Op) (int, error) { return retry.Do(ctx, op, policy) }, nil
}

// oursDelays takes the decisions without the waits.
func oursDelays(s Settings, n int) ([]time.Duration, error) {
	policy, err := retry.New(oursOptions(s)...)
	if err != nil {
		return nil, err
	}
	ctx, now := context.Background(), time.Unix(0, 0)
	flow := policy.Begin(now, time.Time{}, nil)
	delays := make([]time.Duration, n)
	for i := range delays {
		flow.Next(ctx, now)
		step := flow.Report(ctx, now, throttle.Outcome{Err: context.DeadlineExceeded})
		delays[i] = step.Delay
	}
	flow.Abort(ctx, now, throttle.Skipped)
	return delays, nil
}
