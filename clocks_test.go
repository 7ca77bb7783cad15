package retry_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// clkPolicy waits 1 s, 2 s and 4 s.
var clkPolicy = retry.MustNew(retry.WithMaxAttempts(4), retry.WithStrategy(strategy.Exponential{Base: time.Second}))

// clkCalls is an operation that always fails, and when it was called.
type clkCalls struct {
	start time.Time
	now   func() time.Time
	at    []time.Duration
}

func (c *clkCalls) call(context.Context) error {
	c.at = append(c.at, c.now().Sub(c.start))
	return errFlaky
}

func clkSystem() *clkCalls { return &clkCalls{start: time.Now(), now: time.Now} }

func TestClockSystemInABubble(t *testing.T) {
	// One after the other in one process: a timer kept from the first would panic in the second.
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			calls := clkSystem()
			err := retry.Run(t.Context(), calls.call, clkPolicy)
			require.ErrorIs(t, err, retry.ErrExhausted)
			require.Equal(t, kbSeconds(0, 1, 3, 7), calls.at)
			require.Equal(t, 7*time.Second, time.Since(calls.start))
			require.Equal(t, 7*time.Second, kbError(t, err).Elapsed)
		})
	}
}

func TestClockSystemInterrupted(t *testing.T) {
	for _, interruption := range []time.Duration{1, 500 * time.Millisecond, time.Second - 1} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			stop := make(chan struct{})
			time.AfterFunc(interruption, cancel)
			calls := clkSystem()
			err := retry.Run(ctx, calls.call, clkPolicy)
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, kbSeconds(0), calls.at)
			require.Equal(t, interruption, time.Since(calls.start))

			time.AfterFunc(interruption, func() { close(stop) })
			calls = clkSystem()
			err = retry.Run(t.Context(), calls.call, clkPolicy, retry.WithStop(stop))
			require.ErrorIs(t, err, retry.ErrShutdown)
			require.Equal(t, kbSeconds(0), calls.at)
			require.Equal(t, interruption, time.Since(calls.start))
		})
	}
}

func TestClockSystemDeadline(t *testing.T) {
	for deadline, want := range map[time.Duration][]time.Duration{
		time.Second:       kbSeconds(0), // equal to the wait
		time.Second + 1:   kbSeconds(0, 1),
		3 * time.Second:   kbSeconds(0, 1),
		3*time.Second + 1: kbSeconds(0, 1, 3),
		7 * time.Second:   kbSeconds(0, 1, 3),
		time.Hour:         kbSeconds(0, 1, 3, 7),
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			calls := clkSystem()
			require.Error(t, retry.Run(ctx, calls.call, clkPolicy))
			require.Equal(t, want, calls.at, "%v", deadline)
			require.Equal(t, want[len(want)-1], time.Since(calls.start), "%v", deadline)
			require.NoError(t, ctx.Err())
		})
	}
}

// TestClockMockBehindABarrier drives benbjohnson's mock from within a bubble: once synctest.Wait returns, the call is in its
// wait.
func TestClockMockBehindABarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mock := clock.NewMock()
		calls := &clkCalls{start: mock.Now(), now: mock.Now}
		done := make(chan error, 1)
		go func() { done <- retry.Run(t.Context(), calls.call, clkPolicy, retry.WithClock(mock)) }()
		for i, wait := range kbSeconds(1, 2, 4) {
			synctest.Wait()
			mock.Add(wait - 1)
			synctest.Wait()
			require.Len(t, calls.at, i+1, "a nanosecond is left of the wait")
			mock.Add(1)
		}
		require.ErrorIs(t, <-done, retry.ErrExhausted)
		require.Equal(t, kbSeconds(0, 1, 3, 7), calls.at)
	})
}

// clkArmed is benbjohnson's mock, and says when a wait has begun.
type clkArmed struct {
	*clock.Mock
	armed chan time.Duration
}

func (c clkArmed) After(d time.Duration) <-chan time.Time {
	fired := c.Mock.After(d)
	c.armed <- d
	return fired
}

