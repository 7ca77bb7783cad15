package docs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// This file is the new code of migrating.md for the libraries after avast/retry-go, as migrating_test.go is that before.

type retryable struct{ error }

func (e retryable) Unwrap() error { return e.error }

var onlyMarked = retry.MustNew(retry.WithCondition(condition.Only(condition.As[retryable]())))

// k8s.io/apimachinery/pkg/api/errors.
var apierrors = struct{ IsConflict func(error) bool }{func(err error) bool { return errors.Is(err, ErrBusy) }}

var onConflict = retry.MustNew(
	retry.WithCondition(condition.Only(condition.If(apierrors.IsConflict))),
	retry.WithStrategy(strategy.Constant{Delay: 10 * time.Millisecond}),
	retry.WithJitter(strategy.Proportional(0.1)),
)

var likeAWS = retry.MustNew(
	retry.WithMaxAttempts(3),
	retry.WithCondition(condition.Only(condition.AWS())),
	retry.WithStrategy(strategy.ByThrottled{
		Normal:    strategy.FullJitter{Base: 50 * time.Millisecond, Max: 20 * time.Second},
		Throttled: strategy.FullJitter{Base: time.Second, Max: 20 * time.Second},
	}),
	retry.WithBudget(throttle.NewTokenBudget()),
)

func migratingSethvargo(ctx context.Context, db interface{ PingContext(context.Context) error }) error {
	err := retry.Run(ctx, func(ctx context.Context) error {
		return db.PingContext(ctx)
	},
		retry.WithMaxAttempts(5),
		retry.WithStrategy(strategy.Fibonacci{First: time.Second, Second: 2 * time.Second, Max: 10 * time.Second}),
	)
	return err
}

func migratingFailsafe(ctx context.Context, fetch func(context.Context, int) (User, error), id int) (User, error) {
	policy := retry.MustNew(
		retry.WithCondition(condition.Only(condition.Is(ErrBusy))),
		retry.WithStrategy(strategy.Exponential{Base: 100 * time.Millisecond, Max: 5 * time.Second}),
		retry.WithJitter(strategy.Proportional(0.25)),
		retry.WithMaxAttempts(5),
	)
	user, err := retry.Do(ctx, func(ctx context.Context) (User, error) {
		return fetch(ctx, id)
	}, policy)
	return user, err
}

func migratingConflict(ctx context.Context, update func(context.Context, string) error, pod string) error {
	err := retry.Run(ctx, func(ctx context.Context) error {
		return update(ctx, pod)
	}, onConflict)
	return err
}

func migratingPoll(ctx context.Context, ready func(context.Context, string) (bool, error), name string) error {
	_, err := retry.Poll(ctx, time.Second, func(ctx context.Context) (any, bool, error) {
		done, err := ready(ctx, name)
		return nil, done, err
	}, retry.WithMaxElapsed(time.Minute))
	return err
}

func migratingDskit(ctx context.Context, push func(context.Context) error) error {
	loop := retry.NewLoop(ctx,
		retry.WithMaxAttempts(10),
		retry.WithStrategy(strategy.EqualJitter{Base: 200 * time.Millisecond, Max: 10 * time.Second}),
	)
	for try := range loop.Tries() {
		try.Fail(push(try.Context())) // nil: done
	}
	return loop.Err()
}

// What github.com/aws/aws-sdk-go-v2 has by these names.
type (
	sdkConfig struct{ RetryMaxAttempts int }
	sdkClient struct{ attempts int }
	Item      struct{}
)

var dynamodb = struct{ NewFromConfig func(sdkConfig) sdkClient }{func(c sdkConfig) sdkClient { return sdkClient{c.RetryMaxAttempts} }}

func migratingAWS(ctx context.Context, cfg sdkConfig, load func(context.Context, sdkClient, string) (Item, error), key string) (Item, error) {
	cfg.RetryMaxAttempts = 1
	client := dynamodb.NewFromConfig(cfg)
	item, err := retry.Do(ctx, func(ctx context.Context) (Item, error) {
		return load(ctx, client, key)
	}, likeAWS, retry.WithMaxAttempts(5))
	return item, err
}

