package retry

import (
	"context"
	"errors"
	"time"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// problems are what is wrong with a configuration.
type problems []error

func (p *problems) add(err error) {
	if err != nil {
		*p = append(*p, err)
	}
}

// err is one error for all problems, and the problem itself if it is the only one.
func (p problems) err() error {
	if len(p) == 1 {
		return p[0]
	}
	return errors.Join(p...)
}

// demandContext panics with words: without them, a nil context would be a nil pointer somewhere below.
func demandContext(ctx context.Context) {
	if ctx == nil {
		panic("retry: nil Context")
	}
}

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
	var problems problems
	for _, e := range elements {
		problems.add(check(option, e))
	}
	return problems.err()
}

func checkTyped(o typedOption) error {
	option, _, ok := o.describe()
	return required(option, !ok)
}

// join returns a fresh slice, so that no policy shares one with another policy or with its maker.
func join[S ~[]E, E any](a, b S) S { return append(a[:len(a):len(a)], b...) }
