package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/throttle"
)

func recResults(r retry.Results[int]) retry.Option { return retry.WithResults(r) }

// recCount is an operation that returns the number of its call, and err.
func recCount(err error) func(context.Context) (int, error) {
	n := 0
	return func(context.Context) (int, error) { n++; return n, err }
}

// TestClassifyEveryAttempt: it may turn a success down, and accept in spite of an error.
func TestClassifyEveryAttempt(t *testing.T) {
	errSmall := errors.New("too small")
	var seen []string
	classify := func(v int, err error) throttle.Outcome {
		seen = append(seen, fmt.Sprint(v, err))
		switch {
		case v < 3:
			return throttle.Outcome{Err: errSmall}
		case v == 3:
			return throttle.Outcome{Err: err, Decided: throttle.Yes}
		}
		return throttle.Outcome{}
	}
	n := 0
	var asked, retried []error
	v, err := retry.Do(t.Context(), func(context.Context) (int, error) {
		n++
		if n >= 3 {
			return n, errRec
		}
		return n, nil
	}, recResults(retry.Results[int]{Classify: classify}), recAtOnce,
		retry.WithCondition(condition.Func(func(err error) condition.Verdict { asked = append(asked, err); return condition.Unknown })),
		retry.WithOnRetry(func(_ context.Context, e retry.Event) { retried = append(retried, e.Err) }))
	require.NoError(t, err, "the fourth attempt's error is accepted")
	require.Equal(t, 4, v)
	require.Equal(t, []string{"1 <nil>", "2 <nil>", "3 boom", "4 boom"}, seen)
	require.Equal(t, []error{errSmall, errSmall}, asked)
	require.Equal(t, []error{errSmall, errSmall, errRec}, retried)
}

// TestClassifyDecides: its error is what the caller, the history and observers get.
func TestClassifyDecides(t *testing.T) {
	errSmall := errors.New("too small")
	for _, tc := range []struct {
		name  string
		o     throttle.Outcome
		calls int
		bare  bool
		class throttle.Class
	}{
		{"undecided", throttle.Outcome{Err: errSmall}, 2, false, throttle.Transient},
		{"yes", throttle.Outcome{Err: errSmall, Decided: throttle.Yes}, 2, false, throttle.Transient},
		{"no", throttle.Outcome{Err: errSmall, Decided: throttle.No}, 1, true, throttle.Permanent},
		{"permanent", throttle.Outcome{Err: retry.Permanent(errSmall)}, 1, true, throttle.Permanent},
		{"class", throttle.Outcome{Err: errSmall, Class: throttle.Throttled}, 2, false, throttle.Throttled},
		{"a success with No", throttle.Outcome{Decided: throttle.No}, 1, false, throttle.Success},
		{"a success with a class", throttle.Outcome{Class: throttle.Throttled}, 1, false, throttle.Throttled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := &recObserver{log: newRecLog(), name: "o"}
			v, err := retry.Do(t.Context(), recCount(nil), recAtOnce, retry.WithMaxAttempts(2), retry.WithObserver(o),
				recResults(retry.Results[int]{Classify: func(int, error) throttle.Outcome { return tc.o }}))
			require.Equal(t, tc.calls, v)
			require.Len(t, o.events, tc.calls)
			require.Equal(t, tc.class, o.events[0].Class)
			switch {
			case tc.o.Err == nil:
				require.NoError(t, err)
			case tc.bare:
				require.Equal(t, errSmall, err)
			default:
				require.Equal(t, errSmall, recError(t, err).Last)
				require.Equal(t, errSmall, o.ends[0].Last)
			}
		})
	}
}

// TestRetryResult: the value is turned down, conditions are not asked, and the last value comes with the error.
func TestRetryResult(t *testing.T) {
	o := &recObserver{log: newRecLog(), name: "o"}
	opts := []retry.Option{
		recAtOnce, retry.WithMaxAttempts(3), retry.WithObserver(o),
		retry.WithRetryResult(func(v int) bool { return v < 3 }),
		retry.WithCondition(condition.Func(func(error) condition.Verdict { t.Error("asked"); return condition.Stop })),
		retry.WithRetryIf(func(error) bool { t.Error("asked"); return false }),
	}
	v, err := retry.Do(t.Context(), recCount(nil), opts...)
	require.NoError(t, err)
	require.Equal(t, 3, v)

	v, err = retry.Do(t.Context(), recCount(nil), append(opts, retry.WithMaxAttempts(2))...)
	e := recError(t, err)
	require.Equal(t, &retry.Error{Attempts: 2, Reason: retry.ErrExhausted, Last: retry.ErrUnacceptable, Elapsed: e.Elapsed}, e)
	require.Equal(t, 2, v)
	require.Equal(t, retry.ErrUnacceptable, o.events[0].Err)
	require.Equal(t, throttle.Transient, o.events[0].Class)

	// Errors go their own way, and their values are not looked at.
	v, err = retry.Do(t.Context(), recCount(retry.Permanent(errRec)), retry.WithRetryResult(func(int) bool { t.Error("asked"); return true }))
	require.Same(t, errRec, err)
	require.Equal(t, 1, v)
}

