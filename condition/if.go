package condition

import "github.com/seed-89b3229b/retry/internal/errtree"

// If returns a Condition that says Retry where f is true. Where f is false it is Unknown: it does not stop anything, the
// conditions behind it are asked. For "false stops" write Only(If(f)), or give f to the policy's WithRetryIf.
//
// f is not called with nil or with a typed nil (an error that holds a nil pointer). It must be safe for concurrent use;
// the Condition then is. A nil f is Unknown, and a ConfigError.
func If(f func(error) bool) Condition {
	return &predicate{"If", f, Retry}
}

// StopIf returns a Condition that says Stop where f is true, and is Unknown where f is false.
//
// f is not called with nil or with a typed nil (an error that holds a nil pointer). It must be safe for concurrent use;
// the Condition then is. A nil f is Unknown, and a ConfigError.
func StopIf(f func(error) bool) Condition {
	return &predicate{"StopIf", f, Stop}
}

type predicate struct {
	name string
	f    func(error) bool
	yes  Verdict
}

func (p *predicate) Check(err error) Verdict {
	if p.f == nil || errtree.IsNil(err) || !p.f(err) {
		return Unknown
	}
	return p.yes
}

func (p *predicate) Validate() error {
	if p.f == nil {
		return nilProblem(p.name, nil)
	}
	return nil
}
