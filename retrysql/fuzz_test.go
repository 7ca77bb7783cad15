package retrysql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/retrytest"
)

// FuzzInTx runs any order of failures, and holds what is promised of all: a transaction takes effect at most once, and the
// error says whether it has; every transaction that was begun is ended once; after a commit that nobody answered there is
// nothing more.
func FuzzInTx(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add([]byte{}, byte(0))
	f.Add([]byte{0, 1, 0, 0, 0, 0, 1, 0}, byte(0))
	f.Add([]byte{0, 1, 0, 5, 0, 1, 1, 0}, byte(1))
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, byte(2))
	f.Add([]byte{0, 8, 0, 7, 0, 0, 0x85, 0}, byte(3))
	failures := []error{
		nil, state("40001"), state("40P01"), state("23505"), io.EOF, driver.ErrBadConn, context.Canceled, sql.ErrTxDone,
		state("57P01"), state("40003"), errors.Join(state("40001"), io.EOF), unsent(true), &MySQLError{1213}, (*Error)(nil),
	}
	f.Fuzz(func(t *testing.T, script []byte, wish byte) {
		s := new(server)
		for i, b := range script {
			failure := failures[int(b&0x7f)%len(failures)]
			switch i % 4 {
			case 0:
				if failure == driver.ErrBadConn {
					failure = errRefused // database/sql would try by itself
				}
				s.begin = append(s.begin, failure)
			case 1:
				s.exec = append(s.exec, failure)
			case 2:
				s.commit = append(s.commit, failure)
			case 3:
				if failure == sql.ErrTxDone {
					failure = errBroken // it is database/sql that says so, of a transaction that fn has ended
				}
				s.rollback = append(s.rollback, failure)
			}
		}
		s.applied = wish&4 != 0
		opts := on(retrytest.NewClock())
		switch wish & 3 {
		case 1:
			opts = append(opts, retry.WithRetryIf(func(error) bool { return true }))
		case 2:
			opts = append(opts, retry.WithCondition(condition.SQLConnection(), condition.Is(io.EOF)))
		case 3:
			opts = append(opts, retry.WithCondition(condition.Only(condition.SQLSerialization())))
		}
		db := sql.OpenDB(s)
		calls := 0
		v, err := retrysql.InTxValue(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) (int, error) {
			calls++
			return calls, increment(ctx, tx)
		}, opts...)
		require.Zero(t, db.Stats().InUse)
		require.NoError(t, db.Close())

		did := s.did()
		unsettled := errors.Is(err, retrysql.ErrAmbiguousCommit)
		switch {
		case err == nil:
			require.Equal(t, calls, v)
			require.True(t, strings.HasSuffix(did, "begin exec commit"), did)
		case unsettled:
			require.Equal(t, calls, v)
			require.True(t, strings.HasSuffix(did, "commit"), did)
		default:
			require.Zero(t, v)
		}
		if !s.applied {
			require.Equal(t, err == nil, s.committed() == 1)
			require.LessOrEqual(t, s.committed(), 1)
		}
		require.Equal(t, calls, strings.Count(did, "exec"))
		require.Equal(t, calls, strings.Count(did, "commit")+strings.Count(did, "rollback"))
		require.LessOrEqual(t, strings.Count(did, "begin"), 10)
	})
}