type MyError struct{}

func (MyError) Error() string { return "mine" }

func migratingMoreLines(observer retry.Observer, limiter interface{ Wait(context.Context) error }, budget throttle.Budget, stopCh <-chan struct{}) (found []any) {
	var (
		n        int
		d, max   time.Duration
		v        User
		err      error
		errs     []error
		codes    []string
		next     func() (time.Duration, bool)
		wait     func(int, error) time.Duration
		classify func(User, error) throttle.Outcome
		cached   func(context.Context, error) (User, error)
		allow    func() (func(error), error)
		log      func(int, error, time.Duration)
		interval time.Duration
	)
	return append(found,
		retry.WithMaxAttempts(3), retry.WithStrategy(strategy.Constant{}),
		retry.WithRule(condition.Is(err), retry.WithMaxAttempts(n)),
		retry.WithBudget(&throttle.TokenBudget{Capacity: 100, RetryCost: 5}), retry.WithBudget(budget),
		retry.WithBudget(&throttle.TokenBudget{Capacity: n}),
		retry.WithBudget(&throttle.TokenBudget{RetryCost: 5, TimeoutCost: 10}),
		retry.WithBudget(throttle.NewInFlightBudget()),
		strategy.Fibonacci{First: d, Second: 2 * d}, strategy.EqualJitter{Base: 2 * d, Max: max},
		strategy.Func(func(strategy.State) (time.Duration, bool) { d, stop := next(); return d, !stop }),
		strategy.Func(func(strategy.State) (time.Duration, bool) { return d + rand.N(max-d+1), true }),
		strategy.Func(func(s strategy.State) (time.Duration, bool) { return wait(s.Number, s.Err), true }),
		condition.Only(condition.Is(errs...)), condition.Only(condition.As[MyError]()),
		condition.Func(func(err error) condition.Verdict { return condition.Unknown }),
		retry.WithCondition(condition.Not(condition.Is(errs...))), retry.WithCondition(condition.Not(condition.As[MyError]())),
		retry.WithCondition(condition.Only(condition.ErrorCode(codes...), condition.AWS())),
		retry.WithRetryResult(func(u User) bool { return u == v }),
		retry.WithResults(retry.Results[User]{Classify: classify}),
		retry.WithFallback(func(ctx context.Context, err error) (User, error) { return cached(ctx, err) }),
		retry.WithOnRetry(func(_ context.Context, e retry.Event) { log(e.Number, e.Err, e.Delay) }),
		retry.WithBeforeRetry(func(_ context.Context, e retry.Event) error { log(e.Number, e.Err, e.Delay); return nil }),
		retry.WithObserver(observer), retry.WithMaxDelay(d), retry.WithResetAfter(d), retry.WithInitialDelay(interval, nil),
		retry.WithThrottle(throttle.Breaker{Allow: allow}), retry.WithThrottle(throttle.Limit(limiter)), retry.WithThrottle(&throttle.Adaptive{}),
		retry.WithRetryIf(func(error) bool { return false }), retry.WithStop(stopCh), retry.Config{},
	)
}

