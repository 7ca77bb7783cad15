package retry

// Policy says how to retry. It is immutable: share one between any number of goroutines. The zero Policy is the default
// policy.
//
// A *Policy is an Option: Do(ctx, fn, policy, WithMaxAttempts(1)) changes it for one call, New(policy, ...) derives
// another. It must be the first option, since it would silently undo those before it.
type Policy struct{ config config }

func (*Policy) option() {}

var defaultPolicy Policy

// New makes a Policy from options. An option that cannot be used is a *ConfigError; several are an errors.Join of them, a line
// for each.
func New(opts ...Option) (*Policy, error) {
	p := new(Policy)
	var problems problems
	problems.add(p.config.merge(opts))
	problems.add(p.config.shareable())
	if err := problems.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// MustNew is New for package variables: it panics where New returns an error.
func MustNew(opts ...Option) *Policy {
	p, err := New(opts...)
	if err != nil {
		panic(err)
	}
	return p
}
