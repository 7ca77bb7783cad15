package throttle_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// TestRefusalSaysWhen: a call that a throttle ends says who held it back, why and until when, whether before its first attempt or after
// a failure; and where nobody can know, that too.
func TestRefusalSaysWhen(t *testing.T) {
	const until = 90 * sec
	for name, c := range map[string]struct {
		held     func(now time.Time) throttle.Throttle
		reason   error
		key      throttle.Key
		left     time.Duration
		source   string
		err      error
		attempts int // that are made before
	}{
		"gate": {func(now time.Time) throttle.Throttle {
			g := new(throttle.Gate)
			g.Observe(now, throttle.Signal{Delay: until, HasDelay: true, Source: "retry-after"}, boom, "a")
			return g.For("a", "b")
		}, retry.ErrHintTooLong, "a", until, "retry-after", boom, 0},
		"gate by context": {func(now time.Time) throttle.Throttle {
			g := new(throttle.Gate)
			g.Block(now, until, "a")
			return g.By(func(context.Context) throttle.Key { return "a" })
		}, retry.ErrHintTooLong, "a", until, "block", nil, 0},
		"pool": {func(now time.Time) throttle.Throttle {
			p := pool.New("secret")
			lease, _ := p.Acquire(now)
			lease.Done(now, throttle.Outcome{Err: boom, Class: throttle.Throttled, Signal: throttle.Signal{Delay: until, HasDelay: true, Source: "retry-after"}})
			return p
		}, retry.ErrHintTooLong, "pool", until, "retry-after", boom, 0},
		"pace": {func(now time.Time) throttle.Throttle {
			p := throttle.Pace(&noting{delay: until})
			p.Done(context.Background(), now, nil, throttle.Outcome{Err: boom, Class: throttle.Transient})
			return p
		}, retry.ErrHintTooLong, "pace", until, "", boom, 0},
		"pace that has given up": {func(time.Time) throttle.Throttle {
			return throttle.Pace(&noting{delay: sec, over: true})
		}, retry.ErrRefused, "pace", 0, "given up", boom, 1},
		"gate without the executor": {func(now time.Time) throttle.Throttle {
			g := new(throttle.Gate)
			g.Block(now, until, "a")
			return throttle.Func(func(_ context.Context, now time.Time) (time.Duration, error) { return 0, g.Check(now, "a") })
		}, retry.ErrRefused, "a", until, "block", nil, 0},
		"no place": {func(time.Time) throttle.Throttle {
			return throttle.Reserve(func(time.Time, int) *place { return nil })
		}, retry.ErrRefused, "", 0, "no reservation", nil, 0},
		"adaptive": {func(time.Time) throttle.Throttle {
			return &throttle.Adaptive{Key: "a", Pending: -1, Rand: always(0)}
		}, retry.ErrRefused, "a", 0, "adaptive", nil, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, made := time.Now(), 0
			err := retry.Run(t.Context(), func(context.Context) error { made++; return boom },
				retry.WithThrottle(c.held(began)), retry.WithStrategy(strategy.Constant{}))
			require.Equal(t, c.attempts, made, name)
			require.Equal(t, began, time.Now(), "%s: nobody waited", name)
			require.ErrorIs(t, err, c.reason, name)
			var refusal *throttle.Error
			require.ErrorAs(t, err, &refusal, name)
			require.Equal(t, c.key, refusal.Key, name)
			require.Equal(t, c.left, refusal.Remaining, name)
			require.True(t, began.Add(c.left).Equal(refusal.Until), name)
			require.Equal(t, c.source, refusal.Source, name)
			require.Equal(t, c.err, refusal.Err, name)
			require.NotContains(t, err.Error(), "secret")

			signal, told := throttle.FromError(refusal)
			require.Equal(t, c.left > 0, told, name)
			require.Equal(t, c.left, signal.Delay, name)
			var end *retry.Error
			require.ErrorAs(t, err, &end)
			require.Equal(t, c.left, end.Delay, name)
		})
	}
}
