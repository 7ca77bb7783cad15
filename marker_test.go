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

func TestMarksOfNil(t *testing.T) {
	require.NoError(t, retry.Permanent(nil))
	require.NoError(t, retry.After(time.Second, nil))
	require.NoError(t, retry.After(-1, nil))
}

// TestMarksShowTheErrorBelow: same text, errors.Is and errors.As go through.
func TestMarksShowTheErrorBelow(t *testing.T) {
	typed := &recTyped{7}
	for _, err := range []error{retry.Permanent(typed), retry.After(time.Second, typed), retry.Permanent(retry.After(0, typed))} {
		require.EqualError(t, err, "code 7")
		require.ErrorIs(t, err, error(typed))
		var as *recTyped
		require.ErrorAs(t, err, &as)
	}
	signal, ok := throttle.FromError(retry.After(time.Second, errRec))
	require.True(t, ok)
	require.Equal(t, time.Second, signal.Delay)
	_, ok = throttle.FromError(retry.After(-1, errRec))
	require.False(t, ok)
}

// TestMarksAtTheTop come off: what the caller, observers and the history get is the operation's error (P14).
func TestMarksAtTheTop(t *testing.T) {
	for _, attempts := range []int{1, 5} {
		for name, err := range map[string]error{
			"permanent":             retry.Permanent(errRec),
			"twice":                 retry.Permanent(retry.Permanent(errRec)),
			"after over permanent":  retry.After(time.Second, retry.Permanent(errRec)),
			"permanent over after":  retry.Permanent(retry.After(time.Second, errRec)),
			"permanent, told twice": retry.After(0, retry.Permanent(retry.After(-1, errRec))),
		} {
			o := &recObserver{log: newRecLog(), name: "o"}
			_, got := retry.Do(t.Context(), func(context.Context) (int, error) { return 0, err }, retry.WithMaxAttempts(attempts), retry.WithObserver(o))
			require.Same(t, errRec, got, name)
			require.Same(t, errRec, o.events[0].Err, name)
			require.Same(t, errRec, o.ends[0].Last, name)
			require.Same(t, errRec, o.ends[0].Err, name)
			require.Equal(t, retry.ErrNotRetryable, o.events[0].Reason)
			require.Equal(t, retry.EndAborted, o.ends[0].Ending)
			require.Equal(t, 1, o.ends[0].Attempts)
		}
	}
	err := recRun(retry.WithRetryIf(func(error) bool { return true }))
	require.Same(t, errRec, recError(t, err).Last)
	step := newRecSteps(t, retry.WithMaxAttempts(1)).fails(retry.After(time.Second, errRec))
	require.Same(t, errRec, recError(t, step.Err).Last)
}

// TestMarksBelow end the call and keep the text and the siblings (P12, P13).
func TestMarksBelow(t *testing.T) {
	a := errors.New("a")
	for _, err := range []error{
		fmt.Errorf("x: %w", retry.Permanent(errRec)),
		fmt.Errorf("x: %w", fmt.Errorf("y: %w", retry.Permanent(errRec))),
		fmt.Errorf("x: %w, %w", a, retry.Permanent(errRec)),
		errors.Join(a, retry.Permanent(errRec)),
		errors.Join(retry.Permanent(errRec), a),
		errors.Join(a, fmt.Errorf("x: %w", errors.Join(nil, retry.Permanent(errRec)))),
	} {
		calls := 0
		got := retry.Run(t.Context(), func(context.Context) error { calls++; return err })
		require.Equal(t, 1, calls)
		require.Equal(t, &retry.Error{Attempts: 1, Reason: retry.ErrNotRetryable, Last: err}, recError(t, got))
		require.ErrorIs(t, got, errRec)
		require.ErrorIs(t, got, retry.ErrNotRetryable)
		require.Equal(t, errors.Is(err, a), errors.Is(got, a))
		require.EqualError(t, got, err.Error()+" (retry: gave up after 1 attempt: not retryable)")
		// A mark at the top too: it comes off, and the failure is returned bare.
		require.Equal(t, err, retry.Run(t.Context(), func(context.Context) error { return retry.Permanent(err) }))
	}
	after := fmt.Errorf("x: %w", retry.After(time.Hour, errRec))
	require.Equal(t, after, recError(t, newRecSteps(t).fails(after).Err).Last)
}