// TestClockMockWithASignal drives the same mock without a bubble. WithOnRetry would not do as the signal: it comes before
// the timer exists.
func TestClockMockWithASignal(t *testing.T) {
	mock := clkArmed{clock.NewMock(), make(chan time.Duration)}
	calls := &clkCalls{start: mock.Now(), now: mock.Now}
	done := make(chan error, 1)
	go func() { done <- retry.Run(t.Context(), calls.call, clkPolicy, retry.WithClock(mock)) }()
	for _, want := range kbSeconds(1, 2, 4) {
		wait := <-mock.armed
		require.Equal(t, want, wait)
		mock.Add(wait)
	}
	require.ErrorIs(t, <-done, retry.ErrExhausted)
	require.Equal(t, kbSeconds(0, 1, 3, 7), calls.at)
}

func TestClockMockLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mock := clock.NewMock()
		_, err := kbRun(t.Context(), errFlaky, clkPolicy, retry.WithClock(mock), retry.WithMaxElapsed(time.Second))
		require.ErrorIs(t, err, retry.ErrMaxElapsed)

		ctx, cancel := mock.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = kbRun(ctx, errFlaky, clkPolicy, retry.WithClock(mock))
		require.ErrorIs(t, err, retry.ErrDeadline, "the deadline is compared on the clock that waits")
	})
}

func TestClockMockAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mock := clock.NewMock()
		calls := &clkCalls{start: mock.Now(), now: mock.Now}
		start := time.Now()
		done := make(chan error, 1)
		go func() {
			done <- retry.Run(t.Context(), func(ctx context.Context) error {
				_ = calls.call(ctx)
				<-ctx.Done()
				return ctx.Err()
			}, retry.WithClock(mock), retry.WithAttemptTimeout(time.Minute), retry.WithMaxAttempts(3), kbConstant(time.Hour))
		}()
		for i := range 3 {
			synctest.Wait()
			require.Len(t, calls.at, i+1)
			mock.Add(time.Minute - 1)
			synctest.Wait()
			mock.Add(1)
			synctest.Wait()
			mock.Add(time.Hour)
		}
		err := <-done
		require.ErrorIs(t, err, retry.ErrAttemptTimeout)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, retry.ErrExhausted)
		require.Equal(t, []time.Duration{0, 61 * time.Minute, 122 * time.Minute}, calls.at)
		require.Less(t, time.Since(start), time.Minute, "the system's clock had no part in it")
	})
}

func TestClockMockAttemptTimeoutWithKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mock := &kbTimers{Mock: clock.NewMock()}
		calls := 0
		done := make(chan *kbBody)
		go func() {
			body, err := retry.Do(t.Context(), func(ctx context.Context) (*kbBody, error) {
				if calls++; calls == 1 {
					<-ctx.Done()
					return nil, context.Cause(ctx)
				}
				return &kbBody{ctx: ctx}, nil
			}, kbKeep(), retry.WithClock(mock), retry.WithAttemptTimeout(time.Minute), kbConstant(0))
			assert.NoError(t, err)
			done <- body
		}()
		synctest.Wait()
		mock.Add(time.Minute)
		body := <-done
		require.Equal(t, 2, calls)
		mock.Add(time.Hour)
		synctest.Wait()
		require.NoError(t, body.ctx.Err())
		require.False(t, mock.pending())
		body.release()
		require.ErrorIs(t, body.ctx.Err(), context.Canceled)
	})
}

// clkAuto is a clock with only the two methods that it needs. Every wait passes at once, on its own time.
type clkAuto struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Duration
}

func (c *clkAuto) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clkAuto) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, d)
	c.now = c.now.Add(d)
	fired := make(chan time.Time, 1)
	fired <- c.now
	return fired
}

