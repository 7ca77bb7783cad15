package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// TestPollPanic passes through, with everything ended once, whatever blows up after a look that is not done or failed.
func TestPollPanic(t *testing.T) {
	for panics, leave := range map[bool]func(){true: recBlowUp, false: runtime.Goexit} {
		for _, event := range []string{
			"fn#1", "fn#3", "Classify", "Classify#2", "a.Done", "a.Done#2", "obs.AttemptDone", "obs.AttemptDone#2", "Discard", "Discard#2",
			"obs.Pause", "curve.Next", "budget.Charge", "onRetry", "a.Admit#2", "b.Admit#2", "curve.Succeed", "budget.Settle", "Keep",
		} {
			synctest.Test(t, func(t *testing.T) {
				k := newRecKit()
				k.on[event] = leave
				looks := 0
				poll := func() {
					_, _ = retry.Poll(t.Context(), 10*time.Second, func(ctx context.Context) (int, bool, error) {
						looks++
						k.attempts = append(k.attempts, ctx)
						k.add("fn")
						return looks, looks == 3, []error{nil, errRec, nil}[looks-1]
					}, k.options(k.results(), retry.WithAttemptTimeout(time.Minute))...)
				}
				ended := recExits(func() {
					defer func() { _ = recover() }()
					poll()
				})
				require.Equal(t, !panics, ended, event)
				require.False(t, k.a.out || k.b.out, event)
				require.Equal(t, []int{1, 1}, []int{k.budget.started, k.budget.settled}, event)
				require.Len(t, k.observer.ends, 1, event)
				require.Equal(t, retry.EndPanicked, k.observer.ends[0].Ending, event)
				for _, ctx := range k.attempts {
					if event != "Keep" { // the context was Keep's to release
						require.Error(t, ctx.Err(), event)
					}
				}
			})
		}
	}
}

// TestPollDiscardsEachLookOnce: what a look brought is thrown away before the next, and none twice; the last one is kept.
func TestPollDiscardsEachLookOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		done      int // the look that is
		opts      []retry.Option
		discarded []int
		kept, v   int
		want      error
	}{
		"done":        {3, nil, []int{1, 2}, 3, 3, nil},
		"not in time": {9, []retry.Option{retry.WithMaxElapsed(25 * time.Second)}, []int{1, 2}, 3, 3, retry.ErrMaxElapsed},
		"a fallback":  {9, []retry.Option{retry.WithMaxElapsed(25 * time.Second), retry.WithFallback(func(context.Context, error) (int, error) { return -1, nil })}, []int{1, 2, 3}, 0, -1, nil},
		"done later":  {4, []retry.Option{retry.WithMaxElapsed(45 * time.Second)}, []int{1, 2, 3}, 4, 4, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			looks, kept := 0, 0
			var discarded []int
			var release context.CancelFunc
			v, err := retry.Poll(t.Context(), 10*time.Second, func(context.Context) (int, bool, error) {
				if looks++; looks == 2 {
					return looks, true, errRec // done does not count
				}
				return looks, looks == tc.done, nil
			}, append(tc.opts, retry.WithAttemptTimeout(time.Second), retry.WithResults(retry.Results[int]{
				Discard: func(v int) { discarded = append(discarded, v) },
				Keep:    func(v int, r context.CancelFunc) int { kept, release = v, r; return v },
			}))...)
			if release != nil {
				release()
			}
			require.ErrorIs(t, err, tc.want, name)
			require.Equal(t, tc.discarded, discarded, name)
			require.Equal(t, []int{tc.kept, tc.v}, []int{kept, v}, name)
		})
	}
}

// TestPollDiscardedAndCanceled: a look that was thrown away does not come back.
func TestPollDiscardedAndCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		v, err := retry.Poll(ctx, 10*time.Second, func(context.Context) (int, bool, error) { return 7, false, nil },
			retry.WithResults(retry.Results[int]{Discard: func(int) {}}))
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, v)
	})
}

