package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

var errPoolLimited = errors.New("429 too many requests")

// poolServer limits the tokens in left, so often and for so long.
type poolServer struct {
	left map[string]int
	wait time.Duration
	seen []string
}

func (s *poolServer) serve(token string) (string, error) {
	s.seen = append(s.seen, token)
	if s.left[token] == 0 {
		return "served by " + token, nil
	}
	s.left[token]--
	return "", retry.After(s.wait, errPoolLimited)
}

// poolOptions are those of the package's call site.
func poolOptions(p *pool.Pool[string], more ...retry.Option) []retry.Option {
	return append([]retry.Option{retry.WithThrottle(p), retry.WithHint(throttle.Ignore()), retry.WithStrategy(strategy.ByThrottled{
		Normal: strategy.Constant{Delay: time.Second}, Throttled: strategy.Constant{},
	})}, more...)
}

// TestPoolExecutorTakesAnotherToken at once, and the label says which it was.
func TestPoolExecutorTakesAnotherToken(t *testing.T) {
	clk := retrytest.NewClock()
	tokens := pool.New("t0", "t1", "t2", "t3", "t4")
	server := &poolServer{left: map[string]int{"t1": 1}, wait: 30 * time.Second}
	var recorder retrytest.Recorder
	call := func() (string, error) {
		return retry.Do(t.Context(), func(ctx context.Context) (string, error) { return server.serve(tokens.Key(ctx)) },
			poolOptions(tokens, retry.WithClock(clk), retry.WithObserver(&recorder))...)
	}
	for _, want := range []string{"t0", "t2", "t3", "t4", "t0", "t2"} {
		got, err := call()
		require.NoError(t, err)
		require.Equal(t, "served by "+want, got)
	}
	require.Equal(t, []string{"t0", "t1", "t2", "t3", "t4", "t0", "t2"}, server.seen)
	require.Empty(t, clk.Waits())
	var labels []string
	for _, r := range recorder.Records() {
		for _, s := range r.Starts {
			labels = append(labels, s.Label)
		}
	}
	require.Equal(t, []string{"0", "1", "2", "3", "4", "0", "2"}, labels)

	require.NoError(t, retry.Run(t.Context(), func(context.Context) error { return nil }, retry.WithInitialDelay(30*time.Second, nil), retry.WithClock(clk)))
	for range 3 {
		_, err := call()
		require.NoError(t, err)
	}
	require.Equal(t, []string{"t3", "t4", "t0"}, server.seen[7:])
	_, err := call()
	require.NoError(t, err)
	require.Equal(t, "t1", server.seen[10], "readmitted")
}

// TestPoolExecutorWaitsForTheEarliest: one wait, told before it begins, and no attempt is spent on it.
func TestPoolExecutorWaitsForTheEarliest(t *testing.T) {
	clk := retrytest.NewClock()
	tokens := pool.New("t0", "t1", "t2", "t3", "t4")
	server := &poolServer{left: map[string]int{"t0": 1, "t1": 1, "t2": 1, "t3": 1, "t4": 1}, wait: 30 * time.Second}
	var sources []retry.Source
	got, err := retry.Do(t.Context(), func(ctx context.Context) (string, error) {
		server.wait -= 2 * time.Second
		return server.serve(tokens.Key(ctx))
	}, poolOptions(tokens, retry.WithClock(clk), retry.WithMaxAttempts(6),
		retry.WithOnRetry(func(_ context.Context, e retry.Event) { sources = append(sources, e.Source) }))...)
	require.NoError(t, err)
	require.Equal(t, "served by t4", got, "28 26 24 22 20 s: its cool-down ends first")
	require.Equal(t, []time.Duration{20 * time.Second}, clk.Waits())
	require.Equal(t, []retry.Source{retry.SourcePolicy, retry.SourcePolicy, retry.SourcePolicy, retry.SourcePolicy, retry.SourceThrottle}, sources)

	// The next call finds the rest of them cooling, and none that is worth a wait.
	server.left["t4"] = 1
	server.wait = 5 * time.Minute
	_, err = retry.Do(t.Context(), func(ctx context.Context) (string, error) { return server.serve(tokens.Key(ctx)) },
		poolOptions(tokens, retry.WithClock(clk), retry.WithMaxElapsed(time.Second))...)
	require.ErrorIs(t, err, retry.ErrMaxElapsed)
	require.ErrorIs(t, err, errPoolLimited)
	require.Len(t, clk.Waits(), 1, "not even begun")
}

