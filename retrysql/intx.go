package retrysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Beginner is what begins transactions: *sql.DB, *sql.Conn, and what wraps one of them. BeginTx must be safe to call again
// after a failure; InTx calls it once for each attempt, with the attempt's context.
type Beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

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
// back as fn or the driver returned it, any other end is a *retry.Error around it. A rollback that fails ends the call with
// both errors.
//
// Defaults: 10 attempts, waits of strategy.FullJitter{Base: 10ms, Max: 500ms}, 1.1 s in all on average and 2.1 s at most.
// opts come after those, as for retry.Run; the package comment says how conditions among them take part. A *retry.Policy,
// which must stand first, takes the place of these defaults, and what is not set in it is as for retry.Run. txOpts may be
// nil: the driver's default. A nil db, a nil fn, and options that cannot be used are a *retry.ConfigError, and nothing is
// begun. A nil ctx panics.
//
// InTx is safe for concurrent use if db is.
func InTx(ctx context.Context, db Beginner, txOpts *sql.TxOptions, fn func(context.Context, *sql.Tx) error, opts ...retry.Option) error {
	if errtree.IsNil(db) {
		return missing("db", db)
	}
	if fn == nil {
		return missing("fn", nil)
	}
	err := run(ctx, func(ctx context.Context) error { return attempt(ctx, db, txOpts, fn) }, opts)
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

func missing(name string, value any) error {
	return &retry.ConfigError{Option: name, Value: value, Problem: "must not be nil"}
}

// attempt is one transaction.
func attempt(ctx context.Context, db Beginner, txOpts *sql.TxOptions, fn func(context.Context, *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, txOpts)
	if err != nil {
		if notSent.Check(err) == condition.Retry {
			err = &beginError{err}
		}
		return err
	}
	if tx == nil {
		return retry.Permanent(errNoTx)
	}
	returned := false
	defer func() {
		if !returned { // a panic or Goexit, which passes through
			_ = tx.Rollback()
		}
	}()
	err = fn(ctx, tx)
	returned = true
	if err == nil {
		err = ctx.Err() // COMMIT would not be sent, but Commit could not tell so
	}
	if err != nil {
		return rollback(ctx, tx, err)
	}
	return commit(ctx, tx)
}

var errNoTx = errors.New("retrysql: BeginTx returned neither a transaction nor an error")

// rollback rolls back after err, and says what the attempt failed with.
func rollback(ctx context.Context, tx *sql.Tx, err error) error {
	failed := tx.Rollback()
	done := ctx.Err()
	switch {
	case failed == nil:
		return err
	case done != nil && (errors.Is(failed, sql.ErrTxDone) || errors.Is(failed, done)):
		return err // database/sql rolls back by itself when the context ends
	}
	both := fmt.Errorf("%w (rollback: %w)", err, failed)
	switch {
	case errors.Is(failed, sql.ErrTxDone): // fn has ended it, one way or the other
		return retry.Permanent(ambiguous(both))
	case done != nil || isLost.Check(err) == condition.Retry:
		return both // there was no connection any more on which to roll back: the server does, when it notices
	}
	return retry.Permanent(both)
}

// commit commits, and says whether a failure leaves the outcome open.
func commit(ctx context.Context, tx *sql.Tx) error {
	err := tx.Commit()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil:
		return ctx.Err() // rolled back by database/sql in the meantime
	case settled(err):
		return err
	}
	return retry.Permanent(ambiguous(err))
}

// beginError tells the last condition that nothing was sent for a begin. It has the text of what is in it, and is not
// returned.
type beginError struct{ err error }

func (e *beginError) Error() string { return e.err.Error() }
func (e *beginError) Unwrap() error { return e.err }

// unmark takes beginErrors out of what a call returns. A *retry.Error with one of them is copied: observers have the first.
func unmark(err error) error {
	e, ok := err.(*retry.Error)
	if !ok {
		return bare(err)
	}
	clean := *e
	clean.Last = bare(e.Last)
	clean.History = slices.Clone(e.History)
	for i, failure := range clean.History {
		clean.History[i] = bare(failure)
	}
	return &clean
}

func bare(err error) error {
	if begin, ok := err.(*beginError); ok {
		return begin.err
	}
	return err
}
