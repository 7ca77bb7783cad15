package retry_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

func TestPolicyText(t *testing.T) {
	const s = time.Second
	const curve = "waits fulljitter(base=200ms, max=20s), 1.5s on average and 3s at most in all"
	const told = "; told waits up to 1m0s"
	for _, tc := range []struct {
		want string
		opts []retry.Option
	}{
		{"retry: 5 attempts; " + curve + told, nil},
		{`retry "catalogue": 5 attempts, each of at most 2s; ` + curve + ", with the attempts at most 13s; no wait beyond 30s (WithMaxElapsed)" + told + "; with 1 condition, 1 logger",
			[]retry.Option{retry.WithName("catalogue"), retry.WithAttemptTimeout(2 * s), retry.WithMaxAttempts(5), retry.WithMaxElapsed(30 * s),
				retry.WithCondition(condition.Network()), retry.WithLogger(slog.New(slog.DiscardHandler))}},
		{"retry: attempts without limit; waits fulljitter(base=200ms, max=20s), less than 30s in all; no wait beyond 30s (WithMaxElapsed)" + told, []retry.Option{retry.WithMaxElapsed(30 * s)}},
		{"retry: 1 attempt; no retries" + told, []retry.Option{retry.WithMaxAttempts(1)}},
		{"retry: 5 attempts; waits constant(delay=1s), 4s in all" + told, []retry.Option{recEvery(s)}},
		{"retry: 5 attempts; waits exponential(base=200ms, max=20s) with jitter, 1.5s on average and 3s at most in all" + told, []retry.Option{retry.WithJitter(strategy.Full)}},
		{"retry: 3 attempts; waits exponential(base=200ms, max=20s) with jitter, 600ms on average and 750ms at most in all" + told,
			[]retry.Option{retry.WithMaxAttempts(3), retry.WithJitter(strategy.Proportional(0.25))}},
		{"retry: 5 attempts; waits exponential(base=200ms, max=20s) with jitter, at most 3s in all" + told,
			[]retry.Option{retry.WithJitter(func(d, _ time.Duration, r float64) time.Duration { return time.Duration(float64(d) * r * r) })}},
		{"retry: 6 attempts; waits exponential(base=1s) of at most 2s, 9s in all" + told,
			[]retry.Option{retry.WithMaxAttempts(6), retry.WithStrategy(strategy.Exponential{Base: s}), retry.WithMaxDelay(2 * s)}},
		{"retry: 9 attempts; waits sequence(delays=[1s, 2s]), 3s in all" + told,
			[]retry.Option{retry.WithMaxAttempts(9), retry.WithStrategy(strategy.Sequence{Delays: []time.Duration{s, 2 * s}})}},
		{"retry: 5 attempts; waits decorrelated(base=1s), 20.38s on average and 2m0s at most in all" + told, []retry.Option{retry.WithStrategy(strategy.Decorrelated{Base: s})}},
		{"retry: 5 attempts; waits decorrelated(base=1s, max=5s), at most 18s in all" + told, []retry.Option{retry.WithStrategy(strategy.Decorrelated{Base: s, Max: 5 * s})}},
		{"retry: 5 attempts; waits limd" + told, []retry.Option{retry.WithStrategy(&strategy.LIMD{})}},
		{"retry: 5 attempts; waits retry_test.recRude" + told, []retry.Option{retry.WithStrategy(recRude{})}},
		{"retry: attempts without limit; waits fulljitter(base=200ms, max=20s)" + told, []retry.Option{retry.WithUnlimitedAttempts()}},
		{"retry: attempts without limit, each of at most 1s; waits fulljitter(base=200ms, max=20s), less than 30s in all, with the attempts at most 31s; no wait beyond 30s (WithMaxElapsed)" + told,
			[]retry.Option{retry.WithUnlimitedAttempts(), retry.WithMaxElapsed(30 * s), retry.WithAttemptTimeout(s)}},
		{"retry: attempts without limit, each of at most 1s; waits fulljitter(base=200ms, max=20s), less than 30s in all, with the attempts at most 32s; no wait beyond 30s after the first failure (WithMaxRetryElapsed)" + told,
			[]retry.Option{retry.WithUnlimitedAttempts(), retry.WithMaxRetryElapsed(30 * s), retry.WithAttemptTimeout(s)}},
		{"retry: 2 attempts, each of at most 50% of the time left or 1s; waits fulljitter(base=200ms, max=20s), 100ms on average and 200ms at most in all; no wait beyond 9s (WithMaxElapsed)" + told,
			[]retry.Option{retry.WithMaxAttempts(2), retry.WithMaxElapsed(9 * s), retry.WithAttemptTimeoutShare(0.5, s)}},
		{"retry: 5 attempts; " + curve + "; first delay 1s with jitter; told waits up to 5s, Exact(); a reset after 1m0s; a history of 3; with 2 rules, WithRetryIf in the place of conditions, 2 throttles, 1 budget, 2 observers, 2 hooks, 1 hook on results, 1 fallback, 1 stop channel, 1 clock of its own",
			[]retry.Option{retry.WithInitialDelay(s, strategy.Full), retry.WithMaxHint(5 * s), retry.WithHint(recExact), retry.WithResetAfter(time.Minute), retry.WithErrorHistory(3),
				retry.WithRule(ruAuth), retry.WithRule(ruAuth), retry.WithRetryIf(func(error) bool { return true }), retry.WithThrottle(new(throttle.Gate).For("secret"), recOpen),
				retry.WithBudget(recRefusing{}), retry.WithObserver(&recObserver{}), retry.WithObserver(&recObserver{}), recBefore(nil, ""),
				retry.WithOnRetry(func(context.Context, retry.Event) {}), retry.WithRetryResult(func(int) bool { return false }),
				retry.WithFallback(func(context.Context, error) (int, error) { return 0, nil }), retry.WithStop(make(chan struct{})), retry.WithClock(new(recTimerClock))}},
		{`retry "` + strings.Repeat("n", 100) + `"…: 1 attempt; no retries` + told, []retry.Option{retry.WithName(strings.Repeat("n", 1<<20)), retry.WithMaxAttempts(1)}},
		{"retry: 20000 attempts; waits constant(delay=1s)" + told, []retry.Option{retry.WithMaxAttempts(20_000), recEvery(s)}},
		{"retry: 5 attempts, each of at most 2562047h47m16.854775807s; waits constant(delay=2562047h47m16.854775807s), less than 2562047h47m16.854775807s in all, with the attempts at most 2562047h47m16.854775807s" + told,
			[]retry.Option{recEvery(math.MaxInt64), retry.WithAttemptTimeout(math.MaxInt64)}},
	} {
		policy, err := retry.New(tc.opts...)
		require.NoError(t, err)
		require.Equal(t, tc.want, policy.String())
		for _, verb := range []string{"%v", "%+v", "%s"} {
			require.Equal(t, tc.want, fmt.Sprintf(verb, policy))
		}
		require.Equal(t, tc.want, fmt.Sprint(policy))
		require.NotContains(t, tc.want, "\n")
	}
}

