package docs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
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
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// This file is the new code of migrating.md, word for word: the blocks, and the new lines of its tables.

var careful = retry.MustNew(retry.WithCondition(condition.Only(
	condition.Network(), condition.Timeout(), condition.HTTPStatus(429, 503),
)))

var likeBackoff = retry.MustNew(
	retry.WithStrategy(strategy.Exponential{Base: 500 * time.Millisecond, Factor: 1.5, Max: time.Minute}),
	retry.WithJitter(strategy.Proportional(0.5)),
	retry.WithUnlimitedAttempts(),
	retry.WithMaxElapsed(15*time.Minute),
)

var likeAvast = retry.MustNew(
	retry.WithMaxAttempts(10),
	retry.WithStrategy(strategy.Exponential{Base: 100 * time.Millisecond}),
	retry.WithJitter(func(delay, limit time.Duration, r float64) time.Duration {
		return min(delay+time.Duration(r*float64(100*time.Millisecond)), limit)
	}),
	retry.WithErrorHistory(10),
)

type User struct{}

func newBackOff() strategy.BackOff { return strategy.ToBackOff(strategy.Constant{}) }

func migratingRun(ctx context.Context, publish func(context.Context, string) error, message string) error {
	err := retry.Run(ctx, func(ctx context.Context) error {
		return publish(ctx, message)
	}, retry.WithMaxAttempts(5), retry.WithMaxElapsed(time.Minute), retry.WithOnRetry(func(_ context.Context, e retry.Event) {
		log.Printf("publish: %v; again in %v", e.Err, e.Delay)
	}))
	return err
}

func migratingDo(ctx context.Context, fetch func(context.Context, int) (User, error), id int) (User, error) {
	user, err := retry.Do(ctx, func(ctx context.Context) (User, error) {
		user, err := fetch(ctx, id)
		if errors.Is(err, ErrNoSuchUser) {
			return user, retry.Permanent(err)
		}
		return user, err
	}, retry.WithMaxAttempts(5), retry.WithMaxElapsed(time.Minute))
	return user, err
}

func migratingAvast(ctx context.Context, fetch func(context.Context, int) (User, error), id int) (User, error) {
	user, err := retry.Do(ctx, func(ctx context.Context) (User, error) {
		return fetch(ctx, id)
	}, retry.WithMaxAttempts(4), retry.WithStrategy(strategy.EqualJitter{Base: time.Second, Max: time.Minute}))
	return user, err
}

func migratingTests(ctx context.Context, op func(context.Context) error) {
	clk := retrytest.NewClock()
	err := retry.Run(retry.ContextWithClock(ctx, clk), op, policy)
	fmt.Println(err, clk.Waits())
}

func migratingLines(ctx context.Context, op func(context.Context) (User, error), s strategy.Strategy, clock retry.Clock, opts ...retry.Option) (found []any) {
	var (
		n      int
		d, max time.Duration
		f      float64
		notify func(error, time.Duration)
		wait   func(int) (time.Duration, bool)
		loop   = retry.NewLoop(ctx)
	)
	found = append(found,
		retry.WithMaxAttempts(n), retry.WithMaxAttempts(n+1), retry.WithMaxAttempts(1), retry.WithUnlimitedAttempts(),
		retry.WithMaxElapsed(d), retry.WithMaxDelay(max), retry.WithStrategy(s), retry.WithClock(clock), retry.WithErrorHistory(n),
		retry.WithJitter(strategy.Proportional(f)), retry.WithJitter(strategy.Full), retry.WithJitter(strategy.Equal),
		retry.WithHint(throttle.Exact()),
		retry.WithOnRetry(func(_ context.Context, e retry.Event) { notify(e.Err, e.Delay) }),
		strategy.Exponential{Base: d, Factor: f, Max: max}, strategy.Exponential{Base: d, Max: max}, strategy.Exponential{Base: d},
		strategy.Constant{Delay: d}, strategy.Constant{Delay: max}, strategy.Constant{}, strategy.FullJitter{Base: 2 * d, Max: max},
		strategy.Func(func(s strategy.State) (time.Duration, bool) { return wait(s.Number) }),
		strategy.FromBackOff(func() strategy.BackOff { return newBackOff() }),
		strategy.ToBackOff(s),
	)
	for try := range loop.Tries() {
		found = append(found, try)
	}
	{
		op := func() error { return nil }
		found = append(found, retry.Run(ctx, func(context.Context) error { return op() }))
	}
	{
		op := func(context.Context) error { return nil }
		found = append(found, retry.Run(ctx, op, policy))
	}
	_, err := retry.Do(ctx, op, policy)
	found = append(found, retry.Permanent(err), retry.After(d, err), errors.Is(err, retry.ErrExhausted),
		errors.Is(err, retry.ErrMaxElapsed), errors.Is(err, ErrNoSuchUser), errors.Is(err, context.Canceled))
	if gaveUp, ok := errors.AsType[*retry.Error](err); ok {
		found = append(found, gaveUp)
	}
	{
		f := func(uint, error) time.Duration { return d }
		found = append(found, strategy.Func(func(s strategy.State) (time.Duration, bool) { return f(uint(s.Number), s.Err), true }))
	}
	{
		f := func(uint, error) {}
		found = append(found, retry.WithOnRetry(func(_ context.Context, e retry.Event) { f(uint(e.Number-1), e.Err) }))
	}
	{
		f := func(error) bool { return true }
		found = append(found, retry.WithRetryIf(f))
	}
	p, err := retry.New(opts...)
	return append(found, p, err)
}

