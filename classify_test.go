package retry_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

func recSays(v condition.Verdict) retry.Option {
	return retry.WithCondition(condition.Func(func(error) condition.Verdict { return v }))
}

func recIf(v bool) retry.Option { return retry.WithRetryIf(func(error) bool { return v }) }

// recClassify makes one attempt that ends with o. told is what throttles were told.
func recClassify(t *testing.T, ctx context.Context, o throttle.Outcome, opts ...retry.Option) (step retry.Step, told throttle.Class) {
	t.Helper()
	policy, err := retry.New(append(opts, recEvery(time.Second), retry.WithThrottle(recTold{&told}))...)
	require.NoError(t, err)
	flow := policy.Begin(recStart, time.Time{}, nil)
	flow.Next(context.Background(), recStart)
	step = flow.Report(ctx, recStart, o)
	require.Equal(t, step.Class, told)
	return step, told
}

type recTold struct{ class *throttle.Class }

func (r recTold) Admit(context.Context, time.Time, throttle.Ticket) (throttle.Ticket, time.Duration, error) {
	return nil, 0, nil
}
func (r recTold) Done(_ context.Context, _ time.Time, _ throttle.Ticket, o throttle.Outcome) {
	*r.class = o.Class
}

// TestClassificationOrder sets every neighbour in the order of decision against the one behind it.
func TestClassificationOrder(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	live := t.Context()
	timedOut := fmt.Errorf("x: %w", retry.ErrAttemptTimeout)
	says := func(tri throttle.Tri) throttle.Signal { return throttle.Signal{Retry: tri} }
	const yes, no = throttle.Yes, throttle.No
	const permanent, transient, canceled, timeout = throttle.Permanent, throttle.Transient, throttle.Canceled, throttle.Timeout

	for _, tc := range []struct {
		name  string
		ctx   context.Context
		o     throttle.Outcome
		opts  []retry.Option
		retry bool
		bare  bool // the caller gets the failure itself
		class throttle.Class
	}{
		{"parent done | permanent", done, throttle.Outcome{Err: retry.Permanent(errRec)}, nil, false, false, canceled},
		{"parent done | decided yes", done, throttle.Outcome{Err: errRec, Decided: yes}, nil, false, false, canceled},
		{"parent done | signal yes", done, throttle.Outcome{Err: errRec, Signal: says(yes)}, nil, false, false, canceled},
		{"parent done | retryIf true", done, throttle.Outcome{Err: errRec}, []retry.Option{recIf(true)}, false, false, canceled},
		{"parent done | condition retry", done, throttle.Outcome{Err: errRec}, []retry.Option{recSays(condition.Retry)}, false, false, canceled},
		{"parent done | attempt timeout", done, throttle.Outcome{Err: timedOut}, nil, false, false, canceled},

		{"permanent | decided yes", live, throttle.Outcome{Err: retry.Permanent(errRec), Decided: yes}, nil, false, true, permanent},
		{"permanent below | decided yes", live, throttle.Outcome{Err: fmt.Errorf("x: %w", retry.Permanent(errRec)), Decided: yes}, nil, false, false, permanent},
		{"permanent | signal yes", live, throttle.Outcome{Err: retry.Permanent(errRec), Signal: says(yes)}, nil, false, true, permanent},
		{"permanent | retryIf true", live, throttle.Outcome{Err: retry.Permanent(errRec)}, []retry.Option{recIf(true)}, false, true, permanent},
		{"permanent | condition retry", live, throttle.Outcome{Err: retry.Permanent(errRec)}, []retry.Option{recSays(condition.Retry)}, false, true, permanent},
		{"permanent | attempt timeout", live, throttle.Outcome{Err: retry.Permanent(retry.ErrAttemptTimeout)}, nil, false, true, permanent},
		{"permanent | canceled", live, throttle.Outcome{Err: retry.Permanent(context.Canceled)}, nil, false, true, permanent},

		{"decided yes | signal no", live, throttle.Outcome{Err: errRec, Decided: yes, Signal: says(no)}, nil, true, true, transient},
		{"decided no | signal yes", live, throttle.Outcome{Err: errRec, Decided: no, Signal: says(yes)}, nil, false, true, permanent},
		{"decided yes | retryIf false", live, throttle.Outcome{Err: errRec, Decided: yes}, []retry.Option{recIf(false)}, true, true, transient},
		{"decided no | retryIf true", live, throttle.Outcome{Err: errRec, Decided: no}, []retry.Option{recIf(true)}, false, true, permanent},

		{"signal yes | retryIf false", live, throttle.Outcome{Err: errRec, Signal: says(yes)}, []retry.Option{recIf(false)}, true, true, transient},
		{"signal no | retryIf true", live, throttle.Outcome{Err: errRec, Signal: says(no)}, []retry.Option{recIf(true)}, false, true, permanent},
		{"signal in the error | retryIf true", live, throttle.Outcome{Err: recCarrier{says(no)}}, []retry.Option{recIf(true)}, false, true, permanent},
		{"signal yes | condition stop", live, throttle.Outcome{Err: errRec, Signal: says(yes)}, []retry.Option{recSays(condition.Stop)}, true, true, transient},

		{"retryIf true | condition stop", live, throttle.Outcome{Err: errRec}, []retry.Option{recIf(true), recSays(condition.Stop)}, true, true, transient},
		{"retryIf false | condition retry", live, throttle.Outcome{Err: errRec}, []retry.Option{recIf(false), recSays(condition.Retry)}, false, true, permanent},
		{"retryIf false | attempt timeout", live, throttle.Outcome{Err: timedOut}, []retry.Option{recIf(false)}, false, true, permanent},
		{"retryIf true | hopeless", live, throttle.Outcome{Err: sql.ErrNoRows}, []retry.Option{recIf(true)}, true, true, transient},

		{"condition stop | attempt timeout", live, throttle.Outcome{Err: timedOut}, []retry.Option{recSays(condition.Stop)}, false, true, permanent},
		{"condition retry | canceled", live, throttle.Outcome{Err: context.Canceled}, []retry.Option{recSays(condition.Retry)}, true, true, transient},
		{"condition retry | hopeless", live, throttle.Outcome{Err: sql.ErrNoRows}, []retry.Option{recSays(condition.Retry)}, true, true, transient},
		{"condition throttled | hopeless", live, throttle.Outcome{Err: sql.ErrNoRows}, []retry.Option{recSays(condition.Throttled)}, true, true, throttle.Throttled},
		{"condition unknown | hopeless", live, throttle.Outcome{Err: sql.ErrNoRows}, []retry.Option{recSays(condition.Unknown)}, false, true, permanent},

		{"attempt timeout | canceled", live, throttle.Outcome{Err: errors.Join(context.Canceled, timedOut)}, nil, true, true, timeout},
		{"attempt timeout beside a deadline | canceled", live, throttle.Outcome{Err: errors.Join(timedOut, context.Canceled, retry.ErrDeadline)}, nil, true, true, timeout},
		{"attempt timeout | hopeless", live, throttle.Outcome{Err: errors.Join(sql.ErrNoRows, timedOut)}, nil, true, true, timeout},

		{"canceled | hopeless", live, throttle.Outcome{Err: errors.Join(sql.ErrNoRows, context.Canceled)}, nil, false, true, canceled},
		{"canceled", live, throttle.Outcome{Err: context.Canceled}, nil, false, true, canceled},
		{"canceled beside another", live, throttle.Outcome{Err: errors.Join(context.Canceled, recIsNothing{})}, nil, false, true, canceled},
		{"canceled below", live, throttle.Outcome{Err: fmt.Errorf("x: %w", context.Canceled)}, nil, false, true, canceled},
		{"canceled by gRPC", live, throttle.Outcome{Err: fmt.Errorf("x: %w", recCall(1))}, nil, false, true, canceled},
		{"condition retry | canceled by gRPC", live, throttle.Outcome{Err: recCall(1)}, []retry.Option{recSays(condition.Retry)}, true, true, transient},
		{"hopeless by gRPC", live, throttle.Outcome{Err: recCall(3)}, nil, false, true, permanent},
		{"unavailable by gRPC", live, throttle.Outcome{Err: recCall(14)}, nil, true, true, transient},
		{"canceled by its Is method", live, throttle.Outcome{Err: recIsCanceled{}}, nil, false, true, canceled},
		{"hopeless", live, throttle.Outcome{Err: sql.ErrNoRows}, nil, false, true, permanent},
		{"anything else", live, throttle.Outcome{Err: errRec}, nil, true, true, transient},
	} {
		t.Run(tc.name, func(t *testing.T) {
			budget := &recBudget{log: newRecLog()}
			step, class := recClassify(t, tc.ctx, tc.o, append(tc.opts, retry.WithBudget(budget))...)
			require.Equal(t, tc.class, class)
			charged := 0
			if tc.retry || tc.o.Signal.Retry == no || tc.name == "signal in the error | retryIf true" {
				charged = 1
			}
			require.Equal(t, charged, budget.charged)
			if tc.retry {
				require.Equal(t, retry.Step{Action: retry.Wait, Delay: time.Second, Class: class, Err: tc.o.Err}, step)
				return
			}
			require.Equal(t, retry.Done, step.Action)
			if tc.bare {
				require.Equal(t, retry.ErrNotRetryable, step.Reason)
				want := tc.o.Err
				for _, err := range []error{errRec, retry.ErrAttemptTimeout, context.Canceled} {
					if tc.o.Err.Error() == err.Error() { // without the mark
						want = err
					}
				}
				require.Equal(t, want, step.Err)
				return
			}
			e := recError(t, step.Err)
			require.Equal(t, step.Reason, e.Reason)
			require.Equal(t, 1, e.Attempts)
		})
	}
}

