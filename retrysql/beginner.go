package retrysql

import (
	"context"
	"database/sql"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Beginner is what begins transactions: *sql.DB, *sql.Conn, a Database, and what wraps one of them. BeginTx must be safe to
// call again after a failure; InTx calls it once for each attempt, with the attempt's context.
//
// Only of a *sql.DB, given by itself or in a Database, can InTx throw a connection away: it takes each attempt's from the pool
// with Conn instead. A type around a *sql.DB may do more in its BeginTx, so that one is called, and its connections go back to
// the pool whatever happened on them. Where it does nothing more (sqlx), give InTx the *sql.DB in it.
type Beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

// Database is a Beginner whose user knows more of its failures than this package does, and answers for it:
//
//	retrysql.Database{
//		DB:         db,
//		BadConn:    condition.MySQL(1105),   // what this proxy says for a node that is gone
//		RolledBack: condition.MySQL(1402),   // XA_RBROLLBACK
//	}
//
// The two conditions are asked before what the package comment lists: Retry and Throttled are a yes, Stop is a no, and Unknown
// leaves the answer to the list. Neither says whether the transaction is repeated: the conditions among InTx's options do. A
// nil one is Unknown. Safe for concurrent use if DB and the conditions are; the fields are not changed after the first use.
type Database struct {
	// DB begins the transactions. It must not be nil, nor a Database.
	DB Beginner
	// BadConn says of a failure in a transaction that its connection, or the node behind it, is not one to go on with: the
	// connection is then closed instead of given back to the pool, at the cost of making a new one. It needs a *sql.DB.
	BadConn condition.Condition
	// RolledBack says of a failure of COMMIT that nothing was committed for certain. Where it is wrong, a transaction may take
	// effect twice. Stop makes a failure ambiguous that the package takes for definite.
	RolledBack condition.Condition
}

// BeginTx calls DB's.
func (d Database) BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	return d.DB.BeginTx(ctx, opts)
}

// Validate returns a *retry.ConfigError for a field that cannot be used.
func (d Database) Validate() error {
	if errtree.IsNil(d.DB) {
		return missing("Database.DB", d.DB)
	}
	switch d.DB.(type) {
	case Database, *Database:
		return &retry.ConfigError{Option: "Database.DB", Value: d.DB, Problem: "must not be a Database itself"}
	}
	if err := usable("Database.BadConn", d.BadConn); err != nil {
		return err
	}
	return usable("Database.RolledBack", d.RolledBack)
}

// usable refuses a typed nil, and what the condition's own Validate refuses.
func usable(option string, c condition.Condition) error {
	if c == nil {
		return nil
	}
	if errtree.IsNil(c) {
		return missing(option, c)
	}
	if v, ok := c.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return &retry.ConfigError{Option: option, Value: c, Problem: err.Error()}
		}
	}
	return nil
}

func missing(name string, value any) error {
	return &retry.ConfigError{Option: name, Value: value, Problem: "must not be nil"}
}

// databaseOf returns what db is and says, with no condition where it says nothing.
func databaseOf(db Beginner) (Database, error) {
	if errtree.IsNil(db) {
		return Database{}, missing("db", db)
	}
	switch d := db.(type) {
	case Database:
		return d, d.Validate()
	case *Database:
		return *d, d.Validate()
	}
	return Database{DB: db}, nil
}

// isBadConn reports whether err, of a statement or COMMIT, is the connection's or its node's, and not the transaction's.
func (d Database) isBadConn(err error) bool { return decides(d.BadConn, badConn, err) }

// isRolledBack reports whether err, of COMMIT, says for certain that nothing was committed.
func (d Database) isRolledBack(err error) bool { return decides(d.RolledBack, settled, err) }

func decides(c condition.Condition, list condition.Func, err error) bool {
	answer := condition.Unknown
	if c != nil {
		answer = c.Check(err)
	}
	if answer == condition.Unknown {
		answer = list(err)
	}
	return answer == condition.Retry || answer == condition.Throttled
}
