package retrysql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/retrytest"
)

var (
	errRefused = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	errFunds   = errors.New("insufficient funds")
	errBroken  = errors.New("rollback is broken")
)

// on makes the waits of a call take no time, and half of what they can be at most.
func on(clock *retrytest.Clock) []retry.Option {
	return []retry.Option{retry.WithClock(clock), retry.WithRand(func() float64 { return 0.5 })}
}

func ms(d ...time.Duration) []time.Duration {
	for i := range d {
		d[i] *= time.Millisecond
	}
	return d
}

// TestInTx goes through the places where an attempt can fail, with the default options.
func TestInTx(t *testing.T) {
	lost := state("57P01")
	tests := []struct {
		name   string
		server server
		did    string
		is     []error // nil: committed
		same   bool    // the error is the first of is, with nothing around it
		waits  []time.Duration
	}{
		{name: "success", did: "begin exec commit"},

		{name: "conflict in fn", server: server{exec: []error{state("40001")}}, did: "begin exec rollback begin exec commit", waits: ms(5)},
		{name: "conflict at commit", server: server{commit: []error{state("40001")}}, did: "begin exec commit begin exec commit", waits: ms(5)},
		{name: "conflict at begin", server: server{begin: []error{state("55P03")}}, did: "begin begin exec commit", waits: ms(5)},
		{
			name: "conflicts everywhere", server: server{begin: []error{nil, state("40001")}, exec: []error{state("40P01"), nil}, commit: []error{state("40001")}},
			did: "begin exec rollback begin begin exec commit begin exec commit", waits: ms(5, 10, 20),
		},

		{name: "refused", server: server{begin: []error{errRefused, errRefused}}, did: "begin begin begin exec commit", waits: ms(5, 10)},
		{ // database/sql tries three times for each of ours
			name: "bad connections", server: server{begin: []error{driver.ErrBadConn, driver.ErrBadConn, driver.ErrBadConn}},
			did: "begin begin begin begin exec commit", waits: ms(5),
		},
		{name: "begin fails", server: server{begin: []error{errFunds}}, did: "begin", is: []error{errFunds}, same: true},
		{name: "begin on a dead connection", server: server{begin: []error{io.EOF}}, did: "begin begin exec commit", waits: ms(5)},

		{name: "fn fails", server: server{exec: []error{errFunds}}, did: "begin exec rollback", is: []error{errFunds}, same: true},
		{name: "refused in fn", server: server{exec: []error{errRefused}}, did: "begin exec rollback", is: []error{errRefused}, same: true},
		{name: "connection lost in fn", server: server{exec: []error{lost}}, did: "begin exec rollback", is: []error{lost}, same: true},
		{name: "hopeless in fn", server: server{exec: []error{sql.ErrNoRows}}, did: "begin exec rollback", is: []error{sql.ErrNoRows}, same: true},
		{name: "fn fails at last", server: server{exec: []error{state("40001"), errFunds}}, did: "begin exec rollback begin exec rollback", is: []error{errFunds}, same: true, waits: ms(5)},

		{
			name: "rollback fails after a conflict", server: server{exec: []error{state("40001")}, rollback: []error{errBroken}},
			did: "begin exec rollback begin exec commit", waits: ms(5),
		},
		{
			name: "rollback fails with the connection after a conflict", server: server{exec: []error{state("40001")}, rollback: []error{driver.ErrBadConn}},
			did: "begin exec rollback begin exec commit", waits: ms(5),
		},
		{
			name: "rollback fails after a failure", server: server{exec: []error{errFunds}, rollback: []error{errBroken}},
			did: "begin exec rollback", is: []error{errFunds, errBroken},
		},
		{
			name: "rollback fails with the connection after that was lost", server: server{exec: []error{lost}, rollback: []error{driver.ErrBadConn}},
			did: "begin exec rollback", is: []error{lost, driver.ErrBadConn},
		},

		{name: "commit turned down", server: server{commit: []error{state("23505")}}, did: "begin exec commit", is: []error{state("23505")}, same: true},
		{name: "commit unanswered", server: server{commit: []error{io.EOF}}, did: "begin exec commit", is: []error{io.EOF, retrysql.ErrAmbiguousCommit}},
		{
			name: "commit unanswered at last", server: server{commit: []error{state("40001"), driver.ErrBadConn}},
			did: "begin exec commit begin exec commit", is: []error{driver.ErrBadConn, retrysql.ErrAmbiguousCommit}, waits: ms(5),
		},
	}
	for i := range tests {
		tt := &tests[i]
		t.Run(tt.name, func(t *testing.T) {
			clock := retrytest.NewClock()
			calls := 0
			err := retrysql.InTx(t.Context(), open(t, &tt.server), nil, func(ctx context.Context, tx *sql.Tx) error {
				calls++
				return increment(ctx, tx)
			}, on(clock)...)

			assert.Equal(t, tt.did, tt.server.did())
			assert.Equal(t, append([]time.Duration{}, tt.waits...), clock.Waits())
			assert.Equal(t, strings.Count(tt.did, "exec"), calls)
			if tt.is == nil {
				assert.NoError(t, err)
				assert.Equal(t, 1, tt.server.committed())
				return
			}
			assert.Zero(t, tt.server.committed())
			for _, target := range tt.is {
				assert.ErrorIs(t, err, target)
			}
			assert.NotErrorIs(t, err, retry.ErrExhausted)
			if tt.same {
				assert.Equal(t, tt.is[0], err)
			}
		})
	}
}

