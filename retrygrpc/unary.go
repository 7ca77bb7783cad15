package retrygrpc

import (
	"context"
	"reflect"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
)

// call is one unary call.
type call struct {
	ctx     context.Context // the caller's
	i       *Interceptor
	m       *method
	name    string
	req     any
	reply   any
	cc      *grpc.ClientConn
	invoker grpc.UnaryInvoker
	options callOptions

	number  int             // of attempts
	attempt context.Context // of the latest one
	err     error           // of the latest one
	wire    evidence
}

// Unary is a grpc.UnaryClientInterceptor. Header, Trailer and Peer that the caller asked for are those of the last attempt, and
// OnFinish is called once, at the end of the call. A header that the server has sent before it failed does not keep the call from
// being repeated: nothing of it has reached the caller.
func (i *Interceptor) Unary(ctx context.Context, name string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	c := &call{ctx: ctx, i: i, name: name, req: req, reply: reply, cc: cc, invoker: invoker, options: readOptions(opts)}
	c.m = i.methodOf(cc, name, false, &c.options)
	err := c.m.err
	if err == nil {
		_, err = retry.Do(ctx, c.try, c.m.policy)
	}
	err = surface(ctx, err)
	c.options.finished(err)
	return err
}

func (c *call) try(ctx context.Context) (*call, error) {
	c.number++
	c.attempt = ctx
	if c.number > 1 {
		c.options.reset()
		ctx = withPrevious(ctx, c.number-1)
	}
	c.err = c.invoker(ctx, c.name, c.req, c.reply, c.cc, c.wire.begin(c.options.passed)...)
	return c, c.err
}

func (c *call) classify(err error) throttle.Outcome {
	if err == nil {
		return throttle.Outcome{}
	}
	// err may be c.err within the executor's word that the attempt's time was up, which it adds again.
	f := &Failure{Method: c.name, Sent: c.wire.sent(), Err: c.err, status: statusOf(c.err)}
	if c.wire.opened() {
		f.Trailer = c.wire.trailer
	}
	own, ok := c.attempt.Deadline()
	if ok {
		if whole, limited := c.ctx.Deadline(); limited {
			ok = own.Before(whole)
		}
	}
	c.i.warnIfDoubled(c.ctx, c.cc, c.name, &c.options)
	return c.m.judge(f, ok, isShut(c.cc))
}

// evidence is what options of ours see of one attempt. gRPC writes the trailer if it had a stream on a transport, and reports the
// end of every call that it has seen the options of. Where it reports nothing, another interceptor has dropped them: the request may
// then have been sent.
type evidence struct {
	trailer metadata.MD
	ended   bool
	inline  [6]grpc.CallOption
}

// untouched is the trailer that was not written. It is told by its address, and empty to whoever looks at it.
var untouched = metadata.MD{}

func (e *evidence) begin(opts []grpc.CallOption) []grpc.CallOption {
	e.trailer, e.ended = untouched, false
	all := append(append(e.inline[:0], opts...), grpc.Trailer(&e.trailer), grpc.OnFinish(e.finished))
	return all[:len(all):len(all)]
}

func (e *evidence) finished(error) { e.ended = true }

func (e *evidence) opened() bool {
	return reflect.ValueOf(e.trailer).Pointer() != reflect.ValueOf(untouched).Pointer()
}

func (e *evidence) sent() bool { return e.opened() || !e.ended }

// attemptsKey is the metadata in which a client says how many attempts there were before this one.
const attemptsKey = "grpc-previous-rpc-attempts"

func withPrevious(ctx context.Context, n int) context.Context {
	md, ok := metadata.FromOutgoingContext(ctx) // a copy
	if !ok {
		md = metadata.MD{}
	}
	md.Set(attemptsKey, strconv.Itoa(n))
	return metadata.NewOutgoingContext(ctx, md)
}
