package cenkalti_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy/cenkalti"
)

// That no call goes another way than v4's is in differential_test.go; here are the ends that programs look at, and what v4 leaves
// to chance or to a panic.

// engines are the functions of v4 and of this package.
var engines = map[string]func(backoff.OperationWithData[int], backoff.BackOff, backoff.Notify, backoff.Timer) (int, error){
	"v4":   backoff.RetryNotifyWithTimerAndData[int],
	"here": cenkalti.RetryNotifyWithTimerAndData[int],
}

// A context that ends the call: its error, bare, for programs that compare with == as restic's tests do, or print it as
// go-sse's do. The operation's error and the cause are what retry.Run adds.
func TestContextErrorIsBare(t *testing.T) {
	for name, engine := range engines {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			began := time.Now()
			time.AfterFunc(500*ms, func() { cancel(errors.New("shift is over")) })
			v, err := engine(func() (int, error) { return 7, errDown }, backoff.WithContext(backoff.NewConstantBackOff(10*time.Second), ctx), nil, nil)
			require.Equal(t, 500*ms, time.Since(began), name)
			require.Equal(t, 7, v, name)
			require.True(t, err == context.Canceled, name)
			require.Equal(t, "failed: context canceled", fmt.Sprintf("failed: %v", err), name)
		})
	}
}

// As restic does: a final failure is reported once more, but not if it was the context that ended the call. The call must
// therefore not end for a deadline that has not come yet.
func TestDeadlineComesBeforeTheEnd(t *testing.T) {
	for name, engine := range engines {
		for _, wait := range []time.Duration{time.Second + 1, 10 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				var told []time.Duration
				notify := func(_ error, d time.Duration) { told = append(told, d) }
				_, err := engine(func() (int, error) { return 0, errDown }, backoff.WithContext(backoff.NewConstantBackOff(wait), ctx), notify, nil)
				if err != nil && ctx.Err() == nil {
					notify(err, -1)
				}
				require.True(t, err == context.DeadlineExceeded, name)
				require.Equal(t, time.Second, time.Since(began), name)
				require.Equal(t, []time.Duration{wait}, told, name)
			})
		}
	}
}

// A context that is done beforehand: the operation is called once, and a success counts.
func TestDoneContextStillMeansOneAttempt(t *testing.T) {
	for name, engine := range engines {
		for _, inner := range []backoff.BackOff{&backoff.ZeroBackOff{}, &backoff.StopBackOff{}} {
			b := backoff.WithContext(inner, cancelled(errors.New("late")))
			v, err := engine(func() (int, error) { return 5, nil }, b, nil, nil)
			require.NoError(t, err, name)
			require.Equal(t, 5, v)

			calls := 0
			_, err = engine(func() (int, error) { calls++; return 0, errDown }, b, func(error, time.Duration) { t.Error("no retry follows") }, nil)
			require.Equal(t, 1, calls)
			require.True(t, err == context.Canceled, name)
		}
	}
}

// P09: a context that ended in Notify or with the wait is noticed before the next attempt. v4 tosses a coin where the wait is
// over too.
func TestContextIsCheckedBeforeEveryAttempt(t *testing.T) {
	for range 1000 {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		err := cenkalti.RetryNotifyWithTimer(func() error { calls++; return errDown },
			stubborn{&cenkalti.ZeroBackOff{}, ctx}, func(error, time.Duration) { cancel() }, new(zeroTimer))
		require.Equal(t, 1, calls)
		require.True(t, err == context.Canceled)
	}
}

// A policy that does not look at its context: Notify is called, and the wait begins.
func TestPolicyThatIgnoresItsContext(t *testing.T) {
	for name, engine := range engines {
		ctx, cancel := context.WithCancel(context.Background())
		notified, timer := 0, new(deafTimer)
		_, err := engine(func() (int, error) { cancel(); return 0, errDown }, stubborn{&backoff.ZeroBackOff{}, ctx},
			func(error, time.Duration) { notified++ }, timer)
		require.True(t, err == context.Canceled, name)
		require.Equal(t, []int{1, 1, 1}, []int{notified, len(timer.started), timer.stops}, name)
	}
}

