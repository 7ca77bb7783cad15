package condition

import (
	"reflect"

	"github.com/seed-89b3229b/retry/internal/errtree"
)

// Is returns a Condition that says Retry for an error that matches one of targets, as errors.Is decides it, and is
// Unknown for any other. Not(Is(targets...)) stops for them.
//
// A target whose type has an Is method may match more than itself: with go-sql-driver/mysql,
// Is(&mysql.MySQLError{Number: 1213}) matches every deadlock. On Windows the sockets' error numbers are not package
// syscall's constants: ask Network for those.
//
// It takes a copy of the list, and is safe for concurrent use. No target, a nil one and a typed nil match nothing, and
// are a ConfigError.
func Is(targets ...error) Condition {
	c := &isAny{targets: make([]target, len(targets))}
	for i, err := range targets {
		c.targets[i] = target{err: err, ok: !errtree.IsNil(err), comparable: reflect.ValueOf(err).Comparable()}
	}
	return c
}

type isAny struct{ targets []target }

type target struct {
	err            error
	ok, comparable bool
}

func (c *isAny) Check(err error) Verdict {
	if find(err, c.match) {
		return Retry
	}
	return Unknown
}

func (c *isAny) match(err error) bool {
	for _, t := range c.targets {
		if t.ok && (t.comparable && err == t.err || isByMethod(err, t.err)) {
			return true
		}
	}
	return false
}

func (c *isAny) Validate() error {
	if len(c.targets) == 0 {
		return &ConfigError{Field: "Is", Problem: "needs at least one target"}
	}
	for i, t := range c.targets {
		if !t.ok {
			return nilProblem(at("Is", i), t.err)
		}
	}
	return nil
}
