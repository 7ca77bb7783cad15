package retrygrpc_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrygrpc"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ms          = time.Millisecond
	pushbackKey = "grpc-retry-pushback-ms"
	attemptsKey = "grpc-previous-rpc-attempts"
	emptyCall   = "/grpc.testing.TestService/EmptyCall"
	service     = "/grpc.testing.TestService/"
)

var (
	down = status.Error(codes.Unavailable, "down")
	yes  = retrygrpc.WithIdempotent(true)
)

type (
	duplexServer = testpb.TestService_FullDuplexCallServer
	upServer     = testpb.TestService_StreamingInputCallServer
	downServer   = testpb.TestService_StreamingOutputCallServer
	request      = testpb.StreamingOutputCallRequest
	response     = testpb.StreamingOutputCallResponse
)

// backend is a server by functions; n counts requests of all methods from 1.
type backend struct {
	testpb.UnimplementedTestServiceServer
	empty  func(ctx context.Context, n int) error
	duplex func(s duplexServer, n int) error
	up     func(s upServer, n int) error
	down   func(s downServer, n int) error

	began    time.Time
	at       []time.Duration
	previous [][]string
	deadline []time.Duration // 0: none
}

func (b *backend) enter(ctx context.Context) int {
	b.at = append(b.at, time.Since(b.began))
	md, _ := metadata.FromIncomingContext(ctx)
	b.previous = append(b.previous, md[attemptsKey])
	var left time.Duration
	if d, ok := ctx.Deadline(); ok {
		left = time.Until(d)
	}
	b.deadline = append(b.deadline, left)
	return len(b.at)
}

func (b *backend) EmptyCall(ctx context.Context, _ *testpb.Empty) (*testpb.Empty, error) {
	return new(testpb.Empty), b.empty(ctx, b.enter(ctx))
}

func (b *backend) UnaryCall(ctx context.Context, _ *testpb.SimpleRequest) (*testpb.SimpleResponse, error) {
	return new(testpb.SimpleResponse), b.empty(ctx, b.enter(ctx))
}
func (b *backend) FullDuplexCall(s duplexServer) error {
	return b.duplex(s, b.enter(s.Context()))
}
func (b *backend) StreamingInputCall(s upServer) error { return b.up(s, b.enter(s.Context())) }
func (b *backend) StreamingOutputCall(_ *request, s downServer) error {
	return b.down(s, b.enter(s.Context()))
}

// world is a backend and a connection to it.
type world struct {
	*testing.T
	*backend
	calls  *retrygrpc.Interceptor
	conn   *grpc.ClientConn
	client testpb.TestServiceClient
	server *grpc.Server
}

// inBubble runs f with a connection, in a bubble in which waits take no time.
func inBubble(t *testing.T, i *retrygrpc.Interceptor, b *backend, f func(w *world), opts ...grpc.DialOption) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { connected(t, i, b, f, opts...) })
}

func connected(t *testing.T, i *retrygrpc.Interceptor, b *backend, f func(w *world), opts ...grpc.DialOption) {
	dial(t, i, b, func(conn *grpc.ClientConn, server *grpc.Server) {
		b.began = time.Now()
		f(&world{t, b, i, conn, testpb.NewTestServiceClient(conn), server})
	}, opts...)
}

// connectedTo runs f with a connection to a server that may serve many calls at once.
func connectedTo(t *testing.T, i *retrygrpc.Interceptor, b testpb.TestServiceServer, f func(client testpb.TestServiceClient)) {
	dial(t, i, b, func(conn *grpc.ClientConn, _ *grpc.Server) { f(testpb.NewTestServiceClient(conn)) })
}

func dial(t *testing.T, i *retrygrpc.Interceptor, b testpb.TestServiceServer, f func(*grpc.ClientConn, *grpc.Server), opts ...grpc.DialOption) {
	l := bufconn.Listen(1 << 16)
	server := grpc.NewServer()
	testpb.RegisterTestServiceServer(server, b)
	done := make(chan struct{})
	go func() { defer close(done); server.Serve(l) }()
	opts = append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if i != nil {
		opts = append(opts, i.DialOptions()...)
	}
	conn, err := grpc.NewClient("passthrough:///backend", opts...)
	require.NoError(t, err)
	defer func() {
		conn.Close()
		server.Stop()
		<-done
	}()
	f(conn, server)
}

// call makes one unary call and returns its error and how long it took.
func (w *world) call(ctx context.Context, opts ...grpc.CallOption) (time.Duration, error) {
	start := time.Now()
	_, err := w.client.EmptyCall(ctx, new(testpb.Empty), opts...)
	took := time.Since(start)
	synctest.Wait() // the server's side of it, after a call that timed out
	return took, err
}

func (w *world) stream(ctx context.Context, opts ...grpc.CallOption) testpb.TestService_FullDuplexCallClient {
	w.Helper()
	s, err := w.client.FullDuplexCall(ctx, opts...)
	require.NoError(w, err)
	return s
}

// times is an interceptor with n attempts, 5 ms apart, of methods that are idempotent.
func times(n int, opts ...retry.Option) *retrygrpc.Interceptor {
	i := retrygrpc.New(append([]retry.Option{retry.WithMaxAttempts(n), retry.WithStrategy(strategy.Constant{Delay: 5 * ms})}, opts...)...)
	i.Methods = map[string]retrygrpc.Method{service: {Idempotent: throttle.Yes}}
	return i
}

// unsafe is times for methods that are not idempotent.
func unsafe(n int, opts ...retry.Option) *retrygrpc.Interceptor {
	i := times(n, opts...)
	i.Methods = nil
	return i
}

func push(ctx context.Context, values ...string) {
	grpc.SetTrailer(ctx, metadata.MD{pushbackKey: values})
}

// answers is a method that gives each error in turn, then the last one again and again.
func answers(errs ...error) func(context.Context, int) error {
	return func(_ context.Context, n int) error { return errs[min(n, len(errs))-1] }
}

// pushing answers down with a pushback.
func pushing(values ...string) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error { push(ctx, values...); return down }
}

func requireCode(t require.TestingT, want codes.Code, err error) {
	s, ok := status.FromError(err)
	require.True(t, ok, "no status: %v", err)
	require.Equal(t, want, s.Code(), "%v", err)
}
