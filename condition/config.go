package condition

import (
	"errors"
	"fmt"

	"github.com/seed-89b3229b/retry/internal/errtree"
	"github.com/seed-89b3229b/retry/internal/quote"
)

// ConfigError says that a condition was built from something it cannot work with. Conditions are built without an error
// result so that they nest in one expression; Validate on the finished condition returns the first ConfigError in it, and
// a policy calls Validate before its operation runs. A condition with such a part still answers: the part says Unknown.
type ConfigError struct {
	// Field is the way to the culprit, outermost first, such as "Any[1]", "HTTPStatus" or "Only[0].All[2].Is[0]".
	Field string
	// Value is what was given there; nil where nothing was.
	Value any
	// Problem says what is wrong with it.
	Problem string

	err error // of a condition that reports in another type
}

// Error returns the text, such as `condition: HTTPStatus[0] = 42: must be from 100 to 999`. Of a long value it has the first
// 100 bytes.
func (e *ConfigError) Error() string {
	if e == nil {
		return "condition: invalid"
	}
	value := ""
	switch v := e.Value.(type) {
	case Condition: // its inside says nothing to a reader
	case string:
		value = " = " + quote.Quote(v)
	default:
		if !errtree.IsNil(v) {
			value = " = " + quote.Cut(fmt.Sprint(v))
		}
	}
	return "condition: " + quote.Cut(e.Field) + value + ": " + e.Problem
}

// Unwrap returns the error of a nested condition whose own Validate reported something else than a ConfigError, and nil
// otherwise.
func (e *ConfigError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.err
}

// missing stands in for a nil condition, so that asking needs no test for nil.
type missing struct{ value Condition }

func (missing) Check(error) Verdict { return Unknown }

func (m missing) Validate() error { return nilProblem("", m.value) }

// orMissing returns c, or what stands in for it.
func orMissing(c Condition) Condition {
	if errtree.IsNil(c) {
		return missing{c}
	}
	return c
}

func nilProblem(field string, value any) error {
	if value == nil {
		return &ConfigError{Field: field, Problem: "must not be nil"}
	}
	return &ConfigError{Field: field, Value: value, Problem: fmt.Sprintf("must not be nil, is a nil %T", value)}
}

// validate returns c's own complaint, with field put before the way to it.
func validate(field string, c Condition) error {
	v, ok := c.(interface{ Validate() error })
	if !ok {
		return nil
	}
	err := v.Validate()
	if errtree.IsNil(err) {
		return nil
	}
	inner, ok := errors.AsType[*ConfigError](err)
	if !ok || inner == nil {
		return &ConfigError{Field: field, Value: c, Problem: err.Error(), err: err}
	}
	if inner.Field != "" {
		field += "." + inner.Field
	}
	return &ConfigError{Field: field, Value: inner.Value, Problem: inner.Problem, err: inner.err}
}

func at(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }
