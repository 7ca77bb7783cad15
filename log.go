package retry

import (
	"context"
	"log/slog"
)

// The keys of log lines are those of telemetry.
const (
	keyName        = "retry.name"
	keyAttempt     = "retry.attempt"
	keyMaxAttempts = "retry.max_attempts"
	keyAttempts    = "retry.attempts"
	keyDelay       = "retry.delay"
	keySource      = "retry.delay.source"
	keyReason      = "retry.reason"
	keyOutcome     = "retry.outcome"
	keyError       = "error"
)

func logRetry(ctx context.Context, l *slog.Logger, e *Event) {
	if !l.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := append(named(e.Name), slog.Int(keyAttempt, e.Number))
	if e.Max > 0 {
		attrs = append(attrs, slog.Int(keyMaxAttempts, e.Max))
	}
	l.LogAttrs(ctx, slog.LevelInfo, "retry scheduled", append(attrs,
		slog.Duration(keyDelay, e.Delay), slog.String(keySource, e.Source.String()), slog.Any(keyError, e.Err))...)
}

// named begins the attributes of a line, with room for all. A policy without a name has none there, as in telemetry.
func named(name string) []slog.Attr {
	attrs := make([]slog.Attr, 0, 6)
	if name != "" {
		attrs = append(attrs, slog.String(keyName, name))
	}
	return attrs
}

// logEnd writes the last line of a call that failed.
func (f *flow) logEnd(ctx context.Context, c *config) {
	level, message := slog.LevelWarn, "retry gave up"
	switch {
	case f.step.Reason == ErrNotRetryable:
		level, message = slog.LevelDebug, "not retried" // the failure is the caller's to judge, as without a retry
	case f.ending == EndCanceled:
		level = slog.LevelInfo // a shutdown is no trouble
	}
	if !c.logger.Enabled(ctx, level) {
		return
	}
	attrs := append(named(c.name), slog.Int(keyAttempts, f.attempts),
		slog.String(keyOutcome, f.ending.String()), slog.String(keyReason, reasonText(f.step.Reason)))
	if f.step.Delay > 0 {
		attrs = append(attrs, slog.Duration(keyDelay, f.step.Delay))
	}
	if f.last != nil {
		attrs = append(attrs, slog.Any(keyError, f.last))
	}
	c.logger.LogAttrs(ctx, level, message, attrs...)
}