// stubborn is a policy that has a context and does not look at it.
type stubborn struct {
	cenkalti.BackOff
	ctx context.Context
}

func (s stubborn) Context() context.Context { return s.ctx }

// What a Timer makes of a wait is its own business.
func TestDeadlineWithATimer(t *testing.T) {
	for name, engine := range engines {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			b := backoff.WithContext(backoff.NewConstantBackOff(time.Hour), ctx)
			op, calls := failUntil(4)
			_, err := engine(func() (int, error) { return 0, op() }, b, nil, new(zeroTimer))
			require.NoError(t, err)
			require.Equal(t, 4, *calls)

			began := time.Now()
			timer := new(deafTimer)
			_, err = engine(func() (int, error) { return 0, errDown }, b, nil, timer)
			require.Equal(t, time.Second, time.Since(began), name)
			require.True(t, err == context.DeadlineExceeded, name)
			require.Equal(t, 1, timer.stops, name)
		})
	}
}

// P11: the context ends the wait whatever is wrapped around it.
func TestWrappersDoNotHideTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hour := backoff.NewConstantBackOff(time.Hour)
		for name, wrap := range map[string]func(context.Context) backoff.BackOff{
			"context":       func(ctx context.Context) backoff.BackOff { return backoff.WithContext(hour, ctx) },
			"context, ours": func(ctx context.Context) backoff.BackOff { return cenkalti.WithContext(hour, ctx) },
			"limit around": func(ctx context.Context) backoff.BackOff {
				return backoff.WithMaxRetries(backoff.WithContext(hour, ctx), 9)
			},
			"limit around, ours": func(ctx context.Context) backoff.BackOff {
				return cenkalti.WithMaxRetries(cenkalti.WithContext(hour, ctx), 9)
			},
			"limit inside": func(ctx context.Context) backoff.BackOff {
				return cenkalti.WithContext(cenkalti.WithMaxRetries(hour, 9), ctx)
			},
			"two limits around": func(ctx context.Context) backoff.BackOff {
				return backoff.WithMaxRetries(cenkalti.WithMaxRetries(stubborn{hour, ctx}, 8), 9)
			},
			"limits around and inside": func(ctx context.Context) backoff.BackOff {
				return backoff.WithMaxRetries(backoff.WithContext(backoff.WithMaxRetries(hour, 8), ctx), 9)
			},
			"the outer of two contexts": func(ctx context.Context) backoff.BackOff {
				return backoff.WithContext(backoff.WithContext(hour, context.Background()), ctx)
			},
			"one of the caller's making": func(ctx context.Context) backoff.BackOff { return stubborn{hour, ctx} },
		} {
			ctx, cancel := context.WithCancel(t.Context())
			began := time.Now()
			time.AfterFunc(time.Minute, cancel)
			err := cenkalti.Retry(func() error { return errDown }, wrap(ctx))
			require.ErrorIs(t, err, context.Canceled, name)
			require.Equal(t, time.Minute, time.Since(began), name)
		}
	})
}

// A wait below 0 other than Stop is over at once, and Notify and the Timer get it as it is.
func TestNegativeWaits(t *testing.T) {
	answers := []time.Duration{0, -2, math.MinInt64, -1, 0}
	for name, engine := range engines {
		var told []time.Duration
		timer := new(zeroTimer)
		calls := 0
		_, err := engine(func() (int, error) { calls++; return 0, errDown }, &counted{answers: answers}, func(_ error, d time.Duration) { told = append(told, d) }, timer)
		require.True(t, err == errDown, name)
		require.Equal(t, 4, calls, name)
		require.Equal(t, answers[:3], told, name)
		require.Equal(t, answers[:3], timer.started, name)

		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_, err := engine(func() (int, error) { return 0, errDown }, &counted{answers: answers}, nil, nil)
			require.True(t, err == errDown, name)
			require.Zero(t, time.Since(began), name)
		})
	}
}

