package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wantOutput = `4 writers, 25 increments each, a transaction for each increment, one lock

writer 1: 25 increments, N attempts, N collisions
writer 2: 25 increments, N attempts, N collisions
writer 3: 25 increments, N attempts, N collisions
writer 4: 25 increments, N attempts, N collisions

N collisions, and the counter is at 100
a broken constraint: 1 attempt, and the counter is at 100
`

func TestOutput(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out))
	masked := regexp.MustCompile(`\d+ (attempts|collisions)`).ReplaceAllString(out.String(), "N $1")
	require.Equal(t, wantOutput, masked)
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, run(ctx, new(strings.Builder)), context.Canceled)
	_, err := write(ctx, database(t))
	require.ErrorIs(t, err, context.Canceled)
}

// The program fails where one of the things that it says does not hold.
func TestVerify(t *testing.T) {
	tests := []struct {
		breaks string
		change func(tallies []tally, value *int)
	}{
		{"", func([]tally, *int) {}},
		{"counter should be at 100, not at 99", func(_ []tally, value *int) { *value-- }},
		{"writer 2 should have made 25", func(all []tally, _ *int) { all[1].increments-- }},
		{"writer 1 should have made 25", func(all []tally, _ *int) { all[0].attempts++ }},
		{"writer 4 should have been turned away", func(all []tally, _ *int) { all[3] = tally{25, 25, 0} }},
	}
	for _, test := range tests {
		tallies, value := []tally{{25, 25, 0}, {25, 26, 1}, {25, 27, 2}, {25, 28, 3}}, 100
		test.change(tallies, &value)
		err := verify(tallies, value)
		if test.breaks == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, test.breaks)
	}

	db := database(t)
	broken := transact(t.Context(), db, spoil)
	require.NoError(t, verifySpoilt(broken, 1, 100, 100))
	require.ErrorContains(t, verifySpoilt(nil, 1, 100, 100), "constraint should have failed")
	require.ErrorContains(t, verifySpoilt(broken, 2, 100, 100), "tried once, not 2")
	require.ErrorContains(t, verifySpoilt(broken, 1, 100, 101), "rolled back")
}

// What a failed attempt has written is gone before the next one begins.
func TestEveryAttemptIsATransaction(t *testing.T) {
	db, errPower, seen := database(t), errors.New("power cut"), []int{}
	err := transact(t.Context(), db, func(ctx context.Context, tx *sql.Tx) error {
		value, err := count(ctx, tx)
		seen = append(seen, value)
		if err := errors.Join(err, increment(ctx, tx)); err != nil {
			return err
		}
		if len(seen) < 3 {
			return errPower
		}
		return nil
	}, virtual(), retry.WithRetryIf(func(err error) bool { return err == errPower }))
	require.NoError(t, err)
	require.Equal(t, []int{0, 0, 0}, seen)
	require.Equal(t, 1, counter(t, db))
}

// A lock that is never free: the error says so, and how often it was tried. No real time passes.
func TestGivesUp(t *testing.T) {
	db := database(t)
	holder, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer holder.Rollback()

	err = transact(t.Context(), db, increment, virtual(), retry.WithMaxAttempts(3))
	require.ErrorIs(t, err, retry.ErrExhausted)
	require.Equal(t, sqlite3.SQLITE_BUSY, primaryCode(err))
	gaveUp, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok)
	require.Equal(t, 3, gaveUp.Attempts)

	err = transact(t.Context(), db, increment, virtual())
	require.ErrorIs(t, err, retry.ErrMaxElapsed)
	require.Equal(t, sqlite3.SQLITE_BUSY, primaryCode(err))
}

// A transaction that began by reading, and finds that another has written since: SQLite's code is 517, and only the whole
// transaction can be repeated.
func TestSnapshotIsACollision(t *testing.T) {
	db := database(t)
	reader, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true}) // begins without the lock
	require.NoError(t, err)
	defer reader.Rollback()
	_, err = count(t.Context(), reader)
	require.NoError(t, err)
	require.NoError(t, transact(t.Context(), db, increment))

	err = increment(t.Context(), reader)
	require.ErrorContains(t, err, "517")
	require.Equal(t, sqlite3.SQLITE_BUSY, primaryCode(err))
}

func TestPrimaryCode(t *testing.T) {
	require.Equal(t, -1, primaryCode(nil))
	require.Equal(t, -1, primaryCode(sql.ErrNoRows))

	db := database(t)
	_, err := db.Exec("UPDATE counter SET value = -1") // SQLITE_CONSTRAINT_CHECK, 275
	require.Equal(t, sqlite3.SQLITE_CONSTRAINT, primaryCode(fmt.Errorf("update: %w", err)))

	only := condition.Only(condition.Code(primaryCode, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED))
	require.Equal(t, condition.Stop, only.Check(err))
	holder, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer holder.Rollback()
	_, err = db.BeginTx(t.Context(), nil)
	require.Equal(t, condition.Retry, only.Check(err))
}

func database(t *testing.T) *sql.DB {
	db, err := open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func counter(t *testing.T, db *sql.DB) int {
	value, err := count(t.Context(), db)
	require.NoError(t, err)
	return value
}

// virtual makes waits take no time.
func virtual() retry.Option { return retry.WithClock(retrytest.NewClock()) }
