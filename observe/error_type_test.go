package observe_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrysql"
)

// kindError says its kind itself.
type kindError struct{ kind string }

func (e kindError) Error() string     { return "failed" }
func (e kindError) ErrorType() string { return e.kind }

type valueError struct{}

func (valueError) Error() string { return "value" }

// rpcError has the shape of the errors of google.golang.org/grpc, whose result has more methods. A nil status has code 0.
type (
	rpcError  struct{ *rpcStatus }
	rpcStatus struct{ code rpcCode }
	rpcCode   uint32
	rpcKind   struct{ rpcError }
)

func (rpcError) Error() string            { return "rpc error" }
func (e rpcError) GRPCStatus() *rpcStatus { return e.rpcStatus }
func (s *rpcStatus) Code() rpcCode        { return s.code }
func (rpcKind) ErrorType() string         { return "own" }

type isCanceled struct{}

func (isCanceled) Error() string        { return "gone" }
func (isCanceled) Is(target error) bool { return target == context.Canceled }

// typeOf returns the error.type of a call whose one attempt fails with err.
func typeOf(t *testing.T, err error, opts ...observe.Option) string {
	r := record(append(opts, observe.WithoutMetrics())...)
	_ = retry.Run(t.Context(), func(context.Context) error { return err }, retry.WithObserver(r.observer), retry.WithMaxAttempts(1))
	attempt, operation := r.attributesOf("retry attempt"), r.attributesOf("retry")
	require.Len(t, attempt, 1)
	require.Len(t, operation, 1)
	ofAttempt, _ := attempt[0].Value(observe.KeyErrorType)
	ofOperation, _ := operation[0].Value(observe.KeyErrorType)
	require.Equal(t, ofAttempt, ofOperation)
	return ofAttempt.AsString()
}

func TestErrorType(t *testing.T) {
	inner := func(err error, opts ...retry.Option) error {
		return retry.Run(t.Context(), func(context.Context) error { return err }, append(opts, retry.WithMaxAttempts(1))...)
	}
	unreached := func(opts ...retry.Option) error {
		return retry.Run(t.Context(), func(context.Context) error { return nil }, opts...)
	}
	stopped := make(chan struct{})
	close(stopped)
	for _, c := range []struct {
		err  error
		want string
	}{
		{errInvalid, "*errors.errorString"},
		{errRefused, "*observe_test.dialError"},
		{valueError{}, "github.com/seed-89b3229b/retry/observe_test.valueError"},
		{syscall.ECONNREFUSED, "syscall.Errno"},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "*net.OpError"},
		{rpcError{&rpcStatus{14}}, "UNAVAILABLE"},
		{fmt.Errorf("load: %w", retry.Permanent(rpcError{&rpcStatus{5}})), "NOT_FOUND"},
		{errors.Join(context.DeadlineExceeded, rpcError{&rpcStatus{4}}), "DEADLINE_EXCEEDED"},
		{rpcError{&rpcStatus{1}}, "CANCELLED"},
		{rpcError{&rpcStatus{99}}, "CODE(99)"},
		{rpcKind{rpcError{&rpcStatus{14}}}, "own"},
		{errors.Join(rpcError{&rpcStatus{14}}, kindError{"own"}), "own"},
		{rpcError{&rpcStatus{0}}, "github.com/seed-89b3229b/retry/observe_test.rpcError"}, // OK says nothing of a failure
		{rpcError{}, "github.com/seed-89b3229b/retry/observe_test.rpcError"},
		{fmt.Errorf("load: %w", errRefused), "*observe_test.dialError"},
		{fmt.Errorf("load: %w and %w", errRefused, errInvalid), "*observe_test.dialError"},
		{errors.Join(errRefused, errInvalid), "*observe_test.dialError"},
		{fmt.Errorf("load: %w", retry.Permanent(errRefused)), "*observe_test.dialError"},
		{fmt.Errorf("load: %w", retry.After(1, fmt.Errorf("more: %w", errRefused))), "*observe_test.dialError"},
		{&retryhttp.Failure{Err: fmt.Errorf("load: %w", errRefused)}, "*observe_test.dialError"},
		{&retryhttp.Failure{Err: context.DeadlineExceeded}, "timeout"},
		{&retryhttp.Failure{Err: kindError{"own"}}, "own"},
		{fmt.Errorf("load: %w", &retryhttp.Failure{Response: &http.Response{StatusCode: 503}}), "503"},
		{&retryhttp.Failure{}, "*retryhttp.Failure"},
		{(*dialError)(nil), "*observe_test.dialError"},
		{fmt.Errorf("load: %w", error(nil)), "*fmt.wrapError"},

		{context.DeadlineExceeded, "timeout"},
		{os.ErrDeadlineExceeded, "timeout"},
		{&net.OpError{Op: "dial", Err: syscall.ETIMEDOUT}, "timeout"},
		{fmt.Errorf("load: %w", context.DeadlineExceeded), "timeout"},
		{context.Canceled, "canceled"},
		{fmt.Errorf("load: %w", errors.Join(errInvalid, context.Canceled)), "canceled"},
		{errors.Join(context.Canceled, context.DeadlineExceeded), "timeout"},
		{fmt.Errorf("dial: %w", isCanceled{}), "canceled"}, // as net says it
		{retry.ErrUnacceptable, "unacceptable_result"},

		{kindError{"429"}, "429"},
		{fmt.Errorf("load: %w", errors.Join(errInvalid, kindError{"429"})), "429"},
		{errors.Join(context.DeadlineExceeded, kindError{"429"}), "429"},
		{errors.Join(kindError{}, kindError{"429"}, kindError{"503"}), "429"},
		{kindError{}, "github.com/seed-89b3229b/retry/observe_test.kindError"},

		{inner(errRefused), "*observe_test.dialError"},
		{fmt.Errorf("load: %w", inner(context.DeadlineExceeded)), "timeout"},
		{inner(kindError{"429"}), "429"},
		{unreached(retry.WithThrottle(refusing(errRefused))), "throttled"},
		{unreached(retry.WithStop(stopped)), "canceled"},
		{unreached(retry.WithInitialDelay(2, nil), retry.WithMaxElapsed(1)), "timeout"},
		{&retry.Error{Reason: errRefused}, "_OTHER"},
		{(*retry.Error)(nil), "*retry.Error"},
	} {
		assert.Equal(t, c.want, typeOf(t, c.err), "%T %v", c.err, c.err)
	}
}