// TestPoolExecutorRefuses: with both errors.
func TestPoolExecutorRefuses(t *testing.T) {
	clk := retrytest.NewClock()
	tokens := pool.New("t0")
	server := &poolServer{left: map[string]int{"t0": 1}, wait: 2 * time.Minute}
	call := func() (string, error) {
		return retry.Do(t.Context(), func(ctx context.Context) (string, error) { return server.serve(tokens.Key(ctx)) }, poolOptions(tokens, retry.WithClock(clk))...)
	}
	for range 2 { // after an attempt, and before the first
		_, err := call()
		require.ErrorIs(t, err, retry.ErrHintTooLong)
		require.ErrorIs(t, err, errPoolLimited)
		refusal, ok := errors.AsType[*throttle.Error](err)
		require.True(t, ok)
		require.Equal(t, 2*time.Minute, refusal.Remaining)
	}
	require.Len(t, server.seen, 1)
	tokens.Remove("t0")
	_, err := call()
	require.ErrorIs(t, err, retry.ErrRefused)
	require.ErrorIs(t, err, pool.ErrNoKeys)
	_, err = retry.New(retry.WithThrottle(&pool.Pool[int]{Max: -1}))
	require.ErrorIs(t, err, retry.ErrConfig)
}

// TestPoolExecutorOtherFailures: those of the server are waited for by the policy, and the token is as good as before.
func TestPoolExecutorOtherFailures(t *testing.T) {
	clk := retrytest.NewClock()
	tokens := pool.New("t0", "t1")
	var seen []string
	err := retry.Run(t.Context(), func(ctx context.Context) error {
		seen = append(seen, tokens.Key(ctx))
		if len(seen) < 4 {
			return errors.New("502 bad gateway")
		}
		return nil
	}, poolOptions(tokens, retry.WithClock(clk))...)
	require.NoError(t, err)
	require.Equal(t, []string{"t0", "t1", "t0", "t1"}, seen)
	require.Equal(t, []time.Duration{time.Second, time.Second, time.Second}, clk.Waits())
	err = retry.Run(t.Context(), func(context.Context) error { return retry.Permanent(errors.New("404 not found")) }, poolOptions(tokens)...)
	require.Error(t, err)
	for _, s := range tokens.Stats(clk.Now()) {
		require.Zero(t, s.Failures)
		require.Zero(t, s.Limited)
	}
}

// TestPoolExecutorEnds: a trial that a later throttle refuses, that panics or is cancelled does not hold its token.
func TestPoolExecutorEnds(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *pool.Pool[string]){
		"refused": func(t *testing.T, tokens *pool.Pool[string]) {
			refuse := throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, errPoolLimited })
			err := retry.Run(t.Context(), func(context.Context) error { return nil }, poolOptions(tokens, retry.WithThrottle(refuse))...)
			require.ErrorIs(t, err, retry.ErrRefused)
		},
		"panic": func(t *testing.T, tokens *pool.Pool[string]) {
			require.Panics(t, func() {
				_ = retry.Run(t.Context(), func(context.Context) error { panic("no") }, poolOptions(tokens)...)
			})
		},
		"cancelled": func(t *testing.T, tokens *pool.Pool[string]) {
			ctx, cancel := context.WithCancel(t.Context())
			err := retry.Run(ctx, func(context.Context) error { cancel(); return ctx.Err() }, poolOptions(tokens)...)
			require.ErrorIs(t, err, context.Canceled)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			tokens := pool.New("t0")
			lease, err := tokens.Acquire(time.Now())
			require.NoError(t, err)
			lease.Done(time.Now(), throttle.Outcome{Err: errPoolLimited, Class: throttle.Throttled})
			time.Sleep(time.Second)
			end(t, tokens)
			lease, err = tokens.Acquire(time.Now())
			require.NoError(t, err, name)
			_, err = tokens.Acquire(time.Now())
			require.Error(t, err, "it is a trial again: %s", name)
			lease.Done(time.Now(), throttle.Outcome{})
		})
	}
}

// TestPoolExecutorManyCalls: they wait for the tokens, and none of them is lost or made without one.
func TestPoolExecutorManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := pool.New("t0", "t1", "t2", "t3", "t4")
		for range 5 {
			lease, err := tokens.Acquire(time.Now())
			require.NoError(t, err)
			lease.Done(time.Now(), throttle.Outcome{Err: retry.After(30*time.Second, errPoolLimited)})
		}
		start, done := time.Now(), make(chan time.Duration, 200)
		for range 200 {
			go func() {
				err := retry.Run(t.Context(), func(ctx context.Context) error {
					if tokens.Key(ctx) == "" {
						t.Error("an attempt without a token")
					}
					return nil
				}, poolOptions(tokens)...)
				if err != nil {
					t.Error(err)
				}
				done <- time.Since(start)
			}()
		}
		first := 0
		for range 200 {
			after := <-done
			require.GreaterOrEqual(t, after, 30*time.Second)
			require.Less(t, after, 31*time.Second)
			if after == 30*time.Second {
				first++
			}
		}
		require.Equal(t, 5, first, "one for each token")
		for _, s := range tokens.Stats(time.Now()) {
			require.Zero(t, s.Failures)
			require.InDelta(t, 41, s.Uses, 8)
		}
	})
}