// TestMarksOfAnInnerCall do not steer the outer one.
func TestMarksOfAnInnerCall(t *testing.T) {
	inner := func(context.Context) error {
		return retry.Run(context.Background(), func(context.Context) error {
			return fmt.Errorf("x: %w", retry.Permanent(retry.After(time.Hour, errRec)))
		})
	}
	synctest.Test(t, func(t *testing.T) {
		for _, wrap := range []func(error) error{
			func(err error) error { return err },
			func(err error) error { return fmt.Errorf("y: %w", err) },
			func(err error) error { return errors.Join(errRecCause, err) },
		} {
			calls, began := 0, time.Now()
			err := retry.Run(t.Context(), func(ctx context.Context) error { calls++; return wrap(inner(ctx)) }, recEvery(time.Second))
			require.Equal(t, 5, calls)
			require.Equal(t, 4*time.Second, time.Since(began))
			require.Equal(t, retry.ErrExhausted, recError(t, err).Reason)
			require.ErrorIs(t, err, retry.ErrNotRetryable, "the inner reason is seen too")
			require.ErrorIs(t, err, errRec)
		}
	})
	// A mark beside or around it does count.
	calls := 0
	err := retry.Run(t.Context(), func(ctx context.Context) error { calls++; return retry.Permanent(inner(ctx)) })
	require.Equal(t, 1, calls)
	require.Equal(t, retry.ErrNotRetryable, recError(t, err).Reason, "the inner error, as it is")
	_ = retry.Run(t.Context(), func(ctx context.Context) error {
		calls++
		return errors.Join(inner(ctx), retry.Permanent(errRecCause))
	})
	require.Equal(t, 2, calls)
}

// TestMarksOfTypedNils: errors that hold nil pointers are passed over, wherever they are.
func TestMarksOfTypedNils(t *testing.T) {
	for _, err := range []error{(*recNilHint)(nil), fmt.Errorf("x: %w", (*recNilHint)(nil)), errors.Join((*recNilHint)(nil), errRec), retry.After(0, (*recNilHint)(nil))} {
		calls := 0
		got := retry.Run(t.Context(), func(context.Context) error { calls++; return err }, recAtOnce)
		require.Equal(t, 5, calls)
		require.Error(t, got)
	}
	err := retry.Permanent((*recNilHint)(nil))
	require.Equal(t, error((*recNilHint)(nil)), retry.Run(t.Context(), func(context.Context) error { return err }))
}

// TestEveryMarkIsRemovedAtTheTop: one rule for all, in any order, with and without a timeout of the attempt around them.
func TestEveryMarkIsRemovedAtTheTop(t *testing.T) {
	told := throttle.Signal{Delay: time.Second, HasDelay: true, Source: "retry-after"}
	marks := map[string]func(error) error{
		"After":       func(err error) error { return retry.After(time.Second, err) },
		"Restart":     retry.Restart,
		"Signal.Wrap": told.Wrap,
		"Permanent":   retry.Permanent,
	}
	for outer, mark := range marks {
		for inner, again := range marks {
			name, permanent := outer+" of "+inner, outer == "Permanent" || inner == "Permanent"
			log := newRecLog()
			o := &recObserver{log: log, name: "o"}
			var heard []throttle.Signal
			err := retry.Run(t.Context(), func(context.Context) error { return mark(again(errRec)) }, retry.WithMaxAttempts(1), retry.WithObserver(o),
				retry.WithCondition(condition.If(func(err error) bool { require.Same(t, errRec, err, name); return true })),
				retry.WithThrottle(recHears{&heard}))
			if !permanent {
				require.Same(t, errRec, recError(t, err).Last, name)
			} else {
				require.Same(t, errRec, err, name)
			}
			require.Same(t, errRec, o.events[0].Err, name)
			require.Same(t, errRec, o.ends[0].Last, name)
			if outer == "Signal.Wrap" || inner == "Signal.Wrap" && outer != "After" {
				require.Equal(t, told, heard[0], "%s: what was told is not lost", name)
			}
			kept := recRunErr(mark(again(errRec)), retry.WithErrorHistory(1), retry.WithMaxAttempts(1))
			require.Same(t, errRec, recError(t, kept).History[0], name)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		for name, mark := range marks {
			err := retry.Run(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return mark(errRec) },
				retry.WithAttemptTimeout(time.Second), retry.WithMaxAttempts(1))
			last := err
			if name != "Permanent" {
				last = recError(t, err).Last
			}
			require.ErrorIs(t, last, retry.ErrAttemptTimeout, name)
			require.Same(t, errRec, errors.Unwrap(last), name)
		}
	})
	below := fmt.Errorf("x: %w", told.Wrap(errRec))
	require.Equal(t, below, recError(t, recRunErr(below, retry.WithMaxAttempts(1))).Last, "below others it stays")
}

func recRunErr(err error, opts ...retry.Option) error {
	return retry.Run(context.Background(), func(context.Context) error { return err }, opts...)
}

// recHears lets everything pass, and notes what servers said.
type recHears struct{ heard *[]throttle.Signal }

func (recHears) Admit(context.Context, time.Time, throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	return nil, 0, nil
}

func (r recHears) Done(_ context.Context, _ time.Time, _ throttle.Ticket, o throttle.Outcome) {
	*r.heard = append(*r.heard, o.Signal)
}