// recCall is a gRPC code in the shape of *status.Error, as far as it is asked.
type recCall uint32

func (recCall) Error() string         { return "rpc" }
func (c recCall) GRPCStatus() recCall { return c }
func (c recCall) Code() recCall       { return c }

type recIsCanceled struct{}

type recIsNothing struct{}

func (recIsNothing) Error() string { return "nothing" }
func (recIsNothing) Is(error) bool { return false }

func (recIsCanceled) Error() string        { return "rpc: canceled" }
func (recIsCanceled) Is(target error) bool { return target == context.Canceled }

// TestPermanentAndParentDone: the mark at the top comes off even where the parent is done.
func TestPermanentAndParentDone(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	step, _ := recClassify(t, done, throttle.Outcome{Err: retry.Permanent(errRec)})
	require.Equal(t, &retry.Error{Attempts: 1, Reason: context.Canceled, Last: errRec}, recError(t, step.Err))
}

// TestPushbackIsCharged where there is a budget, and with a history too, where the end is an *Error.
func TestPushbackIsCharged(t *testing.T) {
	no := recCarrier{throttle.Signal{Retry: throttle.No}}
	require.Equal(t, error(no), newRecSteps(t).fails(no).Err, "nobody to charge")
	budget := &recBudget{log: newRecLog()}
	step := newRecSteps(t, retry.WithBudget(budget), retry.WithErrorHistory(1)).fails(no)
	require.Equal(t, retry.ErrNotRetryable, recError(t, step.Err).Reason)
	require.Equal(t, []int{1, 1, 1, 10}, []int{budget.started, budget.charged, budget.settled, budget.held})
}

