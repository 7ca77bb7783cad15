package retrysql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// server is a database with one number in it, and the driver for it. A transaction sees the number as it was when it began;
// of two at the same time that change it, the second to commit fails with SQLSTATE 40001. The scripts come first: each is an
// error for each call, nil for a call that goes on, and what comes after the script goes on.
type server struct {
	begin, exec, commit, rollback []error
	applied                       bool // a scripted failure of commit comes after the transaction took effect
	sessions                      bool // the driver can reset a session, as most can
	demoted                       int  // so many connections, the first ones, are to a node that became read-only
	before                        func(call string)

	mu     sync.Mutex
	value  int
	events []string
	begun  []int // which connection each begin was sent on, from 1
	opened int
	closed int
}

// connections returns which connection each begin was sent on.
func (s *server) connections() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.begun)
}

// did returns what was asked of the server, in order.
func (s *server) did() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.events, " ")
}

func (s *server) committed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value
}

// step records a call, and takes its error from the script. It holds the lock for next, which is what the call does.
func (s *server) step(name string, script *[]error, next func() error) (err error) {
	if s.before != nil {
		s.before(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, name)
	if len(*script) > 0 {
		err, *script = (*script)[0], (*script)[1:]
	}
	if err == nil {
		err = next()
	}
	return err
}

func (s *server) Connect(context.Context) (driver.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	if s.sessions {
		return session{&conn{server: s, id: s.opened}}, nil
	}
	return &conn{server: s, id: s.opened}, nil
}

func (s *server) Driver() driver.Driver { return nil }

type conn struct {
	server       *server
	id           int
	seen, change int
}

func (c *conn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	c.server.mu.Lock()
	c.server.begun = append(c.server.begun, c.id)
	c.server.mu.Unlock()
	err := c.server.step("begin", &c.server.begin, func() error {
		c.seen, c.change = c.server.value, 0
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (c *conn) ExecContext(_ context.Context, _ string, _ []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), c.server.step("exec", &c.server.exec, func() error {
		if c.id <= c.server.demoted {
			return &MySQLError{1290}
		}
		c.change++
		return nil
	})
}

func (c *conn) Commit() error {
	apply := func() error {
		if c.change != 0 && c.server.value != c.seen {
			return state("40001")
		}
		c.server.value += c.change
		return nil
	}
	err := c.server.step("commit", &c.server.commit, apply)
	if err != nil && c.server.applied {
		_ = apply()
	}
	return err
}

func (c *conn) Rollback() error {
	return c.server.step("rollback", &c.server.rollback, func() error { return nil })
}

func (c *conn) Begin() (driver.Tx, error)           { return nil, errors.New("BeginTx is there") }
func (c *conn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("ExecContext is there") }

func (c *conn) Close() error {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.closed++
	return nil
}

type session struct{ *conn }

func (session) ResetSession(context.Context) error { return nil }
func (session) IsValid() bool                      { return true }

// open returns a pool of connections to s that is closed with the test.
func open(tb testing.TB, s *server) *sql.DB {
	db := sql.OpenDB(s)
	tb.Cleanup(func() { assert.NoError(tb, db.Close()) })
	return db
}

// increment is a transaction's function with one statement.
func increment(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "increment")
	return err
}

// The errors of drivers, by what is known of them.

// state is an error with an SQLSTATE, as those of pgx and lib/pq are.
type state string

func (s state) Error() string    { return "SQLSTATE " + string(s) }
func (s state) SQLState() string { return string(s) }

// MySQLError is as go-sql-driver/mysql has it.
type MySQLError struct{ Number uint16 }

func (*MySQLError) Error() string { return "mysql" }

// msSQL is as microsoft/go-mssqldb has it.
type msSQL struct {
	number int32
	text   string
}

func (e msSQL) Error() string           { return "mssql: " + e.text }
func (e msSQL) SQLErrorNumber() int32   { return e.number }
func (e msSQL) SQLErrorMessage() string { return e.text }

// Error is as mattn/go-sqlite3 has it.
type Error struct{ Code, ExtendedCode int }

func (Error) Error() string { return "sqlite" }

// unsent is as pgx has it.
type unsent bool

func (unsent) Error() string       { return "conn closed" }
func (u unsent) SafeToRetry() bool { return bool(u) }
