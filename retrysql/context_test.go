package retrysql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/strategy"
)

// In these tests contexts end while fn runs. database/sql then rolls back in a goroutine of its own, which may be done or
// not when InTx gets there: each test sees to both.

func TestCanceledInFn(t *testing.T) {
	for _, settle := range []bool{false, true} {
		for _, failure := range []error{errFunds, state("40001"), context.Canceled, nil} {
			synctest.Test(t, func(t *testing.T) {
				s := &server{sessions: true}
				ctx, cancel := context.WithCancelCause(t.Context())
				err := retrysql.InTx(ctx, open(t, s), nil, func(ctx context.Context, tx *sql.Tx) error {
					assert.NoError(t, increment(ctx, tx))
					cancel(errors.New("closing time"))
					if settle {
						synctest.Wait()
					}
					return failure
				}, widest...)
				synctest.Wait()
				assert.Equal(t, "begin exec rollback", s.did(), "no COMMIT, and one ROLLBACK")
				gaveUp := new(retry.Error)
				require.ErrorAs(t, err, &gaveUp)
				assert.Equal(t, 1, gaveUp.Attempts)
				assert.EqualError(t, gaveUp.Reason, "context canceled: closing time")
				want := failure
				if failure == nil {
					want = context.Canceled
				}
				assert.Equal(t, want, gaveUp.Last)
				assert.NotErrorIs(t, err, retrysql.ErrAmbiguousCommit)
			})
		}
	}
}

// The context ends while the rollback runs. A driver that gives up for that reason has nothing new to say, any other failure
// is kept.
func TestCanceledInRollback(t *testing.T) {
	for failed, want := range map[error]string{
		nil:              "insufficient funds",
		context.Canceled: "insufficient funds",
		errBroken:        "insufficient funds (rollback: rollback is broken)",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		s := &server{exec: []error{errFunds}, rollback: []error{failed}, before: func(call string) {
			if call == "rollback" {
				cancel()
			}
		}}
		err := retrysql.InTx(ctx, open(t, s), nil, increment, widest...)
		assert.Equal(t, "begin exec rollback", s.did())
		gaveUp := new(retry.Error)
		require.ErrorAs(t, err, &gaveUp)
		assert.EqualError(t, gaveUp.Last, want)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, errFunds)
		if failed != nil {
			assert.ErrorIs(t, err, failed)
		}
	}
}

// An attempt that timed out, and whose connection is gone for that, is repeated.
func TestAttemptTimeoutInRollback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{exec: []error{errFunds}, rollback: []error{driver.ErrBadConn}, before: func(call string) {
			if call == "rollback" {
				time.Sleep(time.Minute)
			}
		}}
		err := retrysql.InTx(t.Context(), open(t, s), nil, increment, retry.WithAttemptTimeout(time.Second))
		require.NoError(t, err)
		assert.Equal(t, "begin exec rollback begin exec commit", s.did())
	})
}

func TestCanceledInWaitAndBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{exec: []error{state("40001")}}
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		time.AfterFunc(3*time.Second, cancel)
		err := retrysql.InTx(ctx, open(t, s), nil, increment, retry.WithStrategy(strategy.Constant{Delay: 5 * time.Second}))
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, state("40001"))
		assert.Equal(t, 3*time.Second, time.Since(began))
		assert.Equal(t, "begin exec rollback", s.did())

		err = retrysql.InTx(ctx, open(t, s), nil, increment)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorContains(t, err, "not attempted")
		assert.Equal(t, "begin exec rollback", s.did())
	})
}

// A wait that would not end before the deadline is not begun.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{exec: []error{state("40001")}}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		began := time.Now()
		err := retrysql.InTx(ctx, open(t, s), nil, increment, retry.WithStrategy(strategy.Constant{Delay: 5 * time.Second}))
		assert.ErrorIs(t, err, retry.ErrDeadline)
		assert.ErrorIs(t, err, state("40001"))
		assert.Zero(t, time.Since(began))
	})
}

