package correct

import (
	"context"
	"errors"
	"runtime"
	"testing/synctest"
	"time"

	"github.com/seed-89b3229b/retry/benchmarks/library"
)

var tenSeconds = library.Settings{Delay: 10 * time.Second, Attempts: 5}

func timeoutInWait(l *library.Library) Verdict {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	o, err := run(ctx, l, tenSeconds, always(errOp))
	if err != nil {
		return refused(err)
	}
	return all(require(o.took <= time.Second, "returns after %v", o.took), keeps(o.err, errOp, context.DeadlineExceeded))
}

// cancelled is a call whose context is cancelled with the cause (nil: none) after 500 ms, in a wait.
func cancelled(l *library.Library, s library.Settings, cause error) (outcome, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stop := time.AfterFunc(500*time.Millisecond, func() { cancel(cause) })
	defer stop.Stop()
	return run(ctx, l, s, always(errOp))
}

func cancelInWait(l *library.Library) Verdict {
	o, err := cancelled(l, tenSeconds, nil)
	if err != nil {
		return refused(err)
	}
	return all(require(o.took == 500*time.Millisecond, "returns after %v", o.took), keeps(o.err, errOp, context.Canceled))
}

func causeInWait(l *library.Library) Verdict {
	o, err := cancelled(l, tenSeconds, errCause)
	if err != nil {
		return refused(err)
	}
	return keeps(o.err, errCause)
}

func canceledBesideCause(l *library.Library) Verdict {
	o, err := cancelled(l, tenSeconds, errCause)
	if err != nil {
		return refused(err)
	}
	return keeps(o.err, context.Canceled)
}

func doneBefore(l *library.Library) Verdict {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o, err := run(ctx, l, tenSeconds, always(errOp))
	if err != nil {
		return refused(err)
	}
	return all(require(o.calls() == 0, "the operation is called %s", times(o.calls())), keeps(o.err, context.Canceled))
}

func cancelInAttempt(l *library.Library) Verdict {
	for range 1000 {
		ctx, cancel := context.WithCancel(context.Background())
		o, err := run(ctx, l, library.Settings{Delay: 1, Attempts: 5}, func(context.Context, int) error { cancel(); return errOp })
		if err != nil {
			return refused(err)
		}
		if o.calls() > 1 {
			return wrong("in some of the calls there is a second attempt")
		}
	}
	return Verdict{Answer: Right}
}

// beside are the ways to hide a mark below other errors.
func beside(mark error) []error {
	return []error{&wrapped{"around it", mark}, errors.Join(errOther, mark)}
}

// wrapped is what fmt.Errorf with %w returns, with its text apart.
type wrapped struct {
	text string
	err  error
}

func (w *wrapped) Error() string { return w.text + ": " + w.err.Error() }
func (w *wrapped) Unwrap() error { return w.err }

func wrappedPermanent(l *library.Library) Verdict {
	for _, err := range beside(l.Permanent(errOp)) {
		o, refusal := run(context.Background(), l, library.Settings{Delay: time.Second, Attempts: 5}, always(err))
		if refusal != nil {
			return refused(refusal)
		}
		if o.calls() != 1 {
			return wrong("there are %d attempts", o.calls())
		}
	}
	return Verdict{Answer: Right}
}

func aroundPermanent(l *library.Library) Verdict {
	for _, last := range []int{1, 2} {
		for _, err := range beside(l.Permanent(errOp)) {
			o, refusal := run(context.Background(), l, library.Settings{Delay: time.Second, Attempts: 5}, func(_ context.Context, n int) error {
				if n < last {
					return errOp
				}
				return err
			})
			if refusal != nil {
				return refused(refusal)
			}
			var around *wrapped
			switch {
			case errors.Is(err, errOther) && !errors.Is(o.err, errOther):
				return wrong("the errors beside it are lost%s", inAttempt(last))
			case errors.As(err, &around) && !errors.As(o.err, &around):
				return wrong("the text around it is lost%s", inAttempt(last))
			case !errors.Is(o.err, errOp):
				return wrong("the permanent error is lost")
			}
		}
	}
	return Verdict{Answer: Right}
}

