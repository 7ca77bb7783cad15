package throttle

import (
	"fmt"
	"time"

	"github.com/seed-89b3229b/retry/internal/quote"
)

// ConfigError says which field of a throttle, a budget or a Rule cannot be used, and why. Their Validate methods return it as
// *ConfigError, and a policy calls those before its operation runs. What was not validated still works: the field is read
// as its documentation says.
type ConfigError struct {
	// Field is the type and its field, such as "Gate.MaxCooldown"; for what a function made, that function, such as "Clamp".
	Field string
	// Value is what it holds.
	Value any
	// Problem is what is wrong with it, such as "must not be negative".
	Problem string
}

// Error returns the text, such as `throttle: Gate.MaxCooldown = -1s: must not be negative`. Of a long field or value it has the
// first 100 bytes.
func (e *ConfigError) Error() string {
	if e == nil {
		return "throttle: invalid"
	}
	return "throttle: " + quote.Cut(e.Field) + " = " + quote.Cut(fmt.Sprint(e.Value)) + ": " + e.Problem
}

const notNegative = "must not be negative"

// orDefault returns v, or def if that is not positive: how most fields are read, validated or not.
func orDefault[T int | float64 | time.Duration](v, def T) T {
	if v > 0 {
		return v
	}
	return def
}