// P12, P14: a mark ends the call wherever it is, also at the last attempt, with the error in it.
func TestPermanent(t *testing.T) {
	inner := errors.New("no such user")
	for name, marked := range map[string]error{
		"bare":    cenkalti.Permanent(inner),
		"wrapped": fmt.Errorf("load: %w", backoff.Permanent(inner)),
		"joined":  errors.Join(io.EOF, cenkalti.Permanent(inner)),
		"by As":   asPermanent{inner},
	} {
		for _, b := range []cenkalti.BackOff{&cenkalti.ZeroBackOff{}, &cenkalti.StopBackOff{}, cenkalti.WithContext(&cenkalti.ZeroBackOff{}, cancelled(nil))} {
			calls := 0
			err := cenkalti.RetryNotify(func() error { calls++; return marked }, b, func(error, time.Duration) { t.Error("no retry follows") })
			require.True(t, err == inner, name)
			require.Equal(t, 1, calls)
		}
	}
}

// asPermanent is an error that only its As method makes permanent.
type asPermanent struct{ error }

func (e asPermanent) Unwrap() error { return e.error }
func (e asPermanent) As(target any) bool {
	p, ok := target.(**backoff.PermanentError)
	if ok {
		*p = &backoff.PermanentError{Err: e.error}
	}
	return ok
}

// unsure sets the target and then says that it did not.
type unsure struct{ asPermanent }

func (e unsure) As(target any) bool { return e.asPermanent.As(target) && false }

func TestWhatIsNotPermanent(t *testing.T) {
	var nothing *backoff.PermanentError
	innerCall := retry.Run(t.Context(), func(context.Context) error { return fmt.Errorf("x: %w", cenkalti.Permanent(io.EOF)) },
		retry.WithErrorHistory(1), retry.WithCondition(cenkalti.Condition()))
	require.ErrorAs(t, innerCall, new(*retry.Error))
	for name, err := range map[string]error{
		"a nil pointer":                    nothing,
		"the mark in another call's error": innerCall,
		"an As that says no":               unsure{asPermanent{io.EOF}},
		"a cancellation of something else": context.Canceled,
		"what retry.Do calls hopeless":     fmt.Errorf("load: %w", sql.ErrNoRows),
		"a told wait":                      &demanding{},
	} {
		calls := 0
		end := cenkalti.Retry(func() error { calls++; return err }, cenkalti.WithMaxRetries(&cenkalti.ZeroBackOff{}, 2))
		require.Equal(t, 3, calls, name)
		require.True(t, end == err, name)
	}
	require.NoError(t, cenkalti.Retry(func() error { return &backoff.PermanentError{} }, &cenkalti.ZeroBackOff{}), "as in v4: there is no error in it")
}

// demanding is an error that says how long to wait.
type demanding struct{}

func (*demanding) Error() string             { return "busy" }
func (*demanding) RetryAfter() time.Duration { return time.Hour }

// The marks of this module: Permanent stops, told waits change nothing.
func TestMarksOfThisModule(t *testing.T) {
	calls := 0
	op := func(err error) func() error { return func() error { calls++; return err } }
	err := cenkalti.Retry(op(retry.Permanent(io.EOF)), &cenkalti.ZeroBackOff{})
	require.True(t, err == io.EOF)
	require.Equal(t, 1, calls)

	err = cenkalti.Retry(op(fmt.Errorf("read: %w", retry.Permanent(io.EOF))), &cenkalti.ZeroBackOff{})
	require.ErrorIs(t, err, retry.ErrNotRetryable)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, 2, calls)

	timer := new(zeroTimer)
	err = cenkalti.RetryNotifyWithTimer(op(retry.After(time.Hour, io.EOF)), &counted{answers: []time.Duration{ms}}, nil, timer)
	require.True(t, err == io.EOF)
	require.Equal(t, []time.Duration{ms}, timer.started)
}

