package retrysql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysql"
)

// quiet is a driver that does nothing, without an allocation.
type quiet struct{ session }

func (q quiet) Connect(context.Context) (driver.Conn, error)                 { return q, nil }
func (quiet) Driver() driver.Driver                                          { return nil }
func (q quiet) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) { return q, nil }
func (quiet) Commit() error                                                  { return nil }
func (quiet) Rollback() error                                                { return nil }
func (quiet) Close() error                                                   { return nil }

// nothing lets the goroutine that database/sql starts for a transaction begin to wait for its end: one that comes too late to
// wait makes no channel, and whether it does is the scheduler's to say.
func nothing(context.Context, *sql.Tx) error { runtime.Gosched(); return nil }

func number(ctx context.Context, tx *sql.Tx) (int, error) { return 1, nothing(ctx, tx) }

// plain is what one writes without the library, and without a second attempt.
func plain(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := nothing(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// TestAllocations: what a transaction that commits at once costs beyond the same without the library: the
// connection that it holds, and the attempt's function.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	ctx := t.Context()
	db := sql.OpenDB(quiet{})
	defer db.Close()
	policy := retry.MustNew(retry.WithMaxAttempts(3))
	var err error
	base := testing.AllocsPerRun(500, func() { err = plain(ctx, db) })
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		most float64
		call func()
	}{
		"defaults": {2, func() { err = retrysql.InTx(ctx, db, nil, nothing) }},
		"policy":   {3, func() { err = retrysql.InTx(ctx, db, nil, nothing, policy) }},
		"options": {3, func() {
			err = retrysql.InTx(ctx, db, nil, nothing, retry.WithMaxAttempts(3), retry.WithUnlimitedAttempts())
		}},
		"value": {3, func() { _, err = retrysql.InTxValue(ctx, db, nil, number) }},
	} {
		assert.LessOrEqual(t, testing.AllocsPerRun(500, tt.call)-base, tt.most, name)
		require.NoError(t, err)
	}
}

func BenchmarkInTx(b *testing.B) {
	ctx := b.Context()
	db := sql.OpenDB(quiet{})
	defer db.Close()
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = plain(ctx, db)
		}
	})
	b.Run("InTx", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = retrysql.InTx(ctx, db, nil, nothing)
		}
	})
}