// A transaction that could not be begun has the driver's error.
func TestErrorTypeOfBegin(t *testing.T) {
	for want, err := range map[string]error{
		"*net.OpError":        &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		"*errors.errorString": errInvalid,
	} {
		r := record(observe.WithoutMetrics())
		got := retrysql.InTx(t.Context(), refusesToBegin{err}, nil, func(context.Context, *sql.Tx) error { return nil },
			retry.WithMaxAttempts(1), retry.WithObserver(r.observer))
		assert.ErrorIs(t, got, err)
		failed, _ := r.attributesOf("retry attempt")[0].Value(observe.KeyErrorType)
		assert.Equal(t, want, failed.AsString())
	}
}

type refusesToBegin struct{ err error }

func (r refusesToBegin) BeginTx(context.Context, *sql.TxOptions) (*sql.Tx, error) { return nil, r.err }

// Types are named as the conventions' own helper names them.
func TestErrorTypeIsThatOfTheConventions(t *testing.T) {
	for _, err := range []error{errInvalid, errRefused, valueError{}, syscall.ECONNREFUSED, fmt.Errorf("load: %w", errRefused), kindError{"429"}, kindError{}} {
		assert.Equal(t, semconv.ErrorType(err).Value.AsString(), typeOf(t, err))
	}
}

func TestWithErrorType(t *testing.T) {
	custom := observe.WithErrorType(func(err error) string {
		if errors.Is(err, errRefused) {
			return "refused"
		}
		return ""
	})
	assert.Equal(t, "refused", typeOf(t, fmt.Errorf("load: %w", errRefused), custom))
	assert.Equal(t, "timeout", typeOf(t, context.DeadlineExceeded, custom), "an empty answer is none")
	assert.Equal(t, "timeout", typeOf(t, context.DeadlineExceeded, custom, observe.WithErrorType(nil)))
}

// However many kinds of failures there are, error.type has few values, and the package's own keep their place.
func TestErrorTypesAreBounded(t *testing.T) {
	r := record(observe.WithErrorType(func(err error) string {
		if n, ok := err.(numbered); ok && n%2 == 0 {
			return "even " + strconv.Itoa(int(n))
		}
		return ""
	}), observe.WithoutTraces())
	policy := retry.MustNew(retry.WithObserver(r.observer), retry.WithMaxAttempts(1))
	kinds := 100_000
	if raceEnabled {
		kinds /= 10
	}
	for n := range kinds {
		_ = retry.Run(t.Context(), func(context.Context) error { return numbered(n) }, policy)
	}
	for _, err := range []error{context.DeadlineExceeded, context.Canceled, errInvalid} {
		_ = retry.Run(t.Context(), func(context.Context) error { return err }, policy)
	}
	seen := map[string]uint64{}
	for _, p := range r.points(t, observe.MetricAttemptDuration) {
		kind, ok := p.Attributes.Value(observe.KeyErrorType)
		require.True(t, ok)
		seen[kind.AsString()] += p.Count
	}
	assert.Equal(t, uint64(1), seen["timeout"])
	assert.Equal(t, uint64(1), seen["canceled"])
	const free = observe.ErrorTypeLimit - 5 // timeout, canceled, unacceptable_result, throttled, panic
	assert.Len(t, seen, free+3, "those that found room, _OTHER, timeout, canceled")
	assert.Equal(t, uint64(kinds-free+1), seen["_OTHER"], "one of them the plain error that came too late")
	assert.Equal(t, uint64(1), seen["even 0"])
	assert.Equal(t, uint64(1), seen["odd 1"])
}

// numbered is as many kinds of failures as there are numbers.
type numbered int

func (n numbered) Error() string     { return "failure " + strconv.Itoa(int(n)) }
func (n numbered) ErrorType() string { return "odd " + strconv.Itoa(int(n)) }

// Types that the table has no room for are _OTHER, and those known stay known.
func TestErrorTypesByType(t *testing.T) {
	r := record(observe.WithoutTraces())
	policy := retry.MustNew(retry.WithObserver(r.observer), retry.WithMaxAttempts(1))
	fail := func(err error) { _ = retry.Run(t.Context(), func(context.Context) error { return err }, policy) }
	fail(errRefused)
	for n := range observe.ErrorTypeLimit {
		fail(numbered(n))
	}
	for range 3 {
		fail(errRefused)
		fail(errInvalid)
		fail(valueError{})
	}
	seen := map[string]uint64{}
	for _, p := range r.points(t, observe.MetricAttemptDuration) {
		kind, _ := p.Attributes.Value(observe.KeyErrorType)
		seen[kind.AsString()] += p.Count
	}
	assert.Equal(t, uint64(4), seen["*observe_test.dialError"])
	assert.NotContains(t, seen, "*errors.errorString")
	assert.Equal(t, uint64(6+6), seen["_OTHER"], "6 numbers and 6 late ones")
}
