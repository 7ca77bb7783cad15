package condition_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// picky is somebody's own condition with a Validate of its own.
type picky struct {
	says
	err error
}

func (p *picky) Validate() error { return p.err }

func TestConfigErrors(t *testing.T) {
	var (
		noFunc  func(error) bool
		noMatch func(*fault) bool
		noCode  func(error) int
		good    = condition.Network()
		uncomp  = func(error) any { return nil }
	)
	tests := []struct {
		c           condition.Condition
		field, text string
	}{
		{condition.If(noFunc), "If", "condition: If: must not be nil"},
		{condition.StopIf(nil), "StopIf", "condition: StopIf: must not be nil"},
		{condition.Match(noMatch), "Match", "condition: Match: must not be nil"},
		{condition.Code(noCode, 1), "Code", "condition: Code: must not be nil"},
		{condition.Code(statusOf), "Code", "condition: Code: needs at least one code"},
		{condition.Code(uncomp, any("x"), any([]int{1})), "Code[1]", "condition: Code[1] = [1]: cannot be compared"},
		{condition.Is(), "Is", "condition: Is: needs at least one target"},
		{condition.Is(nil), "Is[0]", "condition: Is[0]: must not be nil"},
		{condition.Is(errA, (*fault)(nil)), "Is[1]", "condition: Is[1]: must not be nil, is a nil *condition_test.fault"},
		{condition.HTTPStatus(), "HTTPStatus", "condition: HTTPStatus: needs at least one code"},
		{condition.HTTPStatus(503, 42), "HTTPStatus[1]", "condition: HTTPStatus[1] = 42: must be from 100 to 999"},
		{condition.HTTPStatus(math.MinInt), "HTTPStatus[0]", "condition: HTTPStatus[0] = -9223372036854775808: must be from 100 to 999"},
		{condition.Any(good, nil), "Any[1]", "condition: Any[1]: must not be nil"},
		{condition.Any(condition.Func(nil)), "Any[0]", "condition: Any[0]: must not be nil, is a nil condition.Func"},
		{condition.Only((*picky)(nil)), "Only[0]", "condition: Only[0]: must not be nil, is a nil *condition_test.picky"},
		{condition.All(good, good, nil), "All[2]", "condition: All[2]: must not be nil"},
		{condition.Not(nil), "Not", "condition: Not: must not be nil"},
		{condition.Not((*picky)(nil)), "Not", "condition: Not: must not be nil, is a nil *condition_test.picky"},
		{condition.Not(condition.If(nil)), "Not.If", "condition: Not.If: must not be nil"},
		{condition.Any(condition.HTTPStatus()), "Any[0].HTTPStatus", "condition: Any[0].HTTPStatus: needs at least one code"},
		{
			condition.Only(good, condition.All(good, condition.Not(condition.Is(errA, nil)))),
			"Only[1].All[1].Not.Is[1]", "condition: Only[1].All[1].Not.Is[1]: must not be nil",
		},
		{condition.Any(&picky{err: errA}), "Any[0]", "condition: Any[0]: a"},
		{
			condition.Not(&picky{err: &condition.ConfigError{Field: "Own", Value: "x", Problem: "is odd"}}),
			"Not.Own", `condition: Not.Own = "x": is odd`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			requireConfigError(t, tt.c, tt.field, tt.text)
			for _, err := range sampleErrors() {
				if v := tt.c.Check(err); v != unknown {
					// Only what is unusable is Unknown; what stands beside it still answers.
					require.Contains(t, []condition.Verdict{stop, again, throttled}, v)
				}
			}
		})
	}
}

// TestBadPartsAreUnknown: the part is Unknown, the rest works.
func TestBadPartsAreUnknown(t *testing.T) {
	require.Equal(t, again, condition.Any(nil, condition.If(nil), says(again)).Check(errA))
	require.Equal(t, unknown, condition.All(nil, says(again)).Check(errA))
	require.Equal(t, stop, condition.Only(nil).Check(errA))
	require.Equal(t, unknown, condition.Not(nil).Check(errA))
	require.Equal(t, again, condition.Is(nil, errA).Check(errA))
	require.Equal(t, again, condition.HTTPStatus(0, 503).Check(withStatus(503)))
	require.Equal(t, unknown, condition.HTTPStatus(0).Check(withStatus(0)))
	require.Equal(t, again, condition.Code(func(error) any { return "x" }, any([]int{}), any("x")).Check(errA))
	require.Equal(t, unknown, condition.Code(func(error) any { return []int{} }, any([]int{})).Check(errA))
	require.Equal(t, unknown, condition.Code(func(error) any { return []int{} }, any("x")).Check(errA))
}

func TestGoodConditionsValidate(t *testing.T) {
	for _, tt := range conformant() {
		require.NoError(t, validate(tt.c), tt.name)
		require.NoError(t, validate(condition.Any(condition.Not(tt.c), condition.Only(condition.All(tt.c)))), tt.name)
	}
	require.NoError(t, validate(condition.Any(&picky{}, says(again))))
	require.NoError(t, validate(condition.Any(&picky{err: (*fault)(nil)})), "a typed nil is no complaint")
}

func TestConfigErrorUnwrap(t *testing.T) {
	require.ErrorIs(t, validate(condition.Any(condition.Not(&picky{err: errA}))), errA)
	require.NoError(t, errors.Unwrap(validate(condition.Is())))

	var none *condition.ConfigError
	require.Equal(t, "condition: invalid", none.Error())
	require.NoError(t, none.Unwrap())
}
