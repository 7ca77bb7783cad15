package drivertest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/driver" // the driver "sqlite3"
	_ "github.com/ncruces/go-sqlite3/vfs/memdb"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/strategy"
)

// openSQLite opens a database in a file of its own, in which nobody waits for a lock.
func openSQLite(t *testing.T, options string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "test.db")+"?_busy_timeout=0&_synchronous=OFF&"+options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// TestInTxOnSQLite: writers read a number and write it back. Those that began by reading an older state than the last are
// turned away (SQLITE_BUSY_SNAPSHOT), and those that find the lock taken are too (SQLITE_BUSY).
func TestInTxOnSQLite(t *testing.T) {
	for name, tt := range map[string]struct {
		options  string
		together bool
	}{
		"deferred":  {"_journal_mode=WAL", true},
		"immediate": {"_journal_mode=WAL&_txlock=immediate", false}, // begin is turned away: fn never meets another
	} {
		t.Run(name, func(t *testing.T) {
			const writers, each = 4, 25
			db := openSQLite(t, tt.options)
			mustExec(t, db, "CREATE TABLE counter (value int NOT NULL)", "INSERT INTO counter VALUES (0)")
			attempts := write(t, writers, each, func(ctx context.Context, w writer) error {
				return retrysql.InTx(ctx, db, nil, func(ctx context.Context, tx *sql.Tx) error {
					var value int
					if err := tx.QueryRowContext(ctx, "SELECT value FROM counter").Scan(&value); err != nil {
						return err
					}
					if tt.together {
						w.attempt()
					}
					_, err := tx.ExecContext(ctx, "UPDATE counter SET value = ?", value+1)
					return err
				}, contended...)
			})
			require.Equal(t, writers*each, number(t, db, "SELECT value FROM counter"))
			if tt.together {
				require.GreaterOrEqual(t, attempts, writers*each+writers-1)
			}
		})
	}
}

// TestInTxOnBusySQLite: somebody else has the lock at begin, in fn, or at commit, for the time of the first attempt.
func TestInTxOnBusySQLite(t *testing.T) {
	hold := func(t *testing.T, db *sql.DB, statements ...string) (release func()) {
		conn, err := db.Conn(t.Context())
		require.NoError(t, err)
		for _, s := range statements {
			_, err := conn.ExecContext(t.Context(), s)
			require.NoError(t, err)
		}
		return func() {
			_, err := conn.ExecContext(t.Context(), "ROLLBACK")
			require.NoError(t, err)
			require.NoError(t, conn.Close())
		}
	}
	tests := []struct {
		name, options string
		held          []string
		calls         int
	}{
		{"begin", "_journal_mode=WAL&_txlock=immediate", []string{"BEGIN IMMEDIATE"}, 1},
		{"fn", "_journal_mode=WAL", []string{"BEGIN IMMEDIATE"}, 2},
		{"commit", "_journal_mode=DELETE", []string{"BEGIN", "SELECT * FROM note"}, 2}, // a reader keeps the writer from writing
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := openSQLite(t, tt.options)
			mustExec(t, db, "CREATE TABLE note (n int)", "INSERT INTO note VALUES (0)")
			release := hold(t, db, tt.held...)
			calls, retries := 0, 0
			err := retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
				calls++
				_, err := tx.ExecContext(ctx, "INSERT INTO note VALUES (1)")
				return err
			}, retry.WithStrategy(strategy.Constant{Delay: time.Millisecond}), retry.WithOnRetry(func(_ context.Context, e retry.Event) {
				retries++
				require.ErrorContains(t, e.Err, "SQLITE_BUSY")
				release()
			}))
			require.NoError(t, err)
			require.Equal(t, 1, retries)
			require.Equal(t, tt.calls, calls)
			require.Equal(t, 2, number(t, db, "SELECT count(*) FROM note"))
		})
	}
}

// TestInTxOnSQLiteDefinite: a constraint that is deferred to COMMIT fails there. That is an answer.
func TestInTxOnSQLiteDefinite(t *testing.T) {
	db := openSQLite(t, "_pragma=foreign_keys(1)")
	mustExec(t, db, "CREATE TABLE parent (id int PRIMARY KEY)", "CREATE TABLE child (id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)")
	calls := 0
	err := retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
		calls++
		_, err := tx.ExecContext(ctx, "INSERT INTO child VALUES (1)")
		return err
	}, retry.WithCondition(condition.Network()))
	require.ErrorContains(t, err, "FOREIGN KEY constraint failed")
	require.NotErrorIs(t, err, retrysql.ErrAmbiguousCommit)
	require.Equal(t, 1, calls)
	require.Zero(t, number(t, db, "SELECT count(*) FROM child"))
}

// sqlites are the drivers, and what opens a database in memory that lives as long as its only connection.
var sqlites = map[string]string{"sqlite": ":memory:", "sqlite3": "file:/test.db?vfs=memdb&_pragma=busy_timeout(0)"}