func TestClockWithTwoMethods(t *testing.T) {
	auto := new(clkAuto)
	calls := &clkCalls{now: auto.Now}
	err := retry.Run(t.Context(), calls.call, clkPolicy, retry.WithClock(auto))
	require.Equal(t, kbSeconds(1, 2, 4), auto.waits)
	require.Equal(t, kbSeconds(0, 1, 3, 7), calls.at)
	require.Equal(t, 7*time.Second, kbError(t, err).Elapsed)

	// Attempt timeouts then run on the system's clock.
	synctest.Test(t, func(t *testing.T) {
		start, before := time.Now(), auto.Now()
		err := retry.Run(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			retry.WithClock(auto), retry.WithAttemptTimeout(time.Minute), retry.WithMaxAttempts(1))
		require.ErrorIs(t, err, retry.ErrAttemptTimeout)
		require.Equal(t, time.Minute, time.Since(start))
		require.Equal(t, before, auto.Now())
	})
}

// clkTimers is clkAuto with timers, which pass only if told to.
type clkTimers struct {
	clkAuto
	passes                 bool
	made, stopped, pending int
}

func (c *clkTimers) NewTimer(d time.Duration) (<-chan time.Time, func() bool) {
	c.made++
	if c.passes {
		return c.clkAuto.After(d), func() bool { c.stopped++; return false }
	}
	c.pending++
	return make(chan time.Time), func() bool { c.stopped++; c.pending--; return true }
}

func (c *clkTimers) After(time.Duration) <-chan time.Time { panic("the clock has timers") }

func TestClockWithTimers(t *testing.T) {
	c := &clkTimers{passes: true}
	_, err := kbRun(t.Context(), errFlaky, clkPolicy, retry.WithClock(c))
	require.ErrorIs(t, err, retry.ErrExhausted)
	require.Equal(t, kbSeconds(1, 2, 4), c.waits)
	require.Equal(t, 3, c.made)
	require.Zero(t, c.stopped, "a timer that fired needs no stopping")

	synctest.Test(t, func(t *testing.T) {
		c := new(clkTimers)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := kbRun(ctx, errFlaky, clkPolicy, retry.WithClock(c))
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 1, c.made)
		require.Equal(t, 1, c.stopped)
		require.Zero(t, c.pending)
	})
}

func TestClockOneTimerPerCall(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	allocs := func(attempts int) float64 {
		policy := retry.MustNew(retry.WithMaxAttempts(attempts), kbConstant(1))
		return testing.AllocsPerRun(20, func() { _ = retry.Run(t.Context(), func(context.Context) error { return errFlaky }, policy) })
	}
	require.Equal(t, allocs(2), allocs(31), "one wait and thirty")
}

func TestClockPrecedence(t *testing.T) {
	var none *clkAuto
	for _, tc := range []struct {
		name                    string
		inContext, inPolicy     bool
		other                   retry.Clock // put into the context on top, if overridden
		overridden              bool
		context, policy, system []time.Duration // the waits on each
	}{
		{name: "system", system: kbSeconds(1, 2, 4)},
		{name: "policy", inPolicy: true, policy: kbSeconds(1, 2, 4)},
		{name: "context", inContext: true, context: kbSeconds(1, 2, 4)},
		{name: "both", inContext: true, inPolicy: true, context: kbSeconds(1, 2, 4)},
		{name: "nil over both", inContext: true, inPolicy: true, overridden: true, system: kbSeconds(1, 2, 4)},
		{name: "typed nil over both", inContext: true, inPolicy: true, overridden: true, other: none, system: kbSeconds(1, 2, 4)},
		{name: "nearest", inContext: true, overridden: true, other: new(clkAuto)},
	} {
		synctest.Test(t, func(t *testing.T) {
			inContext, inPolicy := new(clkAuto), new(clkAuto)
			ctx, opts := t.Context(), []retry.Option{clkPolicy}
			if tc.inContext {
				ctx = retry.ContextWithClock(ctx, inContext)
			}
			if tc.inPolicy {
				opts = append(opts, retry.WithClock(inPolicy))
			}
			if tc.overridden {
				ctx = retry.ContextWithClock(ctx, tc.other)
			}
			calls := clkSystem()
			err := retry.Run(ctx, calls.call, opts...)
			require.ErrorIs(t, err, retry.ErrExhausted)
			require.Equal(t, tc.context, inContext.waits, tc.name)
			require.Equal(t, tc.policy, inPolicy.waits, tc.name)
			if tc.system == nil {
				require.Equal(t, kbSeconds(0, 0, 0, 0), calls.at, tc.name)
			} else {
				require.Equal(t, kbSeconds(0, 1, 3, 7), calls.at, tc.name)
			}
			if other, ok := tc.other.(*clkAuto); ok && other != nil {
				require.Equal(t, kbSeconds(1, 2, 4), other.waits, tc.name)
			}
		})
	}
	for _, c := range []retry.Clock{nil, none} {
		_, err := retry.New(retry.WithClock(c))
		require.ErrorIs(t, err, retry.ErrConfig)
	}
}

