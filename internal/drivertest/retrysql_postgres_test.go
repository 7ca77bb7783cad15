package drivertest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
)

var serializable = &sql.TxOptions{Isolation: sql.LevelSerializable}

// TestInTxOnPostgres runs transactions against a real server, with both drivers.
func TestInTxOnPostgres(t *testing.T) {
	server := startPostgres(t)
	for _, driver := range []string{"pgx", "postgres"} {
		t.Run(driver, func(t *testing.T) {
			db := server.open(t, driver, server.addr)
			t.Run("Increments", func(t *testing.T) { postgresIncrements(t, db) })
			t.Run("Phantoms", func(t *testing.T) { postgresPhantoms(t, db) })
			t.Run("Deadlock", func(t *testing.T) { postgresDeadlock(t, db) })
			t.Run("LockTimeout", func(t *testing.T) { postgresLockTimeout(t, db) })
			t.Run("Definite", func(t *testing.T) { postgresDefinite(t, db) })
			t.Run("LostInFn", func(t *testing.T) { postgresLostInFn(t, db) })
			t.Run("ReadOnly", func(t *testing.T) { postgresReadOnly(t, db) })
			t.Run("Terminated", func(t *testing.T) { postgresTerminated(t, server.open(t, driver, server.addr), db) })
			t.Run("CommitInFn", func(t *testing.T) { postgresCommitInFn(t, driver, db) })
			t.Run("AttemptTimeout", func(t *testing.T) { postgresAttemptTimeout(t, db) })
			t.Run("Refused", func(t *testing.T) { postgresRefused(t, server.open(t, driver, closedPort(t))) })
			t.Run("Ambiguous", func(t *testing.T) { postgresAmbiguous(t, server, driver, db) })
		})
	}
}

// postgresReadOnly: the server says what a node says that became read-only, and the next attempt is on another connection.
func postgresReadOnly(t *testing.T, db *sql.DB) {
	mustExec(t, db, "CREATE TABLE note (n int)")
	defer mustExec(t, db, "DROP TABLE note")
	sessions := map[int]bool{}
	require.NoError(t, retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
		if len(sessions) == 0 {
			_, err := tx.ExecContext(ctx, "SET TRANSACTION READ ONLY")
			require.NoError(t, err)
		}
		var pid int
		require.NoError(t, tx.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid))
		sessions[pid] = true
		_, err := tx.ExecContext(ctx, "INSERT INTO note VALUES (1)")
		return err
	}, retry.WithCondition(condition.SQLState("25006")), soon))
	require.Len(t, sessions, 2)
	require.Equal(t, 1, number(t, db, "SELECT count(*) FROM note"))
}

// postgresTerminated: the server ends the idle session, and what comes next on its connection is BEGIN.
func postgresTerminated(t *testing.T, db, other *sql.DB) {
	for range 5 {
		pid := number(t, db, "SELECT pg_backend_pid()")
		mustExec(t, other, fmt.Sprintf("SELECT pg_terminate_backend(%d, 10000)", pid))
		calls := 0
		require.NoError(t, retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
			calls++
			return nil
		}, soon))
		require.Equal(t, 1, calls)
	}
}

// postgresCommitInFn: as the package comment says, lib/pq sees it, and pgx does not, so that it is reported wrongly.
func postgresCommitInFn(t *testing.T, driver string, db *sql.DB) {
	mustExec(t, db, "CREATE TABLE note (n int)")
	defer mustExec(t, db, "DROP TABLE note")
	failure := errors.New("later")
	err := retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO note VALUES (1)")
		require.NoError(t, err)
		_, err = tx.ExecContext(ctx, "COMMIT")
		require.NoError(t, err)
		return failure
	})
	require.ErrorIs(t, err, failure)
	require.Equal(t, driver == "postgres", errors.Is(err, retrysql.ErrAmbiguousCommit))
	require.Equal(t, 1, number(t, db, "SELECT count(*) FROM note"))
}

// postgresIncrements: eight writers read a number and write it back, 200 times each, and note what they did.
func postgresIncrements(t *testing.T, db *sql.DB) {
	const writers, each = 8, 200
	mustExec(t, db, "CREATE TABLE counter (value int NOT NULL)", "INSERT INTO counter VALUES (0)", "CREATE TABLE done (writer int, n int, value int)")
	defer mustExec(t, db, "DROP TABLE counter, done")
	attempts := write(t, writers, each, func(ctx context.Context, w writer) error {
		return retrysql.InTx(ctx, db, serializable, func(ctx context.Context, tx *sql.Tx) error {
			var value int
			if err := tx.QueryRowContext(ctx, "SELECT value FROM counter").Scan(&value); err != nil {
				return err
			}
			w.attempt()
			if _, err := tx.ExecContext(ctx, "UPDATE counter SET value = $1", value+1); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "INSERT INTO done VALUES ($1, $2, $3)", w.id, w.n, value+1)
			return err
		}, contended...)
	})
	require.Equal(t, writers*each, number(t, db, "SELECT value FROM counter"))
	require.Equal(t, writers*each, number(t, db, "SELECT count(*) FROM done"))
	require.Equal(t, writers*each, number(t, db, "SELECT count(DISTINCT (writer, n)) FROM done"), "each increment once")
	require.Equal(t, writers*each, number(t, db, "SELECT count(DISTINCT value) FROM done"), "none lost")
	require.GreaterOrEqual(t, attempts, writers*each+writers-1)
}

// postgresPhantoms: no row is written twice, so only the server's search for dangerous reads finds the conflict, and often not
// before COMMIT.
func postgresPhantoms(t *testing.T, db *sql.DB) {
	const writers, each = 4, 25
	mustExec(t, db, "CREATE TABLE list (n int NOT NULL)")
	defer mustExec(t, db, "DROP TABLE list")
	attempts := write(t, writers, each, func(ctx context.Context, w writer) error {
		return retrysql.InTx(ctx, db, serializable, func(ctx context.Context, tx *sql.Tx) error {
			var most int
			if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(n), 0) FROM list").Scan(&most); err != nil {
				return err
			}
			w.attempt()
			_, err := tx.ExecContext(ctx, "INSERT INTO list VALUES ($1)", most+1)
			return err
		}, contended...)
	})
	require.Equal(t, writers*each, number(t, db, "SELECT count(*) FROM list"))
	require.Equal(t, writers*each, number(t, db, "SELECT count(DISTINCT n) FROM list"))
	require.GreaterOrEqual(t, attempts, writers*each+writers-1)
}

// postgresDeadlock: two transactions lock two rows, each the other's first. The server ends one of them, which then succeeds
// in another attempt.
func postgresDeadlock(t *testing.T, db *sql.DB) {
	mustExec(t, db, "CREATE TABLE account (id int, balance int)", "INSERT INTO account VALUES (1, 100), (2, 100)")
	defer mustExec(t, db, "DROP TABLE account")
	var attempts atomic.Int64
	var both, all sync.WaitGroup
	both.Add(2)
	move := func(from, to int) {
		first := true
		err := retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
			attempts.Add(1)
			if _, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance - 10 WHERE id = $1", from); err != nil {
				return err
			}
			if first {
				first = false
				both.Done()
				both.Wait()
			}
			_, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance + 10 WHERE id = $1", to)
			return err
		})
		assert.NoError(t, err)
	}
	all.Go(func() { move(1, 2) })
	all.Go(func() { move(2, 1) })
	all.Wait()
	require.GreaterOrEqual(t, attempts.Load(), int64(3)) // more, where the loser was back before the winner had gone on
	require.Equal(t, 2, number(t, db, "SELECT count(*) FROM account WHERE balance = 100"))
}

// postgresLockTimeout: another transaction holds the row for the time of the first attempt.
func postgresLockTimeout(t *testing.T, db *sql.DB) {
	mustExec(t, db, "CREATE TABLE job (id int)", "INSERT INTO job VALUES (1)")
	defer mustExec(t, db, "DROP TABLE job")
	holder, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = holder.ExecContext(t.Context(), "SELECT FROM job FOR UPDATE")
	require.NoError(t, err)
	attempts := 0
	err = retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
		if attempts++; attempts == 2 {
			require.NoError(t, holder.Rollback())
		}
		_, err := tx.ExecContext(ctx, "SELECT FROM job FOR UPDATE NOWAIT")
		return err
	})
	require.NoError(t, err)
	require.Equal(t, 2, attempts)
}

// postgresDefinite: the server turns a COMMIT down, and says so, or the driver does.
func postgresDefinite(t *testing.T, db *sql.DB) {
	mustExec(t, db, "CREATE TABLE once (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)", "INSERT INTO once VALUES (1)")
	defer mustExec(t, db, "DROP TABLE once")
	attempts := 0
	err := retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
		attempts++
		_, err := tx.ExecContext(ctx, "INSERT INTO once VALUES (1)")
		return err
	})
	require.Equal(t, condition.Retry, condition.SQLState("23505").Check(err), "%v", err)
	require.NotErrorIs(t, err, retrysql.ErrAmbiguousCommit)

	err = retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
		attempts++
		_, err := tx.ExecContext(ctx, "INSERT INTO nowhere VALUES (1)")
		assert.Error(t, err)
		return nil // as if nothing had been
	})
	require.Error(t, err)
	require.NotErrorIs(t, err, retrysql.ErrAmbiguousCommit)
	require.Equal(t, 2, attempts)
	require.Equal(t, 1, number(t, db, "SELECT count(*) FROM once"))
}

