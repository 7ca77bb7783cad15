package retrysql_test

import (
	"context"
	"database/sql"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/retrytest"
)

func TestInTxValue(t *testing.T) {
	tests := []struct {
		name   string
		server server
		fail   error // of fn, after its statement
		want   int
		is     error
	}{
		{name: "success", want: 1},
		{name: "second attempt", server: server{commit: []error{state("40001")}}, want: 2},
		{name: "fn fails with a value", fail: errFunds, is: errFunds},
		{name: "commit turned down", server: server{commit: []error{state("23505")}}, is: state("23505")},
		{name: "begin fails after an attempt", server: server{begin: []error{nil, errFunds}, commit: []error{state("40001")}}, is: errFunds},
		{name: "ambiguous", server: server{commit: []error{state("40001"), io.EOF}}, want: 2, is: retrysql.ErrAmbiguousCommit},
		{name: "rollback fails", server: server{exec: []error{errFunds}, rollback: []error{errBroken}}, is: errBroken},
	}
	for i := range tests {
		tt := &tests[i]
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			v, err := retrysql.InTxValue(t.Context(), open(t, &tt.server), nil, func(ctx context.Context, tx *sql.Tx) (int, error) {
				calls++
				if err := increment(ctx, tx); err != nil {
					return 7, err
				}
				return calls, tt.fail
			}, on(retrytest.NewClock())...)
			assert.ErrorIs(t, err, tt.is)
			assert.Equal(t, tt.want, v)
		})
	}
	one := func(context.Context, *sql.Tx) (int, error) { return 1, nil }
	_, err := retrysql.InTxValue(t.Context(), open(t, new(server)), nil, one, retry.WithRetryResult(func(int) bool { return true }))
	assert.ErrorIs(t, err, retry.ErrConfig)
	_, err = retrysql.InTxValue(t.Context(), nil, nil, one)
	require.ErrorIs(t, err, retry.ErrConfig)
}
