package observe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/strategy"
)

// alwaysBusy answers 503 to everything.
type alwaysBusy struct{}

func (alwaysBusy) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody, Header: http.Header{}}, nil
}

// logged makes calls that write every kind of line with every key.
func logged(t *testing.T, handler func(*slog.HandlerOptions) slog.Handler) {
	synctest.Test(t, func(t *testing.T) {
		logger := slog.New(handler(&slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		p := retry.MustNew(retry.WithName("stock"), retry.WithLogger(logger), retry.WithMaxAttempts(2),
			retry.WithStrategy(strategy.Constant{Delay: 150 * time.Millisecond}))
		for _, address := range []string{"http://stock.example/lamps/7", "http://stock.example:8080/lamps/7?secret"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
			require.NoError(t, err)
			_, err = retryhttp.NewTransport(alwaysBusy{}, p).RoundTrip(r)
			require.NoError(t, err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://stock.example/lamps", nil)
		require.NoError(t, err)
		_, err = retryhttp.NewTransport(alwaysBusy{}, p).RoundTrip(r) // which is not safe to repeat
		require.NoError(t, err)
		fail := func(context.Context) error { return errRefused }
		require.Error(t, retry.Run(t.Context(), fail, p, retry.WithMaxAttempts(3)))
		require.Error(t, retry.Run(t.Context(), fail, p, retry.WithMaxElapsed(100*time.Millisecond)))
		require.Error(t, retry.Run(t.Context(), func(context.Context) error { return retry.Permanent(errRefused) }, p))
	})
}

// TestDocumentedLogLines: the levels of all lines, and their keys as the table has them.
func TestDocumentedLogLines(t *testing.T) {
	var lines bytes.Buffer
	logged(t, func(o *slog.HandlerOptions) slog.Handler { return slog.NewJSONHandler(&lines, o) })
	levels, found := map[string]string{}, map[string]map[string]bool{"retry": {}, "end": {}}
	for line := range strings.Lines(lines.String()) {
		var keys map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &keys))
		message := keys["msg"].(string)
		levels[message] = keys["level"].(string)
		kind := "end"
		if message == "retry scheduled" {
			kind = "retry"
		}
		for key := range keys {
			if key != slog.MessageKey && key != slog.LevelKey {
				found[kind][key] = true
			}
		}
	}
	documented := map[string]map[string]bool{"retry": {}, "end": {}}
	for _, row := range table(t, keyHeader) {
		for _, kind := range strings.Split(row[4], ", ") {
			if kind != "" {
				documented[kind][row[0]] = true
			}
		}
	}
	assert.Equal(t, documented, found)
	rows := table(t, "| line | level | written when |")
	for message, level := range levels {
		i := slices.IndexFunc(rows, func(row []string) bool { return row[0] == message })
		if assert.GreaterOrEqual(t, i, 0, message) {
			assert.True(t, strings.HasPrefix(strings.ToUpper(rows[i][1]), level), message)
		}
	}
}

// TestDocumentedLogText: the lines that the page shows are written so.
func TestDocumentedLogText(t *testing.T) {
	var lines bytes.Buffer
	logged(t, func(o *slog.HandlerOptions) slog.Handler { return slog.NewTextHandler(&lines, o) })
	first := strings.SplitAfterN(lines.String(), "\n", 3)
	text, err := os.ReadFile("../docs/observability.md")
	require.NoError(t, err)
	assert.Contains(t, string(text), "```logfmt\n"+first[0]+first[1]+"```\n")
}

// TestFlow: a Flow makes the spans and metrics of the call that it decides.
func TestFlow(t *testing.T) {
	watched := func(call func(t *testing.T, fn func(context.Context) error, opts ...retry.Option) error) (tree, metrics string) {
		synctest.Test(t, func(t *testing.T) {
			r := record()
			calls := 0
			require.NoError(t, call(t, func(ctx context.Context) error {
				_, span := r.tracers.Tracer("test").Start(ctx, "request")
				defer span.End()
				time.Sleep(10 * ms)
				if calls++; calls < 3 {
					return errRefused
				}
				return nil
			}, retry.WithName("job"), retry.WithObserver(r.observer), retry.WithStrategy(strategy.Constant{Delay: sec})))
			tree, metrics = r.tree(t), r.metrics(t)
		})
		return tree, metrics
	}
	tree, metrics := watched(func(t *testing.T, fn func(context.Context) error, opts ...retry.Option) error {
		return retry.Run(t.Context(), fn, opts...)
	})
	ofFlow, metricsOfFlow := watched(func(t *testing.T, fn func(context.Context) error, opts ...retry.Option) error {
		flow := retry.MustNew(opts...).Begin(time.Now(), time.Time{}, nil)
		for {
			switch step := flow.Next(t.Context(), time.Now()); step.Action {
			case retry.Go:
				if step = flow.Fail(t.Context(), fn(flow.Context(t.Context())), time.Now()); step.Action == retry.Done {
					return step.Err
				}
				time.Sleep(step.Delay)
			default:
				return step.Err
			}
		}
	})
	assert.Equal(t, tree, ofFlow)
	assert.Equal(t, metrics, metricsOfFlow)
	assert.Equal(t, 3, strings.Count(tree, "request"))
}
