package main

import (
	"context"
	"database/sql"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// open opens the database in dir. Transactions take the write lock as they begin (BEGIN IMMEDIATE): two that both begin by
// reading and then want to write could never both go on. SQLite itself does not wait for the lock (busy_timeout 0), so that
// whoever finds it taken is turned away at once with SQLITE_BUSY.
func open(ctx context.Context, dir string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", filepath.Join(dir, "counter.db")+
		"?_txlock=immediate&_busy_timeout=0&_journal_mode=WAL&_synchronous=NORMAL")
	if err != nil {
		return nil, err
	}
	_, err = db.ExecContext(ctx, `
		CREATE TABLE counter (value INTEGER NOT NULL CHECK (value >= 0));
		INSERT INTO counter VALUES (0)`)
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// increment reads the counter and writes it back, as programs do. Without a transaction around it, two that do so at the
// same time lose an increment.
func increment(ctx context.Context, tx *sql.Tx) error {
	value, err := count(ctx, tx)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE counter SET value = ?", value+1)
	return err
}

// spoil increments the counter, and then breaks its constraint.
func spoil(ctx context.Context, tx *sql.Tx) error {
	if err := increment(ctx, tx); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE counter SET value = -1")
	return err
}

// count reads the counter, in a transaction or without.
func count(ctx context.Context, from interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (value int, err error) {
	err = from.QueryRowContext(ctx, "SELECT value FROM counter").Scan(&value)
	return value, err
}
