package throttle_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// limiterFunc is a limiter's Wait.
type limiterFunc func(context.Context) error

func (w limiterFunc) Wait(ctx context.Context) error { return w(ctx) }

// TestLimit: every attempt waits for its own turn, with the call's context, and an error is a refusal as it is.
func TestLimit(t *testing.T) {
	type mark struct{}
	ctx := context.WithValue(t.Context(), mark{}, 7)
	waits, made := 0, 0
	limiter := throttle.Limit(limiterFunc(func(ctx context.Context) error {
		require.Equal(t, 7, ctx.Value(mark{}))
		if waits++; waits == 3 {
			return errors.New("would exceed context deadline")
		}
		return nil
	}))
	err := retry.Run(ctx, func(context.Context) error { made++; return boom }, retry.WithThrottle(limiter), retry.WithStrategy(strategy.Constant{}))
	require.Equal(t, 2, made)
	require.ErrorIs(t, err, retry.ErrRefused)
	var end *retry.Error
	require.ErrorAs(t, err, &end)
	require.EqualError(t, end.Reason, "retry: refused by a throttle: would exceed context deadline")
}

// TestLimitNilContext: the limiter gets one that is never done.
func TestLimitNilContext(t *testing.T) {
	waits := 0
	limiter := throttle.Limit(limiterFunc(func(ctx context.Context) error { waits++; return ctx.Err() }))
	var none context.Context
	_, _, err := limiter.Admit(none, t0, nil)
	require.NoError(t, err)
	require.Equal(t, 1, waits)
}

// TestLimitContextEnds: a wait that ends with the context ends the call as the context's end does.
func TestLimitContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	limiter := throttle.Limit(limiterFunc(func(ctx context.Context) error { cancel(); <-ctx.Done(); return ctx.Err() }))
	err := retry.Run(ctx, func(context.Context) error { return nil }, retry.WithThrottle(limiter))
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, retry.ErrRefused)
}

// place is a reservation that notes when it was given back.
type place struct {
	at       time.Time
	refused  bool
	canceled []time.Time
}

func (p *place) OK() bool                            { return !p.refused }
func (p *place) DelayFrom(t time.Time) time.Duration { return max(p.at.Sub(t), 0) }
func (p *place) CancelAt(t time.Time)                { p.canceled = append(p.canceled, t) }

// places are given one each span of time.
type places struct{ every time.Duration }

func (p places) reserve(now time.Time, _ int) *place { return &place{at: now.Add(p.every)} }

// TestReserve: one place for an attempt, waited for by the executor, and given back if no attempt is made.
func TestReserve(t *testing.T) {
	var given []*place
	next := t0
	limiter := throttle.Reserve(func(now time.Time, n int) *place {
		require.Equal(t, 1, n)
		p := &place{at: next, refused: len(given) == 3}
		next = next.Add(10 * sec)
		given = append(given, p)
		return p
	})
	flow := retry.MustNew(retry.WithThrottle(limiter), retry.WithStrategy(strategy.Constant{Delay: sec}), retry.WithMaxElapsed(15*sec)).Begin(t0, time.Time{}, nil)
	ctx, now := t.Context(), t0
	require.Equal(t, retry.Go, flow.Next(ctx, now).Action, "the first place is now")
	require.Equal(t, retry.Step{Action: retry.Wait, Delay: sec, Class: throttle.Transient, Err: boom}, flow.Report(ctx, now, fails))

	now = now.Add(sec)
	require.Equal(t, retry.Step{Action: retry.Wait, Delay: 9 * sec, Source: retry.SourceThrottle}, flow.Next(ctx, now))
	now = now.Add(9*sec - 1)
	require.Equal(t, retry.Step{Action: retry.Wait, Delay: 1, Source: retry.SourceThrottle}, flow.Next(ctx, now), "too early: the same place")
	now = now.Add(1)
	require.Equal(t, retry.Go, flow.Next(ctx, now).Action)
	require.Len(t, given, 2)

	flow.Report(ctx, now, fails)
	now = now.Add(sec)
	s := flow.Next(ctx, now)
	require.Equal(t, retry.ErrMaxElapsed, s.Reason, "the place comes after 20 s, and the call may take 15")
	require.Equal(t, 9*sec, s.Delay)
	require.Equal(t, []int{0, 0, 1}, []int{len(given[0].canceled), len(given[1].canceled), len(given[2].canceled)})
	require.Equal(t, now, given[2].canceled[0])

	_, _, err := limiter.Admit(ctx, now, nil)
	require.EqualError(t, err, "throttle: refused (no reservation)")
}

// TestAdaptersValidate: what is nil is refused by a policy, and lets everything pass where nobody asked.
func TestAdaptersValidate(t *testing.T) {
	var typedNil limiterFunc
	for field, adapters := range map[string][]throttle.Throttle{
		"Limit":         {throttle.Limit(nil), throttle.Limit(typedNil)},
		"Reserve":       {throttle.Reserve[*place](nil)},
		"Breaker.Allow": {throttle.Breaker{Allow: nil}},
	} {
		for _, adapter := range adapters {
			var bad *throttle.ConfigError
			_, err := retry.New(retry.WithThrottle(adapter))
			require.ErrorAs(t, err, &bad, field)
			require.Equal(t, throttle.ConfigError{Field: field, Problem: "must not be nil"}, *bad)
			ticket, wait, err := adapter.Admit(t.Context(), t0, nil)
			require.NoError(t, err)
			require.Zero(t, wait)
			adapter.Done(t.Context(), t0, ticket, throttle.Outcome{})
		}
	}
	_, err := retry.New(retry.WithThrottle(throttle.Limit(limiterFunc(context.Context.Err)), throttle.Reserve(places{}.reserve), throttle.Breaker{Allow: new(probes).allow}))
	require.NoError(t, err)
}
