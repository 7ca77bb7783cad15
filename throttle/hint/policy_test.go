package hint_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

var boom = errors.New("boom")

func always(u float64) func() float64 { return func() float64 { return u } }

// TestWrapToldThePolicy: what the parser read decides, whether it is a wait, a rule or a word.
func TestWrapToldThePolicy(t *testing.T) {
	policy := retry.MustNew(retry.WithStrategy(strategy.Constant{Delay: 2 * time.Second}))
	for _, v := range []struct {
		lines []string
		want  time.Duration // -1: the end
	}{
		{nil, 2 * sec},
		{[]string{"Grpc-Retry-Pushback-Ms", "700"}, 700 * ms},
		{[]string{"Grpc-Retry-Pushback-Ms", "-1"}, -1},
		{[]string{"X-Amz-Retry-After", "60000"}, 7 * sec},
		{[]string{"X-Amz-Retry-After", "1"}, 2 * sec},
		{[]string{"Retry-After", "0"}, 2 * sec},
		{[]string{"Retry-After", "3", "X-Should-Retry", "true"}, 3 * sec},
		{[]string{"Retry-After", "3", "X-Should-Retry", "false"}, -1},
		{[]string{"X-RateLimit-Remaining", "4987", "X-RateLimit-Reset", "1795956000"}, 2 * sec},
	} {
		flow := policy.Begin(noon, time.Time{}, always(0))
		flow.Next(t.Context(), noon)
		signal, _ := hint.Standard().Parse(header(v.lines...), 429, noon)
		step := flow.Report(t.Context(), noon, throttle.Outcome{Err: signal.Wrap(boom)})
		if v.want < 0 {
			require.Equal(t, retry.Done, step.Action, v.lines)
			require.ErrorIs(t, step.Err, boom)
			continue
		}
		require.Equal(t, retry.Wait, step.Action, v.lines)
		require.Equal(t, v.want, step.Delay, v.lines)
	}
}

// TestP19ToldWaitAboveTheLimit: a header asks for more than the call may take. It ends at once, and says what was asked.
func TestP19ToldWaitAboveTheLimit(t *testing.T) {
	for _, v := range []struct {
		limit  retry.Option
		reason error
	}{
		{retry.WithMaxElapsed(15 * time.Minute), retry.ErrMaxElapsed},
		{retry.WithMaxHint(15 * time.Minute), retry.ErrHintTooLong},
	} {
		attempts := 0
		err := retry.Run(t.Context(), func(context.Context) error {
			attempts++
			told, _ := hint.Standard().Parse(header("Retry-After", "1800"), 503, noon)
			return told.Wrap(boom)
		}, retry.WithMaxHint(time.Hour), retry.WithHint(throttle.Exact()), v.limit)
		require.Equal(t, 1, attempts)
		require.ErrorIs(t, err, boom)
		require.ErrorIs(t, err, v.reason)
		var end *retry.Error
		require.ErrorAs(t, err, &end)
		require.Equal(t, 30*time.Minute, end.Delay)
	}
}

// TestP21ToldWaitKeepsTheCause: what carries the wait hides nothing, also when attempts are used up.
func TestP21ToldWaitKeepsTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := retry.Run(t.Context(), func(context.Context) error {
			told, _ := hint.Standard().Parse(header("Retry-After", "1"), 429, time.Now())
			return told.Wrap(fmt.Errorf("place: %w", boom))
		}, retry.WithMaxAttempts(2))
		require.ErrorIs(t, err, boom)
		require.ErrorIs(t, err, retry.ErrExhausted)
		require.ErrorContains(t, err, "place: boom")
	})
}
