package retrysql

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/errtree"
)

// ErrAmbiguousCommit is matched, beside the driver's own error, by the error of a call whose transaction may have been
// committed, or may not: the answer to COMMIT did not come, or does not tell. The package comment lists what does tell.
//
// Such a transaction must not simply be run again. Look first whether it took effect: by a row that it writes under a key of
// its own, such as a request's identifier, or by PostgreSQL's pg_xact_status. Calls of this library around InTx take the
// error for permanent, unless an error of theirs hides it.
var ErrAmbiguousCommit = errors.New("retrysql: the transaction may have been committed")

func ambiguous(err error) error { return fmt.Errorf("%w (%w)", err, ErrAmbiguousCommit) }

var isAmbiguous = condition.Is(ErrAmbiguousCommit)

// settled says Retry where err, of Commit, says for certain that nothing was committed.
func settled(err error) condition.Verdict {
	no := isConflict.Check(err) == condition.Retry
	clear := errtree.Walk(err, func(err error) bool {
		state := stateOf(err)
		no = no || isVerdict(state) || neverSent(err) || sqliteCode(err) == sqliteConstraint || isRolledBack(err)
		return !inDoubt(state)
	})
	if no && clear {
		return condition.Retry
	}
	return condition.Unknown
}

func stateOf(err error) string {
	if e, ok := err.(interface{ SQLState() string }); ok {
		return e.SQLState()
	}
	return ""
}

// isVerdict reports whether an SQLSTATE is the server's refusal: whatever the error, COMMIT then rolls back.
func isVerdict(state string) bool {
	return len(state) == 5 && state >= "03" && !inDoubt(state)
}

// inDoubt reports whether an SQLSTATE leaves the outcome open: it says so, or it tells of a connection, server or disk that
// failed, by then or a moment later. With PostgreSQL a failure to write the commit record ends the server, and what the
// record's fate was shows after its restart.
func inDoubt(state string) bool {
	if state == "40003" { // statement completion unknown: CockroachDB's ambiguous result
		return true
	}
	for _, class := range [...]string{"08", "53", "57P", "58", "XX"} { // connection, resources, shutdown, system, internal
		if strings.HasPrefix(state, class) {
			return true
		}
	}
	return false
}

// neverSent reports whether COMMIT did not leave this process. driver.ErrBadConn would say so too, but drivers also return it
// for a connection that broke while they waited for the answer.
func neverSent(err error) bool {
	e, ok := err.(interface{ SafeToRetry() bool }) // pgx
	return ok && e.SafeToRetry()
}

// isRolledBack knows the errors of drivers that found the transaction rolled back because fn went on after the failure of a
// statement and returned nil. They have no type: only their texts tell.
func isRolledBack(err error) bool {
	switch err.Error() {
	case "commit unexpectedly resulted in rollback", // pgx
		"pq: could not complete operation in a failed transaction": // lib/pq
		return true
	}
	return isAbortedBySQLServer(err)
}