// An attempt that its own timeout ended is repeated: whoever sets one wants that.
func TestAttemptTimeout(t *testing.T) {
	for _, settle := range []bool{false, true} {
		for _, deaf := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s := &server{sessions: true}
				began := time.Now()
				calls := 0
				err := retrysql.InTx(t.Context(), open(t, s), nil, func(ctx context.Context, tx *sql.Tx) error {
					if calls++; calls > 1 {
						return increment(ctx, tx)
					}
					<-ctx.Done()
					if settle {
						synctest.Wait()
					}
					if deaf {
						return nil // and does not even notice
					}
					return ctx.Err()
				}, retry.WithAttemptTimeout(time.Second), retry.WithStrategy(strategy.Constant{Delay: 2 * time.Second}))
				require.NoError(t, err)
				synctest.Wait()
				assert.Equal(t, 3*time.Second, time.Since(began))
				assert.Equal(t, "begin rollback begin exec commit", s.did())
				assert.Equal(t, 1, s.committed())
			})
		}
	}
}

func slowCommit(call string) {
	if call == "commit" {
		time.Sleep(time.Minute)
	}
}

// An attempt that times out in its commit is ambiguous all the same.
func TestAttemptTimeoutInCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{commit: []error{context.DeadlineExceeded}, applied: true, before: slowCommit}
		err := retrysql.InTx(t.Context(), open(t, s), nil, increment, append(slices.Clone(widest), retry.WithAttemptTimeout(time.Second))...)
		assert.ErrorIs(t, err, retrysql.ErrAmbiguousCommit)
		assert.ErrorIs(t, err, retry.ErrAttemptTimeout)
		assert.Equal(t, "begin exec commit", s.did())
		assert.Equal(t, 1, s.committed())
	})
}

// So is one whose caller gives up meanwhile; the error says both, and calls around do not repeat it.
func TestCanceledInCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{commit: []error{io.EOF}, applied: true, before: slowCommit}
		db := open(t, s)
		err := retry.Run(t.Context(), func(ctx context.Context) error {
			return retrysql.InTx(ctx, db, nil, increment, widest...)
		}, append(slices.Clone(widest), retry.WithAttemptTimeout(time.Second))...)
		assert.ErrorIs(t, err, retrysql.ErrAmbiguousCommit)
		assert.ErrorIs(t, err, io.EOF)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, "begin exec commit", s.did())
		assert.Equal(t, 1, s.committed())
	})
}

// database/sql may be the first to notice the end of the context: then there was no COMMIT either.
func TestRolledBackBeforeCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{sessions: true}
		ctx := &lateContext{Context: t.Context()}
		inner, cancel := context.WithCancel(t.Context())
		err := retrysql.InTx(ctx, within{inner, open(t, s)}, nil, func(_ context.Context, tx *sql.Tx) error {
			assert.NoError(t, increment(t.Context(), tx))
			cancel()
			synctest.Wait() // until database/sql has rolled back
			ctx.over = 1
			return nil
		}, widest...)
		gaveUp := new(retry.Error)
		require.ErrorAs(t, err, &gaveUp)
		assert.Equal(t, context.Canceled, gaveUp.Last)
		assert.NotErrorIs(t, err, retrysql.ErrAmbiguousCommit)
		assert.Equal(t, "begin exec rollback", s.did())
	})
}

// lateContext is over, but denies it once.
type lateContext struct {
	context.Context
	over int
}

func (c *lateContext) Err() error {
	if c.over == 0 {
		return nil
	}
	if c.over++; c.over == 2 {
		return nil
	}
	return context.Canceled
}

// within begins transactions with a context of its own.
type within struct {
	ctx context.Context
	db  *sql.DB
}

func (w within) BeginTx(_ context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
	return w.db.BeginTx(w.ctx, opts)
}
