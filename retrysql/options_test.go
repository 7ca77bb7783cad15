package retrysql_test

import (
	"context"
	"database/sql"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
)

// Conditions of the caller come before the package's own: they widen and narrow it.
func TestConditions(t *testing.T) {
	eof := condition.Is(io.EOF)
	noDeadlocks := condition.Not(condition.SQLState("40P01"))
	tests := []struct {
		name    string
		opts    []retry.Option
		failure error
		again   bool
	}{
		{"default, conflict", nil, state("40001"), true},
		{"default, other", nil, io.EOF, false},
		{"widened", []retry.Option{retry.WithCondition(eof)}, io.EOF, true},
		{"widened, conflict", []retry.Option{retry.WithCondition(eof)}, state("40001"), true},
		{"widened, other", []retry.Option{retry.WithCondition(eof)}, errFunds, false},
		{"narrowed", []retry.Option{retry.WithCondition(noDeadlocks)}, state("40P01"), false},
		{"narrowed, conflict", []retry.Option{retry.WithCondition(noDeadlocks)}, state("40001"), true},
		{"narrowed, other", []retry.Option{retry.WithCondition(noDeadlocks)}, errFunds, false},
		{"only", []retry.Option{retry.WithCondition(condition.Only(eof))}, io.EOF, true},
		{"only, conflict", []retry.Option{retry.WithCondition(condition.Only(eof))}, state("40001"), false},
		{"several, the last of which decides", []retry.Option{retry.WithCondition(noDeadlocks, condition.Only(eof))}, io.EOF, true},
		{"if", []retry.Option{retry.WithRetryIf(eofOnly)}, io.EOF, true},
		{"if, conflict", []retry.Option{retry.WithRetryIf(eofOnly)}, state("40001"), false},
		{"policy", []retry.Option{retry.MustNew()}, state("40001"), true},
		{"policy, other", []retry.Option{retry.MustNew()}, io.EOF, false},
		{"policy, widened", []retry.Option{retry.MustNew(retry.WithCondition(eof))}, io.EOF, true},
		{"policy, widened again", []retry.Option{retry.MustNew(retry.WithCondition(noDeadlocks)), retry.WithCondition(eof)}, io.EOF, true},
		{"policy, only", []retry.Option{retry.MustNew(retry.WithCondition(condition.Only(eof)))}, io.EOF, true},
		{"policy, only, conflict", []retry.Option{retry.MustNew(retry.WithCondition(condition.Only(eof)))}, state("40001"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{exec: []error{tt.failure}}
			clock := retrytest.NewClock()
			opts := append(tt.opts[:len(tt.opts):len(tt.opts)], on(clock)...)
			err := retrysql.InTx(t.Context(), open(t, s), nil, increment, opts...)
			if tt.again {
				require.NoError(t, err)
				assert.Equal(t, "begin exec rollback begin exec commit", s.did())
				assert.Len(t, clock.Waits(), 1)
				return
			}
			assert.Equal(t, tt.failure, err)
			assert.Equal(t, "begin exec rollback", s.did())
		})
	}
}

// The conditions of the options are looked at before anything runs: what fn returns is never taken for their problem.
func TestConfigErrorOfFn(t *testing.T) {
	theirs := &retry.ConfigError{Option: "WithCondition", Value: condition.Network(), Problem: "would never be asked"}
	s := &server{exec: []error{theirs}}
	err := retrysql.InTx(t.Context(), open(t, s), nil, increment, retry.WithName("x"))
	assert.Equal(t, theirs, err)
	assert.Equal(t, "begin exec rollback", s.did())
}

func eofOnly(err error) bool { return err == io.EOF }

// The error of a failed begin is the driver's own for conditions, and for the caller.
func TestConditionsOfBegin(t *testing.T) {
	s := &server{begin: []error{io.EOF, state("57P03")}}
	err := retrysql.InTx(t.Context(), open(t, s), nil, increment, append(on(retrytest.NewClock()),
		retry.WithCondition(condition.Is(io.EOF), condition.SQLConnection()))...)
	require.NoError(t, err)
	assert.Equal(t, "begin begin begin exec commit", s.did())

	s = &server{begin: []error{io.EOF}}
	var seen error
	err = retrysql.InTx(t.Context(), open(t, s), nil, increment, retry.WithMaxAttempts(1), retry.WithRetryIf(func(err error) bool {
		seen = err
		return true
	}))
	assert.ErrorIs(t, seen, io.EOF)
	assert.EqualError(t, seen, "EOF")
	assert.EqualError(t, err, "EOF (retry: gave up after 1 attempt: attempts exhausted)")
	assert.ErrorIs(t, err, io.EOF)
}

// What says that nothing was sent is for the last condition alone: the caller gets the driver's own error, wherever it is.
func TestErrorOfBegin(t *testing.T) {
	s := &server{begin: []error{errRefused, io.EOF, errRefused, errRefused}}
	err := retrysql.InTx(t.Context(), open(t, s), nil, increment,
		append(on(retrytest.NewClock()), retry.WithErrorHistory(3), retry.WithMaxAttempts(3), retry.WithCondition(condition.Is(io.EOF)))...)
	gaveUp, ok := err.(*retry.Error)
	require.True(t, ok)
	assert.Equal(t, retry.ErrExhausted, gaveUp.Reason)
	assert.Same(t, errRefused, gaveUp.Last)
	assert.Equal(t, []error{errRefused, io.EOF, errRefused}, gaveUp.History)

	narrowed := retry.WithCondition(condition.Only())
	assert.Same(t, errRefused, retrysql.InTx(t.Context(), open(t, s), nil, increment, narrowed))
	begins := beginner(func() error { return retry.Permanent(errFunds) })
	assert.Same(t, errFunds, retrysql.InTx(t.Context(), begins, nil, increment), "the mark is taken off")
}

