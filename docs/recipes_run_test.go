package docs_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
)

// inBubble runs f in virtual time.
func inBubble(t *testing.T, name string, f func(t *testing.T, start time.Time)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, time.Now()) })
	})
}

// exactly is a policy whose waits are not drawn.
var exactly = retry.MustNew(retry.WithStrategy(strategy.Exponential{Base: time.Second}), retry.WithMaxAttempts(3))

// answers returns the errors of a list, one by one, and the last one from then on.
func answers(errs ...error) func(context.Context) error {
	return func(context.Context) error {
		err := errs[0]
		errs = errs[min(1, len(errs)-1):]
		return err
	}
}

func TestRecipeCalls(t *testing.T) {
	inBubble(t, "call", func(t *testing.T, start time.Time) {
		fails := flaky(3)
		_, err := recipeCall(t.Context(), userService{func(ctx context.Context, id int) (User, error) {
			require.Equal(t, 7, id)
			return User{}, fails(ctx)
		}}, 7)
		require.NoError(t, err)
		_, err = recipeCall(t.Context(), userService{func(context.Context, int) (User, error) {
			time.Sleep(4 * time.Second)
			return User{}, errFlaky
		}}, 7)
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
		require.Less(t, time.Since(start), 15*time.Second)
	})
	inBubble(t, "one error", func(t *testing.T, start time.Time) {
		require.NoError(t, recipeOneError(t.Context(), answers(ErrBusy, ErrBusy, nil)))
		require.ErrorIs(t, recipeOneError(t.Context(), answers(ErrBusy)), retry.ErrExhausted)
		require.Equal(t, io.EOF, recipeOneError(t.Context(), answers(io.EOF, nil)))
		require.Zero(t, time.Since(start))
	})
	inBubble(t, "gRPC", func(t *testing.T, start time.Time) {
		get := func(errs ...error) error {
			next := answers(errs...)
			_, err := recipeGRPC(t.Context(), orderService{func(ctx context.Context, _ string) (*Reply, error) { return nil, next(ctx) }}, "")
			return err
		}
		require.NoError(t, get(grpcError(codes.Unavailable), grpcError(codes.DeadlineExceeded), nil))
		require.LessOrEqual(t, time.Since(start), 600*time.Millisecond) // 200 ms + 400 ms
		require.Equal(t, grpcError(5), get(grpcError(5), nil))
		attempts := 0 // those that end by their own timeout are repeated, whatever the client makes of it
		_, err := recipeGRPC(t.Context(), orderService{func(ctx context.Context, _ string) (*Reply, error) {
			if attempts++; attempts == 3 {
				return nil, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}}, "")
		require.NoError(t, err)
		require.Equal(t, 3, attempts)
		start = time.Now()
		busy := grpcError(codes.ResourceExhausted)
		require.ErrorIs(t, get(busy, busy, busy, nil), retry.ErrExhausted)
		require.GreaterOrEqual(t, time.Since(start), 3*time.Second) // 1 to 2 s, 2 to 4 s
	})
	inBubble(t, "somebody else's hint", func(t *testing.T, start time.Time) {
		limited := &RateLimitedError{RetryAfter: 90 * time.Second}
		require.NoError(t, recipeForeignHint(t.Context(), answers(limited, nil)))
		require.GreaterOrEqual(t, time.Since(start), 90*time.Second)
		require.LessOrEqual(t, time.Since(start), 91*time.Second)
		require.ErrorIs(t, recipeForeignHint(t.Context(), answers(&RateLimitedError{RetryAfter: time.Hour})), retry.ErrHintTooLong)
	})
	inBubble(t, "calls within calls", func(t *testing.T, _ time.Time) {
		calls := 0
		register := func(ctx context.Context) error {
			return retry.Run(ctx, func(context.Context) error { calls++; return errFlaky })
		}
		require.Error(t, recipeNested(t.Context(), register, exactly))
		require.Equal(t, 3, calls)
	})
	inBubble(t, "between", func(t *testing.T, _ time.Time) {
		logins := 0
		login := func(context.Context) error { logins++; return nil }
		placeOrder := func(next func(context.Context) error) func(context.Context) (Order, error) {
			return func(ctx context.Context) (Order, error) { return Order{}, next(ctx) }
		}
		_, err := recipeBetween(t.Context(), placeOrder(answers(errFlaky, ErrUnauthorized, nil)), login)
		require.NoError(t, err)
		require.Equal(t, 1, logins)
		_, err = recipeBetween(t.Context(), placeOrder(answers(ErrUnauthorized)), func(context.Context) error { return io.ErrNoProgress })
		require.ErrorIs(t, err, ErrUnauthorized)
		require.ErrorIs(t, err, io.ErrNoProgress)
	})
	inBubble(t, "kinds", func(t *testing.T, start time.Time) {
		run := func(next func(context.Context) error) error { return retry.Run(t.Context(), next, recipeKinds()) }
		require.NoError(t, run(answers(statusError(401), nil)))
		require.ErrorIs(t, run(answers(statusError(401))), retry.ErrExhausted)
		require.Zero(t, time.Since(start))
		calls := 0
		require.ErrorIs(t, run(func(context.Context) error { calls++; return statusError(404) }), retry.ErrExhausted)
		require.Equal(t, 20, calls)
		start = time.Now()
		require.ErrorIs(t, run(answers(statusError(500))), retry.ErrMaxElapsed)
		require.Less(t, time.Since(start), time.Minute)
		require.NoError(t, run(answers(errFlaky, statusError(401), statusError(404), nil)))
		require.Equal(t, statusError(403), run(answers(statusError(403))))
	})
	inBubble(t, "log", func(t *testing.T, _ time.Time) {
		var lines, words bytes.Buffer
		log := slog.New(slog.NewTextHandler(&lines, nil))
		require.Error(t, retry.Run(t.Context(), answers(errFlaky), recipeLog(log, &words), retry.WithMaxAttempts(3)))
		require.Equal(t, 2, strings.Count(lines.String(), "level=INFO"))
		require.Equal(t, 1, strings.Count(lines.String(), "level=WARN"))
		require.Contains(t, lines.String(), "orders")
		require.Equal(t, 2, strings.Count(words.String(), "unexpected EOF; retrying in "))
	})
}

func TestRecipeLongRuns(t *testing.T) {
	discard := slog.New(slog.DiscardHandler)
	inBubble(t, "stream", func(t *testing.T, start time.Time) {
		var runs []time.Duration
		err := recipeStream(t.Context(), func(context.Context) (int, error) {
			switch runs = append(runs, time.Since(start)); {
			case len(runs) == 12:
				return 0, retry.Permanent(io.EOF)
			case len(runs) > 10:
				return 100, errFlaky
			}
			return 0, errFlaky
		}, discard)
		require.Equal(t, io.EOF, err)
		require.GreaterOrEqual(t, runs[10]-runs[9], 30*time.Second, "no progress: the waits have grown to 30 s to a minute")
		require.LessOrEqual(t, runs[11]-runs[10], time.Second, "progress: the wait of a first failure")
	})
	inBubble(t, "stop", func(t *testing.T, start time.Time) {
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(90*time.Second, stop)
		runs := 0
		require.NoError(t, recipeStop(ctx, func(ctx context.Context) error {
			runs++
			time.Sleep(time.Minute)
			return ctx.Err()
		}))
		require.Equal(t, 2, runs)
		require.InDelta(t, 120.75, time.Since(start).Seconds(), 0.25) // the second run has come to its end, after a wait of 0.5 to 1 s
		require.Equal(t, io.EOF, recipeStop(t.Context(), answers(retry.Permanent(io.EOF))))
	})
	inBubble(t, "first delay", func(t *testing.T, start time.Time) {
		first := map[time.Duration]bool{}
		for range 10 {
			start := time.Now()
			require.Equal(t, io.EOF, recipeFirstDelay(t.Context(), answers(retry.Permanent(io.EOF))))
			require.LessOrEqual(t, time.Since(start), 2*time.Minute)
			first[time.Since(start)] = true
		}
		require.Greater(t, len(first), 5)
	})
	inBubble(t, "batch", func(t *testing.T, start time.Time) {
		var sent []string
		takes := []int{0, 0, 2, 0, 1, 1}
		send := func(_ context.Context, items []string) ([]string, error) {
			n := takes[0]
			takes = takes[1:]
			sent = append(sent, items[:n]...)
			if n < len(items) {
				return items[n:], errFlaky
			}
			return nil, nil
		}
		left, err := recipeBatch(t.Context(), []string{"a", "b", "c", "d"}, send, exactly)
		require.NoError(t, err)
		require.Empty(t, left)
		require.Equal(t, []string{"a", "b", "c", "d"}, sent)
		require.Equal(t, ((1+2)+(1+2)+1)*time.Second, time.Since(start))
		takes = []int{1, 0, 0, 9}
		left, err = recipeBatch(t.Context(), []string{"e", "f"}, send, exactly)
		require.ErrorIs(t, err, retry.ErrExhausted)
		require.Equal(t, []string{"f"}, left)
	})
}

func TestRecipePolls(t *testing.T) {
	jobDone := func(at time.Time) func(context.Context) (Job, error) {
		return func(context.Context) (Job, error) { return Job{Done: !time.Now().Before(at)}, nil }
	}
	inBubble(t, "poll", func(t *testing.T, start time.Time) {
		job, err := recipePoll(t.Context(), jobDone(start.Add(10*time.Second)))
		require.NoError(t, err)
		require.True(t, job.Done)
		require.Equal(t, 10*time.Second, time.Since(start))
		_, err = recipePoll(t.Context(), jobDone(start.Add(time.Hour)))
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
	})
	inBubble(t, "in a row", func(t *testing.T, start time.Time) {
		looks := "yyn!yyy"
		require.NoError(t, recipeInARow(t.Context(), func(context.Context) (bool, error) {
			look := looks[0]
			if looks = looks[1:]; look == '!' {
				return true, errFlaky
			}
			return look == 'y', nil
		}))
		require.Empty(t, looks)
		require.Equal(t, 6*time.Second, time.Since(start))
	})
	inBubble(t, "last look", func(t *testing.T, start time.Time) {
		job, err := recipeLastLook(t.Context(), jobDone(start.Add(time.Minute)))
		require.NoError(t, err)
		require.True(t, job.Done)
		require.Equal(t, time.Minute, time.Since(start))
		start = time.Now()
		job, err = recipeLastLook(t.Context(), jobDone(start.Add(time.Hour)))
		require.NoError(t, err)
		require.False(t, job.Done)
		require.Equal(t, time.Minute, time.Since(start))
	})
}

func TestRecipeSteps(t *testing.T) {
	inBubble(t, "select", func(t *testing.T, start time.Time) {
		back := make(chan struct{})
		defer time.AfterFunc(1500*time.Millisecond, func() { back <- struct{}{} }).Stop() // in the wait of 2 s
		require.NoError(t, recipeSelect(t.Context(), exactly, flaky(2), back))
		require.Equal(t, 1500*time.Millisecond, time.Since(start))
		require.ErrorIs(t, recipeSelect(t.Context(), exactly, flaky(9), nil), retry.ErrExhausted)
		require.Equal(t, 4500*time.Millisecond, time.Since(start))
	})
	inBubble(t, "queue", func(t *testing.T, _ time.Time) {
		flow, queue := exactly.Begin(time.Now(), time.Time{}, nil), new(workQueue)
		reconcile := answers(errFlaky, errFlaky, nil)
		for _, want := range []retry.Action{retry.Wait, retry.Wait, retry.Done} {
			step := recipeQueue(t.Context(), &flow, func(ctx context.Context, _ string) error { return reconcile(ctx) }, queue, "a")
			require.Equal(t, want, step.Action)
			require.Equal(t, want == retry.Wait, step.Err != nil)
			time.Sleep(step.Delay)
		}
		require.Equal(t, []time.Duration{time.Second, 2 * time.Second}, queue.after)
		require.Equal(t, []string{"a", "a"}, queue.keys)
	})
}

func TestRecipeRequests(t *testing.T) {
	var seen []string
	tells := "0"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Attempt"))
		if len(seen)%2 == 1 {
			w.Header().Set("Retry-After", tells)
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	clock := retrytest.NewClock()
	ctx := retry.ContextWithClock(t.Context(), clock)
	for _, tells = range []string{"20", "40"} {
		response, err := recipeHTTP(ctx, server.URL)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, tells == "40", response.StatusCode == http.StatusServiceUnavailable)
	}
	require.Len(t, clock.Waits(), 1)
	require.GreaterOrEqual(t, clock.Waits()[0], 20*time.Second)
	_, err := recipeHTTP(ctx, "http://[")
	require.Error(t, err)

	client := &http.Client{Transport: numbered{http.DefaultTransport}}
	seen = seen[:0]
	require.NoError(t, retry.Run(ctx, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		require.NoError(t, err)
		response, err := client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		if response.StatusCode != http.StatusOK {
			return statusError(response.StatusCode)
		}
		return nil
	}, retry.WithAttemptInfo()))
	require.Equal(t, []string{"1/5", "2/5"}, seen)
}

