package retry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// recLogger writes lines of JSON without the time.
func recLogger(to *bytes.Buffer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey && len(groups) == 0 {
			return slog.Attr{}
		}
		return a
	}}))
}

func TestLogLines(t *testing.T) {
	const scheduled = `{"level":"INFO","msg":"retry scheduled","retry.name":"job","retry.attempt":1,"retry.max_attempts":5,` +
		`"retry.delay":1,"retry.delay.source":"policy","error":"boom"}` + "\n"
	gaveUp := func(level, attempts, outcome, reason, rest string) string {
		message := "retry gave up"
		if outcome == "aborted" {
			message = "not retried"
		}
		return `{"level":"` + level + `","msg":"` + message + `","retry.name":"job","retry.attempts":` + attempts +
			`,"retry.outcome":"` + outcome + `","retry.reason":"` + reason + `"` + rest + "}\n"
	}
	const succeeded = `{"level":"INFO","msg":"succeeded after 2 attempts","retry.name":"job","retry.attempts":2,"retry.outcome":"success"}` + "\n"
	const (
		boom     = `,"error":"boom"`
		late     = `,"retry.elapsed":1` + boom // the second failure
		delayed1 = `,"retry.delay.declined":1` + boom
	)
	stop := make(chan struct{})
	close(stop)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	unlimited := strings.Replace(scheduled, `"retry.max_attempts":5,`, "", 1)
	for _, tc := range []struct {
		name string
		errs []error
		opts []retry.Option
		want string
	}{
		{"success", nil, nil, ""},
		{"recovered", recTimes(1), nil, scheduled + succeeded},
		{"recovered, no name", recTimes(1), []retry.Option{retry.WithName("")}, strings.ReplaceAll(scheduled+succeeded, `"retry.name":"job",`, "")},
		{"recovered, unlimited", recTimes(1), []retry.Option{retry.WithUnlimitedAttempts()}, unlimited + succeeded},
		{"twice", recTimes(2), nil, scheduled + strings.NewReplacer(`attempt":1`, `attempt":2`, boom, late).Replace(scheduled) + strings.ReplaceAll(succeeded, "2", "3")},
		{"a wait that does not read well", recTimes(1), []retry.Option{recEvery(1_234_567_891)}, strings.Replace(scheduled, `delay":1`, `delay":1.235`, 1) + succeeded},
		{"a short wait", recTimes(1), []retry.Option{recEvery(1234567)}, strings.Replace(scheduled, `delay":1`, `delay":0.001235`, 1) + succeeded},
		{"told", []error{retry.After(3*time.Second, errRec)}, []retry.Option{retry.WithHint(throttle.Exact())},
			strings.NewReplacer(`delay":1`, `delay":3`, `"policy"`, `"server"`).Replace(scheduled) + succeeded},
		{"held", recTimes(1), []retry.Option{retry.WithThrottle(recReady(newRecLog(), "a", 2*time.Second))},
			strings.NewReplacer(`delay":1`, `delay":3`, `"policy"`, `"throttle"`).Replace(scheduled) + succeeded},
		{"exhausted", recTimes(9), []retry.Option{retry.WithMaxAttempts(2)},
			strings.Replace(scheduled, `max_attempts":5`, `max_attempts":2`, 1) +
				gaveUp("WARN", "2", "exhausted", "attempts exhausted", late)},
		{"aborted", []error{errRec, retry.Permanent(errRec)}, nil, scheduled + gaveUp("DEBUG", "2", "aborted", "not retryable", late)},
		{"elapsed", recTimes(9), []retry.Option{retry.WithMaxElapsed(time.Second)},
			gaveUp("WARN", "1", "deadline", "time budget used up", delayed1)},
		{"elapsed, no name", recTimes(9), []retry.Option{retry.WithMaxElapsed(time.Second), retry.WithName("")},
			strings.Replace(gaveUp("WARN", "1", "deadline", "time budget used up", delayed1), `"retry.name":"job",`, "", 1)},
		{"budget", recTimes(9), []retry.Option{retry.WithBudget(recRefusing{})},
			gaveUp("WARN", "1", "budget", "retry budget used up", delayed1)},
		{"throttled", nil, []retry.Option{retry.WithThrottle(throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, errRecCause }))},
			gaveUp("WARN", "0", "throttled", "refused by a throttle: user left", "")},
		{"shut down", nil, []retry.Option{retry.WithStop(stop)}, gaveUp("INFO", "0", "canceled", "shut down", "")},
		{"canceled", nil, nil, gaveUp("INFO", "0", "canceled", "context canceled", "")},
		{"fallback", recTimes(9), []retry.Option{retry.WithMaxElapsed(1), retry.WithFallback(func(context.Context, error) (int, error) { return 0, nil })},
			gaveUp("WARN", "1", "deadline", "time budget used up", delayed1)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lines bytes.Buffer
				ctx := t.Context()
				if tc.name == "canceled" {
					ctx = canceled
				}
				_, _ = retry.Do(ctx, newRecLog().script(tc.errs...), append([]retry.Option{
					retry.WithName("job"), retry.WithLogger(recLogger(&lines, slog.LevelDebug)), recEvery(time.Second),
				}, tc.opts...)...)
				require.Equal(t, tc.want, lines.String())
			})
		})
	}
}

