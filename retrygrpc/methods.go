package retrygrpc

import (
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// methodKey is what a method's terms depend on, beside the fields of the Interceptor.
type methodKey struct {
	target, name string
	policy       *retry.Policy // the call's own; nil: none
	idempotent   throttle.Tri  // as the call says
	stream       bool
}

// method is what holds for the calls of a method: put together once, so that a single call finds everything ready.
type method struct {
	policy     *retry.Policy
	parser     hint.Parser
	codes      table
	idempotent bool
	buffer     int
	err        error // the configuration cannot be used
}

func targetOf(cc *grpc.ClientConn) string {
	if cc == nil {
		return ""
	}
	return cc.Target()
}

// isShut reports whether the connection was closed: no attempt can be made on it any more.
func isShut(cc *grpc.ClientConn) bool {
	return cc != nil && cc.GetState() == connectivity.Shutdown
}

func (i *Interceptor) methodOf(cc *grpc.ClientConn, name string, stream bool, o *callOptions) *method {
	if i == nil {
		return &method{err: i.Validate()}
	}
	key := methodKey{targetOf(cc), name, o.policy, o.idempotent, stream}
	if i.Budget != nil {
		i.budgets.get(key.target, i.Budget) // so that it is remembered as long as the policies which have it
	}
	return i.methods.get(key, i.derive)
}

var (
	defaultPolicy = new(retry.Policy)
	defaultParser = hint.GRPC()
)

func (i *Interceptor) derive(key methodKey) *method {
	if err := i.Validate(); err != nil {
		return &method{err: err}
	}
	special := i.special(key.name)
	m := &method{
		parser:     firstSet(i.Parser, defaultParser),
		codes:      tableOf(i.Codes, special.Codes),
		idempotent: isIdempotent(key, special),
		buffer:     firstSet(special.BufferBytes, i.BufferBytes, DefaultBufferBytes),
	}
	m.policy, m.err = retry.New(i.options(key, special)...)
	if m.err != nil {
		return m
	}
	// A policy whose own conditions always decide takes no further one, and needs none.
	if full, err := retry.New(m.policy, retry.WithCondition(lastWord{})); err == nil {
		m.policy = full
	}
	return m
}

// options are those of the policy by which the attempts of a method are made.
func (i *Interceptor) options(key methodKey, special Method) []retry.Option {
	opts := []retry.Option{
		firstSet(key.policy, special.Policy, i.Policy, defaultPolicy),
		retry.WithName(strings.TrimPrefix(key.name, "/")),
	}
	if key.stream {
		// An attempt's timeout must not end a stream that has been established.
		opts = append(opts, retry.WithAttemptTimeout(0), retry.WithResults(retry.Results[*stream]{Classify: (*stream).classify}))
	} else {
		opts = append(opts, retry.WithResults(retry.Results[*call]{Classify: (*call).classify}))
	}
	if i.Gate != nil {
		keys := []throttle.Key{throttle.Key(key.target + key.name)}
		if i.Keys != nil {
			keys = i.Keys(key.target, key.name, nil)
		}
		opts = append(opts, retry.WithThrottle(i.Gate.For(keys...)))
	}
	if i.Budget != nil {
		if b := i.budgets.get(key.target, i.Budget); b != nil {
			opts = append(opts, retry.WithBudget(b))
		}
	}
	return opts
}

// special returns the entry of a method, or else of its service.
func (i *Interceptor) special(name string) Method {
	if m, ok := i.Methods[name]; ok {
		return m
	}
	return i.Methods[name[:strings.LastIndexByte(name, '/')+1]]
}

// firstSet returns the first value that is not zero.
func firstSet[T comparable](values ...T) (v T) {
	for _, v = range values {
		if v != *new(T) {
			return v
		}
	}
	return v
}
