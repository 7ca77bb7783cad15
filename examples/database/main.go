// Command database lets several writers increment one counter in a SQLite database, all at the same time. SQLite has one
// write lock; whoever finds it taken is turned away (SQLITE_BUSY), rolls back, waits, and tries again in a new
// transaction. In the end no increment is lost.
//
//	go run .
//
// It needs no server: the database is a file in a temporary folder. The code to copy is in transact.go. This folder is a
// module of its own, so that the library does not depend on a database driver.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "database:", err)
		os.Exit(1)
	}
}

// run is the program. It fails where what it says does not hold.
func run(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	dir, err := os.MkdirTemp("", "retry-database-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := open(ctx, dir)
	if err != nil {
		return err
	}
	defer db.Close()

	fmt.Fprintf(out, "%d writers, %d increments each, a transaction for each increment, one lock\n\n", writers, increments)
	tallies, err := write(ctx, db)
	if err != nil {
		return err
	}
	collisions := 0
	for i, t := range tallies {
		fmt.Fprintf(out, "writer %d: %d increments, %d attempts, %d collisions\n", i+1, t.increments, t.attempts, t.collisions)
		collisions += t.collisions
	}
	value, err := count(ctx, db)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d collisions, and the counter is at %d\n", collisions, value)
	if err := verify(tallies, value); err != nil {
		return err
	}

	attempts := 0
	failure := transact(ctx, db, func(ctx context.Context, tx *sql.Tx) error {
		attempts++
		return spoil(ctx, tx)
	})
	after, err := count(ctx, db)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "a broken constraint: %d attempt, and the counter is at %d\n", attempts, after)
	return verifySpoilt(failure, attempts, value, after)
}

// verify reports what went otherwise than this program says.
func verify(tallies []tally, value int) error {
	if value != writers*increments {
		return fmt.Errorf("the counter should be at %d, not at %d", writers*increments, value)
	}
	for i, t := range tallies {
		switch {
		case t.increments != increments || t.attempts != increments+t.collisions:
			return fmt.Errorf("writer %d should have made %d increments, each but the last attempt of it a collision: %+v", i+1, increments, t)
		case i > 0 && t.collisions == 0:
			return fmt.Errorf("writer %d should have been turned away at least once", i+1)
		}
	}
	return nil
}

// verifySpoilt does the same for the transaction that broke the constraint.
func verifySpoilt(failure error, attempts, before, after int) error {
	switch {
	case primaryCode(failure) != sqlite3.SQLITE_CONSTRAINT:
		return fmt.Errorf("the constraint should have failed: %v", failure)
	case attempts != 1:
		return fmt.Errorf("a broken constraint should have been tried once, not %d times", attempts)
	case after != before:
		return fmt.Errorf("what was written before the constraint failed should have been rolled back: %d, not %d", before, after)
	}
	return nil
}
