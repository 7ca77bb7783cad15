package retrysql

import (
	"database/sql/driver"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/errtree"
)

// lost knows failures that say that there is no connection, or not any more. Network's are among them, so it is asked of BEGIN
// and of statements after which the rollback failed too: an fn may have other connections.
var lost = condition.Any(
	condition.SQLConnection(),
	condition.MySQL(1040, 1203, 1226, 1053, 1927, 2006, 2013, 3032, 4031),
	condition.Network(),
	condition.NotSent(),
	condition.If(func(err error) bool {
		return !errtree.Walk(err, func(err error) bool { return !isInvalidConn(err) })
	}),
)

func isLost(err error) bool { return lost.Check(err) != condition.Unknown }

var plain = reflect.TypeOf(errors.New(""))

// isInvalidConn knows go-sql-driver/mysql's ErrInvalidConn, which has no type of its own.
func isInvalidConn(err error) bool {
	return reflect.TypeOf(err) == plain && err.Error() == "invalid connection"
}

// badConns knows failures of a statement or COMMIT after which the connection is useless though the server still answers on it,
// or soon will be: another attempt needs another connection, and so does whoever gets this one from the pool.
var badConns = condition.Any(
	condition.Is(driver.ErrBadConn),
	condition.SQLState(
		"25006",          // read-only transaction: PostgreSQL after a failover
		"25P03", "25P04", // the session was ended: idle in a transaction, transaction too long
		"57P01", "57P02", "57P03", "57P05", // shut down, crashed, starting up, idle for too long
	),
	condition.MySQL(
		1290, 1836, // read-only: after a failover
		1053, 1047, 3032, // shutting down, not part of the cluster (Galera), offline
		1927, 2006, 2013, 4031, // connection killed, gone, lost, idle for too long
	),
	condition.If(func(err error) bool {
		return !errtree.Walk(err, func(err error) bool { return !slices.Contains(sqlServerNodes, sqlServerNumber(err)) })
	}),
)

func badConn(err error) condition.Verdict { return badConns.Check(err) }

// isOver reports whether a failed ROLLBACK or COMMIT says that there is no transaction.
func isOver(failed error) bool {
	return !errtree.Walk(failed, func(err error) bool {
		switch {
		case sqliteCode(err) == sqliteError:
			return !strings.Contains(err.Error(), "no transaction is active")
		case sqlServerNumber(err) == 3902, sqlServerNumber(err) == 3903:
			return false
		}
		return err.Error() != "pq: unexpected transaction status idle" // lib/pq
	})
}

// endsTransaction reports whether err is one after which the database rolls back by itself. SQLite does so at OR ROLLBACK and
// RAISE(ROLLBACK), when it is interrupted, and when it runs out of something (https://www.sqlite.org/lang_transaction.html);
// SQL Server after most failures, as XACT_ABORT has it.
func endsTransaction(err error) bool {
	return !errtree.Walk(err, func(err error) bool {
		switch sqliteCode(err) {
		case sqliteBusy, sqliteNoMem, sqliteInterrupt, sqliteIOErr, sqliteFull, sqliteConstraint:
			return false
		}
		return sqlServerNumber(err) == 0
	})
}