func migratingMoreCalls(ctx context.Context, f func(context.Context) error, policy *retry.Policy, interval time.Duration) (found []any) {
	var (
		d, period time.Duration
		factor    float64
		retriable func(error) bool
		condition func(context.Context) (bool, error)
		look      func(context.Context) (User, bool, error)
		gaveUp    *retry.Error
		done      chan error
	)
	go func() { done <- retry.Run(ctx, f, policy) }()
	err := retry.Run(ctx, f, policy, retry.WithRetryIf(retriable))
	found = append(found, err, errors.As(err, &gaveUp), errors.Is(err, retry.ErrBudget), retry.WithStop(ctx.Done()))
	ready, err := retry.Do(ctx, condition, policy, retry.WithRetryResult(func(done bool) bool { return !done }))
	found = append(found, ready, err)
	user, err := retry.Poll(ctx, interval, look)
	found = append(found, user, err)
	user, err = retry.Poll(ctx, interval, look, retry.WithMaxElapsed(d))
	found = append(found, user, err)
	err = retry.Supervise(ctx, f, retry.WithStrategy(strategy.Constant{Delay: period}))
	found = append(found, err)
	err = retry.Supervise(ctx, f, retry.WithStrategy(strategy.Constant{Delay: period}), retry.WithJitter(strategy.Proportional(factor)))
	found = append(found, err)
	attempt, ok := retry.AttemptFrom(ctx)
	found = append(found, attempt, ok)
	flow := policy.Begin(time.Now(), time.Time{}, nil)
	step := flow.Fail(ctx, err, time.Now())
	found = append(found, step)
	for try := range retry.NewLoop(ctx).Tries() {
		try.Fail(retry.Restart(err))
		found = append(found, try.Number())
	}
	{
		f := func(context.Context) (User, error) { return User{}, nil }
		user, err := retry.Do(ctx, f, policy)
		found = append(found, user, err)
	}
	return found
}

var _ = []any{migratingMoreLines, migratingMoreCalls}

// failing runs op, or what fails with err, and returns the waits, drawn at r, and the error.
func failing(t *testing.T, err error, r float64, opts ...retry.Option) ([]time.Duration, error) {
	clk := retrytest.NewClock()
	opts = append(opts, retry.WithRand(func() float64 { return r }))
	err = retry.Run(retry.ContextWithClock(t.Context(), clk), func(context.Context) error { return err }, opts...)
	return clk.Waits(), err
}

const almost1 = 1 - 1e-12

// near holds waits to what they should be, but for what the last bit of a draw makes.
func near(t *testing.T, want []time.Duration, got []time.Duration) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range got {
		require.InDelta(t, want[i], got[i], 1000, "%v", got)
	}
}

// What the page says about the policies that stand for those of others.
func TestMigratingMorePolicies(t *testing.T) {
	ms := time.Millisecond
	waits, err := failing(t, ErrBusy, 0, onConflict)
	require.ErrorIs(t, err, retry.ErrExhausted)
	near(t, []time.Duration{9 * ms, 9 * ms, 9 * ms, 9 * ms}, waits)
	waits, _ = failing(t, ErrBusy, almost1, onConflict)
	near(t, []time.Duration{11 * ms, 11 * ms, 11 * ms, 11 * ms}, waits)
	_, err = failing(t, io.EOF, 0, onConflict)
	require.Equal(t, io.EOF, err)

	waits, err = failing(t, fmt.Errorf("outer: %w", retryable{io.EOF}), 0.5, onlyMarked)
	require.Len(t, waits, 4)
	require.ErrorContains(t, err, "outer: EOF (retry: gave up after 5 attempts")
	_, err = failing(t, io.EOF, 0, onlyMarked)
	require.Equal(t, io.EOF, err)

	aws := retry.MustNew(likeAWS, retry.WithBudget(throttle.NewTokenBudget())) // for whoever runs this test twice
	waits, _ = failing(t, awsCode("RequestTimeout"), almost1, aws)
	near(t, []time.Duration{50 * ms, 100 * ms}, waits)
	waits, _ = failing(t, awsCode("ThrottlingException"), almost1, aws)
	near(t, []time.Duration{1000 * ms, 2000 * ms}, waits)
	_, err = failing(t, awsCode("ValidationException"), 0, aws)
	require.Equal(t, awsCode("ValidationException"), err)
	waits, err = failing(t, awsCode("RequestTimeout"), 0.5, aws, retry.WithMaxAttempts(1000))
	require.ErrorIs(t, err, retry.ErrBudget)
	require.Len(t, waits, (500-2*14-2*5)/14)
	waits, err = failing(t, awsCode("RequestTimeout"), 0.5, aws)
	require.ErrorIs(t, err, retry.ErrBudget, "it is the budget of all calls")
	require.Empty(t, waits)

	// avast/retry-go's bucket: 100 tokens, 5 for a retry.
	waits, err = failing(t, io.EOF, 0.5, retry.WithUnlimitedAttempts(), retry.WithBudget(&throttle.TokenBudget{Capacity: 100, RetryCost: 5}))
	require.ErrorIs(t, err, retry.ErrBudget)
	require.Len(t, waits, 20)
	// And its limit for an error, with the limit of all.
	waits, err = failing(t, io.EOF, 0.5, retry.WithRule(condition.Is(io.EOF), retry.WithMaxAttempts(7)))
	require.ErrorIs(t, err, retry.ErrExhausted)
	require.Len(t, waits, 6)
}

