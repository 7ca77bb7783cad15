package drivertest_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"github.com/seed-89b3229b/retry/condition"
)

func TestConditionsOfPostgres(t *testing.T) {
	serialization, connection := condition.SQLSerialization(), condition.SQLConnection()
	for name, of := range map[string]func(code string) error{
		"pgx": func(code string) error { return &pgconn.PgError{Severity: "ERROR", Code: code} },
		"pq":  func(code string) error { return &pq.Error{Severity: "ERROR", Code: pqerror.Code(code)} },
	} {
		run(t, []judged{
			{name + ", serialization", serialization, of("40001"), condition.Retry},
			{name + ", deadlock", serialization, of("40P01"), condition.Retry},
			{name + ", unique", serialization, of("23505"), condition.Unknown},
			{name + ", shut down", connection, of("57P01"), condition.Retry},
			{name + ", too many", connection, of("53300"), condition.Throttled},
			{name + ", syntax", connection, of("42601"), condition.Unknown},
			{name + ", in use", condition.SQLState("55006"), of("55006"), condition.Retry},
		})
	}
}

// postgres is a server that greets, and then does with each query what answer says.
func postgres(t *testing.T, answer func(b *pgproto3.Backend)) string {
	return "postgres://u@" + listen(t, func(conn net.Conn) {
		b := pgproto3.NewBackend(conn, conn)
		if _, err := b.ReceiveStartupMessage(); err != nil {
			return
		}
		b.Send(&pgproto3.AuthenticationOk{})
		b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		if b.Flush() != nil {
			return
		}
		if m, err := b.Receive(); err == nil {
			if _, ok := m.(*pgproto3.Query); ok {
				answer(b)
			}
		}
	}) + "/d?sslmode=disable"
}

func TestConditionsOfPgxConnections(t *testing.T) {
	// query connects, and sends a query unless ctx is done.
	query := func(to string, ctx context.Context) error {
		conn, err := pgconn.Connect(t.Context(), to)
		require.NoError(t, err)
		defer func() { _ = conn.Close(t.Context()) }()
		_, err = conn.Exec(ctx, "select 1").ReadAll()
		return err
	}
	late, stop := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer stop()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	nothing := func(*pgproto3.Backend) {}
	shutDown := func(b *pgproto3.Backend) {
		b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "57P01", Message: "terminating connection"})
		_ = b.Flush()
	}
	_, refused := pgconn.Connect(t.Context(), "postgres://u@"+closedPort(t)+"/d?sslmode=disable")

	tooLate, hungUp := query(postgres(t, nothing), late), query(postgres(t, nothing), t.Context())
	require.True(t, pgconn.SafeToRetry(tooLate))
	require.False(t, pgconn.SafeToRetry(hungUp))
	run(t, []judged{
		{"refused", condition.NotSent(), refused, condition.Retry},
		{"refused, network", condition.Network(), refused, condition.Retry},
		{"deadline before sending", condition.NotSent(), tooLate, condition.Retry},
		{"canceled before sending", condition.NotSent(), query(postgres(t, nothing), canceled), condition.Unknown},
		{"hung up on", condition.NotSent(), hungUp, condition.Unknown},
		{"hung up on, by value", condition.Any(condition.Is(pgconn.ErrConnClosed), condition.Network()), hungUp, condition.Retry},
		{"shut down", condition.SQLConnection(), query(postgres(t, shutDown), t.Context()), condition.Retry},
		{"shut down, perhaps after the work", condition.NotSent(), query(postgres(t, shutDown), t.Context()), condition.Unknown},
	})
}

func TestConditionsOfPq(t *testing.T) {
	db, err := sql.Open("postgres", "postgres://u@"+closedPort(t)+"/d?sslmode=disable")
	require.NoError(t, err)
	defer db.Close()
	err = db.PingContext(t.Context())
	run(t, []judged{
		{"refused", condition.NotSent(), err, condition.Retry},
		{"refused, network", condition.Network(), err, condition.Retry},
	})
}

func TestConditionsOfMySQL(t *testing.T) {
	db, err := sql.Open("mysql", "u@tcp("+closedPort(t)+")/d")
	require.NoError(t, err)
	defer db.Close()
	refused := db.PingContext(t.Context())
	number := func(n uint16) error {
		return &mysql.MySQLError{Number: n, SQLState: [5]byte{'4', '0', '0', '0', '1'}, Message: "m"}
	}
	run(t, []judged{
		{"deadlock", condition.MySQL(), number(1213), condition.Retry},
		{"deadlock, listed", condition.MySQL(1205, 1213), number(1213), condition.Retry},
		{"deadlock, by value", condition.Is(&mysql.MySQLError{Number: 1213}), number(1213), condition.Retry},
		{"lock wait", condition.MySQL(), number(1205), condition.Retry},
		{"nowait", condition.MySQL(), number(3572), condition.Retry},
		{"too many connections", condition.MySQL(), number(1040), condition.Throttled},
		{"duplicate", condition.MySQL(), number(1062), condition.Unknown},
		{"not listed", condition.MySQL(1205), number(1213), condition.Unknown},
		{"no method for its SQLSTATE", condition.SQLSerialization(), number(1213), condition.Unknown},
		{"refused", condition.NotSent(), refused, condition.Retry},
		{"invalid connection", condition.SQLConnection(), mysql.ErrInvalidConn, condition.Unknown},
		{"invalid connection, by value", condition.Is(mysql.ErrInvalidConn), mysql.ErrInvalidConn, condition.Retry},
		{"bad connection", condition.SQLConnection(), driver.ErrBadConn, condition.Retry},
	})
}

// TestConditionsOfSQLite: two connections to one file, one of which holds the lock.
func TestConditionsOfSQLite(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "d.db"))
	require.NoError(t, err)
	defer db.Close()
	exec := func(conn *sql.Conn, text string) error {
		_, err := conn.ExecContext(t.Context(), text)
		return err
	}
	one, err := db.Conn(t.Context())
	require.NoError(t, err)
	two, err := db.Conn(t.Context())
	require.NoError(t, err)
	require.NoError(t, exec(one, "create table t (n integer primary key)"))
	require.NoError(t, exec(one, "begin immediate"))
	busy := exec(two, "begin immediate")
	require.NoError(t, exec(one, "rollback"))
	require.NoError(t, exec(two, "insert into t values (1)"))
	duplicate := exec(two, "insert into t values (1)")

	primary := func(err error) int {
		if e, ok := errors.AsType[*sqlite.Error](err); ok {
			return e.Code() & 0xff
		}
		return 0
	}
	byCode := condition.Code(primary, 5, 6) // SQLITE_BUSY, SQLITE_LOCKED
	byMatch := condition.Match(func(e *sqlite.Error) bool { return e.Code()&0xff == 5 })
	closed := two.Close()
	require.NoError(t, closed)
	run(t, []judged{
		{"busy", byCode, busy, condition.Retry},
		{"busy, by field", byMatch, busy, condition.Retry},
		{"duplicate", byCode, duplicate, condition.Unknown},
		{"not in the other conditions", condition.Any(condition.SQLConnection(), condition.ErrorCode("5"), condition.HTTPDefault()), busy, condition.Unknown},
		{"connection was given back", condition.SQLConnection(), exec(two, "select 1"), condition.Retry},
	})
	require.NoError(t, one.Close())
}