// TestInTxOnSQLiteRolledBack: OR ROLLBACK ends the transaction, so that ROLLBACK has nothing to do and says so. That is no
// failure: the transaction is repeated if its own failure is worth it, and its connection is kept, with the database in it.
func TestInTxOnSQLiteRolledBack(t *testing.T) {
	for driver, name := range sqlites {
		t.Run(driver, func(t *testing.T) {
			db, err := sql.Open(driver, name)
			require.NoError(t, err)
			defer db.Close()
			db.SetMaxOpenConns(1)
			mustExec(t, db, "CREATE TABLE note (n int UNIQUE)", "INSERT INTO note VALUES (1)")
			calls := 0
			err = retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
				calls++
				_, err := tx.ExecContext(ctx, "INSERT OR ROLLBACK INTO note VALUES (?)", calls)
				return err
			}, retry.WithCondition(condition.If(func(err error) bool { return strings.Contains(err.Error(), "UNIQUE") })), soon)
			require.NoError(t, err)
			require.Equal(t, 2, calls)
			require.Equal(t, 2, number(t, db, "SELECT count(*) FROM note"))

			// By itself it is an answer like any other, with nothing of the rollback in it.
			err = retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, "INSERT OR ROLLBACK INTO note VALUES (1)")
				return err
			})
			require.ErrorContains(t, err, "UNIQUE")
			require.NotContains(t, err.Error(), "rollback:")
			require.NotErrorIs(t, err, retrysql.ErrAmbiguousCommit)
		})
	}
}

// TestInTxOnSQLiteCommitInFn: SQLite tells that there is no transaction any more, and nothing tells what became of it.
func TestInTxOnSQLiteCommitInFn(t *testing.T) {
	for driver, name := range sqlites {
		for _, failure := range []error{nil, errors.New("later")} {
			t.Run(driver, func(t *testing.T) {
				db, err := sql.Open(driver, name)
				require.NoError(t, err)
				defer db.Close()
				db.SetMaxOpenConns(1)
				mustExec(t, db, "CREATE TABLE note (n int)")
				calls := 0
				err = retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
					calls++
					_, err := tx.ExecContext(ctx, "INSERT INTO note VALUES (1)")
					require.NoError(t, err)
					_, err = tx.ExecContext(ctx, "COMMIT")
					require.NoError(t, err)
					return failure
				}, always...)
				require.ErrorIs(t, err, retrysql.ErrAmbiguousCommit)
				require.Equal(t, 1, calls)
				require.Equal(t, 1, number(t, db, "SELECT count(*) FROM note"), "and the database in the connection is there")
			})
		}
	}
}

// TestConflictsOfNcruces: BUSY, of a driver whose errors have no code that is an int.
func TestConflictsOfNcruces(t *testing.T) {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "test.db")+"?_pragma=busy_timeout(0)&_pragma=journal_mode(wal)&_txlock=deferred")
	require.NoError(t, err)
	defer db.Close()
	mustExec(t, db, "CREATE TABLE note (n int)")
	holder, err := db.Conn(t.Context())
	require.NoError(t, err)
	_, err = holder.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	calls := 0
	require.NoError(t, retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
		calls++
		_, err := tx.ExecContext(ctx, "INSERT INTO note VALUES (1)")
		return err
	}, soon, retry.WithOnRetry(func(_ context.Context, e retry.Event) {
		require.ErrorIs(t, e.Err, sqlite3.BUSY)
		_, err := holder.ExecContext(t.Context(), "ROLLBACK")
		require.NoError(t, err)
		require.NoError(t, holder.Close())
	})))
	require.Equal(t, 2, calls)

	for _, failure := range []error{sqlite3.BUSY, sqlite3.LOCKED, sqlite3.BUSY_SNAPSHOT} {
		calls := 0
		require.NoError(t, retrysql.InTx(t.Context(), db, nil, func(context.Context, *sql.Tx) error {
			if calls++; calls == 1 {
				return failure
			}
			return nil
		}, soon))
	}
	require.Equal(t, error(sqlite3.FULL), retrysql.InTx(t.Context(), db, nil, func(context.Context, *sql.Tx) error { return sqlite3.FULL }))
}

// TestConflictsOfSQLServer: by the type that the driver has for them.
func TestConflictsOfSQLServer(t *testing.T) {
	db := openSQLite(t, "")
	for number, again := range map[int32]bool{1205: true, 1222: true, 3960: true, 41302: true, 2627: false, 0: false} {
		calls := 0
		err := retrysql.InTx(t.Context(), db, nil, func(context.Context, *sql.Tx) error {
			if calls++; calls == 1 {
				return fmt.Errorf("orders: %w", mssql.Error{Number: number, Message: "m"})
			}
			return nil
		}, soon)
		require.Equal(t, again, err == nil, number)
	}
}
