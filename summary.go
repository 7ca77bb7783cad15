package retry

import (
	"context"
	"log/slog"
	"strconv"
)

// WithSummary fills in *s when the call ends, in whatever way, a panic included: how many attempts it took, how long, how much of
// that it waited, and why it ended.
//
//	var took retry.Summary
//	user, err := retry.Do(ctx, load, policy, retry.WithSummary(&took))
//	fmt.Println(took.Attempts, took.Elapsed)
//
// It is for one call, so New refuses it. Before the call has ended, and where it is not begun because an option cannot be used, *s
// is as it was. It costs two readings of the clock. A nil s is a *ConfigError. Default: none.
func WithSummary(s *Summary) Option { return summaryOption{s} }

// shareable refuses what is for one call in a policy, which calls share.
func (c *config) shareable() error {
	if c.summary == nil {
		return nil
	}
	return invalid("WithSummary", c.summary, "is for one call, and calls share a policy: give it to Do and its kin")
}

// tell fills in the caller's summary and tells the observation of the end.
func (k *call) tell(ctx context.Context, c *config, s Summary) {
	if c.summary != nil {
		*c.summary = s
	}
	if k.observation != nil {
		k.observation.Done(ctx, s)
	}
}

// logSuccess writes the last line of a call that succeeded after retries. Without retries there is none: it is not news.
func (f *flow) logSuccess(ctx context.Context, c *config) {
	if !f.retried || !c.logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	c.logger.LogAttrs(ctx, slog.LevelInfo, "succeeded after "+strconv.Itoa(f.attempts)+" attempts", append(named(c.name),
		slog.Int(keyAttempts, f.attempts), slog.String(keyOutcome, EndSucceeded.String()))...)
}