// TestClasses is how Unset is resolved; a class that is set stays.
func TestClasses(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	timedOut := fmt.Errorf("x: %w", retry.ErrAttemptTimeout)
	hint := throttle.Signal{HasDelay: true}
	for _, tc := range []struct {
		name string
		o    throttle.Outcome
		opts []retry.Option
		want throttle.Class
	}{
		{"success", throttle.Outcome{}, nil, throttle.Success},
		{"stop", throttle.Outcome{Err: errRec, Decided: throttle.No}, nil, throttle.Permanent},
		{"stop with a hint", throttle.Outcome{Err: errRec, Decided: throttle.No, Signal: hint}, nil, throttle.Permanent},
		{"stop of a timeout", throttle.Outcome{Err: os.ErrDeadlineExceeded}, []retry.Option{recSays(condition.Stop)}, throttle.Permanent},
		{"verdict throttled", throttle.Outcome{Err: errRec}, []retry.Option{recSays(condition.Throttled)}, throttle.Throttled},
		{"verdict throttled for a timeout", throttle.Outcome{Err: os.ErrDeadlineExceeded}, []retry.Option{recSays(condition.Throttled)}, throttle.Throttled},
		{"verdict throttled for an attempt timeout", throttle.Outcome{Err: timedOut}, []retry.Option{recSays(condition.Throttled)}, throttle.Throttled},
		{"hint", throttle.Outcome{Err: errRec, Signal: hint}, nil, throttle.Throttled},
		{"hint in the error", throttle.Outcome{Err: retry.After(1, errRec)}, nil, throttle.Throttled},
		{"hint, decided by retryIf", throttle.Outcome{Err: retry.After(1, errRec)}, []retry.Option{recIf(true)}, throttle.Throttled},
		{"hint of a timeout", throttle.Outcome{Err: os.ErrDeadlineExceeded, Signal: hint}, nil, throttle.Throttled},
		{"hint of an attempt timeout", throttle.Outcome{Err: timedOut, Signal: hint}, nil, throttle.Throttled},
		{"signal without a wait", throttle.Outcome{Err: errRec, Signal: throttle.Signal{Source: "x"}}, nil, throttle.Transient},
		{"timeout", throttle.Outcome{Err: os.ErrDeadlineExceeded}, nil, throttle.Timeout},
		{"timeout below", throttle.Outcome{Err: fmt.Errorf("x: %w", &net.DNSError{IsTimeout: true})}, nil, throttle.Timeout},
		{"timeout beside another", throttle.Outcome{Err: errors.Join(os.ErrDeadlineExceeded, &net.DNSError{})}, nil, throttle.Timeout},
		{"context's deadline", throttle.Outcome{Err: context.DeadlineExceeded}, nil, throttle.Timeout},
		{"Timeout returns false", throttle.Outcome{Err: &net.DNSError{}}, nil, throttle.Transient},
		{"attempt timeout", throttle.Outcome{Err: timedOut}, nil, throttle.Timeout},
		{"attempt timeout, decided by retryIf", throttle.Outcome{Err: timedOut}, []retry.Option{recIf(true)}, throttle.Timeout},
		{"other", throttle.Outcome{Err: errRec}, nil, throttle.Transient},
		{"canceled", throttle.Outcome{Err: context.Canceled}, nil, throttle.Canceled},
		{"last attempt", throttle.Outcome{Err: errRec}, []retry.Option{retry.WithMaxAttempts(1)}, throttle.Transient},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, class := recClassify(t, t.Context(), tc.o, tc.opts...)
			require.Equal(t, tc.want, class)
			for _, set := range []throttle.Class{throttle.Transient, throttle.Throttled, throttle.Canceled} {
				tc.o.Class = set
				_, class = recClassify(t, t.Context(), tc.o, tc.opts...)
				require.Equal(t, set, class)
			}
		})
	}
	_, class := recClassify(t, done, throttle.Outcome{Err: errRec, Signal: hint})
	require.Equal(t, throttle.Canceled, class)
	_, class = recClassify(t, done, throttle.Outcome{Err: errRec, Class: throttle.Timeout})
	require.Equal(t, throttle.Timeout, class)
	_, class = recClassify(t, done, throttle.Outcome{})
	require.Equal(t, throttle.Success, class)
}

