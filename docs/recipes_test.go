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
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
)

// This file is the code of recipes.md, word for word; recipes_run_test.go runs it.

var ErrUnauthorized = errors.New("unauthorized")

type userService struct{ get call1[int, User] }

type call1[A, R any] func(context.Context, A) (R, error)

func (s userService) User(ctx context.Context, id int) (User, error) { return s.get(ctx, id) }

func recipeCall(ctx context.Context, users userService, id int) (User, error) {
	user, err := retry.Do(ctx, func(ctx context.Context) (User, error) {
		return users.User(ctx, id)
	}, retry.WithMaxElapsed(10*time.Second))
	return user, err
}

func recipeOneError(ctx context.Context, boot func(context.Context) error) error {
	err := retry.Run(ctx, boot,
		retry.WithCondition(condition.Only(condition.Is(ErrBusy))),
		retry.WithMaxAttempts(3),
		retry.WithStrategy(strategy.Constant{}), // no wait
	)
	return err
}

// What google.golang.org/grpc has by these names; internal/drivertest has the condition on the real one.
type (
	grpcCode  uint32
	grpcError grpcCode
	Reply     struct{}
)

func (e grpcError) Error() string        { return fmt.Sprintf("code = %d", uint32(e)) }
func (e grpcError) GRPCStatus() grpcCode { return grpcCode(e) }
func (c grpcCode) Code() grpcCode        { return c }

var (
	status struct{ Code func(error) grpcCode }
	codes  = struct{ DeadlineExceeded, ResourceExhausted, Unavailable grpcCode }{4, 8, 14}
)

func init() {
	status.Code = func(err error) grpcCode {
		if e, ok := errors.AsType[grpcError](err); ok {
			return grpcCode(e)
		}
		return 2
	}
}

type orderService struct{ get call1[string, *Reply] }

func (s orderService) Get(ctx context.Context, request string) (*Reply, error) {
	return s.get(ctx, request)
}

func recipeGRPC(ctx context.Context, orders orderService, request string) (*Reply, error) {
	reply, err := retry.Do(ctx, func(ctx context.Context) (*Reply, error) {
		return orders.Get(ctx, request)
	},
		retry.WithAttemptTimeout(2*time.Second),
		retry.WithCondition(condition.Only(condition.Timeout(), condition.GRPC())), // without Timeout, an attempt's own would be the last
		retry.WithRule(condition.Code(status.Code, codes.ResourceExhausted), // another curve where the server has too much to do
			retry.WithMaxAttempts(3), retry.WithStrategy(strategy.EqualJitter{Base: 2 * time.Second, Max: time.Minute})),
	)
	return reply, err
}

func recipeHTTP(ctx context.Context, url string) (*http.Response, error) {
	client := retryhttp.NewClient(retry.WithMaxAttempts(4), retry.WithAttemptTimeout(5*time.Second), retry.WithMaxHint(30*time.Second))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return client.Do(request)
}

func recipeFetch(client *http.Client, request *http.Request) (User, error) {
	user, err := retryhttp.Fetch(client, request, func(response *http.Response) (user User, err error) {
		err = json.NewDecoder(response.Body).Decode(&user)
		return user, err
	})
	return user, err
}

func recipeDownload(client *http.Client, request *http.Request, file io.Writer) (int64, error) {
	n, err := retryhttp.Download{Client: client, Resume: true, Stall: 10 * time.Second}.To(file, request,
		retry.WithMaxAttempts(20),
		retry.WithResetAfter(time.Minute), // an attempt that ran that long was worth it: count anew
	)
	return n, err
}

func recipeStream(ctx context.Context, subscribe func(context.Context) (int, error), log *slog.Logger) error {
	err := retry.Supervise(ctx, func(ctx context.Context) error {
		received, err := subscribe(ctx)
		if received > 0 {
			return retry.Restart(err) // it worked: the next wait is that of a first failure
		}
		return err
	}, retry.WithLogger(log))
	return err
}

func recipePoll(ctx context.Context, fetchJob func(context.Context) (Job, error)) (Job, error) {
	job, err := retry.Poll(ctx, time.Second, func(ctx context.Context) (Job, bool, error) {
		job, err := fetchJob(ctx)
		return job, job.Done, err
	}, retry.WithMaxElapsed(time.Minute))
	return job, err
}

