package observe_test

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/strategy"
)

// What is not done yet is no error, neither in spans nor in metrics nor in logs; a failed look is one, and the end is none.
func TestPollTelemetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, log := record(), new(bytes.Buffer)
		looks := 0
		_, err := retry.Poll(t.Context(), 10*sec, func(context.Context) (int, bool, error) {
			time.Sleep(sec)
			if looks++; looks == 3 {
				return 0, false, errRefused
			}
			return looks, looks == 5, nil
		}, retry.WithName("export"), retry.WithObserver(r.observer), retry.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
		require.NoError(t, err)
		assert.Equal(t, `export [internal] 0s..45s
    retry.attempts=5
    retry.delay.total=40
    retry.max_attempts=5
    retry.name="export"
    retry.outcome="success"
`, r.operation(t))
		assert.Equal(t, []string{"success", "success", "retry *observe_test.dialError", "success", "success"}, r.outcomes("export attempt"))
		assert.Equal(t, `retry.attempt.duration (s)
    {error.type="*observe_test.dialError", retry.name="export", retry.outcome="retry"} count=1 sum=1
    {retry.name="export", retry.outcome="success"} count=4 sum=4
retry.delay.duration (s)
    {retry.delay.source="policy", retry.name="export"} count=4 sum=40
retry.operation.attempts ({attempt})
    {retry.name="export", retry.outcome="success"} count=1 sum=5
retry.operation.duration (s)
    {retry.name="export", retry.outcome="success"} count=1 sum=45
`, r.metrics(t))
		assert.Equal(t, 1, strings.Count(log.String(), "\n"))
		assert.Contains(t, log.String(), "retry.attempt=3")
	})
}

// Work that ends well and is begun again is no error either, until the supervision ends.
func TestSuperviseTelemetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, log := record(), new(bytes.Buffer)
		runs := 0
		err := retry.Supervise(t.Context(), func(context.Context) error {
			if runs++; runs < 4 {
				return nil
			}
			return retry.Permanent(errInvalid)
		}, retry.WithName("feed"), retry.WithObserver(r.observer), retry.WithStrategy(strategy.Constant{Delay: sec}), retry.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
		require.Same(t, errInvalid, err)
		assert.Equal(t, `feed [internal] 0s..3s error "no such order"
    error.type="*errors.errorString"
    retry.attempts=4
    retry.delay.total=3
    retry.name="feed"
    retry.outcome="aborted"
    retry.reason="not retryable"
`, r.operation(t))
		assert.Equal(t, []string{"success", "success", "success", "give_up *errors.errorString"}, r.outcomes("feed attempt"))
		assert.Empty(t, log.String(), "not retried: Debug")
	})
}

// operation is the first span of tree, without those below it.
func (r *telemetry) operation(t *testing.T) string {
	tree := r.tree(t)
	if below := strings.Index(tree, " attempt ["); below >= 0 {
		tree = tree[:strings.LastIndex(tree[:below], "\n")+1]
	}
	return tree
}

// outcomes are those of the spans of a name, with their error types.
func (r *telemetry) outcomes(name string) (all []string) {
	for _, a := range r.attributesOf(name) {
		outcome, _ := a.Value(observe.KeyOutcome)
		failed, _ := a.Value(observe.KeyErrorType)
		all = append(all, strings.TrimSpace(outcome.AsString()+" "+failed.AsString()))
	}
	return all
}

// A transaction that cannot be begun has the driver's error.
func TestErrorTypeOfBegin(t *testing.T) {
	for want, err := range map[string]error{
		"*net.OpError":        &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		"*errors.errorString": io.EOF,
	} {
		r := record()
		_ = retrysql.InTx(t.Context(), refusesToBegin{err}, nil, noChange, retry.WithName("transfer"), retry.WithMaxAttempts(1), retry.WithObserver(r.observer))
		assert.Equal(t, []string{"give_up " + want}, r.outcomes("transfer attempt"))
	}
}

type refusesToBegin struct{ err error }

func (b refusesToBegin) BeginTx(context.Context, *sql.TxOptions) (*sql.Tx, error) { return nil, b.err }

func noChange(context.Context, *sql.Tx) error { return nil }
