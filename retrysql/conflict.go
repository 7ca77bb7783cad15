package retrysql

import (
	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/errtree"
)

// isConflict knows a transaction that lost against others.
var isConflict = condition.Any(
	condition.SQLSerialization(),
	condition.MySQL(1205, 1213, 3101, 3572), // lock wait timeout, deadlock, lost in group replication, NOWAIT
	condition.If(func(err error) bool {
		return !errtree.Walk(err, func(err error) bool {
			code := sqliteCode(err)
			return code != sqliteBusy && code != sqliteLocked
		})
	}),
)

// last is the last condition of every call: what is before it in the options was asked first.
var last = new(lastCondition)

type lastCondition struct{ _ byte } // not of size 0, so that it has an address of its own

func (*lastCondition) Check(err error) condition.Verdict {
	if _, ok := err.(*beginError); ok {
		return condition.Retry
	}
	if isConflict.Check(err) == condition.Retry || timedOut(err) {
		return condition.Retry
	}
	return condition.Stop
}

var notSent = condition.NotSent()

// timedOut reports whether an attempt ended by its own timeout, which only those have who ask for it.
func timedOut(err error) bool {
	return !errtree.Walk(err, func(err error) bool {
		x, ok := err.(interface{ Is(error) bool })
		return err != retry.ErrAttemptTimeout && !(ok && x.Is(retry.ErrAttemptTimeout))
	})
}
