package retry

import (
	"context"
	"log/slog"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// The keys of log lines. A key that spans have too means the same there, in the same unit: durations are in seconds.
const (
	keyName        = "retry.name"
	keyAttempt     = "retry.attempt"
	keyMaxAttempts = "retry.max_attempts"
	keyAttempts    = "retry.attempts"
	keyDelay       = "retry.delay"
	keySource      = "retry.delay.source"
	keyDeclined    = "retry.delay.declined"
	keyElapsed     = "retry.elapsed" // since the first failure
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
	attrs = append(attrs, seconds(keyDelay, e.Delay), slog.String(keySource, e.Source.String()))
	attrs = elapsed(attrs, e.Elapsed)
	l.LogAttrs(ctx, slog.LevelInfo, "retry scheduled", failed(attrs, e.Err)...)
}

// logEnd writes the last line of a call that failed.
func (f *flow) logEnd(ctx context.Context, c *config, now time.Time) {
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
	if f.failing {
		attrs = elapsed(attrs, now.Sub(f.failed))
	}
	if f.step.Delay > 0 {
		attrs = append(attrs, seconds(keyDeclined, f.step.Delay))
	}
	c.logger.LogAttrs(ctx, level, message, failed(attrs, f.last)...)
}

// named begins the attributes of a line, with room for all. A policy without a name has none there, as in telemetry.
func named(name string) []slog.Attr {
	attrs := make([]slog.Attr, 0, 12)
	if name != "" {
		attrs = append(attrs, slog.String(keyName, name))
	}
	return attrs
}

// seconds writes a duration as a number that reads the same in text and in JSON.
func seconds(key string, d time.Duration) slog.Attr {
	return slog.Float64(key, float64(readable(d))/float64(time.Second))
}

func elapsed(attrs []slog.Attr, d time.Duration) []slog.Attr {
	if d > 0 {
		attrs = append(attrs, seconds(keyElapsed, d))
	}
	return attrs
}

// failed adds an error, and what the first one in its tree that has a method LogAttrs() []slog.Attr knows of itself, such as
// the request of an HTTP failure.
func failed(attrs []slog.Attr, err error) []slog.Attr {
	if err == nil {
		return attrs
	}
	attrs = append(attrs, slog.Any(keyError, err))
	errtree.Walk(err, func(err error) bool {
		knows, ok := err.(interface{ LogAttrs() []slog.Attr })
		if ok {
			attrs = append(attrs, knows.LogAttrs()...)
		}
		return !ok
	})
	return attrs
}