// Rules come before the conditions, the last one included, and count within the limit of the defaults.
func TestRules(t *testing.T) {
	many := func(err error) (all []error) {
		for range 20 {
			all = append(all, err)
		}
		return all
	}
	funds := condition.Is(errFunds)
	for _, tt := range []struct {
		name string
		opts []retry.Option
		s    *server
		made int
	}{
		{"widened", []retry.Option{retry.WithRule(funds, retry.WithMaxAttempts(3))}, &server{exec: many(errFunds)}, 3},
		{"narrowed", []retry.Option{retry.WithRule(condition.SQLState("40001"), retry.WithMaxAttempts(2))}, &server{commit: many(state("40001"))}, 2},
		{"another kind", []retry.Option{retry.WithRule(funds, retry.WithMaxAttempts(2))}, &server{commit: many(state("40001"))}, 10},
		{"the defaults' limit holds", []retry.Option{retry.WithRule(funds, retry.WithMaxAttempts(12))}, &server{exec: many(errFunds)}, 10},
		{"a limit of the call", []retry.Option{retry.WithUnlimitedAttempts(), retry.WithRule(funds, retry.WithMaxAttempts(12))}, &server{exec: many(errFunds)}, 12},
		{"at begin", []retry.Option{retry.WithRule(condition.NotSent(), retry.WithMaxAttempts(2))}, &server{begin: many(errRefused)}, 2},
		{"ambiguous", []retry.Option{retry.WithRule(condition.If(func(error) bool { return true }))}, &server{commit: many(io.EOF)}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := retrysql.InTx(t.Context(), open(t, tt.s), nil, increment, append(on(retrytest.NewClock()), tt.opts...)...)
			gaveUp := new(retry.Error)
			if tt.made == 1 {
				assert.ErrorIs(t, err, retrysql.ErrAmbiguousCommit)
				assert.Equal(t, "begin exec commit", tt.s.did())
				return
			}
			require.ErrorAs(t, err, &gaveUp)
			assert.Equal(t, retry.ErrExhausted, gaveUp.Reason)
			assert.Equal(t, tt.made, gaveUp.Attempts)
		})
	}
}

// A policy takes the place of the defaults, single options go on from them.
func TestPolicies(t *testing.T) {
	waits := func(opts ...retry.Option) []time.Duration {
		s := &server{commit: []error{state("40001"), state("40001"), state("40001")}}
		clock := retrytest.NewClock()
		require.NoError(t, retrysql.InTx(retry.ContextWithClock(t.Context(), clock), open(t, s), nil, increment, opts...))
		return clock.Waits()
	}
	half := retry.WithRand(func() float64 { return 0.5 })
	assert.Equal(t, ms(5, 10, 20), waits(half))
	assert.Equal(t, ms(5, 7, 7), waits(half, retry.WithMaxDelay(7*time.Millisecond*2))[:3])
	assert.Equal(t, ms(9, 9, 9), waits(retry.WithStrategy(strategy.Constant{Delay: 9 * time.Millisecond})))
	assert.Equal(t, ms(100, 200, 400), waits(retry.MustNew(half)))
	assert.Equal(t, ms(9, 9, 9), waits(retry.MustNew(retry.WithStrategy(strategy.Constant{Delay: 9 * time.Millisecond}))))

	s := &server{commit: []error{state("40001"), state("40001")}}
	err := retrysql.InTx(t.Context(), open(t, s), nil, increment, retry.WithMaxAttempts(2), retry.WithStrategy(strategy.Constant{}), retry.WithName("transfer"))
	require.ErrorIs(t, err, retry.ErrExhausted)
	assert.ErrorContains(t, err, `SQLSTATE 40001 (retry "transfer": gave up after 2 attempts`)

	s = &server{commit: []error{state("40001")}}
	require.ErrorIs(t, retrysql.InTx(t.Context(), open(t, s), nil, increment, retry.WithErrorHistory(4), retry.WithMaxAttempts(1)), state("40001"))
	s = &server{commit: []error{state("40001"), io.EOF}}
	err = retrysql.InTx(t.Context(), open(t, s), nil, increment, append(on(retrytest.NewClock()), retry.WithErrorHistory(4))...)
	gaveUp := new(retry.Error)
	require.ErrorAs(t, err, &gaveUp)
	assert.Len(t, gaveUp.History, 2)
	assert.ErrorIs(t, err, retrysql.ErrAmbiguousCommit)
	assert.ErrorIs(t, gaveUp.Reason, retry.ErrNotRetryable)
}

// The options for the transaction reach the driver, and those that it cannot serve are its failure.
func TestTxOptions(t *testing.T) {
	asked := &asking{Beginner: open(t, new(server))}
	want := &sql.TxOptions{Isolation: sql.LevelSerializable, ReadOnly: true}
	require.NoError(t, retrysql.InTx(t.Context(), asked, want, increment))
	require.NoError(t, retrysql.InTx(t.Context(), asked, nil, increment))
	assert.Equal(t, []*sql.TxOptions{want, nil}, asked.opts)

	c, err := open(t, new(server)).Conn(t.Context())
	require.NoError(t, err)
	require.NoError(t, retrysql.InTx(t.Context(), c, nil, increment))
	require.NoError(t, c.Close())
	assert.Equal(t, sql.ErrConnDone, retrysql.InTx(t.Context(), c, nil, increment))
}

type asking struct {
	retrysql.Beginner
	opts []*sql.TxOptions
}

func (a *asking) BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
	a.opts = append(a.opts, opts)
	return a.Beginner.BeginTx(ctx, opts)
}
