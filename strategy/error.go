package strategy

import (
	"fmt"

	"github.com/seed-89b3229b/retry/internal/quote"
)

// ConfigError says which field of a strategy cannot be used, and why. Validate and Parse return it as *ConfigError.
type ConfigError struct {
	// Field is the strategy and its field, such as "FullJitter.Base". Inside ByThrottled it is the path, such as
	// "ByThrottled.Normal.Base". From Parse it may also be "name", for an unknown strategy, and "text", for text that is
	// not of the form name(field=value, …).
	Field string
	// Value is what the field holds; from Parse it is the text that could not be used.
	Value any
	// Problem is what is wrong with it, such as "must not be negative".
	Problem string
}

// Error returns the text, such as `strategy: FullJitter.Base = -1s: must not be negative`. Of a long field or value it has the
// first 100 bytes.
func (e *ConfigError) Error() string {
	if e == nil {
		return "strategy: invalid"
	}
	var value string
	switch v := e.Value.(type) {
	case nil:
		value = "nil"
	case string:
		value = quote.Quote(v)
	default:
		value = quote.Cut(fmt.Sprint(v))
	}
	return "strategy: " + quote.Cut(e.Field) + " = " + value + ": " + e.Problem
}
