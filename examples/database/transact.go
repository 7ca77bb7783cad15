package main

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"modernc.org/sqlite"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/strategy"
)

// policy is made once and shared by all writers. A lock is soon free again, so the waits are short, and what counts is how
// long a writer has waited, not how often it has asked. What is worth another attempt is retrysql's to say: a taken lock is,
// a broken constraint would fail again however long one waits.
var policy = retry.MustNew(
	retry.WithName("counter"),
	retry.WithUnlimitedAttempts(),
	retry.WithMaxElapsed(10*time.Second),
	retry.WithStrategy(strategy.FullJitter{Base: 2 * time.Millisecond, Max: 50 * time.Millisecond}),
)

// transact runs fn in a transaction and commits it, by as many attempts as the policy allows. Every attempt is a
// transaction of its own: what a failed one has written is rolled back before the next begins. So fn must read again what
// it decides by, and keep nothing from an attempt that failed. Options change the policy for this call.
func transact(ctx context.Context, db *sql.DB, fn func(context.Context, *sql.Tx) error, opts ...retry.Option) error {
	return retrysql.InTx(ctx, db, nil, fn, append([]retry.Option{policy}, opts...)...)
}

// primaryCode is SQLite's code for the error, and -1 for the errors of others. The low byte is the primary code, the rest
// says more: SQLITE_BUSY_SNAPSHOT (517) is a SQLITE_BUSY (5) too. See https://www.sqlite.org/rescode.html.
func primaryCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return -1
}