// TestStateThrottled: what strategies are told of a server that asked for less.
func TestStateThrottled(t *testing.T) {
	for name, tc := range map[string]struct {
		o    throttle.Outcome
		opts []retry.Option
		want bool
	}{
		"plain":      {throttle.Outcome{Err: errRec}, nil, false},
		"verdict":    {throttle.Outcome{Err: errRec}, []retry.Option{recSays(condition.Throttled)}, true},
		"told wait":  {throttle.Outcome{Err: retry.After(1, errRec)}, nil, true},
		"class":      {throttle.Outcome{Err: errRec, Class: throttle.Throttled}, nil, true},
		"timeout":    {throttle.Outcome{Err: os.ErrDeadlineExceeded}, nil, false},
		"by retryIf": {throttle.Outcome{Err: errRec}, []retry.Option{recIf(true)}, false},
	} {
		var got bool
		s := strategy.Func(func(s strategy.State) (time.Duration, bool) { got = s.Throttled; return 0, true })
		newRecSteps(t, append(tc.opts, retry.WithStrategy(s))...).next().reports(0, tc.o)
		require.Equal(t, tc.want, got, name)
	}
}

// TestConditionsSee the failure without the marks at its top.
func TestConditionsSee(t *testing.T) {
	var got []error
	sees := condition.Func(func(err error) condition.Verdict { got = append(got, err); return condition.Retry })
	below := fmt.Errorf("x: %w", retry.After(1, errRec))
	s := newRecSteps(t, retry.WithCondition(sees), recAtOnce, retry.WithHint(throttle.Ignore()))
	for _, err := range []error{errRec, retry.After(1, errRec), below, retry.After(2, below)} {
		s.fails(err)
	}
	require.Equal(t, []error{errRec, errRec, below, below}, got)

	got = nil
	s = newRecSteps(t, retry.WithRetryIf(func(err error) bool { got = append(got, err); return true }), recAtOnce)
	s.fails(retry.After(0, errRec))
	require.Equal(t, []error{errRec}, got)
}
