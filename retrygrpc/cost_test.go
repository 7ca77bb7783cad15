package retrygrpc_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/observe"
	"github.com/seed-89b3229b/retry/retrygrpc"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func TestAllocs(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	i := retrygrpc.New()
	invoker := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { i.Unary(t.Context(), emptyCall, nil, nil, nil, invoker) }), 4.0, "the interceptor alone")

	measure := func(i *retrygrpc.Interceptor) (unary, stream float64) {
		connectedTo(t, i, &flaky{n: new(atomic.Int64), sound: true}, func(client testpb.TestServiceClient) {
			unary = testing.AllocsPerRun(500, func() { client.EmptyCall(t.Context(), new(testpb.Empty)) })
		})
		connectedTo(t, i, &endless{}, func(client testpb.TestServiceClient) {
			stream = testing.AllocsPerRun(500, func() {
				s, err := client.FullDuplexCall(t.Context())
				require.NoError(t, err)
				s.Send(&request{})
				s.Recv()
				s.CloseSend()
				s.Recv()
			})
		})
		return unary, stream
	}
	unary, stream := measure(nil)
	withUnary, withStream := measure(i)
	t.Logf("unary %v, with retries %v; stream %v, with retries %v", unary, withUnary, stream, withStream)
	require.LessOrEqual(t, withUnary-unary, 6.5)
	require.LessOrEqual(t, withStream-stream, 18.5)
}

func BenchmarkInterceptor(b *testing.B) {
	i := retrygrpc.New()
	invoker := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		i.Unary(b.Context(), emptyCall, nil, nil, nil, invoker)
	}
}

func TestTelemetry(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	i := times(2, retry.WithObserver(observe.New(observe.WithTracerProvider(provider))))
	inBubble(t, i, &backend{empty: answers(down, nil), duplex: func(duplexServer, int) error { return down }}, func(w *world) {
		_, err := w.call(w.Context())
		require.NoError(w, err)
	})
	var names []string
	for _, s := range recorder.Ended() {
		names = append(names, s.Name())
		for _, a := range s.Attributes() {
			if a.Key == "error.type" {
				names = append(names, a.Value.AsString())
			}
		}
	}
	const name = "grpc.testing.TestService/EmptyCall"
	require.Equal(t, []string{name + " attempt", "UNAVAILABLE", name + " attempt", name}, names)
}

// foreign is a stream that is not gRPC's own: it knows no OnFinish.
type foreign struct {
	grpc.ClientStream
	header metadata.MD
	err    error
}

func (f *foreign) Header() (metadata.MD, error) { return f.header, f.err }
func (f *foreign) Trailer() metadata.MD         { return nil }
func (f *foreign) SendMsg(any) error            { return nil }
func (f *foreign) RecvMsg(any) error            { return f.err }
func (f *foreign) CloseSend() error             { return nil }

func TestForeignStreams(t *testing.T) {
	desc := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	for name, tc := range map[string]struct {
		stream  grpc.ClientStream
		fails   error
		n       int
		message any
		code    codes.Code
	}{
		"neither stream nor error":            {n: 1, code: codes.Internal},
		"cannot be made, perhaps sent":        {fails: down, n: 1, code: codes.Unavailable},
		"a header":                            {stream: &foreign{header: metadata.MD{}}, n: 1},
		"nothing is known: no repeat":         {stream: &foreign{}, n: 1},
		"an error of Header, idempotent":      {stream: &foreign{err: down}, n: 3, code: codes.Unavailable},
		"a message that is no proto message":  {stream: &foreign{}, n: 1, message: "text"},
		"a message that is no proto, failing": {stream: &foreign{err: down}, n: 3, code: codes.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			i, n := retrygrpc.New(atOnce...), 0
			opts := []grpc.CallOption{yes}
			if tc.fails != nil {
				opts = nil
			}
			s, err := i.Stream(t.Context(), desc, nil, "/a.S/M", func(context.Context, *grpc.StreamDesc, *grpc.ClientConn, string, ...grpc.CallOption) (grpc.ClientStream, error) {
				n++
				return tc.stream, tc.fails
			}, opts...)
			if err == nil {
				if tc.message != nil {
					require.NoError(t, s.SendMsg(tc.message))
				}
				require.NotPanics(t, func() { s.Header(); s.Trailer(); s.CloseSend() })
				err = s.RecvMsg(nil)
			}
			requireCode(t, tc.code, err)
			require.Equal(t, tc.n, n)
		})
	}
}
