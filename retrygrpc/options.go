package retrygrpc

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

type (
	dialled      struct{ grpc.EmptyCallOption } // the connection was made with DialOptions
	policyOption struct {
		grpc.EmptyCallOption
		policy *retry.Policy
	}
	idempotentOption struct {
		grpc.EmptyCallOption
		idempotent throttle.Tri
	}
)

// WithPolicy makes the attempts of this call by p; it wins over the policies of the Method and the Interceptor. Keep p and use it
// again: what is derived from it is remembered by its pointer. Nil changes nothing.
func WithPolicy(p *retry.Policy) grpc.CallOption { return policyOption{policy: p} }

// WithIdempotent says for this call whether a request that the server may have seen can be sent again; it wins over everything.
func WithIdempotent(yes bool) grpc.CallOption {
	if yes {
		return idempotentOption{idempotent: throttle.Yes}
	}
	return idempotentOption{idempotent: throttle.No}
}

// callOptions are what the options of a call mean here.
type callOptions struct {
	policy     *retry.Policy
	idempotent throttle.Tri
	dialled    bool
	limited    bool // buffer counts
	buffer     int
	passed     []grpc.CallOption // for every attempt: all but OnFinish
	finish     []func(error)     // of OnFinish, for the end of the call
}

func readOptions(opts []grpc.CallOption) (c callOptions) {
	c.passed = opts
	for n, o := range opts {
		switch o := o.(type) {
		case policyOption:
			if o.policy != nil {
				c.policy = o.policy
			}
		case idempotentOption:
			c.idempotent = o.idempotent
		case dialled:
			c.dialled = true
		case grpc.MaxRetryRPCBufferSizeCallOption:
			c.limited, c.buffer = true, o.MaxRetryRPCBufferSize
		case grpc.OnFinishCallOption:
			if c.finish == nil {
				c.passed = append([]grpc.CallOption(nil), opts[:n]...)
			}
			c.finish = append(c.finish, o.OnFinish)
			continue
		}
		if c.finish != nil {
			c.passed = append(c.passed, o)
		}
	}
	return c
}

// finished calls the caller's OnFinish functions.
func (c *callOptions) finished(err error) {
	for _, f := range c.finish {
		if f != nil {
			f(err)
		}
	}
}

// reset empties what an attempt before this one has written: gRPC leaves it as it is if the attempt gets no stream.
func (c *callOptions) reset() {
	for _, o := range c.passed {
		switch o := o.(type) {
		case grpc.HeaderCallOption:
			clearTo(o.HeaderAddr)
		case grpc.TrailerCallOption:
			clearTo(o.TrailerAddr)
		case grpc.PeerCallOption:
			clearTo[peer.Peer](o.PeerAddr)
		}
	}
}

func clearTo[T metadata.MD | peer.Peer](address *T) {
	if address != nil {
		*address = *new(T)
	}
}