// TestMarksTogether: each mark does its work, in whatever order and depth.
func TestMarksTogether(t *testing.T) {
	told := throttle.Exact()
	joined := func(errs ...error) error { return errors.Join(errs...) }
	for _, tc := range []struct {
		name  string
		err   error
		waits []time.Duration // before the third attempt, after a failure, if it goes on
		want  error           // at the top, where it is over
	}{
		{"Restart of After", retry.Restart(retry.After(9*time.Second, errRec)), kbSeconds(1, 9), nil},
		{"After of Restart", retry.After(9*time.Second, retry.Restart(errRec)), kbSeconds(1, 9), nil},
		{"deep", fmt.Errorf("x: %w", retry.Restart(fmt.Errorf("y: %w", retry.After(9*time.Second, errRec)))), kbSeconds(1, 9), nil},
		{"joined", joined(retry.Restart(errRec), retry.After(9*time.Second, errRec)), kbSeconds(1, 9), nil},
		{"told, no progress", retry.After(9*time.Second, errRec), nil, retry.ErrExhausted},
		{"Restart of Permanent", retry.Restart(retry.Permanent(errRec)), nil, nil},
		{"Permanent of both", retry.Permanent(retry.After(9*time.Second, retry.Restart(errRec))), nil, nil},
		{"joined with Permanent", joined(retry.Restart(errRec), retry.Permanent(errRec)), nil, retry.ErrNotRetryable},
		{"typed nil", retry.Restart((*hdTypedNil)(nil)), kbSeconds(1, 1), nil},
	} {
		waits, end := ruPlay(t, []error{errRec, tc.err}, recEvery(time.Second), retry.WithHint(told), retry.WithMaxAttempts(2))
		switch {
		case tc.waits != nil:
			require.Equal(t, tc.waits, waits, tc.name)
			require.Equal(t, retry.Wait, end.Action, tc.name)
		case tc.want != nil:
			require.Equal(t, tc.want, recError(t, end.Err).Reason, tc.name)
		default:
			require.Same(t, errRec, end.Err, tc.name)
		}
	}
}

// hdTypedNil panics where a nil pointer is asked anything.
type hdTypedNil struct{ err error }

func (e *hdTypedNil) Error() string        { return e.err.Error() }
func (e *hdTypedNil) Unwrap() error        { return e.err }
func (e *hdTypedNil) Is(target error) bool { return e.err == target }

// TestLargestLimits: nothing overflows where every limit is the largest.
func TestLargestLimits(t *testing.T) {
	largest := []retry.Option{
		retry.WithMaxAttempts(math.MaxInt), retry.WithMaxElapsed(kbForever), retry.WithMaxRetryElapsed(kbForever), retry.WithMaxDelay(kbForever),
		retry.WithMaxHint(kbForever), retry.WithResetAfter(kbForever), retry.WithErrorHistory(math.MaxInt), retry.WithAttemptTimeout(kbForever),
		retry.WithRule(condition.Is(errRec), retry.WithMaxAttempts(math.MaxInt), retry.WithMaxElapsed(kbForever), retry.WithMaxDelay(kbForever), recEvery(time.Hour)),
	}
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		err := retry.Supervise(t.Context(), func(context.Context) error {
			if runs++; runs == 5 {
				return retry.After(kbForever, errRec)
			}
			return []error{errRec, nil}[runs%2]
		}, largest...)
		require.Equal(t, retry.ErrMaxElapsed, recError(t, err).Reason, "no wait is the longest of all")
		require.Equal(t, 5, runs)
	})
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		v, err := retry.Poll(t.Context(), time.Hour, func(context.Context) (int, bool, error) {
			looks++
			return looks, looks == 7, []error{errRec, nil}[looks%2]
		}, largest...)
		require.NoError(t, err)
		require.Equal(t, 7, v)
	})
}

