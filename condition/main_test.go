package condition_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry/condition"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errA = errors.New("a")
	errB = errors.New("b")
)

// verdicts are all four, in the order of their values.
var verdicts = []condition.Verdict{condition.Unknown, condition.Stop, condition.Retry, condition.Throttled}

// says is a condition that always gives the same answer, even for nil.
type says condition.Verdict

func (s says) Check(error) condition.Verdict { return condition.Verdict(s) }

// fault is an error with a field to match. All its methods dereference, so a nil one panics wherever it is asked.
type fault struct {
	again bool
	err   error
}

func (f *fault) Error() string { return map[bool]string{true: "again", false: "never"}[f.again] }
func (f *fault) Unwrap() error { return f.err }
func (f *fault) Is(error) bool { return f.again && false }
func (f *fault) As(any) bool   { return f.again && false }

func (f *fault) Timeout() bool       { return f.again && false }
func (f *fault) Temporary() bool     { return f.again }
func (f *fault) StatusCode() int     { _ = f.again; return 0 }
func (f *fault) HTTPStatusCode() int { _ = f.again; return 0 }

// opaque is the error of an inner retried call.
type opaque struct{ error }

func (o opaque) Unwrap() error { return o.error }
func (opaque) OpaqueRetry()    {}

// validate calls Validate where there is one.
func validate(c condition.Condition) error {
	if v, ok := c.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// requireConfigError checks that c is refused at field, with that text.
func requireConfigError(t testing.TB, c condition.Condition, field, text string) {
	t.Helper()
	var config *condition.ConfigError
	require.ErrorAs(t, validate(c), &config)
	require.Equal(t, field, config.Field)
	require.EqualError(t, config, text)
}

func TestVerdictString(t *testing.T) {
	for v, want := range map[condition.Verdict]string{
		condition.Unknown: "unknown", condition.Stop: "stop", condition.Retry: "retry", condition.Throttled: "throttled", 4: "invalid", 255: "invalid",
	} {
		require.Equal(t, want, v.String())
	}
}