type pinger func(context.Context) error

func (p pinger) PingContext(ctx context.Context) error { return p(ctx) }

func TestMigratingMoreCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		require.ErrorIs(t, migratingSethvargo(t.Context(), pinger(answers(io.EOF))), retry.ErrExhausted)
		require.Equal(t, (1+2+3+5)*time.Second, time.Since(start))

		fetch := func(err error) func(context.Context, int) (User, error) {
			return func(context.Context, int) (User, error) { return User{}, err }
		}
		start = time.Now()
		_, err := migratingFailsafe(t.Context(), fetch(ErrBusy), 1)
		require.ErrorIs(t, err, retry.ErrExhausted)
		require.InDelta(t, 1.5, time.Since(start).Seconds(), 1.5*0.25) // 100 + 200 + 400 + 800 ms
		_, err = migratingFailsafe(t.Context(), fetch(io.EOF), 1)
		require.Equal(t, io.EOF, err)

		require.NoError(t, migratingConflict(t.Context(), func(ctx context.Context, _ string) error { return nil }, ""))

		looks := 0
		require.ErrorIs(t, migratingPoll(t.Context(), func(context.Context, string) (bool, error) { looks++; return false, io.EOF }, ""), io.EOF)
		require.Equal(t, 5, looks)
		require.NoError(t, migratingPoll(t.Context(), func(context.Context, string) (bool, error) { looks++; return looks > 7, nil }, ""))
		require.ErrorIs(t, migratingPoll(t.Context(), func(context.Context, string) (bool, error) { return false, nil }, ""), retry.ErrMaxElapsed)

		start = time.Now()
		require.ErrorIs(t, migratingDskit(t.Context(), answers(io.EOF)), io.EOF)
		low := 100*(1<<6-1)*time.Millisecond + 3*5*time.Second
		require.GreaterOrEqual(t, time.Since(start), low)
		require.LessOrEqual(t, time.Since(start), 2*low)
		require.NoError(t, migratingDskit(t.Context(), answers(io.EOF, nil)))

		attempts := 0
		_, err = migratingAWS(t.Context(), sdkConfig{RetryMaxAttempts: 9}, func(_ context.Context, c sdkClient, _ string) (Item, error) {
			require.Equal(t, 1, c.attempts)
			attempts++
			return Item{}, awsCode("Validation")
		}, "")
		require.Equal(t, awsCode("Validation"), err)
		require.Equal(t, 1, attempts)
	})
	synctest.Test(t, func(t *testing.T) { // an interval of Kubernetes' wait package, and a poll with waits that grow
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start, runs := time.Now(), 0
		err := retry.Supervise(ctx, func(context.Context) error { runs++; return nil }, retry.WithStrategy(strategy.Constant{Delay: 3 * time.Second}))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 4, runs)
		start = time.Now()
		done, err := retry.Do(t.Context(), func(context.Context) (bool, error) { return time.Since(start) > 2*time.Second, nil },
			retry.WithStrategy(strategy.Exponential{Base: time.Second}), retry.WithRetryResult(func(done bool) bool { return !done }))
		require.NoError(t, err)
		require.True(t, done)
		require.Equal(t, 3*time.Second, time.Since(start))
	})
}

// awsCode is an error of the SDK's.
type awsCode string

func (e awsCode) ErrorCode() string { return string(e) }
func (e awsCode) Error() string     { return string(e) }