func TestTimerIsUsedAsInV4(t *testing.T) {
	timer := new(zeroTimer)
	waits := []time.Duration{time.Hour, 0, time.Second}
	require.Equal(t, errDown, cenkalti.RetryNotifyWithTimer(func() error { return errDown }, &counted{answers: waits}, nil, timer))
	require.Equal(t, waits, timer.started, "a wait of 0 is started too")
	require.Equal(t, 1, timer.stops)

	for name, leave := range map[string]func(){"panic": func() { panic("x") }, "Goexit": runtime.Goexit} {
		timer = new(zeroTimer)
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = recover() }()
			_ = cenkalti.RetryNotifyWithTimer(func() error { leave(); return nil }, &counted{}, nil, timer)
		}()
		<-done
		require.Equal(t, 1, timer.stops, name)
	}
}

// A nil pointer is called, as in v4: some types work so.
func TestNilPointerIsCalled(t *testing.T) {
	for name, engine := range engines {
		var zero *backoff.ZeroBackOff
		calls := 0
		_, err := engine(func() (int, error) {
			if calls++; calls < 3 {
				return 0, errDown
			}
			return 0, nil
		}, zero, nil, (*unwound)(nil))
		require.NoError(t, err, name)
		require.Equal(t, 3, calls, name)

		var exponential *backoff.ExponentialBackOff
		require.Panics(t, func() { _, _ = engine(func() (int, error) { return 0, nil }, exponential, nil, nil) }, name)
	}
}

// unwound is a Timer that needs no value.
type unwound struct{}

func (*unwound) Start(time.Duration) {}
func (*unwound) Stop()               {}
func (*unwound) C() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}

func TestNothingGiven(t *testing.T) {
	v, err := cenkalti.RetryWithData(func() (int, error) { return 3, errDown }, nil)
	require.True(t, err == errDown)
	require.Equal(t, 3, v)
	require.NoError(t, cenkalti.Retry(func() error { return nil }, nil))
	require.Equal(t, errDown, cenkalti.Retry(func() error { return errDown }, stubborn{&cenkalti.StopBackOff{}, nil}), "a nil context is none")

	policy := new(counted)
	err = cenkalti.Retry(nil, policy)
	require.ErrorIs(t, err, retry.ErrConfig)
	require.EqualError(t, err, "retry: operation(nil): must not be nil")
	_, err = cenkalti.RetryWithData[int](nil, policy)
	require.ErrorIs(t, err, retry.ErrConfig)
	require.Zero(t, policy.resets)
}

func TestContextCarriesTheClock(t *testing.T) {
	clk := retrytest.NewClock()
	b := cenkalti.WithContext(cenkalti.NewExponentialBackOff(
		cenkalti.WithMultiplier(2), cenkalti.WithRandomizationFactor(0), cenkalti.WithMaxElapsedTime(5*time.Second), cenkalti.WithClockProvider(clk),
	), retry.ContextWithClock(t.Context(), clk))
	require.Equal(t, errDown, cenkalti.Retry(func() error { return errDown }, b))
	require.Equal(t, []time.Duration{500 * ms, time.Second, 2 * time.Second}, clk.Waits())

	// P30: nothing is left pending by an interrupted wait.
	ctx, cancel := context.WithCancel(retry.ContextWithClock(t.Context(), clk))
	err := cenkalti.RetryNotify(func() error { return errDown }, cenkalti.WithContext(b, ctx), func(error, time.Duration) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, clk.Pending())
}

func TestContextWithoutRetry(t *testing.T) {
	op, calls := failUntil(9)
	err := cenkalti.Retry(op, cenkalti.WithContext(&cenkalti.ZeroBackOff{}, retry.ContextWithoutRetry(t.Context())))
	require.True(t, err == errDown, "as if the policy had stopped")
	require.Equal(t, 1, *calls)
}

func TestSuccessCosts(t *testing.T) {
	b := cenkalti.WithMaxRetries(cenkalti.WithContext(cenkalti.NewExponentialBackOff(), t.Context()), 3)
	op := func() (int, error) { return 1, nil }
	ours := testing.AllocsPerRun(100, func() { _, _ = cenkalti.RetryWithData(op, b) })
	theirs := testing.AllocsPerRun(100, func() { _, _ = backoff.RetryWithData(op, b) })
	require.LessOrEqual(t, ours, theirs)
}