func TestClockOfNestedCalls(t *testing.T) {
	inner := func(ctx context.Context, opts ...retry.Option) error {
		return retry.Run(ctx, func(context.Context) error { return errFlaky }, append([]retry.Option{clkPolicy}, opts...)...)
	}
	synctest.Test(t, func(t *testing.T) { // the context's reaches them, whatever they are told
		auto, own := new(clkAuto), new(clkAuto)
		start := time.Now()
		ctx := retry.ContextWithClock(t.Context(), auto)
		_ = retry.Run(ctx, func(ctx context.Context) error { return inner(ctx, retry.WithClock(own)) },
			retry.WithMaxAttempts(2), kbConstant(10*time.Second), retry.WithAttemptInfo(), retry.WithAttemptTimeout(time.Hour))
		require.Equal(t, kbSeconds(1, 2, 4, 10, 1, 2, 4), auto.waits)
		require.Empty(t, own.waits)
		require.Zero(t, time.Since(start))
	})
	synctest.Test(t, func(t *testing.T) { // a policy's does not
		auto := new(clkAuto)
		start := time.Now()
		_ = retry.Run(t.Context(), func(ctx context.Context) error { return inner(ctx) },
			retry.WithMaxAttempts(2), kbConstant(10*time.Second), retry.WithAttemptInfo(), retry.WithClock(auto))
		require.Equal(t, kbSeconds(10), auto.waits)
		require.Equal(t, 14*time.Second, time.Since(start))
	})
}

// clkBudget notes the time that a budget is told.
type clkBudget struct{ at []time.Time }

func (b *clkBudget) Start(now time.Time) { b.at = append(b.at, now) }
func (b *clkBudget) Charge(now time.Time, _ throttle.Class, held int, _ bool) (int, bool) {
	b.at = append(b.at, now)
	return held, true
}
func (b *clkBudget) Settle(now time.Time, _ bool, _ int) { b.at = append(b.at, now) }

func TestClockReachesThrottlesAndBudget(t *testing.T) {
	epoch := time.Unix(1_000_000, 0)
	at := func(seconds ...int) (all []time.Time) {
		for _, s := range kbSeconds(seconds...) {
			all = append(all, epoch.Add(s))
		}
		return all
	}
	for _, inContext := range []bool{false, true} {
		auto, budget := &clkAuto{now: epoch}, new(clkBudget)
		var asked []time.Time
		ctx, opt := t.Context(), retry.WithClock(auto)
		if inContext {
			ctx, opt = retry.ContextWithClock(ctx, auto), retry.WithName("")
		}
		_, err := kbRun(ctx, errFlaky, clkPolicy, opt, retry.WithBudget(budget), retry.WithThrottle(throttle.Func(
			func(_ context.Context, now time.Time) (time.Duration, error) {
				asked = append(asked, now)
				return 0, nil
			})))
		require.ErrorIs(t, err, retry.ErrExhausted)
		require.Equal(t, at(0, 1, 3, 7), asked)
		require.Equal(t, at(0, 0, 1, 3, 7, 7), budget.at, "start, four failures, end")
	}
}
