package retrysql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/retrytest"
)

// widest is a caller who wants everything repeated.
var widest = []retry.Option{
	retry.WithRetryIf(func(error) bool { return true }),
	retry.WithCondition(condition.If(func(error) bool { return true })),
	retry.WithUnlimitedAttempts(),
}

// open-ended failures of commit: nobody can say what became of the transaction.
func ambiguous() []error {
	failures := []error{
		io.EOF, io.ErrUnexpectedEOF, driver.ErrBadConn, sql.ErrConnDone, sql.ErrTxDone, net.ErrClosed,
		&net.OpError{Op: "read", Err: syscall.ECONNRESET}, &net.OpError{Op: "write", Err: syscall.EPIPE},
		&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, // by a proxy of the driver's, who knows when
		errors.New("boom"), context.Canceled, context.DeadlineExceeded, unsent(false),
		state(""), state("00000"), state("01000"), state("02000"), state("4000"), state("400011"),
		fmt.Errorf("commit: %w", state("40003")), errors.Join(state("40001"), state("08007")),
		&MySQLError{2013}, &MySQLError{2006}, &MySQLError{1053}, Error{Code: 10, ExtendedCode: 1034},
		errors.New("Commit unexpectedly resulted in rollback"), codeOnly{5},
		&MySQLError{8501}, msSQL{number: 3902}, msSQL{text: "rolled back"}, msSQL{text: "aborted by the server"}, // TiDB's is "result undetermined"
		errors.New("the transaction was aborted by the server; any changes have been rolled back"),
	}
	for _, code := range []string{
		"40003", "08000", "08003", "08006", "08007", "08P01", "53000", "53100", "53200", "57P01", "57P02", "57P03", "57P05",
		"58000", "58030", "XX000", "XX001",
	} {
		failures = append(failures, state(code))
	}
	return failures
}

// An ambiguous commit is not repeated whoever asks for it, not even by a call around; its error is reachable.
func TestAmbiguousCommitIsNeverRepeated(t *testing.T) {
	for _, applied := range []bool{false, true} {
		for _, failure := range ambiguous() {
			t.Run(fmt.Sprintf("%T %v %v", failure, failure, applied), func(t *testing.T) {
				s := &server{commit: []error{failure}, applied: applied}
				db := open(t, s)
				inner := 0
				err := retry.Run(t.Context(), func(ctx context.Context) error {
					inner++
					return fmt.Errorf("transfer: %w", retrysql.InTx(ctx, db, nil, increment, widest...))
				}, widest...)
				assert.Equal(t, "begin exec commit", s.did())
				assert.Equal(t, 1, inner)
				assert.ErrorIs(t, err, retrysql.ErrAmbiguousCommit)
				assert.ErrorIs(t, err, failure)
				assert.ErrorContains(t, err, "transfer: "+failure.Error()+" (retrysql: the transaction may have been committed)")
				if applied {
					assert.Equal(t, 1, s.committed(), "once, and no more")
				}
			})
		}
	}
}

func TestAmbiguousCommitIsNotRepeatedByDefault(t *testing.T) {
	for _, failure := range ambiguous() {
		s := &server{commit: []error{failure}}
		err := retrysql.InTx(t.Context(), open(t, s), nil, increment)
		assert.Equal(t, "begin exec commit", s.did(), failure)
		assert.ErrorIs(t, err, retrysql.ErrAmbiguousCommit)
		assert.ErrorIs(t, err, failure)
		assert.EqualError(t, err, failure.Error()+" (retrysql: the transaction may have been committed)")
	}
}

