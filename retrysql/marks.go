package retrysql

import (
	"fmt"
	"slices"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
)

// The failures of an attempt carry what only this package is to know. Conditions see through these types, and none of them is
// in what a call returns.

// beginError tells the last condition that a transaction was not begun, and may be the next time.
type beginError struct {
	err     error
	verdict condition.Verdict
}

func (e *beginError) Error() string { return e.err.Error() }
func (e *beginError) Unwrap() error { return e.err }

// rollbackError is a failure whose rollback failed too. Whether to repeat is asked of the first alone: the second is about the
// connection.
type rollbackError struct{ err, rollback error }

func (e *rollbackError) Error() string { return fmt.Sprintf("%v (rollback: %v)", e.err, e.rollback) }
func (e *rollbackError) Unwrap() error { return e.err }

// flat is what the caller gets.
func (e *rollbackError) flat() error { return fmt.Errorf("%w (rollback: %w)", e.err, e.rollback) }

// unmark takes these types out of what a call returns. A *retry.Error is copied: observers have the first.
func unmark(err error) error {
	e, ok := err.(*retry.Error)
	if !ok {
		return bare(err)
	}
	clean := *e
	clean.Last = bare(e.Last)
	clean.History = slices.Clone(e.History)
	for i, failure := range clean.History {
		clean.History[i] = bare(failure)
	}
	return &clean
}

func bare(err error) error {
	switch e := err.(type) {
	case *beginError:
		return e.err
	case *rollbackError:
		return e.flat()
	}
	return err
}
