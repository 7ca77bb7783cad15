package retry

import (
	"context"
	"log/slog"
	"time"
)

// The keys of log lines are those of telemetry.
const (
	keyName        = "retry.name"
	keyAttempt     = "retry.attempt"
	keyMaxAttempts = "retry.max_attempts"
	keyAttempts    = "retry.attempts"
	keyDelay       = "retry.delay"
	keySource      = "retry.delay.source"
	keyOutcome     = "retry.outcome"
	keyError       = "error"
)

func logRetry(ctx context.Context, l *slog.Logger, e *Event) {
	if !l.Enabled(ctx, slog.LevelInfo) {
		return
	}
	l.LogAttrs(ctx, slog.LevelInfo, "retry scheduled",
		slog.String(keyName, e.Name), slog.Int(keyAttempt, e.Number), slog.Int(keyMaxAttempts, e.Max),
		slog.Duration(keyDelay, e.Delay), slog.String(keySource, e.Source.String()), slog.Any(keyError, e.Err))
}

func logEnd(ctx context.Context, l *slog.Logger, name string, attempts int, ending Ending, delay time.Duration, err error) {
	level := slog.LevelWarn
	if ending == EndCanceled {
		level = slog.LevelInfo // a shutdown is no trouble
	}
	if !l.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String(keyName, name), slog.Int(keyAttempts, attempts), slog.String(keyOutcome, ending.String())}
	if delay > 0 {
		attrs = append(attrs, slog.Duration(keyDelay, delay))
	}
	l.LogAttrs(ctx, level, "retry gave up", append(attrs, slog.Any(keyError, err))...)
}