// Without options the defaults are the same.
func TestDefaults(t *testing.T) {
	clock := retrytest.NewClock()
	always := []error{}
	for range 20 {
		always = append(always, state("40001"))
	}
	for name, opts := range map[string][]retry.Option{"drawn": nil, "largest": {retry.WithRand(func() float64 { return 1 - 1e-16 })}} {
		s := &server{commit: append([]error{}, always...)}
		before := len(clock.Waits())
		err := retrysql.InTx(retry.ContextWithClock(t.Context(), clock), open(t, s), nil, increment, opts...)

		require.ErrorIs(t, err, retry.ErrExhausted, name)
		require.ErrorIs(t, err, state("40001"), name)
		gaveUp := new(retry.Error)
		require.ErrorAs(t, err, &gaveUp)
		assert.Equal(t, 10, gaveUp.Attempts)
		assert.Equal(t, strings.TrimSpace(strings.Repeat("begin exec commit ", 10)), s.did())
		waits := clock.Waits()[before:]
		require.Len(t, waits, 9)
		total := time.Duration(0)
		for i, most := range ms(10, 20, 40, 80, 160, 320, 500, 500, 500) {
			assert.LessOrEqual(t, waits[i], most)
			total += waits[i]
			if opts != nil {
				assert.InDelta(t, most, waits[i], 1)
			}
		}
		if opts != nil {
			assert.Equal(t, 2130*time.Millisecond, total.Round(time.Millisecond))
		}
	}
}

// What fn gets, and what it may do.
func TestFn(t *testing.T) {
	type key struct{}
	s := &server{exec: []error{state("40001")}}
	db := open(t, s)
	ctx := context.WithValue(t.Context(), key{}, "caller's")
	clock := retrytest.NewClock()
	var seen []*sql.Tx
	err := retrysql.InTx(ctx, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		seen = append(seen, tx)
		assert.Equal(t, "caller's", ctx.Value(key{}))
		info, ok := retry.AttemptFrom(ctx)
		assert.True(t, ok)
		assert.Equal(t, retry.Attempt{Number: len(seen), Max: 10, Name: "transfer"}, info)
		return increment(ctx, tx)
	}, append(on(clock), retry.WithName("transfer"), retry.WithAttemptInfo())...)
	require.NoError(t, err)
	require.Len(t, seen, 2)
	assert.NotSame(t, seen[0], seen[1])

	// Permanent overrules what is known of the failure, and the mark is taken off.
	err = retrysql.InTx(ctx, db, nil, func(context.Context, *sql.Tx) error { return retry.Permanent(state("40001")) })
	assert.Equal(t, state("40001"), err)
	// After lengthens the wait: by what is told, and up to a tenth more.
	err = retrysql.InTx(ctx, open(t, new(server)), nil, func(ctx context.Context, tx *sql.Tx) error {
		if len(clock.Waits()) < 2 {
			return retry.After(3*time.Second, state("40001"))
		}
		return nil
	}, on(clock)...)
	require.NoError(t, err)
	assert.Equal(t, ms(5, 3150), clock.Waits())
}

func TestPanics(t *testing.T) {
	s := new(server)
	db := open(t, s)
	assert.PanicsWithValue(t, "at the disco", func() {
		_ = retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
			assert.NoError(t, increment(ctx, tx))
			panic("at the disco")
		}, retry.WithRetryIf(func(error) bool { return true }))
	})
	assert.Equal(t, "begin exec rollback", s.did())

	left := make(chan struct{})
	go func() {
		defer close(left)
		_ = retrysql.InTx(t.Context(), db, nil, func(context.Context, *sql.Tx) error {
			runtime.Goexit() // as t.FailNow does
			return nil
		})
	}()
	<-left
	assert.Equal(t, "begin exec rollback begin rollback", s.did())
	assert.Zero(t, db.Stats().InUse)
}

func TestUnusable(t *testing.T) {
	s := new(server)
	db := open(t, s)
	var noDB *sql.DB
	var noConn *sql.Conn
	for _, nobody := range []retrysql.Beginner{nil, noDB, noConn} {
		err := retrysql.InTx(t.Context(), nobody, nil, increment)
		config := new(retry.ConfigError)
		require.ErrorAs(t, err, &config)
		assert.Equal(t, "db", config.Option)
	}
	assert.EqualError(t, retrysql.InTx(t.Context(), db, nil, nil), "retry: fn(nil): must not be nil")
	_, err := retrysql.InTxValue[int](t.Context(), db, nil, nil)
	assert.EqualError(t, err, "retry: fn(nil): must not be nil")

	calls := 0
	err = retrysql.InTx(t.Context(), beginner(func() error { calls++; return nil }), nil, increment, retry.WithRetryIf(func(error) bool { return true }))
	assert.EqualError(t, err, "retrysql: BeginTx returned neither a transaction nor an error")
	assert.Equal(t, 1, calls)

	for _, opts := range [][]retry.Option{
		{nil}, {retry.WithMaxAttempts(0)}, {(*retry.Policy)(nil)}, {retry.WithName("x"), retry.MustNew()},
		{retry.WithRetryResult(func(int) bool { return false })}, {retry.WithCondition(condition.Is())},
		{retry.WithCondition(condition.Only(), condition.Network())},
	} {
		assert.ErrorIs(t, retrysql.InTx(t.Context(), db, nil, increment, opts...), retry.ErrConfig)
	}
	assert.Empty(t, s.did())
}

// beginner returns no transaction.
type beginner func() error

func (b beginner) BeginTx(context.Context, *sql.TxOptions) (*sql.Tx, error) { return nil, b() }