// TestLogLevels: a logger that wants no Info gets only the end, and none at all where that was cancelled.
func TestLogLevels(t *testing.T) {
	var lines bytes.Buffer
	require.Error(t, recRun(retry.WithLogger(recLogger(&lines, slog.LevelWarn))))
	require.Equal(t, 1, strings.Count(lines.String(), "\n"))
	require.Contains(t, lines.String(), "gave up")

	lines.Reset()
	_, err := retry.Do(t.Context(), newRecLog().script(errRec), recAtOnce, retry.WithLogger(recLogger(&lines, slog.LevelWarn)))
	require.NoError(t, err)
	require.Empty(t, lines.String(), "a success is Info")

	ctx, cancel := context.WithCancel(t.Context())
	err = retry.Run(ctx, func(context.Context) error { cancel(); return errRec }, retry.WithLogger(recLogger(&lines, slog.LevelWarn)))
	require.Error(t, err)
	require.Empty(t, lines.String())

	require.Error(t, recRun(retry.WithLogger(recLogger(&lines, slog.LevelError))))
	require.Empty(t, lines.String())
}

// recContexts is a handler that notes the attempt whose context it gets.
type recContexts struct {
	slog.Handler
	got *[]any
}

func (h recContexts) note(ctx context.Context, what string) {
	attempt, _ := retry.AttemptFrom(ctx)
	*h.got = append(*h.got, what, attempt.Number, ctx.Value(recKey("o")))
}
func (h recContexts) Enabled(ctx context.Context, _ slog.Level) bool {
	h.note(ctx, "enabled")
	return true
}
func (h recContexts) Handle(ctx context.Context, r slog.Record) error {
	h.note(ctx, r.Message)
	return nil
}

// TestLogContext is the attempt's: its facts, and what the observer put there.
func TestLogContext(t *testing.T) {
	var got []any
	logger := slog.New(recContexts{slog.DiscardHandler, &got})
	require.Error(t, recRun(retry.WithLogger(logger), retry.WithAttemptInfo(), retry.WithObserver(&recObserver{log: newRecLog(), name: "o"})))
	require.Equal(t, []any{
		"enabled", 1, 1, "retry scheduled", 1, 1,
		"enabled", 2, 2, "retry gave up", 2, 2,
	}, recCompact(got))
}

// recCompact takes the second of two equal triples away: a Logger asks its handler once more by itself.
func recCompact(all []any) (kept []any) {
	for i := 0; i+2 < len(all); i += 3 {
		n := len(kept)
		if n >= 3 && kept[n-3] == all[i] && kept[n-2] == all[i+1] && kept[n-1] == all[i+2] {
			continue
		}
		kept = append(kept, all[i:i+3]...)
	}
	return kept
}

// TestLogWithoutAnAttempt: the call's context.
func TestLogWithoutAnAttempt(t *testing.T) {
	var got []any
	stop := make(chan struct{})
	close(stop)
	err := retry.Run(t.Context(), func(context.Context) error { return nil }, retry.WithStop(stop), retry.WithAttemptInfo(),
		retry.WithLogger(slog.New(recContexts{slog.DiscardHandler, &got})), retry.WithObserver(&recObserver{log: newRecLog(), name: "o"}))
	require.Error(t, err)
	require.Equal(t, []any{"enabled", 0, "call", "retry gave up", 0, "call"}, recCompact(got))
}

// recFacts is an error that knows more than its text.
type recFacts struct{ error }

func (recFacts) LogAttrs() []slog.Attr {
	return []slog.Attr{slog.String("peer", "db-7"), slog.Int("shard", 3)}
}

// TestLogAttrs: an error adds what it knows to each of its lines, however deep it is wrapped, but not from within another call.
func TestLogAttrs(t *testing.T) {
	const facts = `,"peer":"db-7","shard":3`
	inner := retry.Run(t.Context(), func(context.Context) error { return recFacts{errRec} }, retry.WithMaxAttempts(1))
	for name, tc := range map[string]struct {
		err   error
		lines int
		want  string
	}{
		"itself":          {recFacts{errRec}, 2, facts},
		"wrapped":         {fmt.Errorf("load: %w", recFacts{errRec}), 2, facts},
		"the first":       {errors.Join(errRec, recFacts{errRec}, recFacts{errRec}), 2, facts},
		"final":           {retry.Permanent(recFacts{errRec}), 1, facts},
		"nil":             {fmt.Errorf("load: %w", (*recFacts)(nil)), 2, ""},
		"an inner call's": {inner, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var lines bytes.Buffer
			err := retry.Run(t.Context(), func(context.Context) error { return tc.err }, recAtOnce, retry.WithMaxAttempts(2),
				retry.WithLogger(recLogger(&lines, slog.LevelDebug)))
			require.Error(t, err)
			require.Equal(t, tc.lines, strings.Count(lines.String(), "\n"))
			for line := range strings.Lines(lines.String()) {
				require.True(t, strings.HasSuffix(line, `"`+tc.want+"}\n"), line)
				require.Equal(t, tc.want != "", strings.Count(line, "peer") == 1, line)
			}
		})
	}
}

// TestLogOfAFlowThatRecovers: a driver of one's own is told of a success after retries too.
func TestLogOfAFlowThatRecovers(t *testing.T) {
	var lines bytes.Buffer
	flow := retry.MustNew(recAtOnce, retry.WithLogger(recLogger(&lines, slog.LevelInfo))).Begin(recStart, time.Time{}, nil)
	for _, err := range []error{errRec, nil} {
		flow.Next(t.Context(), recStart)
		flow.Report(t.Context(), recStart, throttle.Outcome{Err: err})
	}
	require.Equal(t, 2, strings.Count(lines.String(), "\n"))
	require.Contains(t, lines.String(), `"msg":"succeeded after 2 attempts","retry.attempts":2,"retry.outcome":"success"`)
}