func inAttempt(n int) string {
	if n == 2 {
		return ", after the first attempt"
	}
	return ""
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return "several times"
}

func zeroAttempts(l *library.Library) Verdict {
	const many = 100
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o, err := run(ctx, l, library.Settings{ZeroAttempts: true}, func(_ context.Context, n int) error {
		if n == many {
			cancel()
		}
		return errOp
	})
	if err != nil {
		return Verdict{Answer: Right} // it is refused
	}
	does := library.Zero("nothing, with the error “" + errorText(o.err) + "”")
	switch {
	case o.calls() >= many:
		does = library.NoLimit
	case o.calls() == 1:
		does = library.OneCall
	}
	return require(does == l.Zero, "it means %s, which the documentation does not say", does)
}

func errorText(err error) string {
	if err == nil {
		return "<nil>"
	}
	return err.Error()
}

func sharedPolicy(l *library.Library) Verdict {
	call, err := l.New(library.Settings{Delay: time.Second, Doubling: true, Attempts: 4})
	if err != nil {
		return refused(err)
	}
	ctx := context.Background()
	second := make(chan outcome)
	go func() {
		time.Sleep(500 * time.Millisecond)
		second <- observe(ctx, call, always(errOp))
	}()
	first := observe(ctx, call, always(errOp))
	for _, o := range []outcome{first, <-second} {
		if o.calls() != 4 || o.at[1] != time.Second || o.at[2] != 3*time.Second || o.at[3] != 7*time.Second {
			return wrong("one of the calls makes its attempts at %v", o.at)
		}
	}
	return Verdict{Answer: Right}
}

func callbackPerRetry(l *library.Library) Verdict {
	retries := 0
	_, err := run(context.Background(), l, library.Settings{Delay: time.Second, Attempts: 3, OnRetry: func() { retries++ }}, always(errOp))
	if err != nil {
		return refused(err)
	}
	return require(retries == 2, "it is called %d times, after the last attempt too", retries)
}

func goroutineLeft(l *library.Library) Verdict {
	const calls = 100
	before := runtime.NumGoroutine()
	for range calls {
		if _, err := cancelled(l, tenSeconds, nil); err != nil {
			return refused(err)
		}
		if l.Leave != nil {
			l.Leave(context.Background())
		}
	}
	synctest.Wait()
	left := runtime.NumGoroutine() - before
	return require(left < calls/2, "about %d are left", calls) // one or two may be on their way out
}

func attemptTimeout(l *library.Library) Verdict {
	if l.AttemptTimeout == nil {
		return Verdict{Answer: Absent}
	}
	blocks := func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }
	limits := library.Settings{Attempts: 3, AttemptTimeout: time.Second}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	own, err := run(ctx, l, limits, blocks)
	if err != nil {
		return refused(err)
	}
	soon, cancelSoon := context.WithTimeout(context.Background(), 1500*time.Millisecond)
	defer cancelSoon()
	callers, err := run(soon, l, limits, blocks)
	if err != nil {
		return refused(err)
	}
	return all(
		require(own.calls() == 3, "an attempt's timeout ends the call after %d attempts", own.calls()),
		keeps(own.err, l.AttemptTimeout),
		require(callers.calls() == 2 && callers.took == 1500*time.Millisecond, "the caller's deadline of 1.5s ends the call after %v", callers.took),
		keeps(callers.err, context.DeadlineExceeded),
		require(!errors.Is(callers.err, l.AttemptTimeout), "the caller's deadline is reported as an attempt's"))
}

func contextForAttempts(l *library.Library) Verdict {
	if !l.PassesContext {
		return Verdict{Answer: Absent}
	}
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, "value"))
	defer cancel()
	var value any
	ended := false
	_, err := run(ctx, l, library.Settings{Attempts: 2}, func(ctx context.Context, _ int) error {
		value = ctx.Value(key{})
		cancel()
		<-ctx.Done()
		ended = true
		return errOp
	})
	if err != nil {
		return refused(err)
	}
	return all(require(value == "value", "it does not have the caller's values"), require(ended, "it does not end with the caller's"))
}