// Where the answer is no, the call's conditions decide.
func TestDefiniteCommit(t *testing.T) {
	failures := []error{
		msSQL{text: "server does not have an active transaction: the transaction was aborted by the server, likely due to an error " +
			"while SET XACT_ABORT is ON; any changes have been rolled back"}, // microsoft/go-mssqldb v1.11.2
		unsent(true), Error{Code: 19, ExtendedCode: 787}, fmt.Errorf("commit: %w", state("23505")),
		errors.New("commit unexpectedly resulted in rollback"), errors.New("pq: could not complete operation in a failed transaction"),
	}
	for _, code := range []string{"23503", "23505", "25P02", "40000", "40002", "55000", "57014", "P0001", "72000", "HV000"} {
		failures = append(failures, state(code))
	}
	for _, failure := range failures {
		s := &server{commit: []error{failure}}
		err := retrysql.InTx(t.Context(), open(t, s), nil, increment)
		assert.Equal(t, failure, err)
		assert.Equal(t, "begin exec commit", s.did(), failure)

		s = &server{commit: []error{failure}}
		require.NoError(t, retrysql.InTx(t.Context(), open(t, s), nil, increment, append(on(retrytest.NewClock()), widest...)...))
		assert.Equal(t, "begin exec commit begin exec commit", s.did(), failure)
		assert.Equal(t, 1, s.committed())
	}
}

// Conflicts, as every driver says it, are repeated wherever they come up.
func TestConflicts(t *testing.T) {
	for _, failure := range []error{
		state("40001"), state("40P01"), state("55P03"), fmt.Errorf("orders: %w", state("40001")), errors.Join(io.EOF, state("40001")),
		&MySQLError{1205}, &MySQLError{1213}, &MySQLError{3101}, &MySQLError{3572},
		&MySQLError{8002}, &MySQLError{8022}, &MySQLError{8028}, &MySQLError{9007}, // TiDB
		msSQL{number: 1205}, msSQL{number: 1222}, msSQL{number: 3960}, msSQL{number: 41305}, fmt.Errorf("orders: %w", msSQL{number: 1205}),
		Error{Code: 5}, Error{Code: 6}, Error{Code: 5 | 2<<8}, &Error{Code: 5 | 1<<8}, fmt.Errorf("orders: %w", Error{Code: 5}),
	} {
		for _, s := range []*server{{begin: []error{failure}}, {exec: []error{failure}}, {commit: []error{failure}}} {
			require.NoError(t, retrysql.InTx(t.Context(), open(t, s), nil, increment, on(retrytest.NewClock())...), "%T %v %q", failure, failure, s.did())
			assert.Equal(t, 1, s.committed())
		}
	}
	for _, failure := range []error{
		state("40003"), state("23505"), &MySQLError{1062}, &MySQLError{8004}, msSQL{number: 2627}, msSQL{}, Error{Code: 19}, Error{Code: 1}, Error{},
		codeOnly{5}, status(5), &Error{Code: 1 << 8}, (*Error)(nil), state("40002"), state("25P02"),
	} {
		for _, s := range []*server{{begin: []error{failure}}, {exec: []error{failure}}, {commit: []error{failure}}} {
			assert.Error(t, retrysql.InTx(t.Context(), open(t, s), nil, increment, on(retrytest.NewClock())...))
			assert.NotContains(t, s.did(), " begin", failure)
		}
	}
}

// codeOnly and status have a number that is none of SQLite's.
type codeOnly struct{ Code int }

func (codeOnly) Error() string { return "code" }

type status int

func (status) Error() string { return "status" }
func (s status) Code() int   { return int(s) }

// The connection was lost before the rollback: nothing is left to roll back, and whoever asks for it gets another attempt.
func TestLostConnection(t *testing.T) {
	for _, failure := range []error{state("57P01"), state("08006"), io.EOF, driver.ErrBadConn, unsent(true)} {
		s := &server{exec: []error{failure}, rollback: []error{driver.ErrBadConn}}
		survive := condition.Any(condition.SQLConnection(), condition.Network(), condition.NotSent())
		err := retrysql.InTx(t.Context(), open(t, s), nil, increment, append(on(retrytest.NewClock()), retry.WithCondition(survive))...)
		require.NoError(t, err)
		assert.Equal(t, "begin exec rollback begin exec commit", s.did())
	}
}

