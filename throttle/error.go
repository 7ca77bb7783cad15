package throttle

import (
	"context"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/internal/quote"
)

// Key names what a cool-down belongs to, such as an account or an API of it. It appears in errors and must not hold a
// secret: hash those. The empty Key names nothing, and nothing is ever held back for it.
type Key string

// Error is a refusal: an attempt may not start before Until. Where Remaining is 0 it names no time: the attempt was turned away, and
// another one need not be. All methods answer for a nil *Error too.
type Error struct {
	// Key is what is cooling down.
	Key Key
	// Until is when an attempt may start again, and Remaining how long that is from the refusal.
	Until     time.Time
	Remaining time.Duration
	// Source names what set the cool-down, such as "retry-after".
	Source string
	// Err is the failure that set it, if known.
	Err error
	// PastDeadline says that the context's deadline is not later than Until, so that there was no use in waiting. The error
	// then matches context.DeadlineExceeded too.
	PastDeadline bool
}

// Error returns the text, such as `throttle: "acme" is cooling down for 30s (retry-after)` or `throttle: "acme" refused (adaptive)`,
// followed by Err's. Of a long Key it has the first 100 bytes.
func (e *Error) Error() string {
	if e == nil {
		return "throttle: refused"
	}
	text, key := "throttle: ", quote.Quote(string(e.Key))
	switch {
	case e.Remaining > 0:
		text += key + " is cooling down for " + e.Remaining.String()
	case e.Key != "":
		text += key + " refused"
	default:
		text += "refused"
	}
	if e.Source != "" {
		text += " (" + e.Source + ")"
	}
	if e.PastDeadline {
		text += ", past the context's deadline"
	}
	if err := e.Unwrap(); err != nil {
		text += ": " + err.Error()
	}
	return text
}

// Unwrap returns Err; nil if that holds a nil pointer.
func (e *Error) Unwrap() error {
	if e == nil || errtree.IsNil(e.Err) {
		return nil
	}
	return e.Err
}

// Is reports whether target is context.DeadlineExceeded and e is PastDeadline.
func (e *Error) Is(target error) bool {
	return e != nil && e.PastDeadline && target == context.DeadlineExceeded
}

// RetryAfter returns Remaining, so that a refusal is itself a told wait; below 0 where it names no time.
func (e *Error) RetryAfter() time.Duration {
	if e == nil || e.Remaining <= 0 {
		return -1
	}
	return e.Remaining
}
