package retry_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
)

// shares runs a call whose attempts all hang until their timeouts, and returns how long each was given; 0: no timeout.
func shares(ctx context.Context, opts ...retry.Option) (given []time.Duration, err error) {
	err = retry.Run(ctx, func(ctx context.Context) error {
		deadline, ok := ctx.Deadline()
		if !ok {
			given = append(given, 0)
			return errFlaky
		}
		given = append(given, time.Until(deadline))
		<-ctx.Done()
		return ctx.Err()
	}, append([]retry.Option{retry.WithStrategy(strategy.Constant{Delay: time.Second})}, opts...)...)
	return given, err
}

func TestAttemptTimeoutShare(t *testing.T) {
	const s = time.Second
	for name, tc := range map[string]struct {
		deadline time.Duration
		opts     []retry.Option
		want     []time.Duration
	}{
		"of MaxElapsed":           {0, []retry.Option{retry.WithMaxElapsed(31 * s), retry.WithAttemptTimeoutShare(0.5, s), retry.WithMaxAttempts(4)}, []time.Duration{15500 * time.Millisecond, 7250 * time.Millisecond, 3125 * time.Millisecond, 1062500 * time.Microsecond}},
		"of the deadline":         {9 * s, []retry.Option{retry.WithAttemptTimeoutShare(0.5, 0), retry.WithMaxAttempts(2)}, []time.Duration{4500 * time.Millisecond, 1750 * time.Millisecond}},
		"of the nearer":           {8 * s, []retry.Option{retry.WithMaxElapsed(40 * s), retry.WithAttemptTimeoutShare(0.25, 0), retry.WithMaxAttempts(1)}, []time.Duration{2 * s}},
		"taken away again":        {0, []retry.Option{retry.WithMaxElapsed(31 * s), retry.WithAttemptTimeoutShare(0.5, s), retry.WithAttemptTimeout(0), retry.WithMaxAttempts(1)}, []time.Duration{0}},
		"never below min":         {9 * s, []retry.Option{retry.WithAttemptTimeoutShare(0.1, 3*s), retry.WithMaxAttempts(2)}, []time.Duration{3 * s, 3 * s}},
		"never past the parent":   {9 * s, []retry.Option{retry.WithAttemptTimeoutShare(1, time.Hour)}, []time.Duration{9 * s}},
		"without a limit: none":   {0, []retry.Option{retry.WithAttemptTimeoutShare(0.5, s), retry.WithMaxAttempts(2)}, []time.Duration{0, 0}},
		"a share that is nothing": {0, []retry.Option{retry.WithMaxElapsed(1), retry.WithAttemptTimeoutShare(math.SmallestNonzeroFloat64, 0)}, []time.Duration{1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tc.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.deadline)
					defer cancel()
				}
				got, err := shares(ctx, tc.opts...)
				require.Error(t, err)
				require.Equal(t, tc.want, got)
			})
		})
	}
}

// The time that throttles and callbacks take is gone when the share is computed, without a wait in between too.
func TestAttemptTimeoutShareIsOfWhatIsLeftNow(t *testing.T) {
	clk := retrytest.NewClock()
	var given []time.Duration
	_ = retry.Run(t.Context(), func(ctx context.Context) error {
		deadline, _ := ctx.Deadline()
		given = append(given, deadline.Sub(clk.Now()))
		return errFlaky
	}, retry.WithClock(clk), retry.WithMaxElapsed(time.Minute), retry.WithAttemptTimeoutShare(0.5, 0), retry.WithMaxAttempts(2),
		retry.WithStrategy(strategy.Constant{}), retry.WithOnRetry(func(context.Context, retry.Event) { clk.Advance(20 * time.Second) }))
	require.Equal(t, []time.Duration{30 * time.Second, 20 * time.Second}, given)
}

func TestAttemptTimeoutShareConfig(t *testing.T) {
	for _, opts := range [][]retry.Option{
		{retry.WithAttemptTimeoutShare(0, 0)}, {retry.WithAttemptTimeoutShare(-0.5, 0)}, {retry.WithAttemptTimeoutShare(1.01, 0)},
		{retry.WithAttemptTimeoutShare(math.NaN(), 0)}, {retry.WithAttemptTimeoutShare(math.Inf(1), 0)},
		{retry.WithAttemptTimeoutShare(0.5, -1)},
		{retry.WithAttemptTimeout(time.Second), retry.WithAttemptTimeoutShare(0.5, 0)},
		{retry.MustNew(retry.WithAttemptTimeoutShare(0.5, 0)), retry.WithAttemptTimeout(time.Second)},
	} {
		err := retry.Run(t.Context(), func(context.Context) error { t.Error("called"); return nil }, opts...)
		var invalid *retry.ConfigError
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, "WithAttemptTimeoutShare", invalid.Option)
	}
}
