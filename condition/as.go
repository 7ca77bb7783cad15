package condition

// As returns a Condition that says Retry for an error with an E in its tree, as errors.As decides it, and is Unknown for
// any other. E may be an interface: As[net.Error](). A nil pointer of type E in the tree is not an E.
//
// The Condition is safe for concurrent use.
func As[E error]() Condition {
	return asType[E]{}
}

type asType[E error] struct{}

func (asType[E]) Check(err error) Verdict {
	if _, ok := first[E](err); ok {
		return Retry
	}
	return Unknown
}

// Match returns a Condition that says Retry for an error with an E in its tree for which f is true, and is Unknown
// otherwise. Only the E that errors.As finds is looked at: the outermost, and the first of joined ones. f is never called
// with a nil pointer.
//
//	condition.Match(func(e *pgconn.PgError) bool { return e.Code == "40001" })
//
// f must be safe for concurrent use; the Condition then is. A nil f is Unknown, and a ConfigError.
func Match[E error](f func(E) bool) Condition {
	return &match[E]{f}
}

type match[E error] struct{ f func(E) bool }

func (m *match[E]) Check(err error) Verdict {
	if m.f == nil {
		return Unknown
	}
	if e, ok := first[E](err); ok && m.f(e) {
		return Retry
	}
	return Unknown
}

func (m *match[E]) Validate() error {
	if m.f == nil {
		return nilProblem("Match", nil)
	}
	return nil
}