var _ = []any{careful, migratingRun, migratingDo, migratingAvast, migratingTests, migratingLines}

// TestMigrating finds the blocks and the new lines of migrating.md in this file, which the compiler sees.
func TestMigrating(t *testing.T) {
	page, err := os.ReadFile("migrating.md")
	require.NoError(t, err)
	var compiled string
	for _, file := range []string{"migrating_test.go", "migrating_http_test.go", "migrating_close_test.go", "migrating_more_test.go"} {
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		compiled += unindented(string(code))
	}

	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	require.Equal(t, 23, len(blocks))
	for _, block := range blocks {
		assert.True(t, strings.Contains(compiled, unindented(block[1])), "no test compiles this block:\n%s", block[1])
	}

	rows, table := 0, false
	for line := range strings.Lines(string(page)) {
		table = strings.HasPrefix(line, "| old line |") || table && strings.HasPrefix(line, "|")
		cells := strings.Split(line, " | ")
		if !table || len(cells) < 3 {
			continue
		}
		rows++
		for _, span := range regexp.MustCompile("`(.*?)`").FindAllStringSubmatch(cells[1], -1) {
			assert.True(t, strings.Contains(compiled, span[1]), "no test compiles this new line: %s", span[1])
		}
	}
	require.Greater(t, rows, 180)
}

// The policies that stand for the defaults of others do what they say.
func TestMigratingDefaults(t *testing.T) {
	pinned := func(p *retry.Policy, r float64) []time.Duration {
		clk := retrytest.NewClock()
		err := retry.Run(t.Context(), func(context.Context) error { return errFlaky }, p, retry.WithClock(clk), retry.WithRand(func() float64 { return r }))
		require.ErrorIs(t, err, errFlaky)
		return clk.Waits()
	}
	ms := func(all ...int) (durations []time.Duration) {
		for _, d := range all {
			durations = append(durations, time.Duration(d)*time.Millisecond)
		}
		return durations
	}
	low := pinned(likeBackoff, 0)
	require.Equal(t, ms(250, 375), low[:2])
	require.Equal(t, 30*time.Second, low[len(low)-1])
	high := pinned(likeBackoff, 1)
	require.InDelta(t, 750*time.Millisecond, high[0], 1000)
	require.InDelta(t, time.Minute, high[len(high)-1], 100_000)
	require.LessOrEqual(t, high[len(high)-1], time.Minute)

	require.Equal(t, ms(100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600), pinned(likeAvast, 0))
	require.Equal(t, ms(150, 250, 450, 850, 1650, 3250, 6450, 12850, 25650), pinned(likeAvast, 0.5))
}

// What the page says about this library's errors and told waits.
func TestMigratingErrors(t *testing.T) {
	fail := func(err error, opts ...retry.Option) error {
		return retry.Run(t.Context(), func(context.Context) error { return err }, append(opts, retry.WithClock(retrytest.NewClock()))...)
	}
	require.Equal(t, io.EOF, fail(retry.Permanent(io.EOF)))
	require.Equal(t, io.EOF, fail(retry.Permanent(io.EOF), retry.WithMaxAttempts(1)))
	joined := fail(errors.Join(io.ErrNoProgress, fmt.Errorf("outer: %w", retry.Permanent(io.EOF))))
	require.ErrorIs(t, joined, retry.ErrNotRetryable)
	require.ErrorIs(t, joined, io.ErrNoProgress)
	require.ErrorContains(t, joined, "outer: EOF")
	require.ErrorContains(t, fail(io.EOF), "EOF (retry: gave up after 5 attempts, ")

	long, ok := errors.AsType[*retry.Error](fail(retry.After(time.Hour, io.EOF)))
	require.True(t, ok)
	require.ErrorIs(t, long, retry.ErrHintTooLong)
	require.ErrorIs(t, long, io.EOF)
	require.Equal(t, time.Hour, long.Delay)
	require.ErrorIs(t, fail(io.EOF, retry.WithMaxAttempts(0)), retry.ErrConfig)

	all, ok := errors.AsType[*retry.Error](fail(io.EOF, likeAvast))
	require.True(t, ok)
	require.Len(t, all.History, 10)

	synctest.Test(t, func(t *testing.T) { // the curve goes on after a told wait
		var at []time.Duration
		start := time.Now()
		_ = retry.Run(t.Context(), func(context.Context) error {
			at = append(at, time.Since(start))
			if len(at) == 2 {
				return retry.After(30*time.Second, io.EOF)
			}
			return io.EOF
		}, retry.WithStrategy(strategy.Exponential{Base: time.Second}), retry.WithHint(throttle.Exact()), retry.WithMaxAttempts(4))
		require.Equal(t, []time.Duration{0, time.Second, 31 * time.Second, 35 * time.Second}, at)
	})
}
