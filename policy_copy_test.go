package retry_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestPolicyOwnsItsSlices: what the caller does with a slice afterwards has no effect.
func TestPolicyOwnsItsSlices(t *testing.T) {
	retries := condition.Func(func(error) condition.Verdict { return condition.Retry })
	stops := condition.Func(func(error) condition.Verdict { return condition.Stop })
	refuses := throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, errRec })

	conditions := []condition.Condition{retries}
	throttles := []throttle.Throttle{recOpen}
	delays := []time.Duration{1, 2}
	opts := []retry.Option{
		retry.WithCondition(conditions...), retry.WithThrottle(throttles...), retry.WithStrategy(strategy.Sequence{Delays: delays}),
	}
	policy := retry.MustNew(opts...)
	conditions[0], throttles[0], delays[0], opts[0] = stops, refuses, 77, retry.WithMaxAttempts(1)

	waits, end := recWaits(t, policy)
	require.Equal(t, []time.Duration{1, 2}, waits)
	require.Equal(t, retry.ErrNoDelay, end.Reason)
}

// TestPolicyOwnsNestedSlices: inside ByThrottled, and by pointer.
func TestPolicyOwnsNestedSlices(t *testing.T) {
	delays := []time.Duration{1, 2}
	sequence := &strategy.Sequence{Delays: delays}
	nested := retry.MustNew(retry.WithStrategy(strategy.ByThrottled{Normal: sequence, Throttled: strategy.Constant{}}))
	pointer := retry.MustNew(retry.WithStrategy(sequence))
	delays[0] = 77
	sequence.Delays = nil
	for _, policy := range []*retry.Policy{nested, pointer} {
		waits, _ := recWaits(t, policy)
		require.Equal(t, []time.Duration{1, 2}, waits)
	}
}

// TestDerivedPoliciesAreIndependent: siblings do not see each other's additions, nor does their parent.
func TestDerivedPoliciesAreIndependent(t *testing.T) {
	var got []string
	on := func(name string) retry.Option {
		return retry.WithOnRetry(func(context.Context, retry.Event) { got = append(got, "on."+name) })
	}
	asks := func(name string) retry.Option {
		return retry.WithCondition(condition.Func(func(error) condition.Verdict { got = append(got, "if."+name); return condition.Unknown }))
	}
	admits := func(name string) retry.Option {
		return retry.WithThrottle(throttle.Func(func(context.Context, time.Time) (time.Duration, error) {
			got = append(got, "admit."+name)
			return 0, nil
		}))
	}
	before := func(name string) retry.Option {
		return retry.WithBeforeRetry(func(context.Context, retry.Event) error { got = append(got, "before."+name); return nil })
	}
	observe := func(name string) retry.Option {
		return retry.WithObserver(recNoticer(func() { got = append(got, "observe."+name) }))
	}
	all := func(name string) []retry.Option {
		return []retry.Option{on(name), asks(name), admits(name), before(name), observe(name)}
	}
	// Three of each leave room behind the parent's slices, which siblings must not share.
	parent := retry.MustNew(append(append(all("1"), all("2")...), all("3")...)...)
	left := retry.MustNew(append([]retry.Option{parent}, all("left")...)...)
	right := retry.MustNew(append([]retry.Option{parent}, all("right")...)...)

	lists := func(names ...string) (want []string) {
		for _, kind := range []string{"observe.", "admit.", "if.", "on.", "before.", "admit.", "if."} {
			for _, name := range names {
				want = append(want, kind+name)
			}
		}
		return want
	}
	for _, tc := range []struct {
		policy *retry.Policy
		want   []string
	}{
		{left, lists("1", "2", "3", "left")},
		{right, lists("1", "2", "3", "right")},
		{parent, lists("1", "2", "3")},
	} {
		got = nil
		require.Error(t, recRun(tc.policy))
		require.Equal(t, tc.want, got)
		got = nil
		require.Error(t, recRun(append([]retry.Option{tc.policy}, all("once")...)...))
		require.Contains(t, got, "on.once")
		got = nil
		require.Error(t, recRun(tc.policy))
		require.Equal(t, tc.want, got, "an override is for one call")
	}
}

// recNoticer is an Observer that is told of starts only.
type recNoticer func()

func (f recNoticer) Start(context.Context, retry.Call) (context.Context, retry.Observation) {
	f()
	return nil, nil
}

// TestConcurrentSafePolicy: one policy, many calls, each with its own curve (P22).
func TestConcurrentSafePolicy(t *testing.T) {
	policy := retry.MustNew(retry.WithStrategy(strategy.Exponential{Base: 1}), retry.WithMaxAttempts(4), retry.WithErrorHistory(2),
		retry.WithOnRetry(func(context.Context, retry.Event) {}))
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			var delays []time.Duration
			err := retry.Run(context.Background(), func(context.Context) error { return errRec }, policy,
				retry.WithOnRetry(func(_ context.Context, e retry.Event) { delays = append(delays, e.Delay) }))
			if len(delays) != 3 || delays[0] != 1 || delays[1] != 2 || delays[2] != 4 || err == nil {
				t.Errorf("delays %v, error %v", delays, err)
			}
		})
	}
	group.Wait()
}
