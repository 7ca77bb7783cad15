package retry

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/strategy"
)

// The defaults of Supervise: the first wait is 0.5 s to 1 s, the longest 30 s to 1 min.
const (
	superviseBase       = time.Second
	superviseMax        = time.Minute
	superviseResetAfter = time.Minute
)

var (
	superviseStrategy    strategy.Strategy = strategy.EqualJitter{Base: superviseBase, Max: superviseMax}
	superviseExponential strategy.Strategy = strategy.Exponential{Base: superviseBase, Max: superviseMax}
)

// Supervise keeps fn running: work that is to go on for hours or for ever, such as a stream, a subscription or a worker, and
// that has to be begun again when it ends. It runs fn, and after a wait runs it again, whether it returned an error or nil,
// until ctx is done, the channel of WithStop is closed, or a failure is not worth another attempt (Permanent, a condition,
// and whatever else ends a Do at once). It never returns nil: what it returns is that failure, or an *Error with the
// reason and fn's last error, which is nil if fn returned nil last.
//
// An error is a failure as for Do. The wait after it grows from failure to failure, and is that of a first failure again
// after fn ran well for a while (WithResetAfter), and after fn made progress by its own account (Restart). A nil error sets
// back what a reset sets back, is a success to throttles, budget and strategy, and is no retry: the wait is that of a first
// failure, and WithOnRetry, WithBeforeRetry and WithLogger are not called. To end the supervision from within, return
// Permanent of an error.
//
// Options are those of Run, with other defaults: WithUnlimitedAttempts, WithStrategy(strategy.EqualJitter{Base:
// time.Second, Max: time.Minute}), or, with WithJitter, strategy.Exponential of that Base and Max, and
// WithResetAfter(time.Minute). So there is no wait below half a second by default. WithMaxAttempts and WithMaxElapsed limit
// failures in a row: what they limit begins anew with every reset. The time of WithMaxElapsed includes that of the runs;
// WithMaxRetryElapsed counts from the first failure, however long the run before it took. A told wait above WithMaxHint
// ends a supervision too: where servers ask for more than a minute, raise it.
//
// All runs are attempts of one call, with one observation; Event.Number goes on. Supervise needs no more memory the longer
// it runs. It is safe for concurrent use.
func Supervise(ctx context.Context, fn func(context.Context) error, opts ...Option) error {
	if fn == nil {
		return invalid("fn", nil, "must not be nil")
	}
	var c config
	if err := c.merge(opts); err != nil {
		return err
	}
	if err := c.untyped("Supervise, which has no result"); err != nil {
		return err
	}
	c.supervise()
	w := work{try: fn, sequel: func() sequel { return rerun }}
	return drive(ctx, &c, &w, nil)
}

// supervise fills in the defaults of Supervise.
func (c *config) supervise() {
	c.supervised = true
	if c.base > 0 {
		c.rebase()
	}
	if !c.resetAfterSet {
		c.resetAfter = superviseResetAfter
		c.timed, c.clocked = true, true
	}
}