// TestEqualLimits: where two would end the call, it is the one asked first.
func TestEqualLimits(t *testing.T) {
	for name, tc := range map[string]struct {
		opts     []retry.Option
		attempts int
		want     error
	}{
		"attempts of a kind and of all":   {[]retry.Option{retry.WithMaxAttempts(3), retry.WithRule(condition.Is(errRec), retry.WithMaxAttempts(3))}, 3, retry.ErrExhausted},
		"attempts and time":               {[]retry.Option{retry.WithMaxAttempts(3), retry.WithMaxElapsed(3 * time.Second)}, 3, retry.ErrExhausted},
		"time of a kind and of all":       {[]retry.Option{retry.WithMaxElapsed(3 * time.Second), retry.WithRule(condition.Is(errRec), retry.WithMaxElapsed(3*time.Second))}, 3, retry.ErrMaxElapsed},
		"the last delay and the attempts": {[]retry.Option{retry.WithMaxAttempts(3), retry.WithRule(condition.Is(errRec), retry.WithStrategy(strategy.Sequence{Delays: kbSeconds(1, 1)}))}, 3, retry.ErrExhausted},
		"the last delay of a kind":        {[]retry.Option{retry.WithRule(condition.Is(errRec), retry.WithStrategy(strategy.Sequence{Delays: kbSeconds(1, 1)}))}, 3, retry.ErrNoDelay},
	} {
		_, end := ruPlay(t, ruTimes(9, errRec), append([]retry.Option{recEvery(time.Second)}, tc.opts...)...)
		require.Equal(t, tc.want, end.Reason, name)
		require.Equal(t, tc.attempts, recError(t, end.Err).Attempts, name)
	}
}

// TestSuperviseWithin: a supervision within a call ends with that call's attempt, and is retried as a whole.
func TestSuperviseWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, runs := time.Now(), 0
		err := retry.Run(t.Context(), func(ctx context.Context) error {
			return retry.Supervise(ctx, func(ctx context.Context) error {
				runs++
				<-ctx.Done()
				return retry.Restart(ctx.Err())
			})
		}, retry.WithAttemptTimeout(time.Hour), retry.WithMaxAttempts(3), recEvery(time.Second))
		e := recError(t, err)
		require.Equal(t, retry.ErrExhausted, e.Reason)
		require.Equal(t, 3, runs, "the inner call's mark does not reset the outer one")
		require.Equal(t, 3*time.Hour+2*time.Second, time.Since(began))
		require.ErrorIs(t, err, retry.ErrAttemptTimeout)
	})
}

// TestStateWithoutAFailure: a strategy that is asked after work that ended well gets the state of a first failure, but for the
// failure.
func TestStateWithoutAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var got []strategy.State
		note := retry.WithStrategy(strategy.Func(func(s strategy.State) (time.Duration, bool) {
			require.NotNil(t, s.Rand)
			s.Rand = nil
			got = append(got, s)
			return time.Duration(len(got)) * time.Second, true
		}))
		opts := []retry.Option{note, retry.WithMaxDelay(time.Hour), retry.WithResetAfter(time.Hour), retry.WithRand(recDraws(0))}
		runs := []error{errRec, nil, nil, retry.Permanent(errRec)}
		n := 0
		_ = retry.Supervise(t.Context(), func(context.Context) error { time.Sleep(time.Minute); n++; return runs[n-1] }, opts...)
		loop := retry.NewLoop(t.Context(), opts...)
		for try := range loop.Tries() {
			if time.Sleep(time.Minute); try.Number() > 1 {
				break
			}
			try.Again()
		}
		at := func(d time.Duration) time.Time { return began.Add(d) }
		require.Equal(t, []strategy.State{
			{Number: 1, Limit: time.Hour, Began: at(0), Now: at(time.Minute), Err: errRec},
			{Number: 1, Limit: time.Hour, Began: at(61 * time.Second), Now: at(121 * time.Second)},
			{Number: 1, Limit: time.Hour, Began: at(123 * time.Second), Now: at(183 * time.Second)},
			{Number: 1, Limit: time.Hour, Began: at(246 * time.Second), Now: at(306 * time.Second)},
		}, got)
	})
}
