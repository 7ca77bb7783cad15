package condition_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/fuzzed"
)

func TestErrorCode(t *testing.T) {
	c := condition.ErrorCode("Busy", "Throttling.*", "SlowDown", "Lock*")
	for _, tt := range []struct {
		name string
		err  error
		want condition.Verdict
	}{
		{"ErrorCode", &apiError{"Busy"}, again},
		{"Code", oldAPI("Busy"), again},
		{"GetCode", tencent("Busy"), again},
		{"GetCode pointer", &daraError{code: ptr("Busy")}, again},
		{"field", &SDKError{Code: ptr("Busy")}, again},
		{"field, by value", sdkValue{SDKError{Code: ptr("Busy")}}, unknown},
		{"throttling", &apiError{"SlowDown"}, throttled},
		{"prefix", &apiError{"Throttling.User"}, throttled},
		{"prefix, nothing behind it", &apiError{"Throttling."}, throttled},
		{"prefix, not throttling", &apiError{"LockTimeout"}, again},
		{"prefix alone", &apiError{"Lock"}, again},
		{"prefix without its dot", &apiError{"Throttling"}, unknown},
		{"prefix without its dot, longer", &apiError{"ThrottlingException"}, unknown},
		{"not listed", &apiError{"AccessDenied"}, unknown},
		{"other case", &apiError{"busy"}, unknown},
		{"longer", &apiError{"BusyBox"}, unknown},
		{"the pattern itself", &apiError{"Throttling.*"}, throttled},
		{"empty", &apiError{}, unknown},
		{"nil", &daraError{}, unknown},
		{"none", errA, unknown},
		{"below another code", fmt.Errorf("%w: %w", oldAPI("ORDER_FAILED"), &apiError{"Busy"}), again},
		{"the first that is listed", errors.Join(oldAPI("Denied"), oldAPI("Busy"), oldAPI("SlowDown")), again},
		{"in a text", errors.New("Busy"), unknown},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, c.Check(tt.err)) })
	}
}

// sdkValue has the fields of an SDKError through embedding only.
type sdkValue struct{ SDKError }

func (sdkValue) Error() string { return "embedded" }

// TestErrorCodeThrottled: which listed codes are the server asking for less.
func TestErrorCodeThrottled(t *testing.T) {
	for _, code := range []string{
		"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled", "RequestThrottledException",
		"TooManyRequestsException", "ProvisionedThroughputExceededException", "TransactionInProgressException",
		"RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException", "SlowDown", "PriorRequestNotComplete",
		"EC2ThrottledException", "Throttling.Api",
	} {
		require.Equal(t, throttled, condition.ErrorCode(code).Check(&apiError{code}), code)
		require.Equal(t, throttled, condition.AWS().Check(&apiError{code})|condition.Alibaba().Check(&apiError{code}), code)
	}
	for _, code := range []string{"A", "Slow", "SlowDown1", "Thrott", "NotThrottling", "zzz"} {
		require.Equal(t, again, condition.ErrorCode(code).Check(&apiError{code}), code)
	}
}

func TestErrorCodeInvalid(t *testing.T) {
	requireConfigError(t, condition.ErrorCode(), "ErrorCode", "condition: ErrorCode: needs at least one code")
	requireConfigError(t, condition.ErrorCode("a", ""), "ErrorCode[1]", `condition: ErrorCode[1] = "": must not be empty`)
	requireConfigError(t, condition.ErrorCode("*"), "ErrorCode[0]", `condition: ErrorCode[0] = "*": must have something before the *`)
	requireConfigError(t, condition.ErrorCode("a*b"), "ErrorCode[0]", `condition: ErrorCode[0] = "a*b": must have the * at its end`)
	requireConfigError(t, condition.ErrorCode("a**"), "ErrorCode[0]", `condition: ErrorCode[0] = "a**": must have the * at its end`)
	requireConfigError(t, condition.ErrorCode("a "), "ErrorCode[0]", `condition: ErrorCode[0] = "a ": must not begin or end with a space`)
	requireConfigError(t, condition.Only(condition.ErrorCode("a", "\tb")), "Only[0].ErrorCode[1]",
		`condition: Only[0].ErrorCode[1] = "\tb": must not begin or end with a space`)
	require.NoError(t, validate(condition.ErrorCode("Throttling.*", "a b")))
	for _, invalid := range []string{"", "*", "a*b", "a**", " a"} {
		for _, code := range []string{"", "*", "a*b", "a", "a*", "a**", " a"} {
			require.Equal(t, unknown, condition.ErrorCode(invalid).Check(&apiError{code}), "%q %q", invalid, code)
		}
	}

	list := []string{"a"}
	c := condition.ErrorCode(list...)
	list[0] = "b"
	require.Equal(t, again, c.Check(&apiError{"a"}), "has a copy")
	require.Equal(t, unknown, c.Check(&apiError{"b"}))
}

// FuzzErrorCode compares with a second definition of what is listed.
func FuzzErrorCode(tf *testing.F) {
	f := fuzzed.New(tf)
	for _, seed := range [][2]string{
		{"", ""}, {"*", "a"}, {"a", "a"}, {"a", "A"}, {"a*", "a"}, {"a*", "ab"}, {"a.*", "a"}, {"a.*", "a.b"}, {"a*b", "a*b"}, {" a", " a"},
		{"Throttling.*", "Throttling.User"}, {"SlowDown", "SlowDown"}, {"é*", "é\xff"}, {"\xff", "\xff"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, listed, got string) {
		c := condition.ErrorCode(listed)
		valid := listed != "" && listed != "*" && strings.TrimSpace(listed) == listed && !strings.Contains(strings.TrimSuffix(listed, "*"), "*")
		require.Equal(t, valid, validate(c) == nil)
		matches := valid && got != "" && (listed == got || strings.HasSuffix(listed, "*") && strings.Index(got, strings.TrimSuffix(listed, "*")) == 0)
		for _, err := range []error{&apiError{got}, oldAPI(got), tencent(got), &daraError{code: &got}, &SDKError{Code: &got}} {
			require.Equal(t, matches, c.Check(err) != unknown)
			require.NotEqual(t, stop, c.Check(err))
		}
	})
}
