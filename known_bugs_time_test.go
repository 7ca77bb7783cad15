package retry_test

import (
	"context"
	"io"
	"iter"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// kbReadyClock is a clock on which everything happens at once: each wait has ended when it begins, and during is called
// while it does. Its time stands still.
type kbReadyClock struct{ during func() }

func (kbReadyClock) Now() time.Time { return time.Unix(0, 0) }

func (c kbReadyClock) After(time.Duration) <-chan time.Time {
	fired := make(chan time.Time, 1)
	fired <- time.Unix(0, 0)
	if c.during != nil {
		c.during()
	}
	return fired
}

func kbConstant(d time.Duration) retry.Option {
	return retry.WithStrategy(strategy.Constant{Delay: d})
}

func TestP09NoAttemptAfterCancel(t *testing.T) {
	for name, run := range map[string]func(context.Context, context.CancelFunc) int{
		"in the attempt": func(ctx context.Context, cancel context.CancelFunc) (calls int) {
			_ = retry.Run(ctx, func(context.Context) error { calls++; cancel(); return errKnown }, kbConstant(1))
			return calls
		},
		"in the callback": func(ctx context.Context, cancel context.CancelFunc) (calls int) {
			_ = retry.Run(ctx, func(context.Context) error { calls++; return errKnown }, kbConstant(1),
				retry.WithOnRetry(func(context.Context, retry.Event) { cancel() }))
			return calls
		},
		"both cases ready": func(ctx context.Context, cancel context.CancelFunc) (calls int) {
			_ = retry.Run(ctx, func(context.Context) error { calls++; return errKnown }, kbConstant(1),
				retry.WithClock(kbReadyClock{cancel}))
			return calls
		},
		"stop and timer ready": func(ctx context.Context, _ context.CancelFunc) (calls int) {
			stop := make(chan struct{})
			_ = retry.Run(ctx, func(context.Context) error { calls++; return errKnown }, kbConstant(1),
				retry.WithClock(kbReadyClock{sync.OnceFunc(func() { close(stop) })}), retry.WithStop(stop))
			return calls
		},
		"before the second": func(ctx context.Context, cancel context.CancelFunc) (calls int) {
			_ = retry.Run(ctx, func(context.Context) error { calls++; return errKnown }, kbConstant(1),
				retry.WithBeforeRetry(func(context.Context, retry.Event) error { cancel(); return nil }))
			return calls
		},
	} {
		for range 1000 {
			ctx, cancel := context.WithCancel(t.Context())
			require.Equal(t, 1, run(ctx, cancel), name)
			cancel()
		}
	}
}

func TestP10DeadlineBeforeTheNextWait(t *testing.T) {
	for _, tc := range []struct {
		delay time.Duration
		calls int
		at    time.Duration
	}{
		{10 * time.Second, 1, 0},
		{time.Second, 1, 0}, // exactly the remaining time
		{time.Second - 1, 2, time.Second - 1},
		{kbForever, 1, 0},
	} {
		for _, op := range []error{errKnown, retry.After(tc.delay, errKnown)} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				start := time.Now()
				calls, err := kbRun(ctx, op, kbConstant(tc.delay), retry.WithHint(throttle.Exact()), retry.WithMaxHint(kbForever))
				require.Equal(t, tc.calls, calls, "%v", tc.delay)
				require.Equal(t, tc.at, time.Since(start))
				require.ErrorIs(t, err, errKnown)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				e := kbError(t, err)
				require.ErrorIs(t, e.Reason, retry.ErrDeadline)
				require.Equal(t, tc.delay, e.Delay, "the wait that was not taken")
			})
		}
	}
}

