package throttle_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// probes is a breaker that notes what it is told, and how many it has let through and not heard of.
type probes struct {
	mu   sync.Mutex
	out  int
	told []error
	open error
}

func (p *probes) allow() (func(error), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open != nil {
		return nil, p.open
	}
	p.out++
	return func(err error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.out--
		p.told = append(p.told, err)
	}, nil
}

// TestBreakerTells: done is called once for every allow, with what the class means.
func TestBreakerTells(t *testing.T) {
	for c, want := range map[throttle.Class]string{
		throttle.Success: "<nil>", throttle.Permanent: "<nil>",
		throttle.Transient: "boom", throttle.Timeout: "boom", throttle.Throttled: "boom",
		throttle.Panicked: "throttle: attempt panicked",
		throttle.Canceled: throttle.ErrNeutral.Error(), throttle.Skipped: throttle.ErrNeutral.Error(), throttle.Unset: throttle.ErrNeutral.Error(), 77: throttle.ErrNeutral.Error(),
	} {
		var p probes
		th := throttle.Breaker{Allow: p.allow}
		ticket, wait, err := th.Admit(t.Context(), t0, nil)
		require.NoError(t, err)
		require.Zero(t, wait)
		again, _, err := th.Admit(t.Context(), t0, ticket)
		require.NoError(t, err)
		require.Equal(t, 1, p.out, "asked once, even if a ticket is shown again")
		th.Done(t.Context(), t0, again, throttle.Outcome{Class: c, Err: errors.New("boom")})
		require.Zero(t, p.out)
		require.Len(t, p.told, 1)
		got := "<nil>"
		if p.told[0] != nil {
			got = p.told[0].Error()
		}
		require.Equal(t, want, got, c)
		require.Equal(t, want == throttle.ErrNeutral.Error(), errors.Is(p.told[0], throttle.ErrNeutral))

		p.told = nil
		ticket, _, _ = th.Admit(t.Context(), t0, nil)
		th.Done(t.Context(), t0, ticket, throttle.Outcome{Class: c})
		require.Equal(t, want == "<nil>", p.told[0] == nil, "a failure without an error is one all the same")
	}
}

// TestBreakerRefuses: with the breaker's own error, and without a ticket.
func TestBreakerRefuses(t *testing.T) {
	p := probes{open: errors.New("circuit breaker is open")}
	made := 0
	err := retry.Run(t.Context(), func(context.Context) error { made++; return nil }, retry.WithThrottle(throttle.Breaker{Allow: p.allow}))
	require.ErrorIs(t, err, p.open)
	require.ErrorIs(t, err, retry.ErrRefused)
	require.Zero(t, made)
	require.Empty(t, p.told)
}

// TestBreakerHearsOfEveryAttempt: an attempt that was let through is told of, however it ends and also if it is never made.
func TestBreakerHearsOfEveryAttempt(t *testing.T) {
	var p probes
	refuse := throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, boom })
	hold := throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return time.Hour, nil })
	fails := func(context.Context) error { return boom }
	opts := func(more ...throttle.Throttle) retry.Option {
		return retry.MustNew(retry.WithStrategy(strategy.Constant{}), retry.WithThrottle(throttle.Breaker{Allow: p.allow}), retry.WithThrottle(more...), retry.WithMaxAttempts(2))
	}
	ctx, cancel := context.WithCancel(t.Context())
	require.Error(t, retry.Run(ctx, fails, opts()))
	require.Error(t, retry.Run(ctx, fails, opts(refuse)))
	require.Error(t, retry.Run(ctx, fails, opts(hold)))
	require.Panics(t, func() { _ = retry.Run(ctx, func(context.Context) error { panic("x") }, opts()) })
	require.NoError(t, retry.Run(ctx, func(context.Context) error { return nil }, opts()))
	require.Error(t, retry.Run(ctx, func(context.Context) error { cancel(); return boom }, opts()))
	require.Zero(t, p.out)
	var told []string
	for _, err := range p.told {
		switch {
		case err == nil:
			told = append(told, "ok")
		case errors.Is(err, throttle.ErrNeutral):
			told = append(told, "neutral")
		default:
			told = append(told, err.Error())
		}
	}
	require.Equal(t, []string{boom.Error(), boom.Error(), "neutral", "neutral", "throttle: attempt panicked", "ok", "neutral"}, told)
}

// TestAdaptersDoNotAllocate: tickets are pointers and functions that were there before.
func TestAdaptersDoNotAllocate(t *testing.T) {
	done, kept := func(error) {}, &place{}
	for name, th := range map[string]throttle.Throttle{
		"Breaker": throttle.Breaker{Allow: func() (func(error), error) { return done, nil }},
		"Limit":   throttle.Limit(limiterFunc(context.Context.Err)),
		"Reserve": throttle.Reserve(func(time.Time, int) *place { return kept }),
	} {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			ticket, _, _ := th.Admit(context.Background(), t0, nil)
			th.Done(context.Background(), t0, ticket, throttle.Outcome{Class: throttle.Success})
		}), name)
	}
}