// An fn that ends the transaction itself leaves nobody to tell what became of it.
func TestFnEndsTheTransaction(t *testing.T) {
	commits := func(ctx context.Context, tx *sql.Tx) error {
		return errors.Join(increment(ctx, tx), tx.Commit())
	}
	s := new(server)
	err := retrysql.InTx(t.Context(), open(t, s), nil, commits, widest...)
	assert.ErrorIs(t, err, retrysql.ErrAmbiguousCommit)
	assert.ErrorIs(t, err, sql.ErrTxDone)
	assert.Equal(t, "begin exec commit", s.did())

	s = &server{commit: []error{io.EOF}, applied: true} // its commit is ambiguous, and looks like any other failure of fn
	err = retrysql.InTx(t.Context(), open(t, s), nil, commits, widest...)
	assert.ErrorIs(t, err, retrysql.ErrAmbiguousCommit)
	assert.ErrorIs(t, err, io.EOF)
	assert.Equal(t, "begin exec commit", s.did())
	assert.EqualError(t, err, "EOF (rollback: sql: transaction has already been committed or rolled back) (retrysql: the transaction may have been committed)")
}

// noTransaction is how mattn/go-sqlite3 says so.
func noTransaction() error {
	type Error struct {
		error
		Code, ExtendedCode int
	}
	return Error{errors.New("cannot rollback - no transaction is active"), 1, 1}
}

// A database that has no transaction to roll back has rolled back by itself, if the failure before is one of those after which it
// does. Else it was fn, by COMMIT or ROLLBACK as a statement.
func TestNothingToRollBack(t *testing.T) {
	pq := errors.New("pq: unexpected transaction status idle")
	for _, tt := range []struct {
		failure, rollback error
		self              bool
	}{
		{Error{Code: 19}, noTransaction(), true}, // INSERT OR ROLLBACK
		{Error{Code: 9}, noTransaction(), true},  // interrupted
		{Error{Code: 13}, noTransaction(), true},
		{fmt.Errorf("orders: %w", Error{Code: 10}), noTransaction(), true},
		{msSQL{number: 1205}, msSQL{number: 3903}, true}, // XACT_ABORT
		{errFunds, noTransaction(), false},
		{Error{Code: 1}, noTransaction(), false},
		{errFunds, msSQL{number: 3903}, false},
		{errFunds, pq, false},
		{state("23505"), pq, false}, // PostgreSQL keeps a transaction that failed until it is told to roll back
	} {
		s := &server{exec: []error{tt.failure}, rollback: []error{tt.rollback}}
		db := open(t, s)
		err := retrysql.InTx(t.Context(), db, nil, increment, retry.WithMaxAttempts(1), retry.WithRetryIf(func(error) bool { return false }))
		if tt.self {
			assert.Equal(t, tt.failure, err)
		} else {
			assert.ErrorIs(t, err, retrysql.ErrAmbiguousCommit)
			assert.ErrorIs(t, err, tt.rollback)
			assert.ErrorIs(t, err, tt.failure)
		}
		assert.Zero(t, s.closed, "it may hold a database in memory")

		// The same from a Beginner whose connections cannot be closed.
		s = &server{exec: []error{tt.failure}, rollback: []error{tt.rollback}}
		err = retrysql.InTx(t.Context(), wrapped{open(t, s)}, nil, increment, append(on(retrytest.NewClock()), widest...)...)
		assert.Equal(t, tt.self, err == nil, tt.failure)
	}
}

// An inner transaction's ambiguous commit is not repeated by the transaction around it.
func TestNestedAmbiguity(t *testing.T) {
	outer, inner := new(server), &server{commit: []error{io.EOF}}
	outerDB, innerDB := open(t, outer), open(t, inner)
	err := retrysql.InTx(t.Context(), outerDB, nil, func(ctx context.Context, tx *sql.Tx) error {
		return fmt.Errorf("audit: %w", retrysql.InTx(ctx, innerDB, nil, increment))
	}, widest...)
	assert.ErrorIs(t, err, retrysql.ErrAmbiguousCommit)
	assert.Equal(t, "begin rollback", outer.did())
	assert.Equal(t, "begin exec commit", inner.did())
}