func TestP11EveryWaitIsInterruptible(t *testing.T) {
	wrappers := []strategy.Strategy{
		strategy.Exponential{Base: 10 * time.Second},
		strategy.EqualJitter{Base: 20 * time.Second},
		strategy.ByThrottled{Normal: strategy.Constant{Delay: 10 * time.Second}, Throttled: strategy.Constant{Delay: 10 * time.Second}},
		strategy.Func(strategy.Exponential{Base: 10 * time.Second}.Next),
		kbStarter{},
	}
	limits := []retry.Option{
		retry.WithMaxAttempts(3), retry.WithMaxElapsed(time.Hour), retry.WithMaxRetryElapsed(time.Hour),
		retry.WithMaxDelay(time.Minute), retry.WithAttemptTimeout(time.Minute),
	}
	opts := [][]retry.Option{
		{retry.WithInitialDelay(10*time.Second, strategy.Equal)},
		{retry.WithHint(throttle.AtLeast())},
		{retry.WithThrottle(throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 10 * time.Second, nil }))},
		{retry.WithStrategy(strategy.Constant{Delay: 10 * time.Second}), retry.WithJitter(strategy.Equal)},
	}
	for _, s := range wrappers {
		opts = append(opts, []retry.Option{retry.WithStrategy(s)})
	}
	for i, opt := range opts {
		for turn := range limits { // the order of options makes no difference
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Millisecond, func() { cancel(errShutdownCause) })
				all := append(append(limits[turn:len(limits):len(limits)], opt...), limits[:turn]...)
				start := time.Now()
				calls, err := kbRun(ctx, retry.After(10*time.Second, errKnown), all...)
				require.Equal(t, time.Millisecond, time.Since(start), "%d, %d", i, turn)
				require.LessOrEqual(t, calls, 1)
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, errShutdownCause)
			})
		}
	}
}

func TestP18LongAttemptAndTimeBudget(t *testing.T) {
	run := func(t *testing.T, opt retry.Option) (calls int, at time.Duration, err error) {
		start := time.Now()
		err = retry.Run(t.Context(), func(context.Context) error {
			if calls++; calls == 1 {
				time.Sleep(2 * time.Second)
			}
			return errKnown
		}, kbConstant(600*time.Millisecond), opt)
		return calls, time.Since(start), err
	}
	synctest.Test(t, func(t *testing.T) { // the whole call: used up before the first failure
		calls, at, err := run(t, retry.WithMaxElapsed(time.Second))
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
		require.Equal(t, 1, calls)
		require.Equal(t, 2*time.Second, at)
	})
	synctest.Test(t, func(t *testing.T) { // from the first failure on
		calls, at, err := run(t, retry.WithMaxRetryElapsed(time.Second))
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
		require.Equal(t, 2, calls)
		require.Equal(t, 2600*time.Millisecond, at)
	})
}

func TestP19HintAboveTheTimeBudget(t *testing.T) {
	hint := retry.After(30*time.Minute, errKnown)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		calls, err := kbRun(t.Context(), hint, retry.WithMaxHint(time.Hour), retry.WithMaxElapsed(15*time.Minute), retry.WithRand(kbAlways(0)))
		require.Equal(t, 1, calls)
		require.Zero(t, time.Since(start))
		require.ErrorIs(t, err, errKnown)
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
		require.Equal(t, 30*time.Minute, kbError(t, err).Delay)
	})
	synctest.Test(t, func(t *testing.T) { // the default limit on hints is a reason of its own
		calls, err := kbRun(t.Context(), hint)
		require.Equal(t, 1, calls)
		require.ErrorIs(t, err, retry.ErrHintTooLong)
		require.NotErrorIs(t, err, retry.ErrMaxElapsed)
		require.Equal(t, 30*time.Minute, kbError(t, err).Delay)
	})
	synctest.Test(t, func(t *testing.T) { // no budget of time by default
		start := time.Now()
		calls, err := kbRun(t.Context(), hint, retry.WithMaxHint(time.Hour), retry.WithRand(kbAlways(0)))
		require.Equal(t, 5, calls)
		require.Equal(t, 2*time.Hour, time.Since(start))
		require.ErrorIs(t, err, retry.ErrExhausted)
	})
}

func TestP28UnlimitedAttemptsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, calls := time.Now(), 0
		err := retry.Run(t.Context(), func(context.Context) error {
			if calls++; calls < 5 {
				return errKnown
			}
			return nil
		}, retry.WithUnlimitedAttempts(), kbConstant(time.Second))
		require.NoError(t, err)
		require.Equal(t, 4*time.Second, time.Since(start))
	})
}

func TestP29LeavingTheLoopLeaksNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	policy := retry.MustNew(retry.WithAttemptTimeout(time.Hour), kbConstant(time.Hour), retry.WithAttemptInfo())
	before := runtime.NumGoroutine()
	for i := range 1000 {
		loop := retry.NewLoop(ctx, policy)
		for try := range loop.Tries() {
			if i%2 == 0 {
				try.Fail(errKnown)
			}
			break
		}
		next, stop := iter.Pull(retry.NewLoop(ctx, policy).Tries())
		_, ok := next()
		require.True(t, ok)
		stop()
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)

	// A bubble ends in a panic if one goroutine is left in it.
	synctest.Test(t, func(t *testing.T) {
		for range 1000 {
			for try := range retry.NewLoop(ctx, policy).Tries() {
				try.Fail(errKnown)
				break
			}
		}
	})
}

