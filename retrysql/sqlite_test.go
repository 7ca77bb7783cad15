package retrysql_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed-89b3229b/retry/retrysql"
)

// Errors that have a 5 somewhere are not all SQLite's.
func TestNotSQLite(t *testing.T) {
	type numbers struct{ Code, ExtendedCode int }
	type coder interface {
		error
		Code() int
	}
	var lookalikes []error
	{
		type Error struct {
			error
			Code int
		}
		lookalikes = append(lookalikes, Error{errFunds, 5})
	}
	{
		type Result struct {
			error
			Code, ExtendedCode int
		}
		lookalikes = append(lookalikes, Result{errFunds, 5, 5}, &Result{errFunds, 5, 5})
	}
	{
		type Error struct {
			error
			Code         string
			ExtendedCode int
		}
		lookalikes = append(lookalikes, Error{errFunds, "5", 5})
	}
	{
		type Error struct {
			error
			*numbers
		}
		lookalikes = append(lookalikes, Error{errFunds, nil}, Error{errFunds, &numbers{5, 5}})
	}
	{
		type Error struct{ coder } // such as one with the status of another protocol
		lookalikes = append(lookalikes, Error{status(5)}, &Error{status(5)})
	}
	for _, failure := range append(lookalikes, codeOnly{5}, status(5), (*Error)(nil), errors.New("database is locked")) {
		s := &server{exec: []error{failure}}
		assert.Equal(t, failure, retrysql.InTx(t.Context(), open(t, s), nil, increment))
		assert.Equal(t, "begin exec rollback", s.did())
	}
}
