package retrysql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrysql"
)

// The first attempt loses against another transaction, and is made again from its beginning.
func ExampleInTx() {
	ctx, db := context.Background(), sql.OpenDB(&server{commit: []error{state("40001")}})
	defer db.Close()

	attempts := 0
	err := retrysql.InTx(ctx, db, &sql.TxOptions{}, func(ctx context.Context, tx *sql.Tx) error {
		attempts++
		_, err := tx.ExecContext(ctx, `UPDATE accounts SET balance = balance - 10 WHERE id = 1`)
		return err
	})
	fmt.Println(attempts, err)
	// Output: 2 <nil>
}

// Rows that a closure appends to would hold those of every attempt.
func ExampleInTxValue() {
	ctx, db := context.Background(), sql.OpenDB(&server{commit: []error{state("40001")}})
	defer db.Close()

	names, err := retrysql.InTxValue(ctx, db, nil, func(ctx context.Context, tx *sql.Tx) (names []string, err error) {
		names = append(names, "read", "in", "this", "attempt")
		return names, nil
	})
	fmt.Println(names, err)
	// Output: [read in this attempt] <nil>
}

// The connection is lost while COMMIT is under way. Whether it took effect must be looked up before anything is repeated.
func ExampleInTx_ambiguous() {
	ctx, db := context.Background(), sql.OpenDB(&server{commit: []error{io.ErrUnexpectedEOF}})
	defer db.Close()

	err := retrysql.InTx(ctx, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO payments (request, amount) VALUES ('7f3a', 10)`)
		return err
	})
	switch {
	case err == nil:
		fmt.Println("paid")
	case errors.Is(err, retrysql.ErrAmbiguousCommit):
		fmt.Println("is there a payment of request 7f3a?", errors.Is(err, io.ErrUnexpectedEOF))
	default:
		fmt.Println("not paid:", err)
	}
	// Output: is there a payment of request 7f3a? true
}

// A proxy says by a number of its own that its node is gone. Another attempt is worth it, on another connection.
func ExampleDatabase() {
	gone := condition.MySQL(1105)
	ctx, db := context.Background(), sql.OpenDB(&server{exec: []error{&MySQLError{1105}}})
	defer db.Close()

	err := retrysql.InTx(ctx, retrysql.Database{DB: db, BadConn: gone}, nil, increment, retry.WithCondition(gone))
	fmt.Println(err)
	// Output: <nil>
}
