package retrysim

import (
	"fmt"
	"time"

	"github.com/seed-89b3229b/retry/internal/quote"
)

// ConfigError says which field of a scenario, a contender or an assertion cannot be used, and why. It is returned as *ConfigError
// before anything runs. The one exception is a scenario that turns out never to end: its Field is "Scenario", and it comes when
// that shows.
type ConfigError struct {
	// Field is the way to the culprit, such as "Server.Queue.Workers" or "Faults[1].To".
	Field string
	// Value is what it holds.
	Value any
	// Problem is what is wrong with it, such as "must not be negative".
	Problem string
}

// Error returns the text, such as `retrysim: Timeout = -1s: must not be negative`.
func (e *ConfigError) Error() string {
	if e == nil {
		return "retrysim: invalid"
	}
	return fmt.Sprintf("retrysim: %s = %s: %s", quote.Cut(e.Field), quote.Cut(fmt.Sprint(e.Value)), e.Problem)
}

const (
	notNegative = "must not be negative"
	notFinite   = "must be a finite number that is not negative"
)

// within puts the way to the outer field before that of err.
func within(outer string, err error) error {
	if e, ok := err.(*ConfigError); ok && e != nil {
		field := outer
		if e.Field != "" {
			field += "." + e.Field
		}
		return &ConfigError{field, e.Value, e.Problem}
	}
	return err
}

// checkDurations returns a *ConfigError for the first that is negative.
func checkDurations(all ...named) error {
	for _, d := range all {
		if d.value < 0 {
			return &ConfigError{d.name, d.value, notNegative}
		}
	}
	return nil
}

type named struct {
	name  string
	value time.Duration
}