// kbTimers is benbjohnson's mock with timers that the executor can stop.
type kbTimers struct {
	*clock.Mock
	made int
}

func (k *kbTimers) NewTimer(d time.Duration) (<-chan time.Time, func() bool) {
	k.made++
	timer := k.Timer(d)
	return timer.C, timer.Stop
}

// pending reports whether anything waits for this clock: if so, letting it all pass takes time.
func (k *kbTimers) pending() bool {
	now := k.Mock.Now()
	return !k.WaitForAllTimers().Equal(now)
}

func TestP30NoTimerLeftBehind(t *testing.T) {
	for name, tc := range map[string]struct {
		timers int
		opts   []retry.Option
	}{
		"wait":            {1, []retry.Option{kbConstant(time.Hour)}},
		"hint":            {1, []retry.Option{retry.WithHint(throttle.Exact())}},
		"initial delay":   {1, []retry.Option{retry.WithInitialDelay(time.Hour, nil)}},
		"attempt timeout": {1, []retry.Option{kbConstant(time.Hour), retry.WithAttemptTimeout(time.Minute)}},
		"throttle": {1, []retry.Option{retry.WithMaxHint(kbForever), retry.WithThrottle(throttle.Func(
			func(context.Context, time.Time) (time.Duration, error) { return time.Hour, nil }))}},
		"no wait": {0, []retry.Option{kbConstant(time.Hour), retry.WithMaxAttempts(1), retry.WithAttemptTimeout(time.Minute)}},
	} {
		for _, stopped := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				mock := &kbTimers{Mock: clock.NewMock()}
				ctx, cancel := context.WithCancel(t.Context())
				stop := make(chan struct{})
				done := make(chan error)
				go func() {
					_, err := kbRun(ctx, retry.After(30*time.Second, errKnown), append(tc.opts, retry.WithClock(mock), retry.WithStop(stop))...)
					done <- err
				}()
				synctest.Wait()
				if stopped {
					close(stop)
				} else {
					cancel()
				}
				require.Error(t, <-done)
				cancel()
				synctest.Wait()
				require.Equal(t, tc.timers, mock.made, name)
				require.False(t, mock.pending(), name)
			})
		}
	}
}

// kbBody is what an answer's body is: it can be read for as long as its request's context lives.
type kbBody struct {
	ctx     context.Context
	release context.CancelFunc
	left    int
}

func (b *kbBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	select {
	case <-b.ctx.Done():
		return 0, context.Cause(b.ctx)
	case <-time.After(100 * time.Millisecond):
	}
	n := min(len(p), b.left, 4096)
	b.left -= n
	return n, nil
}

func kbKeep() retry.Option {
	return retry.WithResults(retry.Results[*kbBody]{Keep: func(b *kbBody, release context.CancelFunc) *kbBody {
		if b != nil {
			b.release = release
		}
		return b
	}})
}

func TestP35ResultOutlivesTheAttempt(t *testing.T) {
	fetch := func(ctx context.Context) (*kbBody, error) { return &kbBody{ctx: ctx, left: 512 << 10}, nil }
	synctest.Test(t, func(t *testing.T) {
		body, err := retry.Do(t.Context(), fetch, kbKeep(), retry.WithAttemptTimeout(time.Second))
		require.NoError(t, err)
		start := time.Now()
		n, err := io.Copy(io.Discard, body)
		require.NoError(t, err)
		require.Equal(t, int64(512<<10), n)
		require.Equal(t, 128*100*time.Millisecond, time.Since(start), "far longer than the attempt might have taken")
		require.NoError(t, body.ctx.Err())
		for range 2 {
			body.release()
			require.Equal(t, context.Canceled, body.ctx.Err())
		}
	})
	synctest.Test(t, func(t *testing.T) { // without Keep the context ends with the attempt
		body, err := retry.Do(t.Context(), fetch, retry.WithAttemptTimeout(time.Second))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, body)
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestP37AttemptTimeoutIsNotTheCallersDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start, calls := time.Now(), 0
		err := retry.Run(ctx, func(ctx context.Context) error {
			calls++
			<-ctx.Done()
			return ctx.Err()
		}, retry.WithAttemptTimeout(time.Second), retry.WithMaxAttempts(3), kbConstant(time.Second))
		require.Equal(t, 3, calls)
		require.Equal(t, 5*time.Second, time.Since(start))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, retry.ErrAttemptTimeout)
		require.ErrorIs(t, err, retry.ErrExhausted)
		require.NotErrorIs(t, err, retry.ErrDeadline)
		require.NoError(t, ctx.Err())
	})
}

func TestP38TimeoutCoversEstablishingOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		calls := 0
		stream, err := retry.Do(ctx, func(ctx context.Context) (*kbBody, error) {
			if calls++; calls == 1 { // not established in time
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			return &kbBody{ctx: ctx, left: 1 << 30}, nil
		}, kbKeep(), retry.WithAttemptTimeout(time.Second), kbConstant(time.Second))
		require.NoError(t, err)
		require.Equal(t, 2, calls)
		time.AfterFunc(time.Hour, func() { cancel(errShutdownCause) })
		start := time.Now()
		_, err = io.Copy(io.Discard, stream)
		require.ErrorIs(t, err, errShutdownCause)
		require.Equal(t, time.Hour, time.Since(start), "until the parent ends")
	})
}

// kbBucket is a budget of tokens: a retry takes one, a success brings one back.
type kbBucket struct {
	mu     sync.Mutex
	tokens int
}

func (*kbBucket) Start(time.Time) {}

func (b *kbBucket) Charge(_ time.Time, _ throttle.Class, held int, last bool) (int, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if last || b.tokens == 0 {
		return held, false
	}
	b.tokens--
	return held + 1, true
}

func (b *kbBucket) Settle(_ time.Time, success bool, held int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if success {
		b.tokens += max(held, 1)
	}
}

func TestP39BudgetIsRefilled(t *testing.T) {
	bucket := &kbBucket{tokens: 3}
	policy := retry.MustNew(retry.WithBudget(bucket), kbConstant(0))
	for _, want := range []int{4, 1, 1} { // drained by the first
		calls, err := kbRun(t.Context(), errKnown, policy)
		require.Equal(t, want, calls)
		require.ErrorIs(t, err, retry.ErrBudget)
		require.ErrorIs(t, err, errKnown)
	}
	for range 2 {
		require.NoError(t, retry.Run(t.Context(), func(context.Context) error { return nil }, policy))
	}
	calls, err := kbRun(t.Context(), errKnown, policy)
	require.Equal(t, 3, calls)
	require.ErrorIs(t, err, retry.ErrBudget)
}

func TestP40CallsFromTheClocksOwnCallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mock := &kbTimers{Mock: clock.NewMock()}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 2)
		mock.AfterFunc(time.Second, func() { // makes timers while Add runs
			_, err := kbRun(ctx, errKnown, kbConstant(time.Second), retry.WithMaxAttempts(3), retry.WithClock(mock))
			done <- err
		})
		mock.AfterFunc(time.Second, func() { // and this one's is stopped in another callback
			_, err := kbRun(ctx, errKnown, kbConstant(time.Hour), retry.WithClock(mock))
			done <- err
		})
		mock.AfterFunc(10*time.Second, cancel)
		mock.Add(10 * time.Second)
		require.ErrorIs(t, <-done, retry.ErrExhausted)
		require.ErrorIs(t, <-done, context.Canceled)
		require.False(t, mock.pending())
	})
}

func TestP44ElapsedEqualsTheLimit(t *testing.T) {
	for _, tc := range []struct {
		s     strategy.Strategy
		calls int
		at    time.Duration
	}{
		{strategy.Exponential{Base: time.Second}, 3, 3 * time.Second},
		{strategy.Constant{Delay: time.Second}, 5, 4 * time.Second}, // a fifth wait would end at the limit itself
		{strategy.Sequence{Delays: kbSeconds(5)}, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			calls, err := kbRun(t.Context(), errKnown, retry.WithUnlimitedAttempts(), retry.WithMaxElapsed(5*time.Second), retry.WithStrategy(tc.s))
			require.ErrorIs(t, err, retry.ErrMaxElapsed)
			require.Equal(t, tc.calls, calls)
			require.Equal(t, tc.at, time.Since(start))
		})
	}
	// On a clock that stands still only the wait itself can be too long.
	calls, err := kbRun(t.Context(), errKnown, retry.WithUnlimitedAttempts(), retry.WithMaxElapsed(5*time.Second),
		retry.WithStrategy(strategy.Exponential{Base: time.Second}), retry.WithClock(kbReadyClock{}))
	require.ErrorIs(t, err, retry.ErrMaxElapsed)
	require.Equal(t, 4, calls)
}
