package retrysql

import (
	"context"
	"database/sql"
	"errors"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
)

// InTx runs fn in a transaction and commits it. Each attempt is a transaction of its own: begin, fn, and commit, or rollback
// where fn failed. A transaction that lost against others is repeated from its beginning (see "What is retried" in the package
// comment), any other failure is not.
//
// fn may run several times. It must read again what it decides by, keep nothing from an attempt that failed, have no effect
// outside of the transaction that must not happen twice, use the context that it gets (it ends with WithAttemptTimeout), and
// return the errors of its statements, wrapped at will. It must not commit or roll back itself. A panic in fn rolls back and
// passes through.
//
// A nil error says that the transaction was committed. One that matches ErrAmbiguousCommit says that it may have been; it is
// never repeated, whatever the options say. With any other error nothing was committed: a failure that is not repeated comes
// back as fn or the driver returned it, any other end is a *retry.Error around it. If the rollback failed, its error is beside
// that of fn; of a *sql.DB the connection is then closed, and fn's failure decides, else the call ends.
//
// Defaults: 10 attempts, waits of strategy.FullJitter{Base: 10ms, Max: 500ms}, 1.1 s in all on average and 2.1 s at most.
// opts come after those, as for retry.Run; the package comment says how conditions among them take part. A *retry.Policy,
// which must stand first, takes the place of these defaults, and what is not set in it is as for retry.Run. txOpts may be
// nil: the driver's default. A nil db, a Database that cannot be used, a nil fn, and options that cannot be used are a
// *retry.ConfigError, and nothing is begun. A nil ctx panics.
//
// InTx is safe for concurrent use if db is.
func InTx(ctx context.Context, db Beginner, txOpts *sql.TxOptions, fn func(context.Context, *sql.Tx) error, opts ...retry.Option) error {
	d, err := databaseOf(db)
	if err != nil {
		return err
	}
	if fn == nil {
		return missing("fn", nil)
	}
	err = run(ctx, func(ctx context.Context) error { return d.attempt(ctx, txOpts, fn) }, opts)
	if err == nil {
		return nil
	}
	err = unmark(err)
	if isAmbiguous.Check(err) == condition.Retry {
		return retry.Permanent(err) // calls of this library around this one do not repeat it either
	}
	return err
}

// InTxValue is InTx for an fn with a value, such as rows that were read: unlike what a closure appends to, it is of one attempt
// only. The value comes back when the transaction was committed, and beside ErrAmbiguousCommit, where it may help to find
// out; with any other error it is the zero value. Options for values (retry.WithResults and its kin) are not for
// transactions, and are a *retry.ConfigError here too.
func InTxValue[T any](ctx context.Context, db Beginner, txOpts *sql.TxOptions, fn func(context.Context, *sql.Tx) (T, error), opts ...retry.Option) (v T, err error) {
	if fn == nil {
		return v, missing("fn", nil)
	}
	err = InTx(ctx, db, txOpts, func(ctx context.Context, tx *sql.Tx) (err error) {
		v, err = fn(ctx, tx)
		return err
	}, opts...)
	if err != nil && isAmbiguous.Check(err) != condition.Retry {
		v = *new(T)
	}
	return v, err
}

// attempt is one transaction.
func (d Database) attempt(ctx context.Context, txOpts *sql.TxOptions, fn func(context.Context, *sql.Tx) error) error {
	s, err := d.begin(ctx, txOpts)
	if err != nil {
		return d.notBegun(err)
	}
	if s.tx == nil {
		return retry.Permanent(errNoTx)
	}
	defer s.end(ctx)
	err = fn(ctx, s.tx)
	s.ended = true
	if err == nil {
		err = ctx.Err() // COMMIT would not be sent, but Commit could not tell so
	}
	if err != nil {
		return d.rollback(ctx, &s, err)
	}
	return d.commit(ctx, &s)
}

var errNoTx = errors.New("retrysql: BeginTx returned neither a transaction nor an error")

// notBegun marks a failure of begin that is the connection's: whatever it was, nothing was done. A *sql.Conn that is closed
// stays closed.
func (d Database) notBegun(err error) error {
	switch verdict := lost.Check(err); {
	case errors.Is(err, sql.ErrConnDone):
	case verdict != condition.Unknown:
		return &beginError{err, verdict}
	case d.isBadConn(err):
		return &beginError{err, condition.Retry}
	}
	return err
}

// rollback rolls back after err, and says what the attempt failed with.
func (d Database) rollback(ctx context.Context, s *session, err error) error {
	failed := s.tx.Rollback()
	s.bad = d.isBadConn(err)
	done := ctx.Err()
	switch {
	case failed == nil:
		return err
	case done != nil && (errors.Is(failed, sql.ErrTxDone) || errors.Is(failed, done)):
		return err // database/sql rolls back by itself when the context ends
	case isOver(failed) && (done != nil || endsTransaction(err)):
		return err // the database has rolled back by itself, and left nothing
	}
	both := &rollbackError{err, failed}
	switch {
	case isOver(failed) || errors.Is(failed, sql.ErrTxDone): // fn has ended it, one way or the other
		return retry.Permanent(ambiguous(both.flat()))
	case s.conn != nil:
		s.bad = true // and what the transaction has left goes with it
	case done == nil && !isLost(err):
		return retry.Permanent(both.flat())
	}
	if done != nil {
		return both.flat() // the end of the context decides
	}
	return both
}

// commit commits, and says whether a failure leaves the outcome open.
func (d Database) commit(ctx context.Context, s *session) error {
	err := s.tx.Commit()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil:
		return ctx.Err() // rolled back by database/sql in the meantime
	case d.isRolledBack(err):
		s.bad = d.isBadConn(err)
		return err
	}
	// Some databases leave the transaction open when COMMIT fails, and MySQL commits it when the next one begins on that connection.
	s.bad = !isOver(err)
	return retry.Permanent(ambiguous(err))
}
