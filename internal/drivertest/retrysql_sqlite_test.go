package drivertest_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

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
