package retrysql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/retrytest"
)

// A pool that keeps the connections to a former primary gives them to every attempt, if each only goes back to it.
// https://github.com/sidorares/node-mysql2/issues/4075
func TestReadOnlyNodeIsLeft(t *testing.T) {
	s := &server{demoted: 1}
	err := retrysql.InTx(t.Context(), open(t, s), nil, increment, append(on(retrytest.NewClock()), retry.WithCondition(condition.MySQL(1290)))...)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2}, s.connections())
	assert.Equal(t, "begin exec rollback begin exec commit", s.did())
	assert.Equal(t, 1, s.closed)

	// Where nobody asks for another attempt, the next transaction is spared that connection all the same.
	s = &server{demoted: 1}
	db := open(t, s)
	assert.Equal(t, &MySQLError{1290}, retrysql.InTx(t.Context(), db, nil, increment))
	require.NoError(t, retrysql.InTx(t.Context(), db, nil, increment))
	assert.Equal(t, []int{1, 2}, s.connections())
}

// again runs two transactions, the first of which fails once, and reports whether they are on one connection.
func again(t *testing.T, s *server, of func(*sql.DB) retrysql.Beginner, opts ...retry.Option) (kept bool, err error) {
	t.Helper()
	db := open(t, s)
	err = retrysql.InTx(t.Context(), of(db), nil, increment, append(on(retrytest.NewClock()), opts...)...)
	assert.NoError(t, retrysql.InTx(t.Context(), db, nil, increment))
	assert.Zero(t, db.Stats().InUse)
	assert.Equal(t, s.opened-1, s.closed)
	return s.opened == 1, err
}

func itself(db *sql.DB) retrysql.Beginner { return db }

func TestBadConnectionsAreClosed(t *testing.T) {
	for _, failure := range []error{
		&MySQLError{1290}, &MySQLError{1836}, &MySQLError{1053}, &MySQLError{1047}, &MySQLError{3032}, &MySQLError{4031},
		state("25006"), state("25P03"), state("57P01"), state("57P05"), msSQL{number: 3906}, msSQL{number: 40197},
		driver.ErrBadConn, fmt.Errorf("orders: %w", &MySQLError{1290}), errors.Join(errFunds, state("25006")),
	} {
		kept, err := again(t, &server{exec: []error{failure}}, itself)
		assert.False(t, kept, failure)
		assert.Equal(t, failure, err)
	}
	for _, failure := range []error{
		errFunds, io.EOF, errRefused, state("40001"), state("23505"), state("53200"), &MySQLError{1213}, &MySQLError{1792},
		Error{Code: 5}, msSQL{number: 1205}, context.DeadlineExceeded,
	} {
		kept, _ := again(t, &server{exec: []error{failure}}, itself)
		assert.True(t, kept, failure)
	}
}

// What a failed COMMIT has left on its connection is nobody's to find: MySQL commits it with the next BEGIN.
func TestConnectionOfFailedCommitIsClosed(t *testing.T) {
	for _, failure := range []error{io.EOF, &MySQLError{1290}, state("57P01"), unsent(false)} {
		kept, err := again(t, &server{commit: []error{failure}}, itself)
		assert.False(t, kept, failure)
		assert.ErrorIs(t, err, retrysql.ErrAmbiguousCommit)
	}
	for _, failure := range []error{state("40001"), state("23505"), &MySQLError{1213}, Error{Code: 5}} {
		kept, err := again(t, &server{commit: []error{failure}}, itself)
		assert.True(t, kept, failure)
		assert.NotErrorIs(t, err, retrysql.ErrAmbiguousCommit)
	}
}

// A failed rollback takes its connection with it, and leaves the verdict to the failure before. Galera says 1213 to both.
func TestFailedRollback(t *testing.T) {
	for _, failed := range []error{errBroken, driver.ErrBadConn, io.EOF, &MySQLError{1213}, state("25P02")} {
		s := &server{exec: []error{&MySQLError{1213}}, rollback: []error{failed}}
		kept, err := again(t, s, itself)
		assert.NoError(t, err)
		assert.False(t, kept)
		assert.Equal(t, "begin exec rollback begin exec commit begin exec commit", s.did())

		s = &server{exec: []error{errFunds}, rollback: []error{failed}}
		kept, err = again(t, s, itself)
		assert.False(t, kept)
		assert.EqualError(t, err, "insufficient funds (rollback: "+failed.Error()+")")
		assert.ErrorIs(t, err, errFunds)
		assert.ErrorIs(t, err, failed)
		assert.NotErrorIs(t, err, retrysql.ErrAmbiguousCommit)
		assert.Equal(t, "begin exec rollback begin exec commit", s.did())
	}
	// Both are in the error of a call that gave up, and in its history.
	s := &server{exec: []error{state("40001")}, rollback: []error{errBroken}}
	_, err := again(t, s, itself, retry.WithMaxAttempts(1), retry.WithErrorHistory(2))
	gaveUp := new(retry.Error)
	require.ErrorAs(t, err, &gaveUp)
	for _, kept := range append(gaveUp.History, gaveUp.Last) {
		assert.ErrorIs(t, kept, errBroken)
		assert.ErrorIs(t, kept, state("40001"))
	}
	// Whoever marks the failure as permanent is heard.
	s = &server{exec: []error{retry.Permanent(state("40001"))}, rollback: []error{errBroken}}
	_, err = again(t, s, itself, widest...)
	assert.ErrorIs(t, err, retry.ErrNotRetryable)
	assert.ErrorIs(t, err, errBroken)
}