// TestRetryResultTime: a value that is turned down is a failure at the time at which it came.
func TestRetryResultTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(context.Context) (int, error) { time.Sleep(time.Second); return 1, nil }
		reject := retry.WithRetryResult(func(int) bool { return true })
		_, err := retry.Do(t.Context(), slow, reject, retry.WithMaxAttempts(3), recEvery(time.Minute))
		require.Equal(t, 2*time.Minute+2*time.Second, recError(t, err).Elapsed)

		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err = retry.Do(ctx, slow, reject, recEvery(2*time.Second))
		require.Equal(t, retry.ErrDeadline, recError(t, err).Reason)
		require.Equal(t, 1, recError(t, err).Attempts, "1 s of 3 has passed, a wait of 2 s does not fit")
	})
}

// TestDiscard: every value thrown away, while its attempt's context is alive; never the one that is returned.
func TestDiscard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, limit := range []retry.Option{retry.WithAttemptTimeout(0), retry.WithAttemptTimeout(time.Minute)} {
			var attempt context.Context
			var thrown []int
			fn := recCount(errRec)
			v, err := retry.Do(t.Context(), func(ctx context.Context) (int, error) { attempt = ctx; return fn(ctx) },
				recEvery(time.Second), retry.WithMaxAttempts(3), limit,
				recResults(retry.Results[int]{Discard: func(v int) {
					thrown = append(thrown, v)
					require.NoError(t, attempt.Err())
				}}))
			require.ErrorIs(t, err, retry.ErrExhausted)
			require.Equal(t, []int{1, 2}, thrown)
			require.Equal(t, 3, v)
		}
	})
}

// TestKeepWithTimeout: the kept value's context lives until it is released, beyond the timeout (P35, P38).
func TestKeepWithTimeout(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			parent, cancel := context.WithCancel(t.Context())
			var contexts []context.Context
			var release context.CancelFunc
			kept := 0
			n := 0
			v, err := retry.Do(parent, func(ctx context.Context) (int, error) {
				contexts = append(contexts, ctx)
				if n++; n < 2 || fails {
					return n, errRec
				}
				return n, nil
			}, retry.WithAttemptTimeout(time.Second), retry.WithMaxAttempts(2), recEvery(time.Second),
				recResults(retry.Results[int]{Keep: func(v int, r context.CancelFunc) int {
					kept, release = v, r
					require.NoError(t, contexts[1].Err())
					return 10 * v
				}}))
			require.Equal(t, fails, err != nil)
			require.Equal(t, 2, kept)
			require.Equal(t, 20, v, "what Keep returns")
			require.Equal(t, context.Canceled, contexts[0].Err(), "not the one that was kept")
			time.Sleep(time.Hour)
			synctest.Wait()
			require.NoError(t, contexts[1].Err())
			release()
			require.Equal(t, context.Canceled, contexts[1].Err())
			release()
			cancel()
		})
	}
}

// TestKeepEndsWithItsParent.
func TestKeepEndsWithItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithCancel(t.Context())
		var attempt context.Context
		_, err := retry.Do(parent, func(ctx context.Context) (int, error) { attempt = ctx; return 1, nil }, retry.WithAttemptTimeout(time.Second),
			recResults(retry.Results[int]{Keep: func(v int, _ context.CancelFunc) int { return v }}))
		require.NoError(t, err)
		require.NoError(t, attempt.Err())
		cancel()
		require.Error(t, attempt.Err())
	})
}

