package condition_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

const (
	unknown   = condition.Unknown
	stop      = condition.Stop
	again     = condition.Retry
	throttled = condition.Throttled
)

// TestTruthTables spells out every pair, so that a change of meaning shows as a change of a table. Rows are the first
// condition, columns the second, both in the order unknown, stop, retry, throttled.
func TestTruthTables(t *testing.T) {
	tables := []struct {
		name    string
		combine func(...condition.Condition) condition.Condition
		want    [4][4]condition.Verdict
	}{
		{"Any", condition.Any, [4][4]condition.Verdict{
			{unknown, stop, again, throttled},
			{stop, stop, stop, stop},
			{again, again, again, again},
			{throttled, throttled, throttled, throttled},
		}},
		{"Only", condition.Only, [4][4]condition.Verdict{
			{stop, stop, again, throttled},
			{stop, stop, stop, stop},
			{again, again, again, again},
			{throttled, throttled, throttled, throttled},
		}},
		{"All", condition.All, [4][4]condition.Verdict{
			{unknown, stop, unknown, unknown},
			{stop, stop, stop, stop},
			{unknown, stop, again, throttled},
			{unknown, stop, throttled, throttled},
		}},
	}
	for _, table := range tables {
		for _, a := range verdicts {
			for _, b := range verdicts {
				t.Run(fmt.Sprintf("%s/%v-%v", table.name, a, b), func(t *testing.T) {
					require.Equal(t, table.want[a][b], table.combine(says(a), says(b)).Check(errA))
				})
			}
		}
	}
}

// TestSmallLists holds the answers for no condition, and for one.
func TestSmallLists(t *testing.T) {
	require.Equal(t, unknown, condition.Any().Check(errA))
	require.Equal(t, unknown, condition.All().Check(errA))
	require.Equal(t, stop, condition.Only().Check(errA))
	for _, c := range []condition.Condition{condition.Any(), condition.All(), condition.Only()} {
		require.NoError(t, validate(c), "an empty list has a meaning")
	}
	for _, v := range verdicts {
		require.Equal(t, v, condition.Any(says(v)).Check(errA))
		require.Equal(t, v, condition.All(says(v)).Check(errA))
	}
	for i, want := range []condition.Verdict{stop, stop, again, throttled} {
		require.Equal(t, want, condition.Only(says(verdicts[i])).Check(errA))
	}
	for i, want := range []condition.Verdict{unknown, again, stop, stop} {
		require.Equal(t, want, condition.Not(says(verdicts[i])).Check(errA))
	}
}

func TestAnyAsksNoFurther(t *testing.T) {
	asked := 0
	count := func(v condition.Verdict) condition.Condition {
		return condition.Func(func(error) condition.Verdict { asked++; return v })
	}
	require.Equal(t, stop, condition.Any(count(unknown), count(stop), count(again)).Check(errA))
	require.Equal(t, 2, asked)

	asked = 0
	require.Equal(t, stop, condition.All(count(unknown), count(again), count(stop), count(again)).Check(errA))
	require.Equal(t, 3, asked, "after a stop nothing can change")
}

// TestNilErrorIsUnknown uses conditions that would answer a nil error.
func TestNilErrorIsUnknown(t *testing.T) {
	for _, v := range verdicts {
		for _, c := range []condition.Condition{
			condition.Any(says(v)), condition.Only(says(v)), condition.All(says(v)), condition.Not(says(v)), condition.Only(),
		} {
			require.Equal(t, unknown, c.Check(nil))
		}
	}
}

// TestInvalidVerdicts: a condition of somebody else's may answer anything; what is no verdict decides nothing.
func TestInvalidVerdicts(t *testing.T) {
	for _, v := range []condition.Verdict{4, 255} {
		require.Equal(t, again, condition.Any(says(v), says(again)).Check(errA))
		require.Equal(t, stop, condition.Only(says(v)).Check(errA))
		require.Equal(t, unknown, condition.All(says(v), says(again)).Check(errA))
		require.Equal(t, unknown, condition.Not(says(v)).Check(errA))
	}
}

// TestListsAreCopied: what happens to the caller's slice later changes nothing.
func TestListsAreCopied(t *testing.T) {
	list := []condition.Condition{says(again)}
	for _, combine := range []func(...condition.Condition) condition.Condition{condition.Any, condition.Only, condition.All} {
		list[0] = says(again)
		c := combine(list...)
		list[0] = says(stop)
		require.Equal(t, again, c.Check(errA))
	}
	targets := []error{errA}
	is := condition.Is(targets...)
	codes := []int{503}
	status := condition.HTTPStatus(codes...)
	code := condition.Code(statusOf, codes...)
	targets[0], codes[0] = errB, 404
	require.Equal(t, again, is.Check(errA))
	require.Equal(t, again, status.Check(withStatus(503)))
	require.Equal(t, again, code.Check(withStatus(503)))
}

// TestFunc: a nil Func is Unknown, and no Func is asked about nil.
func TestFunc(t *testing.T) {
	require.Equal(t, unknown, condition.Func(nil).Check(errA))
	f := condition.Func(says(again).Check)
	require.Equal(t, unknown, f.Check(nil))
	require.Equal(t, again, f.Check(errA))
}