// postgresLostInFn: the server ends the session within a transaction. Nothing was committed, and who asks for it gets another
// attempt, on another connection.
func postgresLostInFn(t *testing.T, db *sql.DB) {
	mustExec(t, db, "CREATE TABLE note (n int)")
	defer mustExec(t, db, "DROP TABLE note")
	attempts := 0
	note := func(ctx context.Context, tx *sql.Tx) error {
		attempts++
		if _, err := tx.ExecContext(ctx, "INSERT INTO note VALUES (1)"); err != nil {
			return err
		}
		if attempts == 1 {
			_, err := tx.ExecContext(ctx, "SELECT pg_terminate_backend(pg_backend_pid())")
			return err
		}
		return nil
	}
	err := retrysql.InTx(t.Context(), db, nil, note)
	require.Error(t, err)
	require.NotErrorIs(t, err, retrysql.ErrAmbiguousCommit)
	require.Equal(t, 1, attempts)

	attempts = 0
	require.NoError(t, retrysql.InTx(t.Context(), db, nil, note, retry.WithCondition(condition.SQLConnection(), condition.Network())))
	require.Equal(t, 2, attempts)
	require.Equal(t, 1, number(t, db, "SELECT count(*) FROM note"))
}

// postgresAttemptTimeout: a statement that hangs is given up, and the next attempt succeeds.
func postgresAttemptTimeout(t *testing.T, db *sql.DB) {
	query := "SELECT pg_sleep(60) /* " + t.Name() + " */"
	var conns []*sql.Conn
	for range 3 { // as no connection can be made before a deadline in virtual time
		conn, err := db.Conn(t.Context())
		require.NoError(t, err)
		conns = append(conns, conn)
	}
	for _, conn := range conns {
		require.NoError(t, conn.Close())
	}
	clk, attempts := retrytest.NewClock(), 0
	err := retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
		if attempts++; attempts > 1 {
			return nil
		}
		go func() { // the time is up when the server is at it
			for running := false; !running && ctx.Err() == nil; {
				const find = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE state = 'active' AND query = $1)"
				if !assert.NoError(t, db.QueryRow(find, query).Scan(&running)) {
					break
				}
			}
			clk.Advance(time.Second)
		}()
		_, err := tx.ExecContext(ctx, query)
		return err
	}, retry.WithClock(clk), retry.WithAttemptTimeout(time.Second), retry.WithStrategy(strategy.Constant{}))
	require.NoError(t, err)
	require.Equal(t, 2, attempts)
}

// postgresRefused: nobody listens. Each attempt is a new connection.
func postgresRefused(t *testing.T, nobody *sql.DB) {
	calls := 0
	err := retrysql.InTx(t.Context(), nobody, nil, func(context.Context, *sql.Tx) error { calls++; return nil },
		retry.WithMaxAttempts(3), retry.WithStrategy(strategy.Constant{}))
	gaveUp, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok, "%v", err)
	require.ErrorIs(t, err, retry.ErrExhausted)
	require.Equal(t, 3, gaveUp.Attempts)
	require.Zero(t, calls)
}

// postgresAmbiguous: the connection is lost at COMMIT. The error says what is known, which is not much, and nothing is
// repeated, though the caller asks for it, and though a second COMMIT would pass.
func postgresAmbiguous(t *testing.T, server postgresServer, driver string, db *sql.DB) {
	endAll := func() {
		_, err := db.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'")
		assert.NoError(t, err)
	}
	tests := []struct {
		name    string
		how     cut
		drivers string
		rows    int
	}{
		{"before the server got it", beforeCommit, "pgx postgres", 0},
		{"after the server did it", afterCommit, "pgx postgres", 1},
		{"by a shutdown", shutDown, "pgx postgres", 0},
		{"in the caller's own time", silence, "pgx", 1}, // lib/pq waits for the answer whatever the context says
	}
	for _, tt := range tests {
		for asked, opts := range map[string][]retry.Option{"by default": nil, "asked": always} {
			if driver != "pgx" && tt.drivers == "pgx" {
				continue
			}
			t.Run(tt.name+", "+asked, func(t *testing.T) {
				mustExec(t, db, "CREATE TABLE payment (request text)")
				defer mustExec(t, db, "DROP TABLE payment")
				proxy := startProxy(t, server.addr, tt.how, endAll)
				victim := server.open(t, driver, proxy.addr)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.how == silence {
					go func() {
						<-proxy.done
						cancel()
					}()
				}
				attempts := 0
				err := retrysql.InTx(ctx, victim, serializable, func(ctx context.Context, tx *sql.Tx) error {
					attempts++
					if _, err := tx.ExecContext(ctx, "SET application_name = 'victim'"); err != nil {
						return err
					}
					_, err := tx.ExecContext(ctx, "INSERT INTO payment VALUES ('7f3a')")
					return err
				}, opts...)
				require.ErrorIs(t, err, retrysql.ErrAmbiguousCommit)
				require.Equal(t, 1, attempts)
				require.Equal(t, 1, proxy.seen())
				require.Equal(t, tt.rows, number(t, db, "SELECT count(*) FROM payment"))
				if tt.how == shutDown && driver == "pgx" { // lib/pq keeps it for itself
					require.Equal(t, condition.Retry, condition.SQLState("57P01").Check(err), "%v", err)
				}
			})
		}
	}
}
