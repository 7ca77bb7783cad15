package retrysql

import (
	"slices"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/errtree"
)

// isConflict knows a transaction that lost against others.
var isConflict = condition.Any(
	condition.SQLSerialization(),
	condition.MySQL(
		1205, 1213, 3101, 3572, // lock wait timeout, deadlock, lost in group replication, NOWAIT
		8002, 8022, 8028, 9007, // TiDB: rolled back after a conflict, or a change of the schema
	),
	condition.If(func(err error) bool {
		return !errtree.Walk(err, func(err error) bool {
			code := sqliteCode(err)
			return code != sqliteBusy && code != sqliteLocked && !slices.Contains(sqlServerConflicts, sqlServerNumber(err))
		})
	}),
)

// last is the last condition of every call: what is before it in the options was asked first.
var last = new(lastCondition)

type lastCondition struct{ _ byte } // not of size 0, so that it has an address of its own

func (*lastCondition) Check(err error) condition.Verdict {
	if begin, ok := err.(*beginError); ok {
		return begin.verdict
	}
	if isConflict.Check(err) == condition.Retry || timedOut(err) {
		return condition.Retry
	}
	return condition.Stop
}

// timedOut reports whether an attempt ended by its own timeout, which only those have who ask for it.
func timedOut(err error) bool {
	return !errtree.Walk(err, func(err error) bool {
		x, ok := err.(interface{ Is(error) bool })
		return err != retry.ErrAttemptTimeout && !(ok && x.Is(retry.ErrAttemptTimeout))
	})
}
