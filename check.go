package retry

import (
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

func invalid(option string, value any, problem string) error {
	return &ConfigError{Option: option, Value: value, Problem: problem}
}

func required(option string, missing bool) error {
	if missing {
		return invalid(option, nil, "must not be nil")
	}
	return nil
}

func setDuration(field *time.Duration, option string, d time.Duration) error {
	if d < 0 {
		return invalid(option, d, "must not be negative")
	}
	*field = d
	return nil
}

// check refuses nil, typed nil included, and whatever the value's own Validate refuses.
func check(option string, v any) error {
	if errtree.IsNil(v) {
		return required(option, true)
	}
	if v, ok := v.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return &ConfigError{Option: option, Value: v, Problem: err.Error(), err: err}
		}
	}
	return nil
}

func checkAll[E any](option string, elements []E) error {
	for _, e := range elements {
		if err := check(option, e); err != nil {
			return err
		}
	}
	return nil
}

func checkTyped(o typedOption) error {
	option, _, ok := o.describe()
	return required(option, !ok)
}

// join returns a fresh slice, so that no policy shares one with another policy or with its maker.
func join[S ~[]E, E any](a, b S) S { return append(a[:len(a):len(a)], b...) }
