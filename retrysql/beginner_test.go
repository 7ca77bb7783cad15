package retrysql_test

import (
	"context"
	"database/sql"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/retrytest"
)

// The user says which connections are bad, and which are not.
func TestDatabaseBadConn(t *testing.T) {
	bad := func(c condition.Condition) func(*sql.DB) retrysql.Beginner {
		return func(db *sql.DB) retrysql.Beginner { return retrysql.Database{DB: db, BadConn: c} }
	}
	for _, tt := range []struct {
		name    string
		c       condition.Condition
		failure error
		kept    bool
	}{
		{"listed by the user", condition.MySQL(1105), &MySQLError{1105}, false},
		{"throttled is a yes too", condition.MySQL(1040), &MySQLError{1040}, false},
		{"the package's list goes on", condition.MySQL(1105), &MySQLError{1290}, false},
		{"not in the user's view", condition.Not(condition.MySQL(1290)), &MySQLError{1290}, true},
		{"neither", condition.MySQL(1105), errFunds, true},
		{"no such verdict", condition.Func(func(error) condition.Verdict { return 77 }), &MySQLError{1290}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kept, err := again(t, &server{exec: []error{tt.failure}}, bad(tt.c))
			assert.Equal(t, tt.kept, kept)
			assert.Equal(t, tt.failure, err, "it is no reason for another attempt")
		})
	}
	// A begin that fails so has done nothing.
	s := &server{begin: []error{&MySQLError{1105}}}
	kept, err := again(t, s, bad(condition.MySQL(1105)))
	assert.NoError(t, err)
	assert.False(t, kept)
	// A pointer is as good.
	kept, _ = again(t, &server{exec: []error{errFunds}}, func(db *sql.DB) retrysql.Beginner {
		return &retrysql.Database{DB: db, BadConn: condition.Is(errFunds)}
	})
	assert.False(t, kept)
}

// The user says which failures of COMMIT are definite.
func TestDatabaseRolledBack(t *testing.T) {
	run := func(c condition.Condition, failure error) (*server, error) {
		s := &server{commit: []error{failure}}
		return s, retrysql.InTx(t.Context(), retrysql.Database{DB: open(t, s), RolledBack: c}, nil, increment, append(on(retrytest.NewClock()), widest...)...)
	}
	s, err := run(condition.MySQL(1402), &MySQLError{1402})
	require.NoError(t, err)
	assert.Equal(t, "begin exec commit begin exec commit", s.did())

	s, err = run(condition.MySQL(1290), &MySQLError{1290}) // MySQL's super_read_only leaves the transaction open
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2}, s.connections())

	s, err = run(condition.MySQL(1402), io.EOF)
	assert.ErrorIs(t, err, retrysql.ErrAmbiguousCommit)
	assert.Equal(t, "begin exec commit", s.did())

	s, err = run(condition.Not(condition.SQLState("40001")), state("40001"))
	assert.ErrorIs(t, err, retrysql.ErrAmbiguousCommit, "the user doubts what the package takes for definite")
	assert.Equal(t, "begin exec commit", s.did())
}

func TestDatabaseIsABeginner(t *testing.T) {
	want := &sql.TxOptions{ReadOnly: true}
	asked := &asking{Beginner: open(t, new(server))}
	tx, err := retrysql.Database{DB: asked}.BeginTx(t.Context(), want)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback())
	require.NoError(t, retrysql.InTx(t.Context(), retrysql.Database{DB: asked}, want, increment))
	assert.Equal(t, []*sql.TxOptions{want, want}, asked.opts)
}

func TestDatabaseUnusable(t *testing.T) {
	s := new(server)
	db := open(t, s)
	var none *retrysql.Database
	for _, tt := range []struct {
		db     retrysql.Beginner
		option string
	}{
		{none, "db"},
		{retrysql.Database{}, "Database.DB"},
		{&retrysql.Database{DB: (*sql.DB)(nil)}, "Database.DB"},
		{retrysql.Database{DB: retrysql.Database{DB: db}}, "Database.DB"},
		{retrysql.Database{DB: &retrysql.Database{DB: db}}, "Database.DB"},
		{retrysql.Database{DB: db, BadConn: condition.Func(nil)}, "Database.BadConn"},
		{retrysql.Database{DB: db, BadConn: condition.MySQL(0)}, "Database.BadConn"},
		{retrysql.Database{DB: db, RolledBack: condition.Is()}, "Database.RolledBack"},
	} {
		config := new(retry.ConfigError)
		require.ErrorAs(t, retrysql.InTx(t.Context(), tt.db, nil, increment), &config)
		assert.Equal(t, tt.option, config.Option)
		if tt.option != "db" {
			_, err := tt.db.BeginTx(t.Context(), nil)
			require.ErrorIs(t, err, retry.ErrConfig)
		}
	}
	assert.Empty(t, s.did())
}

// A condition that panics loses no connection.
func TestDatabaseConditionPanics(t *testing.T) {
	panics := condition.Func(func(error) condition.Verdict { panic("at the disco") })
	for _, s := range []*server{{exec: []error{errFunds}}, {commit: []error{errFunds}}, {begin: []error{errFunds}}} {
		db := open(t, s)
		assert.PanicsWithValue(t, "at the disco", func() {
			_ = retrysql.InTx(context.Background(), retrysql.Database{DB: db, BadConn: panics, RolledBack: panics}, nil, increment)
		})
		assert.Zero(t, db.Stats().InUse, s.did())
	}
}
