package retrysql

import (
	"context"
	"slices"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
)

var (
	defaults = retry.MustNew(
		retry.WithMaxAttempts(10),
		retry.WithStrategy(strategy.FullJitter{Base: 10 * time.Millisecond, Max: 500 * time.Millisecond}),
	)
	lastOption = retry.WithCondition(last)
	standard   = retry.MustNew(defaults, lastOption)
)

// run is retry.Run with the defaults before the caller's options and the last condition behind them.
func run(ctx context.Context, attempt func(context.Context) error, opts []retry.Option) error {
	if len(opts) == 0 {
		return retry.Run(ctx, attempt, standard)
	}
	all := make([]retry.Option, 0, len(opts)+2)
	if _, ok := opts[0].(*retry.Policy); !ok {
		all = append(all, defaults)
	}
	all = append(append(all, opts...), lastOption)
	err := retry.Run(ctx, attempt, all...)
	if neverAsked(err) {
		// The caller's conditions decide everything, as condition.Only does: the last one would never be asked.
		err = retry.Run(ctx, attempt, all[:len(all)-1]...)
	}
	return err
}

// neverAsked says whether one of the problems with the options is that the last condition would never be asked. Nothing has run
// then.
func neverAsked(err error) bool {
	switch e := err.(type) {
	case *retry.ConfigError:
		return e.Value == any(last)
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), neverAsked)
	}
	return false
}