func recipeInARow(ctx context.Context, probe func(context.Context) (bool, error)) error {
	inARow := 0
	_, err := retry.Poll(ctx, time.Second, func(ctx context.Context) (int, bool, error) {
		healthy, err := probe(ctx)
		if inARow++; !healthy || err != nil {
			inARow = 0
		}
		return inARow, inARow == 3, err
	})
	return err
}

func recipeLastLook(ctx context.Context, fetchJob func(context.Context) (Job, error)) (Job, error) {
	look := func(ctx context.Context) (Job, bool, error) {
		job, err := fetchJob(ctx)
		return job, job.Done, err
	}
	limit := time.Now().Add(time.Minute)
	job, err := retry.Poll(ctx, 10*time.Second, look, retry.WithMaxElapsed(time.Minute))
	if errors.Is(err, retry.ErrMaxElapsed) {
		job, err = retry.Do(ctx, fetchJob, retry.WithInitialDelay(max(0, time.Until(limit)), nil), retry.WithMaxAttempts(1))
	}
	return job, err // whether job.Done or not
}

func recipeSelect(ctx context.Context, policy *retry.Policy, connect func(context.Context) error, networkIsBack <-chan struct{}) error {
	flow := policy.Begin(time.Now(), time.Time{}, nil)
	var step retry.Step
	for again := time.After(0); step.Action != retry.Done; {
		select {
		case <-again: // at first time.After(0)
			step = flow.Next(ctx, time.Now()) // flow := policy.Begin(time.Now(), time.Time{}, nil)
			if step.Action == retry.Go {
				step = flow.Fail(ctx, connect(flow.Context(ctx)), time.Now())
			}
			if again = nil; step.Action == retry.Wait {
				again = time.After(step.Delay)
			}
		case <-networkIsBack:
			again = time.After(0)
		}
	}
	return step.Err
}

type workQueue struct {
	keys  []string
	after []time.Duration
}

func (q *workQueue) AddAfter(key string, delay time.Duration) {
	q.keys, q.after = append(q.keys, key), append(q.after, delay)
}

func recipeQueue(ctx context.Context, flow *retry.Flow, reconcile func(context.Context, string) error, queue *workQueue, key string) retry.Step {
	step := flow.Next(ctx, time.Now())
	if step.Action == retry.Go {
		step = flow.Fail(ctx, reconcile(flow.Context(ctx), key), time.Now())
	}
	if step.Action == retry.Wait {
		queue.AddAfter(key, step.Delay)
	}
	return step // after retry.Done: forget the flow
}

func recipeBatch(ctx context.Context, left []string, send func(context.Context, []string) ([]string, error), policy *retry.Policy) ([]string, error) {
	err := retry.Run(ctx, func(ctx context.Context) error {
		rest, err := send(ctx, left)
		progress := len(rest) < len(left)
		if left = rest; progress {
			return retry.Restart(err) // attempts and waits begin anew
		}
		return err
	}, policy)
	return left, err
}

func recipeKinds() *retry.Policy {
	policy := retry.MustNew(
		retry.WithRule(condition.HTTPStatus(401), retry.WithMaxAttempts(2), retry.WithStrategy(strategy.Constant{})), // once more, at once
		retry.WithRule(condition.HTTPStatus(404), retry.WithMaxAttempts(20)),                                         // not there yet
		retry.WithRule(condition.HTTPStatus(500), retry.WithMaxElapsed(time.Minute)),                                 // within a minute of the first
		retry.WithCondition(condition.Only(condition.Network())),
	)
	return policy
}

func recipeBetween(ctx context.Context, placeOrder func(context.Context) (Order, error), login func(context.Context) error) (Order, error) {
	order, err := retry.Do(ctx, placeOrder, retry.WithBeforeRetry(func(ctx context.Context, e retry.Event) error {
		if errors.Is(e.Err, ErrUnauthorized) {
			return login(ctx) // an error ends the call, with both errors
		}
		return nil
	}))
	return order, err
}

func recipeStop(ctx context.Context, consume func(context.Context) error) error {
	err := retry.Supervise(context.WithoutCancel(ctx), consume, retry.WithStop(ctx.Done()))
	if errors.Is(err, retry.ErrShutdown) {
		return nil
	}
	return err
}

