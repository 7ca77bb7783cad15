package docs_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// This file is the README's code, word for word: TestReadme finds every block of it here or in examples/hello.

func newPolicy(log *slog.Logger) *retry.Policy {
	return retry.MustNew(
		retry.WithName("catalogue"),
		retry.WithAttemptTimeout(2*time.Second),
		retry.WithMaxElapsed(30*time.Second), // in place of the default of five attempts
		retry.WithBudget(new(throttle.TokenBudget)),
		retry.WithCondition(condition.Only(condition.Network(), condition.Timeout(), condition.HTTPStatus(429, 502, 503, 504))),
		retry.WithLogger(log),
	)
}

type (
	Product struct{}
	Job     struct{ Done bool }
)

var (
	errFlaky      = io.ErrUnexpectedEOF // condition.Network knows it
	ErrSoldOut    = errors.New("sold out")
	ErrNoSuchUser = errors.New("no such user")
	ErrBusy       = errors.New("busy")

	policy    = newPolicy(slog.New(slog.DiscardHandler))
	catalogue interface {
		Product(context.Context, int) (Product, error)
	}
	call     func(context.Context) error
	stream   = call
	fetchJob func(context.Context) (Job, error)
	place    func(context.Context) (Order, error)
	db       *sql.DB
	gate     = new(throttle.Gate)
	tokens   = throttle.NewTokenBudget()
)

func readmePolicy(ctx context.Context, id int) (Product, error) {
	product, err := retry.Do(ctx, func(ctx context.Context) (Product, error) {
		return catalogue.Product(ctx, id)
	}, policy)
	return product, err
}

type Settings struct {
	Catalogue retry.Config `yaml:"catalogue" env:", prefix=CATALOGUE_"` // sethvargo/go-envconfig; envPrefix:"CATALOGUE_" for caarlos0/env
}

func readmeConfig(settings Settings) (*retry.Policy, error) {
	policy, err := retry.New(retry.WithName("catalogue"), retry.WithMaxAttempts(3), settings.Catalogue)
	return policy, err
}

func readmeErrors(err error) {
	var gaveUp *retry.Error
	switch {
	case err == nil:
		fmt.Println("done")
	case errors.Is(err, ErrSoldOut): // the operation's own error is always there
		fmt.Println("sold out")
	case errors.As(err, &gaveUp): // so is the reason, by itself or with errors.Is
		fmt.Println(gaveUp.Attempts, "attempts:", gaveUp.Reason, "-", gaveUp.Last)
	default: // not worth a retry: err is what the operation returned
		fmt.Println(err)
	}
}

func load(ctx context.Context) error {
	switch err := call(ctx); {
	case errors.Is(err, ErrNoSuchUser):
		return retry.Permanent(err) // do not try again
	case errors.Is(err, ErrBusy):
		return retry.After(2*time.Second, err) // if again, then not before two seconds have passed
	default:
		return err
	}
}

type statusError int

func (code statusError) HTTPStatusCode() int { return int(code) }
func (code statusError) Error() string       { return http.StatusText(int(code)) }

func fetch(ctx context.Context, url string) ([]byte, error) {
	return retry.Do(ctx, func(ctx context.Context) ([]byte, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return io.ReadAll(resp.Body)
		}
		told, _ := hint.Standard().Parse(resp.Header, resp.StatusCode, time.Now())
		return nil, told.Wrap(statusError(resp.StatusCode)) // a type of yours; condition.HTTPStatus finds its method HTTPStatusCode() int
	}, policy)
}

func readmePoll(ctx context.Context) (Job, error) {
	job, err := retry.Poll(ctx, time.Second, func(ctx context.Context) (Job, bool, error) {
		job, err := fetchJob(ctx)
		return job, job.Done, err
	}, retry.WithMaxElapsed(time.Minute), retry.WithAttemptTimeout(5*time.Second))
	return job, err
}

func readmeSupervise(ctx context.Context) error {
	err := retry.Supervise(ctx, stream, retry.WithLogger(slog.Default()))
	return err
}

func readmeRules() (*retry.Policy, error) {
	p, err := retry.New(policy,
		retry.WithRule(condition.HTTPStatus(401), retry.WithMaxAttempts(2), retry.WithStrategy(strategy.Constant{})), // once more, at once
		retry.WithRule(condition.HTTPStatus(404), retry.WithMaxAttempts(20)),                                         // not there yet
	)
	return p, err
}

func readmeTransaction(ctx context.Context) error {
	err := retrysql.InTx(ctx, db, nil, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE counters SET n = n + 1 WHERE id = 1")
		return err
	})
	return err
}

func readmeThrottle(ctx context.Context) (Order, error) {
	order, err := retry.Do(ctx, place, policy,
		retry.WithThrottle(gate.For("acme", "acme/PlaceOrder")), // gate := new(throttle.Gate)
		retry.WithBudget(tokens),                                // tokens := throttle.NewTokenBudget()
	)
	return order, err
}

func readmeObserve() (*retry.Policy, error) {
	p, err := retry.New(policy, retry.WithObserver(observe.New()), retry.WithLogger(slog.Default()))
	return p, err
}

func readmeClient() *http.Client {
	client := &http.Client{Transport: retryhttp.NewTransport(http.DefaultTransport, policy)}
	return client
}

