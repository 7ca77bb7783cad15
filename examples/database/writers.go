package main

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/seed-89b3229b/retry"
)

const (
	writers    = 4
	increments = 25               // by each writer
	work       = time.Millisecond // as long as this, with the lock and then without
)

// tally is what a writer did.
type tally struct{ increments, attempts, collisions int }

// crowd is a number of writers that get in each other's way, and not by chance: the first transaction of the first writer
// stays open until every other writer has been turned away once.
type crowd struct {
	db         *sql.DB
	locked     chan struct{} // closed when the first writer has the lock
	turnedAway chan struct{} // a token from each of the others
}

// write lets all writers write at the same time, and returns what each did. The first error ends them all.
func write(ctx context.Context, db *sql.DB) ([]tally, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := crowd{db, make(chan struct{}), make(chan struct{}, writers-1)}
	tallies := make([]tally, writers)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			var err error
			if tallies[i], err = c.writer(ctx, i == 0); err != nil {
				cancel(err) // the others may be waiting for this one
			}
		})
	}
	all.Wait()
	return tallies, context.Cause(ctx)
}

// writer increments the counter, one transaction for each increment.
func (c *crowd) writer(ctx context.Context, first bool) (t tally, err error) {
	if !first {
		select {
		case <-c.locked:
		case <-ctx.Done():
			return t, ctx.Err()
		}
	}
	hold := first
	for t.increments < increments {
		err := transact(ctx, c.db, func(ctx context.Context, tx *sql.Tx) error {
			if hold {
				hold = false
				if err := c.hold(ctx); err != nil {
					return err
				}
			}
			time.Sleep(work)
			return increment(ctx, tx)
		}, retry.WithOnRetry(func(context.Context, retry.Event) { // the policy retries collisions only
			t.attempts++
			t.collisions++
			if !first && t.collisions == 1 {
				c.turnedAway <- struct{}{}
			}
		}))
		if err != nil {
			return t, err
		}
		t.attempts++
		t.increments++
		time.Sleep(work)
	}
	return t, nil
}

// hold keeps the transaction open until all other writers have found the lock taken.
func (c *crowd) hold(ctx context.Context) error {
	close(c.locked)
	for range writers - 1 {
		select {
		case <-c.turnedAway:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
