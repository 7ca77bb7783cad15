package drivertest_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/strategy"
)

// packet writes one packet of MySQL's protocol.
func packet(conn net.Conn, sequence byte, payload ...byte) {
	header := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	header[3] = sequence
	_, _ = conn.Write(append(header, payload...))
}

func okPacket(conn net.Conn, sequence byte) { packet(conn, sequence, 0, 0, 0, 2, 0, 0, 0) }

// fakeMySQL is a server that greets, and answers each query on the n-th connection with a number: 0 is OK, -1 hangs up.
func fakeMySQL(t *testing.T, answer func(n int, query string) int) *sql.DB {
	var connections atomic.Int64
	address := listen(t, func(conn net.Conn) {
		n := int(connections.Add(1))
		greeting := "\x0a8.0.40\x00\x01\x00\x00\x00abcdefgh\x00\x00\xa2\x2d\x02\x00\x08\x00\x15" + strings.Repeat("\x00", 10) + "ijklmnopqrst\x00mysql_native_password\x00"
		packet(conn, 0, []byte(greeting)...)
		for sequence := byte(2); ; sequence = 1 {
			header := make([]byte, 4)
			if _, err := io.ReadFull(conn, header); err != nil {
				return
			}
			body := make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
			if _, err := io.ReadFull(conn, body); err != nil {
				return
			}
			if sequence == 2 || body[0] != 3 { // the login, or no COM_QUERY
				okPacket(conn, sequence)
				continue
			}
			switch number := answer(n, string(body[1:])); number {
			case -1:
				return
			case 0:
				okPacket(conn, sequence)
			default:
				packet(conn, sequence, append([]byte{0xff, byte(number), byte(number >> 8)}, "#HY000no"...)...)
			}
		}
	})
	db, err := sql.Open("mysql", "u@tcp("+address+")/d?interpolateParams=true&checkConnLiveness=false")
	require.NoError(t, err)
	db.SetMaxIdleConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// soon is for calls whose waits are of no interest.
var soon = retry.WithStrategy(strategy.Constant{Delay: time.Millisecond})

// TestInTxOnReadOnlyMySQL: the first connection is to a former primary. https://github.com/sidorares/node-mysql2/issues/4075
func TestInTxOnReadOnlyMySQL(t *testing.T) {
	var first, other atomic.Int64
	db := fakeMySQL(t, func(n int, query string) int {
		if strings.HasPrefix(query, "INSERT") {
			if n == 1 {
				first.Add(1)
				return 1290
			}
			other.Add(1)
		}
		return 0
	})
	err := retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO t VALUES (1)")
		return err
	}, retry.WithCondition(condition.MySQL(1290)), soon)
	require.NoError(t, err)
	require.Equal(t, [2]int64{1, 1}, [2]int64{first.Load(), other.Load()})
}

// TestInTxOnDeadMySQL: the server hangs up at BEGIN. The driver says ErrInvalidConn.
func TestInTxOnDeadMySQL(t *testing.T) {
	var begins atomic.Int64
	db := fakeMySQL(t, func(_ int, query string) int {
		if query == "START TRANSACTION" {
			if begins.Add(1) == 1 {
				return -1
			}
		}
		return 0
	})
	var failures []error
	err := retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error { return nil }, soon,
		retry.WithOnRetry(func(_ context.Context, e retry.Event) { failures = append(failures, e.Err) }))
	require.NoError(t, err)
	require.EqualValues(t, 2, begins.Load())
	require.Len(t, failures, 1)
	require.ErrorIs(t, failures[0], mysql.ErrInvalidConn)
}

// TestInTxOnGalera: 1213 is the answer to the statement and to ROLLBACK.
func TestInTxOnGalera(t *testing.T) {
	var rollbacks atomic.Int64
	db := fakeMySQL(t, func(n int, query string) int {
		if query == "ROLLBACK" {
			rollbacks.Add(1)
		}
		if n == 1 && (query == "ROLLBACK" || strings.HasPrefix(query, "INSERT")) {
			return 1213
		}
		return 0
	})
	require.NoError(t, retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO t VALUES (1)")
		return err
	}, soon))
	require.EqualValues(t, 1, rollbacks.Load())
}

// TestInTxOnTiDB: COMMIT fails with a number that says that it was rolled back.
func TestInTxOnTiDB(t *testing.T) {
	for _, number := range []int{8002, 8022, 8028, 9007} {
		var commits atomic.Int64
		db := fakeMySQL(t, func(_ int, query string) int {
			if query == "COMMIT" {
				if commits.Add(1) == 1 {
					return number
				}
			}
			return 0
		})
		require.NoError(t, retrysql.InTx(t.Context(), db, nil, func(context.Context, *sql.Tx) error { return nil }, soon))
		require.EqualValues(t, 2, commits.Load())
	}
}