// wrapped is a Beginner of the user's.
type wrapped struct{ retrysql.Beginner }

// Where the connection cannot be closed, a rollback that failed ends the call, whoever wants another attempt: what it left
// behind may be in the way.
func TestFailedRollbackOnKeptConnection(t *testing.T) {
	single := func(db *sql.DB) retrysql.Beginner {
		conn, err := db.Conn(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	for _, of := range []func(*sql.DB) retrysql.Beginner{
		func(db *sql.DB) retrysql.Beginner { return wrapped{db} }, single,
		func(db *sql.DB) retrysql.Beginner { return retrysql.Database{DB: wrapped{db}} },
	} {
		for _, failure := range []error{state("40001"), errFunds, retry.Permanent(errFunds), retry.After(time.Second, errFunds)} {
			s := &server{exec: []error{failure}, rollback: []error{errBroken}}
			err := retrysql.InTx(t.Context(), of(open(t, s)), nil, increment, widest...)
			assert.Equal(t, "begin exec rollback", s.did())
			assert.ErrorIs(t, err, errBroken)
			assert.ErrorIs(t, err, failure)
			assert.NotErrorIs(t, err, retrysql.ErrAmbiguousCommit)
			assert.EqualError(t, err, failure.Error()+" (rollback: rollback is broken)")
		}
	}
	kept, err := again(t, &server{exec: []error{&MySQLError{1290}}}, func(db *sql.DB) retrysql.Beginner { return wrapped{db} })
	assert.True(t, kept)
	assert.Equal(t, &MySQLError{1290}, err)
}

// A BEGIN that failed with its connection has done nothing.
func TestBeginOnDeadConnection(t *testing.T) {
	for _, failure := range []error{
		errors.New("invalid connection"), // mysql.ErrInvalidConn
		io.ErrUnexpectedEOF, io.EOF, &net.OpError{Op: "read", Err: syscall.ECONNRESET}, syscall.EPIPE, net.ErrClosed,
		state("57P01"), state("57P03"), state("08006"), state("53300"), &MySQLError{1047}, &MySQLError{1053}, &MySQLError{4031}, &MySQLError{1040},
		unsent(true), fmt.Errorf("begin: %w", io.ErrUnexpectedEOF),
	} {
		s := &server{begin: []error{failure}}
		require.NoError(t, retrysql.InTx(t.Context(), open(t, s), nil, increment, on(retrytest.NewClock())...), failure)
		assert.Equal(t, "begin begin exec commit", s.did())
		assert.Equal(t, []int{1, 2}, s.connections(), failure)
		s = &server{begin: []error{failure}}
		require.NoError(t, retrysql.InTx(t.Context(), wrapped{open(t, s)}, nil, increment, on(retrytest.NewClock())...), failure)
		assert.Equal(t, "begin begin exec commit", s.did(), "by itself it is no reason to know the pool")
	}
	for _, failure := range []error{errFunds, state("42501"), state("28P01"), &MySQLError{1045}, errors.New("Invalid connection")} {
		s := &server{begin: []error{failure}}
		err := retrysql.InTx(t.Context(), open(t, s), nil, increment)
		assert.Equal(t, failure, err)
		assert.Equal(t, "begin", s.did())
	}
}

// However many idle connections broke with the server's restart: they cost one attempt, as long as the driver says ErrBadConn.
func TestManyBrokenConnections(t *testing.T) {
	const idle = 20
	s := new(server)
	db := open(t, s)
	db.SetMaxIdleConns(idle)
	var held []*sql.Conn
	for range idle {
		conn, err := db.Conn(t.Context())
		require.NoError(t, err)
		held = append(held, conn)
	}
	for _, conn := range held {
		require.NoError(t, conn.Close())
	}
	for range idle {
		s.begin = append(s.begin, driver.ErrBadConn)
	}
	clock := retrytest.NewClock()
	require.NoError(t, retrysql.InTx(t.Context(), db, nil, increment, on(clock)...))
	assert.Empty(t, clock.Waits())
	assert.Equal(t, idle+1, s.opened)
	assert.Equal(t, idle, s.closed)
}

// A driver that takes its time to roll back after the end of the context keeps nobody waiting.
func TestSlowRollbackAfterTheContext(t *testing.T) {
	for _, failure := range []error{context.Canceled, &MySQLError{1290}} {
		began, answer := make(chan struct{}), make(chan struct{})
		s := &server{sessions: true, before: func(call string) {
			if call == "rollback" {
				close(began)
				<-answer
			}
		}}
		db := open(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		err := retrysql.InTx(ctx, db, nil, func(ctx context.Context, tx *sql.Tx) error {
			cancel()
			<-began // database/sql rolls back
			return failure
		})
		assert.ErrorIs(t, err, failure)
		assert.Equal(t, 1, db.Stats().InUse)
		close(answer)
		for db.Stats().InUse > 0 {
			runtime.Gosched()
		}
		assert.Equal(t, failure == context.Canceled, db.Stats().OpenConnections == 1)
	}
}
