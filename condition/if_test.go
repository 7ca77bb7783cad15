package condition_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

func TestIfDoesNotStop(t *testing.T) {
	isA := func(err error) bool { return errors.Is(err, errA) }
	require.Equal(t, again, condition.If(isA).Check(errA))
	require.Equal(t, unknown, condition.If(isA).Check(errB))
	require.Equal(t, stop, condition.Only(condition.If(isA)).Check(errB))

	require.Equal(t, stop, condition.StopIf(isA).Check(errA))
	require.Equal(t, unknown, condition.StopIf(isA).Check(errB))
	require.Equal(t, again, condition.Not(condition.StopIf(isA)).Check(errA))
}

func TestFunctionsAreNotCalledWithNil(t *testing.T) {
	never := func(error) bool {
		t.Error("called")
		return true
	}
	for _, c := range []condition.Condition{
		condition.If(never), condition.StopIf(never), condition.Code(never, true),
		condition.Match(func(f *fault) bool { return never(f) }),
	} {
		require.Equal(t, unknown, c.Check(nil))
		for _, err := range typedNils() {
			require.Equal(t, unknown, c.Check(err))
		}
	}
}

// TestPanicsPassThrough: a panic of the caller's own function is the caller's.
func TestPanicsPassThrough(t *testing.T) {
	c := condition.Any(condition.Not(condition.If(func(error) bool { panic("mine") })))
	require.PanicsWithValue(t, "mine", func() { c.Check(errA) })
}