// ledger is a database whose commits fail as listed, and then do not.
type ledger struct {
	driver.Conn // for what is not called
	commits     []error
	begun       int
}

func (l *ledger) Connect(context.Context) (driver.Conn, error) { return l, nil }
func (l *ledger) Driver() driver.Driver                        { return nil }
func (l *ledger) Close() error                                 { return nil }
func (l *ledger) Rollback() error                              { return nil }

func (l *ledger) BeginTx(_ context.Context, o driver.TxOptions) (driver.Tx, error) {
	if l.begun++; o.Isolation != driver.IsolationLevel(sql.LevelSerializable) {
		return nil, errors.New("not serializable")
	}
	return l, nil
}

func (l *ledger) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), nil
}

func (l *ledger) Commit() error {
	if len(l.commits) == 0 {
		return nil
	}
	err := l.commits[0]
	l.commits = l.commits[1:]
	return err
}

type sqlState string

func (s sqlState) SQLState() string { return string(s) }
func (s sqlState) Error() string    { return string(s) }

func TestRecipeTransaction(t *testing.T) {
	transfer := func(commits ...error) (begun int, lookedUp bool, err error) {
		l := &ledger{commits: commits}
		db := sql.OpenDB(l)
		defer db.Close()
		ctx := retry.ContextWithClock(t.Context(), retrytest.NewClock())
		err = recipeTransaction(ctx, db, func(context.Context, int) error { lookedUp = true; return nil }, 7, 100)
		return l.begun, lookedUp, err
	}
	begun, lookedUp, err := transfer(sqlState("40001"), sqlState("40P01"))
	require.NoError(t, err)
	require.Equal(t, 3, begun)
	require.False(t, lookedUp)
	begun, lookedUp, err = transfer(io.ErrUnexpectedEOF)
	require.NoError(t, err)
	require.Equal(t, 1, begun)
	require.True(t, lookedUp)
	begun, _, err = transfer(sqlState("23505"))
	require.Equal(t, sqlState("23505"), err)
	require.NotErrorIs(t, err, retrysql.ErrAmbiguousCommit)
	require.Equal(t, 1, begun)
}