// flaky fails n times, then succeeds.
func flaky(n int) func(context.Context) error {
	return func(context.Context) error {
		if n--; n >= 0 {
			return errFlaky
		}
		return nil
	}
}

func TestReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		err := retry.Run(t.Context(), flaky(3), retry.WithStrategy(strategy.Exponential{Base: time.Second}))
		require.NoError(t, err)
		require.Equal(t, 7*time.Second, time.Since(start)) // 1 s + 2 s + 4 s
	})
}

func TestWaits(t *testing.T) {
	clock := retrytest.NewClock()
	err := retry.Run(t.Context(), flaky(3), retry.WithClock(clock), retry.WithStrategy(strategy.Exponential{Base: time.Second}))
	require.NoError(t, err)
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, clock.Waits())
}

func readmeFetch(client *http.Client, request *http.Request, file io.Writer) ([]byte, int64, error) {
	page, err := retryhttp.ReadAll(client, request, 10<<20) // of a 2xx answer, up to 10 MiB
	if err != nil {
		return nil, 0, err
	}
	n, err := retryhttp.Download{Client: client, Resume: true}.To(file, request) // only the rest, where that can be had
	return page, n, err
}

func TestReadmeFetch(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"1"`)
		if requests++; requests%2 == 1 {
			w.Header().Set("Content-Length", "5")
			_, _ = w.Write([]byte("he")) // and no more
			return
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("hello"))
	}))
	defer server.Close()
	client := readmeClient()
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	require.NoError(t, err)
	var file strings.Builder // which cannot be set back
	page, n, err := readmeFetch(client, request, &file)
	require.NoError(t, err)
	require.Equal(t, "hello", string(page))
	require.EqualValues(t, 5, n)
	require.Equal(t, "hello", file.String())
	require.Equal(t, 4, requests)
}

func TestReadmeHTTP(t *testing.T) {
	for name, get := range map[string]func(url string) error{
		"retryhttp": func(url string) error {
			resp, err := readmeClient().Get(url)
			if err == nil {
				err = resp.Body.Close()
			}
			return err
		},
		"by hand": func(url string) error {
			_, err := fetch(t.Context(), url)
			return err
		},
	} {
		requests := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if requests++; requests == 1 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
		require.NoError(t, get(server.URL))
		require.Equal(t, 2, requests, name)
		http.DefaultClient.CloseIdleConnections()
		server.Close()
	}

	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte("hello"))
	}))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	body, err := fetch(t.Context(), server.URL)
	require.NoError(t, err)
	require.Equal(t, "hello", string(body))
	require.Equal(t, 2, requests)
	_, err = fetch(t.Context(), server.URL+"/missing")
	require.Equal(t, statusError(404), err)
	require.Equal(t, 3, requests, "not retried")
}

func TestReadmeCode(t *testing.T) {
	gate, tokens = new(throttle.Gate), throttle.NewTokenBudget() // as each bubble begins at the same time
	synctest.Test(t, func(t *testing.T) {
		call = func(context.Context) error { return ErrNoSuchUser }
		require.Equal(t, ErrNoSuchUser, retry.Run(t.Context(), load))
		start := time.Now()
		calls := 0
		call = func(context.Context) error {
			if calls++; calls == 1 {
				return ErrBusy
			}
			return nil
		}
		require.NoError(t, retry.Run(t.Context(), load, retry.WithRand(func() float64 { return 0 })))
		require.Equal(t, 2*time.Second, time.Since(start))

		start = time.Now()
		fetchJob = func(context.Context) (Job, error) { return Job{Done: time.Since(start) >= 5*time.Second}, nil }
		job, err := readmePoll(t.Context())
		require.NoError(t, err)
		require.True(t, job.Done)
		require.Equal(t, 5*time.Second, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		runs := 0
		stream = func(context.Context) error {
			if runs++; runs == 3 {
				return retry.Permanent(ErrSoldOut)
			}
			return nil
		}
		require.Equal(t, ErrSoldOut, readmeSupervise(ctx))

		calls = 0
		place = func(context.Context) (Order, error) {
			if calls++; calls == 1 {
				return Order{}, retry.After(10*time.Second, statusError(429))
			}
			return Order{}, nil
		}
		start = time.Now()
		_, err = readmeThrottle(t.Context())
		require.NoError(t, err)
		require.GreaterOrEqual(t, time.Since(start), 10*time.Second)
		require.Equal(t, 500, tokens.Tokens())
	})
	_, _ = readmePolicy, readmeErrors
	for _, made := range []func() (*retry.Policy, error){readmeRules, readmeObserve} {
		p, err := made()
		require.NoError(t, err)
		require.NoError(t, retry.Run(t.Context(), flaky(0), p))
	}
	require.ErrorContains(t, readmeTransaction(t.Context()), "db")

	var settings Settings
	require.NoError(t, json.Unmarshal([]byte(`{"Catalogue": {"max_attempts": 7, "base_delay": "10ms"}}`), &settings))
	p, err := readmeConfig(settings)
	require.NoError(t, err)
	clock := retrytest.NewClock()
	require.Error(t, retry.Run(t.Context(), flaky(9), p, retry.WithClock(clock)))
	require.Len(t, clock.Waits(), 6)
}