func recipeLog(log *slog.Logger, out io.Writer) *retry.Policy {
	policy := retry.MustNew(
		retry.WithName("orders"),
		retry.WithLogger(log), // a line for each retry, and one for giving up, or for a success after retries
		retry.WithOnRetry(func(_ context.Context, e retry.Event) { // or in words of your own
			fmt.Fprintf(out, "%v; retrying in %v\n", e.Err, e.Delay)
		}),
	)
	return policy
}

type numbered struct{ http.RoundTripper }

func (t numbered) RoundTrip(r *http.Request) (*http.Response, error) {
	if attempt, ok := retry.AttemptFrom(r.Context()); ok { // of a call with retry.WithAttemptInfo()
		r = r.Clone(r.Context())
		r.Header.Set("Attempt", fmt.Sprintf("%d/%d", attempt.Number, attempt.Max))
	}
	return t.RoundTripper.RoundTrip(r)
}

type RateLimitedError struct{ RetryAfter time.Duration }

func (e *RateLimitedError) Error() string { return "rate limited" }

func recipeForeignHint(ctx context.Context, post func(context.Context) error) error {
	err := retry.Run(ctx, func(ctx context.Context) error {
		err := post(ctx)
		if limited, ok := errors.AsType[*RateLimitedError](err); ok { // the client library's
			return retry.After(limited.RetryAfter, err)
		}
		return err
	}, retry.WithMaxHint(5*time.Minute))
	return err
}

func recipeTransaction(ctx context.Context, db *sql.DB, lookItUp func(context.Context, int) error, id, amount int) error {
	err := retrysql.InTx(ctx, db, &sql.TxOptions{Isolation: sql.LevelSerializable}, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = balance - $1 WHERE id = $2", amount, id)
		return err
	})
	if errors.Is(err, retrysql.ErrAmbiguousCommit) {
		return lookItUp(ctx, id) // it may have been committed: do not just repeat it
	}
	return err
}

func recipeFirstDelay(ctx context.Context, checkIn func(context.Context) error) error {
	err := retry.Supervise(ctx, checkIn, retry.WithInitialDelay(2*time.Minute, strategy.Full))
	return err
}

func recipeNested(ctx context.Context, register func(context.Context) error, policy *retry.Policy) error {
	err := retry.Run(ctx, func(ctx context.Context) error {
		return register(retry.ContextWithoutRetry(ctx)) // its own calls of this library make one attempt
	}, policy)
	return err
}

type flakyShop struct{ failures int }

func checkout(ctx context.Context, shop *flakyShop) error {
	return retry.Run(ctx, func(context.Context) error {
		if shop.failures--; shop.failures >= 0 {
			return errFlaky
		}
		return nil
	}, retry.WithStrategy(strategy.Exponential{Base: time.Second}))
}

func TestRecipeTests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop, start := &flakyShop{failures: 3}, time.Now()
		require.NoError(t, checkout(t.Context(), shop))
		require.Equal(t, 7*time.Second, time.Since(start)) // 1 s + 2 s + 4 s
	})
	shop := &flakyShop{failures: 3}
	clock := retrytest.NewClock() // jumps over every wait, and remembers it
	require.NoError(t, checkout(retry.ContextWithClock(t.Context(), clock), shop))
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, clock.Waits())
}

// TestRecipes finds the blocks of recipes.md in this file, which the compiler sees, and holds them to their size. The table
// at its top leads to every recipe.
func TestRecipes(t *testing.T) {
	page, err := os.ReadFile("recipes.md")
	require.NoError(t, err)
	compiled := ""
	for _, file := range []string{"recipes_test.go", "recipes_breaker_test.go", "../retrygrpc/docs_test.go"} {
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		compiled += unindented(string(code))
	}

	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	require.Len(t, blocks, strings.Count(string(page), "```")/2)
	for _, block := range blocks {
		assert.True(t, strings.Contains(compiled, unindented(block[1])), "no test compiles this block:\n%s", block[1])
		assert.LessOrEqual(t, strings.Count(block[1], "\n"), 8, "a recipe has at most eight lines:\n%s", block[1])
	}

	parts := strings.Split(string(page), "\n## ")
	require.Greater(t, len(parts), 18)
	for _, part := range parts[1:] {
		title, text, _ := strings.Cut(part, "\n")
		anchor := strings.ReplaceAll(strings.ToLower(regexp.MustCompile(`[^A-Za-z -]`).ReplaceAllString(title, "")), " ", "-")
		assert.Contains(t, parts[0], "(#"+anchor+")")
		assert.Contains(t, text, "```go\n", title)
	}
}
