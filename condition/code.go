package condition

import (
	"reflect"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Code returns a Condition that says Retry for an error whose code, as of tells it, is one of codes, and is Unknown for
// any other. It fits every library with a function from an error to a code, which this package need not import:
//
//	condition.Code(status.Code, codes.Unavailable, codes.Aborted)  // google.golang.org/grpc; see also GRPC
//	condition.Code(connect.CodeOf, connect.CodeUnavailable)        // connectrpc.com/connect
//
// of gets the error as the operation returned it, so it has to look through wrapping itself (both of the above do). Both
// also have a code for errors that are not theirs, codes.Unknown and connect.CodeUnknown: listing it matches every
// foreign error.
//
// It takes a copy of the list. of is not called with nil or with a typed nil (an error that holds a nil pointer). It must
// be safe for concurrent use; the Condition then is. A nil of, no codes, and a code that cannot be compared (C may be an
// interface) match nothing, and are a ConfigError.
func Code[C comparable](of func(error) C, codes ...C) Condition {
	c := &codeIn[C]{of: of, given: len(codes)}
	for i, code := range codes {
		if !reflect.ValueOf(&code).Elem().Comparable() {
			if c.bad == nil {
				c.bad = &ConfigError{Field: at("Code", i), Value: code, Problem: "cannot be compared"}
			}
			continue
		}
		c.codes = append(c.codes, code)
	}
	return c
}

type codeIn[C comparable] struct {
	of    func(error) C
	codes []C
	given int
	bad   *ConfigError
}

func (c *codeIn[C]) Check(err error) Verdict {
	if c.of == nil || len(c.codes) == 0 || errtree.IsNil(err) {
		return Unknown
	}
	got := c.of(err)
	for _, code := range c.codes {
		if code == got {
			return Retry
		}
	}
	return Unknown
}

func (c *codeIn[C]) Validate() error {
	switch {
	case c.of == nil:
		return nilProblem("Code", nil)
	case c.given == 0:
		return &ConfigError{Field: "Code", Problem: "needs at least one code"}
	case c.bad != nil:
		return c.bad
	}
	return nil
}