// TestKeepAndTimeoutOfTheOperation: while the operation runs, the timeout is as without Keep.
func TestKeepAndTimeoutOfTheOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := retry.Do(t.Context(), func(ctx context.Context) (int, error) {
			<-ctx.Done()
			require.Equal(t, retry.ErrAttemptTimeout, context.Cause(ctx))
			return 0, ctx.Err()
		}, retry.WithAttemptTimeout(time.Second), retry.WithMaxAttempts(2), recAtOnce,
			recResults(retry.Results[int]{Keep: func(v int, release context.CancelFunc) int { release(); return v }}))
		require.ErrorIs(t, err, retry.ErrAttemptTimeout)
		require.ErrorIs(t, err, retry.ErrExhausted)
		require.Equal(t, 2*time.Second, time.Since(began))
	})
}

// TestKeepWithoutTimeout: the attempt's context is the call's, and outlives the call.
func TestKeepWithoutTimeout(t *testing.T) {
	var attempt context.Context
	var release context.CancelFunc
	v, err := retry.Do(t.Context(), func(ctx context.Context) (int, error) { attempt = ctx; return 1, nil },
		recResults(retry.Results[int]{Keep: func(v int, r context.CancelFunc) int { release = r; return v + 1 }}))
	require.NoError(t, err)
	require.Equal(t, 2, v)
	require.NoError(t, attempt.Err())
	require.NotNil(t, release)
	release()
	release()
}

// TestKeepOnlyWhatIsReturned: not what a retry or a fallback takes the place of, nor where the call ends in a wait.
func TestKeepOnlyWhatIsReturned(t *testing.T) {
	stop := make(chan struct{})
	for _, tc := range []struct {
		name    string
		opts    []retry.Option
		kept    []int
		thrown  []int
		want    int
		wantErr bool
	}{
		{"exhausted", nil, []int{2}, []int{1}, 2, true},
		{"fallback", []retry.Option{retry.WithFallback(func(context.Context, error) (int, error) { return 9, nil })}, nil, []int{1, 2}, 9, false},
		{"ended in the wait", []retry.Option{retry.WithStop(stop), retry.WithOnRetry(func(context.Context, retry.Event) { close(stop) })}, nil, []int{1}, 0, true},
		{"ended before the retry", []retry.Option{retry.WithBeforeRetry(func(context.Context, retry.Event) error { return errRecCause })}, nil, []int{1}, 0, true},
		{"ended at once", []retry.Option{retry.WithMaxElapsed(1)}, []int{1}, nil, 1, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var kept, thrown []int
				hooks := recResults(retry.Results[int]{
					Keep:    func(v int, _ context.CancelFunc) int { kept = append(kept, v); return v },
					Discard: func(v int) { thrown = append(thrown, v) },
				})
				v, err := retry.Do(t.Context(), recCount(errRec), append(tc.opts, hooks, retry.WithMaxAttempts(2), recEvery(time.Second))...)
				require.Equal(t, tc.wantErr, err != nil)
				require.Equal(t, tc.kept, kept)
				require.Equal(t, tc.thrown, thrown)
				require.Equal(t, tc.want, v)
			})
		})
	}
}

// TestValueOnError: the last attempt's, never an earlier one's; zero where it was thrown away.
func TestValueOnError(t *testing.T) {
	login := retry.WithBeforeRetry(func(_ context.Context, e retry.Event) error {
		if e.Number == 2 {
			return errRecCause
		}
		return nil
	})
	discard := recResults(retry.Results[int]{Discard: func(int) {}})
	keep := recResults(retry.Results[int]{Keep: func(v int, _ context.CancelFunc) int { return v }})
	classify := recResults(retry.Results[int]{Classify: func(_ int, err error) throttle.Outcome { return throttle.Outcome{Err: err} }})
	for _, tc := range []struct {
		name string
		opts []retry.Option
		want int
	}{
		{"exhausted", nil, 3},
		{"exhausted, with Discard", []retry.Option{discard}, 3},
		{"in a wait", []retry.Option{login}, 2},
		{"in a wait, with Classify", []retry.Option{login, classify}, 2},
		{"in a wait, with Discard", []retry.Option{login, discard}, 0},
		{"in a wait, with Keep", []retry.Option{login, keep}, 0},
	} {
		v, err := retry.Do(t.Context(), recCount(errRec), append(tc.opts, retry.WithMaxAttempts(3), recAtOnce)...)
		require.Error(t, err, tc.name)
		require.Equal(t, tc.want, v, tc.name)
	}
	v, err := retry.Do(t.Context(), recCount(retry.Permanent(errRec)))
	require.Error(t, err)
	require.Equal(t, 1, v)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v, err = retry.Do(ctx, recCount(nil))
	require.Error(t, err)
	require.Zero(t, v)
}
