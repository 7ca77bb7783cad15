package strategy

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// field is one field of a strategy: its Go name and a pointer to it. Validate, String and Parse all go by the same list
// of fields, so none of them can forget one.
type field struct {
	name string
	at   any // *time.Duration, *[]time.Duration, *float64, *increment, *multiple, *bool or *Strategy
}

// What moves a level: an increment may be negative, a multiple below 1.
type (
	increment time.Duration
	multiple  float64
)

// check returns the first problem in fields as a *ConfigError.
func check(kind string, fields []field) error {
	for _, f := range fields {
		name := kind + "." + f.name
		switch at := f.at.(type) {
		case *time.Duration:
			if *at < 0 {
				return &ConfigError{name, *at, "must not be negative"}
			}
		case *[]time.Duration:
			if len(*at) == 0 {
				return &ConfigError{name, *at, "must not be empty"}
			}
			for i, d := range *at {
				if d < 0 {
					return &ConfigError{fmt.Sprintf("%s[%d]", name, i), d, "must not be negative"}
				}
			}
		case *float64:
			if *at != 0 && !(*at >= 1 && *at <= math.MaxFloat64) {
				return &ConfigError{name, *at, "must be a finite number, 1 or more (0: 2)"}
			}
		case *multiple:
			if *at != 0 && !(*at > 0 && *at <= math.MaxFloat64) {
				return &ConfigError{name, float64(*at), "must be a finite number above 0 (0: the default)"}
			}
		case *Strategy:
			if errtree.IsNil(*at) {
				return &ConfigError{name, nil, "must not be nil"}
			}
			if v, ok := (*at).(interface{ Validate() error }); ok {
				if err := v.Validate(); err != nil {
					return inside(name, err)
				}
			}
		}
	}
	return nil
}

// inside returns the error of a strategy that is itself the field called name of another.
func inside(name string, err error) error {
	inner, ok := err.(*ConfigError)
	if !ok || inner == nil {
		return fmt.Errorf("strategy: %s: %w", name, err)
	}
	if _, rest, found := strings.Cut(inner.Field, "."); found {
		name += "." + rest
	}
	return &ConfigError{name, inner.Value, inner.Problem}
}
