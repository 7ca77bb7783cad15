package retry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/internal/quote"
)

// The reasons for ending a call. Each is matched by errors.Is on the error that the call returned, beside the
// operation's own error.
var (
	// ErrExhausted: the last permitted attempt failed.
	ErrExhausted error = &sentinel{text: "retry: attempts exhausted"}
	// ErrMaxElapsed: the next wait would not end within WithMaxElapsed or WithMaxRetryElapsed.
	ErrMaxElapsed error = &sentinel{text: "retry: time budget used up"}
	// ErrDeadline: the next wait would not end before the context's deadline. It is also a context.DeadlineExceeded.
	ErrDeadline error = &timeoutSentinel{text: "retry: no time left before the deadline"}
	// ErrRefused: a throttle refused an attempt. The reason also wraps the throttle's error.
	ErrRefused error = &sentinel{text: "retry: refused by a throttle"}
	// ErrHintTooLong: a server or throttle demanded a wait above WithMaxHint.
	ErrHintTooLong error = &sentinel{text: "retry: asked to wait too long"}
	// ErrBudget: the retry budget refused a retry.
	ErrBudget error = &sentinel{text: "retry: retry budget used up"}
	// ErrNoDelay: the strategy gave no further delay.
	ErrNoDelay error = &sentinel{text: "retry: strategy ended"}
	// ErrNotRetryable: the failure is not worth another attempt. Such a failure comes back as the operation returned it,
	// and this reason is seen by observers only; but for a Permanent below other errors, and with WithErrorHistory.
	ErrNotRetryable error = &sentinel{text: "retry: not retryable"}
	// ErrShutdown: the channel of WithStop was closed, or the driver of a Flow gave up.
	ErrShutdown error = &sentinel{text: "retry: shut down"}
)

// Errors that stand for an attempt's failure, and for a call that was never begun.
var (
	// ErrUnacceptable is the failure of an attempt whose result was turned down by WithRetryResult.
	ErrUnacceptable error = &sentinel{text: "retry: unacceptable result"}
	// ErrAttemptTimeout is matched by the failure of an attempt whose own deadline passed, and is the cause of its
	// context's end. Its Timeout method returns true; it is also a context.DeadlineExceeded.
	ErrAttemptTimeout error = &timeoutSentinel{text: "retry: attempt timed out"}
	errPanicked       error = &sentinel{text: "retry: loop left by a panic"}
	errUnsaid         error = &sentinel{text: "retry: an iteration of the loop ended without Fail, Again or break, so it has neither failed nor succeeded"}
	// ErrConfig is matched by every *ConfigError.
	ErrConfig error = &sentinel{text: "retry: invalid configuration"}
)

type sentinel struct{ text string }

func (s *sentinel) Error() string { return s.text }

type timeoutSentinel struct{ text string }

func (s *timeoutSentinel) Error() string        { return s.text }
func (s *timeoutSentinel) Timeout() bool        { return true }
func (s *timeoutSentinel) Is(target error) bool { return target == context.DeadlineExceeded }

// Error is how a call ended that gave up. Errors.Is and errors.As reach the operation's last error, the reason for
// giving up and the history through it. A failure that is not worth retrying comes back as it is instead, without an
// Error around it, unless WithErrorHistory is set.
//
// The markers inside an Error (Permanent, After, Restart) have done their work: they do not steer a call further out. An
// Error is a value to read; it is safe for concurrent use while nobody writes to it.
type Error struct {
	// Name is the policy's (WithName).
	Name string
	// Attempts is how many were made, resets or not; 0 if the call ended before the first.
	Attempts int
	// Elapsed is the time from the first failure, since the last reset (WithResetAfter), to giving up.
	Elapsed time.Duration
	// Delay is the wait that was not taken, if that is why the call ended: how long after giving up another call makes
	// sense.
	Delay time.Duration
	// Reason is why the call ended. It matches one of ErrExhausted, ErrMaxElapsed, ErrDeadline, ErrRefused,
	// ErrHintTooLong, ErrBudget, ErrNoDelay, ErrNotRetryable and ErrShutdown, or it is the context's error with its
	// cause, or the error of WithBeforeRetry. Where calls are nested, errors.Is also sees the inner call's reason; the
	// outermost one is this field.
	Reason error
	// Last is the last attempt's error, never the context's in its place; nil if there was no attempt, and where the last one
	// did not fail, but was to be followed by another.
	Last error
	// History holds the first and last failures in their order if WithErrorHistory is set, and Dropped says how many
	// between them were dropped.
	History []error
	Dropped int

	limit limit
}

// Error returns the operation's error followed by the reason, such as
// `connection refused (retry "orders": gave up after 4 attempts, 1.2s after the first failure: attempts exhausted)`. Where the
// next wait did not fit into a limit, it names both: `asked to wait 2m0s, more than 1m0s (WithMaxHint)`.
func (e *Error) Error() string {
	if e == nil {
		return "retry: no error"
	}
	var b strings.Builder
	if e.Last != nil {
		b.WriteString(textOf(e.Last))
		b.WriteString(" (")
	}
	b.WriteString("retry")
	if e.Name != "" {
		b.WriteString(" " + quote.Quote(e.Name))
	}
	switch e.Attempts {
	case 0:
		b.WriteString(": not attempted")
	case 1:
		b.WriteString(": gave up after 1 attempt")
	default:
		fmt.Fprintf(&b, ": gave up after %d attempts", e.Attempts)
	}
	if e.Elapsed > 0 {
		fmt.Fprintf(&b, ", %v after the first failure", readable(e.Elapsed))
	}
	if e.Reason != nil {
		b.WriteString(": ")
		b.WriteString(e.reasonText())
	}
	if e.Last != nil {
		b.WriteByte(')')
	}
	return b.String()
}

// Unwrap returns the last error, the reason and the history, without what is nil or a nil pointer.
func (e *Error) Unwrap() []error {
	if e == nil {
		return nil
	}
	return present(append([]error{e.Last, e.Reason}, e.History...))
}

// OpaqueRetry marks the error as another call's: the markers and told waits inside it do not steer the calls around.
func (e *Error) OpaqueRetry() {}

// reasonText is the reason with its numbers, where it has some, and what a throttle had to say to it.
func (e *Error) reasonText() string {
	reason, detail := e.Reason, error(nil)
	if explained, ok := reason.(*because); ok {
		reason, detail = explained.reason, explained.detail
	}
	text := ""
	switch reason {
	case ErrHintTooLong, ErrMaxElapsed, ErrDeadline:
		text = e.limit.text()
	}
	switch {
	case text == "":
		return reasonText(e.Reason)
	case detail != nil:
		text += ": " + textOf(detail)
	}
	return text
}

func reasonText(err error) string { return strings.TrimPrefix(textOf(err), "retry: ") }

// textOf is err.Error(), and survives a nil pointer in err.
func textOf(err error) string {
	if errtree.IsNil(err) {
		return "<nil>"
	}
	return err.Error()
}

// readable rounds a duration to four digits, and no coarser than a second.
func readable(d time.Duration) time.Duration {
	unit := time.Nanosecond
	for d/unit >= 10_000 && unit < time.Second {
		unit *= 10
	}
	return d.Round(unit)
}

// because is a reason with its detail, in one line of text.
type because struct{ reason, detail error }

func (b *because) Error() string   { return textOf(b.reason) + ": " + textOf(b.detail) }
func (b *because) Unwrap() []error { return present([]error{b.reason, b.detail}) }

// present takes away what is nil or a nil pointer, whose methods would panic under errors.Is.
func present(all []error) []error {
	return slices.DeleteFunc(all, func(err error) bool { return errtree.IsNil(err) })
}

func explain(reason, detail error) error {
	if detail == nil {
		return reason
	}
	return &because{reason, detail}
}

// contextReason says why a done context is done: its error and, where there is one, the cause.
func contextReason(ctx context.Context) error {
	err := ctx.Err()
	if err != context.Canceled && err != context.DeadlineExceeded {
		return err // a context of the caller's own making, with an error that may not even be comparable
	}
	if cause := context.Cause(ctx); cause != nil && cause != err {
		return &because{err, cause}
	}
	return err
}

// ConfigError is a configuration that cannot be used. It is returned before anything runs, and matches ErrConfig.
type ConfigError struct {
	// Option is the option's name, such as "WithMaxAttempts"; "fn" for the operation itself.
	Option string
	// Value is what was given.
	Value any
	// Problem says what is wrong with it.
	Problem string

	err error
}

// Error returns the text, such as `retry: WithMaxElapsed(-1s): must not be negative`. Of a long value it has the first 100 bytes.
func (e *ConfigError) Error() string {
	if e == nil {
		return ErrConfig.Error()
	}
	return "retry: " + quote.Cut(e.Option) + "(" + show(e.Value) + "): " + e.Problem
}

// Is reports whether target is ErrConfig.
func (e *ConfigError) Is(target error) bool { return target == ErrConfig }

// Unwrap returns the error in which the problem was found, if there is one: that of the value's own Validate method, or of
// reading it.
func (e *ConfigError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.err
}