func TestPolicyTextOfTheDefault(t *testing.T) {
	want := retry.MustNew().String()
	require.Equal(t, want, (*retry.Policy)(nil).String())
	require.Equal(t, want, new(retry.Policy).String())
	require.Equal(t, want, retry.Config{}.String())
}

func TestConfigText(t *testing.T) {
	for want, c := range map[string]retry.Config{
		"retry: 3 attempts, each of at most 1s; waits fulljitter(base=100ms, max=20s), 150ms on average and 300ms at most in all, with the attempts at most 3.3s; told waits up to 1m0s": {MaxAttempts: 3, BaseDelay: 100 * time.Millisecond, AttemptTimeout: time.Second},
		"retry: attempts without limit; waits constant(delay=1s), less than 10s in all; no wait beyond 10s (WithMaxElapsed); told waits up to 1m0s":                                      {MaxAttempts: retry.Unlimited, Strategy: "constant(delay=1s)", MaxElapsed: 10 * time.Second},
		"retry: unusable: retry: Config.BaseDelay(-1ns): must not be negative (BASE_DELAY); retry: Config.MaxDelay(-2ns): must not be negative (MAX_DELAY)":                              {BaseDelay: -1, MaxDelay: -2},
	} {
		require.Equal(t, want, c.String())
		require.Equal(t, "{Retry:"+want+"}", fmt.Sprintf("%+v", struct{ Retry retry.Config }{c}))
	}
	long := retry.Config{Strategy: strings.Repeat("x", 4<<20)}
	require.Less(t, len(long.String()), 1000)
}

// TestPolicyTextSums: what calls that keep failing wait in all is never more than is said, and on average about what is said.
func TestPolicyTextSums(t *testing.T) {
	for _, opts := range [][]retry.Option{
		nil,
		{retry.WithMaxAttempts(9)},
		{retry.WithMaxAttempts(9), retry.WithMaxDelay(time.Second)},
		{retry.WithStrategy(strategy.EqualJitter{Base: 300 * time.Millisecond, Max: time.Second})},
		{retry.WithStrategy(strategy.Decorrelated{Base: 300 * time.Millisecond})},
		{retry.WithStrategy(strategy.Linear{Initial: time.Second, Increment: time.Second, Max: 3 * time.Second}), retry.WithJitter(strategy.Equal)},
		{retry.WithStrategy(strategy.Fibonacci{First: time.Second, Max: 2 * time.Second}), retry.WithJitter(strategy.Proportional(0.5))},
		{retry.WithStrategy(strategy.Exponential{Base: time.Second}), retry.WithJitter(strategy.Full), retry.WithMaxDelay(3 * time.Second)},
	} {
		policy := retry.MustNew(opts...)
		_, rest, ok := strings.Cut(policy.String(), "), ")
		if !ok || strings.HasPrefix(rest, "told") {
			_, rest, ok = strings.Cut(policy.String(), "with jitter, ")
		}
		if _, after, capped := strings.Cut(policy.String(), "of at most "); capped {
			_, rest, ok = strings.Cut(after, ", ")
		}
		require.True(t, ok, policy)
		words := strings.Fields(rest) // 1.5s on average and 3s at most in all
		average, err := time.ParseDuration(words[0])
		require.NoError(t, err, policy)
		most, err := time.ParseDuration(words[4])
		require.NoError(t, err, policy)

		const calls = 20_000
		draw := rand.New(rand.NewPCG(1, 2)).Float64
		var sum time.Duration
		for range calls {
			flow := policy.Begin(recStart, time.Time{}, draw)
			now, step := recStart, flow.Next(t.Context(), recStart)
			for step.Action != retry.Done {
				if step.Action == retry.Go {
					step = flow.Report(t.Context(), now, throttle.Outcome{Err: errRec})
					continue
				}
				now = now.Add(step.Delay)
				step = flow.Next(t.Context(), now)
			}
			require.LessOrEqual(t, now.Sub(recStart), most+time.Millisecond, policy)
			sum += now.Sub(recStart)
		}
		require.InEpsilon(t, average.Seconds(), (sum / calls).Seconds(), 0.02, policy)
	}
}
