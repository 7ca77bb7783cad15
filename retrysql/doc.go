// Package retrysql runs database/sql transactions, and runs those again that lost against others: serialization failures and
// deadlocks. It needs no driver.
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
//	any other error                 nothing was committed
//
// # What is retried
//
// Every attempt begins a new transaction. In the order in which they are asked:
//
//   - not repeated, whatever the options say: an ambiguous commit, retry.Permanent, and a failure after which the rollback
//     failed too. A rollback cannot fail where the connection was gone before it: the server rolls back when it notices;
//   - retry.WithRetryIf, the rules of retry.WithRule, and then the conditions of retry.WithCondition, may narrow and widen what
//     follows: they see the error of begin, fn or commit. All of them are safe to repeat; condition.SQLConnection is the
//     one to add where a transaction should survive the restart of its server. Conditions that decide everything, as
//     condition.Only does, leave nothing to what follows. The 10 attempts of InTx are a limit over all rules;
//   - retried: SQLSTATE 40001, 40P01 and 55P03 (condition.SQLSerialization), MySQL's 1205, 1213, 3101 and 3572, and SQLite's
//     BUSY and LOCKED (modernc.org/sqlite, mattn/go-sqlite3), whether they come from begin, fn or commit;
//   - retried: a begin for which nothing was sent (condition.NotSent), such as a refused connection or driver.ErrBadConn;
//   - retried: an attempt that retry.WithAttemptTimeout ended before its commit;
//   - anything else is not.
//
// # Ambiguous commits
//
// A failure of COMMIT is definite, and may be retried, where it is one of the conflicts above; where it has an SQLSTATE, but
// for those below; where the driver knows that COMMIT was not sent (a method SafeToRetry() bool, which pgx has), or that the
// transaction had failed before (pgx and lib/pq, after fn returned nil in spite of a failed statement); and where it is
// SQLite's CONSTRAINT. Where the context ends before COMMIT, InTx does not send it.
//
// It is ambiguous in all other cases. The common one is a connection lost before the answer came; driver.ErrBadConn is
// no better. SQLSTATE 40003 and the classes 08, 53, 57P, 58 and XX say that the outcome is unknown, or that the server was
// failing. An fn that has ended the transaction itself leaves the outcome open too (and once the context has ended, InTx
// cannot tell it from database/sql, which then rolls back).
package retrysql
