// Package retrysql runs database/sql transactions, and runs those again that lost against others: serialization failures and
// deadlocks. It puts connections away that are not fit for another attempt. It needs no driver.
//
//	err := retrysql.InTx(ctx, db, &sql.TxOptions{Isolation: sql.LevelSerializable}, func(ctx context.Context, tx *sql.Tx) error {
//		var balance int
//		if err := tx.QueryRowContext(ctx, `SELECT balance FROM accounts WHERE id = $1`, id).Scan(&balance); err != nil {
//			return err
//		}
//		if balance < amount {
//			return ErrInsufficientFunds // rolled back, and returned as it is
//		}
//		_, err := tx.ExecContext(ctx, `UPDATE accounts SET balance = $1 WHERE id = $2`, balance-amount, id)
//		return err
//	})
//
// InTxValue is the same for a function with a value. A transaction within another's function has attempts of its own: they
// multiply.
//
// # How it ends
//
//	nil                             committed
//	errors.Is(ErrAmbiguousCommit)   not known whether it was committed; never repeated
//	any other error                 nothing was committed, unless fn itself did so ("What fn must not do")
//
// # What is retried
//
// Every attempt begins a new transaction. In the order in which they are asked:
//
//   - not repeated, whatever the options say: an ambiguous commit, and retry.Permanent;
//   - retry.WithRetryIf, the rules of retry.WithRule, and then the conditions of retry.WithCondition, may narrow and widen what
//     follows: they see the error of begin, fn or commit. All of them are safe to repeat; condition.SQLConnection is the
//     one to add where a transaction should survive the restart of its server. Conditions that decide everything, as
//     condition.Only does, leave nothing to what follows. The 10 attempts of InTx are a limit over all rules;
//   - retried: SQLSTATE 40001, 40P01 and 55P03 (condition.SQLSerialization); MySQL's 1205, 1213, 3101 and 3572, and TiDB's 8002,
//     8022, 8028 and 9007; SQL Server's 1205, 1222, 3960 and those of memory-optimized tables (41301, 41302, 41305, 41325, 41839);
//     SQLite's BUSY and LOCKED (modernc.org/sqlite, mattn/go-sqlite3, ncruces/go-sqlite3): whether they come from begin, fn or
//     commit;
//   - retried: a begin that failed with its connection, so that nothing was done: what condition.SQLConnection, Network or NotSent
//     knows, mysql.ErrInvalidConn, MySQL's 1040, 1053, 1203, 1226, 1927, 2006, 2013, 3032 and 4031, and the list below. Of a *sql.DB,
//     connections that their driver calls driver.ErrBadConn are put away one after the other without an attempt;
//   - retried: an attempt that retry.WithAttemptTimeout ended before its commit;
//   - anything else is not.
//
// # Bad connections
//
// A pool gives the connection of a failed attempt to the next one. InTx closes it instead, so that another attempt, and other
// users of the pool, get another, after
//
//   - a failure that is the connection's or its node's. Read-only, as a former primary is: SQLSTATE 25006, MySQL's 1290 and 1836,
//     SQL Server's 3906. Shutting down, moved or out of its cluster: SQLSTATE 57P01, 57P02, 57P03 and 57P05, MySQL's 1047, 1053 and
//     3032, SQL Server's 6005, 40197 and 40613. A session that was ended: SQLSTATE 25P03 and 25P04, MySQL's 1927, 2006, 2013 and 4031,
//     driver.ErrBadConn. Database.BadConn says which others are so, and which of these are not;
//   - a ROLLBACK that failed: what it left behind goes with the connection, and the failure before it decides on another attempt.
//     The caller gets both errors;
//   - an ambiguous commit.
//
// Closing one costs a new connection, with TLS and authentication mostly some milliseconds and round trips, and nothing to calls
// that succeed; the hold on it costs each attempt one allocation. A write in a read-only transaction looks like a read-only node,
// and costs a connection too. It closes only the connection that failed: a pool full of others to the same node takes an attempt
// for each, which db.SetConnMaxLifetime and, for MySQL, the driver's rejectReadOnly make fewer.
//
// Only a *sql.DB's connections can be closed. With any other Beginner they are given back as they are, and a ROLLBACK that failed
// ends the call with both errors, unless the connection was gone before: then the server rolls back when it notices.
//
// A database that has rolled back by itself, as SQLite does after OR ROLLBACK and when it is interrupted, refuses ROLLBACK, because
// there is nothing left. That is no failure, and the connection is kept.
//
// # Ambiguous commits
//
// A failure of COMMIT is definite, and may be retried, where it is one of the conflicts above; where it has an SQLSTATE, but
// for those below; where the driver knows that COMMIT was not sent (a method SafeToRetry() bool, which pgx has), or that the
// transaction had failed before (pgx and lib/pq, after fn returned nil in spite of a failed statement; SQL Server's "aborted by the
// server"); where it is SQLite's CONSTRAINT; and where Database.RolledBack says so, for which its user answers. Where the context
// ends before COMMIT, InTx does not send it.
//
// It is ambiguous in all other cases. The common one is a connection lost before the answer came; driver.ErrBadConn is
// no better. SQLSTATE 40003 and the classes 08, 53, 57P, 58 and XX say that the outcome is unknown, or that the server was
// failing.
//
// # What fn must not do
//
// fn must not end the transaction. Where it does so through the *sql.Tx, the outcome is ambiguous (but once the context has ended,
// InTx cannot tell it from database/sql, which then rolls back). A COMMIT that fn sends as a statement, or a statement that commits
// by itself, such as MySQL's CREATE TABLE, goes past database/sql. SQLite and lib/pq find out at the end that there is no
// transaction any more, and the outcome is then ambiguous. Other databases and drivers, pgx among them, say nothing: a ROLLBACK
// after it succeeds, and InTx reports that nothing was committed, or runs fn again, although something was.
package retrysql
