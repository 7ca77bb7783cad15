package retrygrpc_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrygrpc"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

var atOnce = []retry.Option{retry.WithMaxAttempts(3), retry.WithStrategy(strategy.Constant{})}

// attempts makes a call without a connection, whose attempts fail with err, and returns how many there were.
func attempts(t *testing.T, i *retrygrpc.Interceptor, name string, err error, opts ...grpc.CallOption) (n int) {
	i.Unary(t.Context(), name, nil, nil, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
		n++
		return err
	}, opts...)
	return n
}

func TestIdempotencyLevel(t *testing.T) {
	method := func(name string, l descriptorpb.MethodOptions_IdempotencyLevel) *descriptorpb.MethodDescriptorProto {
		return &descriptorpb.MethodDescriptorProto{Name: &name, InputType: proto.String(".levels.M"), OutputType: proto.String(".levels.M"), Options: &descriptorpb.MethodOptions{IdempotencyLevel: l.Enum()}}
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("levels.proto"), Package: proto.String("levels"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("M")}},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("S"), Method: []*descriptorpb.MethodDescriptorProto{
			method("Get", descriptorpb.MethodOptions_NO_SIDE_EFFECTS), method("Put", descriptorpb.MethodOptions_IDEMPOTENT), method("Any", descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN),
			{Name: proto.String("Post"), InputType: proto.String(".levels.M"), OutputType: proto.String(".levels.M")},
		}}},
	}, nil)
	require.NoError(t, err)
	require.NoError(t, protoregistry.GlobalFiles.RegisterFile(file))
	i := retrygrpc.New(atOnce...)
	for name, want := range map[string]int{
		"/levels.S/Get": 3, "/levels.S/Put": 3, "levels.S/Get": 3, "/levels.S/Post": 1, "/levels.S/Any": 1, "/levels.S/None": 1, "/levels.S": 1, "/levels.S/": 1,
		"/levels.S/Get/x": 1, "/other.S/Get": 1, "": 1, "/": 1, "//": 1, "/levels.M/": 1,
	} {
		require.Equal(t, want, attempts(t, i, name, down), name)
	}
	require.Equal(t, 1, attempts(t, i, "/levels.S/Get", down, retrygrpc.WithIdempotent(false)))
	require.Equal(t, 3, attempts(t, i, "/levels.S/Post", down, yes))
	i = retrygrpc.New(atOnce...)
	i.Methods = map[string]retrygrpc.Method{"/levels.S/": {Idempotent: throttle.No}, "/levels.S/Post": {Idempotent: throttle.Yes}}
	require.Equal(t, 1, attempts(t, i, "/levels.S/Get", down))
	require.Equal(t, 3, attempts(t, i, "/levels.S/Post", down))
	require.Equal(t, 3, attempts(t, i, "/levels.S/Get", down, yes), "the call's word wins")
}

func TestWhichPolicy(t *testing.T) {
	with := func(n int) *retry.Policy {
		return retry.MustNew(retry.WithMaxAttempts(n), retry.WithStrategy(strategy.Constant{}))
	}
	i := &retrygrpc.Interceptor{Policy: with(2), Methods: map[string]retrygrpc.Method{"/a.S/": {Policy: with(3)}, "/a.S/M": {Policy: with(4)}, "/a.S/N": {}}}
	for name, want := range map[string]int{"/b.S/M": 2, "/a.S/X": 3, "/a.S/M": 4, "/a.S/N": 2} {
		require.Equal(t, want, attempts(t, i, name, down, yes), name)
		require.Equal(t, 6, attempts(t, i, name, down, yes, retrygrpc.WithPolicy(with(6)), retrygrpc.WithPolicy(nil)), name)
	}
}

func TestConditionsWidenOnlyWhatIsSafe(t *testing.T) {
	internal := status.Error(codes.Internal, "x")
	widened := retrygrpc.New(append(atOnce, retry.WithCondition(condition.Code(status.Code, codes.Internal)))...)
	require.Equal(t, 3, attempts(t, widened, "/a.S/M", internal, yes))
	require.Equal(t, 1, attempts(t, widened, "/a.S/M", internal))
	narrowed := retrygrpc.New(append(atOnce, retry.WithCondition(condition.Only(condition.Code(status.Code, codes.Internal))))...)
	require.Equal(t, 1, attempts(t, narrowed, "/a.S/M", down, yes))
	require.Equal(t, 3, attempts(t, narrowed, "/a.S/M", internal, yes))
}

// jetcd#1444, googleapis/google-cloud-ruby#1572: UNAVAILABLE was repeated for writes that the server may have done. A fake, or an
// interceptor that drops our options, is taken for one that has sent.
func TestWithoutEvidenceItWasSent(t *testing.T) {
	require.Equal(t, 1, attempts(t, retrygrpc.New(atOnce...), "/a.S/Write", down))
}

func TestValidate(t *testing.T) {
	type I = retrygrpc.Interceptor
	gate := &throttle.Gate{MaxKeys: -1}
	for name, tc := range map[string]struct {
		i    *I
		text string
	}{
		"nil":              {nil, "retry: Interceptor(nil): must not be nil"},
		"option":           {retrygrpc.New(retry.WithMaxAttempts(0)), "WithMaxAttempts"},
		"no slash":         {&I{Methods: map[string]retrygrpc.Method{"pkg.S/M": {}}}, `retry: Interceptor.Methods("pkg.S/M"): must be of the form`},
		"no method":        {&I{Methods: map[string]retrygrpc.Method{"/pkg.S": {}}}, `("/pkg.S")`},
		"empty":            {&I{Methods: map[string]retrygrpc.Method{"": {}}}, `("")`},
		"no service":       {&I{Methods: map[string]retrygrpc.Method{"//M": {}}}, `("//M")`},
		"too long":         {&I{Methods: map[string]retrygrpc.Method{"/pkg.S/M/x": {}}}, `("/pkg.S/M/x")`},
		"tri":              {&I{Methods: map[string]retrygrpc.Method{"/pkg.S/M": {Idempotent: 9}}}, "Method.Idempotent(invalid)"},
		"OK":               {&I{Codes: map[codes.Code]retrygrpc.Repeat{codes.OK: retrygrpc.RepeatAlways}}, "retry: Interceptor.Codes(OK): is no failure"},
		"code":             {&I{Codes: map[codes.Code]retrygrpc.Repeat{17: retrygrpc.RepeatAlways}}, "Interceptor.Codes(Code(17)): is no code of gRPC"},
		"repeat":           {&I{Codes: map[codes.Code]retrygrpc.Repeat{codes.Aborted: 7}}, "Interceptor.Codes(invalid): is no Repeat"},
		"repeat of method": {&I{Methods: map[string]retrygrpc.Method{"/pkg.S/M": {Codes: map[codes.Code]retrygrpc.Repeat{codes.Aborted: 7}}}}, "Method.Codes(invalid)"},
		"gate":             {&I{Gate: gate}, "Interceptor.Gate"},
		"parser":           {&I{Parser: hint.Parsers(nil)}, "Interceptor.Parser"},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.i.Validate()
			require.ErrorIs(t, err, retry.ErrConfig)
			require.ErrorContains(t, err, tc.text)
			require.Equal(t, 0, attempts(t, tc.i, "/pkg.S/M", down))
			ended := 0
			err = tc.i.Unary(t.Context(), "/pkg.S/M", nil, nil, nil, nil, grpc.OnFinish(func(error) { ended++ }))
			requireCode(t, codes.Internal, err)
			require.ErrorIs(t, err, retry.ErrConfig)
			s, err := tc.i.Stream(t.Context(), &grpc.StreamDesc{}, nil, "/pkg.S/M", nil, grpc.OnFinish(func(error) { ended++ }))
			require.Nil(t, s)
			requireCode(t, codes.Internal, err)
			require.Equal(t, 2, ended)
		})
	}
	require.NoError(t, new(I).Validate())
}

func TestG40TwiceRetried(t *testing.T) {
	const retries = `{"methodConfig":[{"name":[{"service":"grpc.testing.TestService"}],"retryPolicy":{"MaxAttempts":3,"InitialBackoff":".001s","MaxBackoff":".001s","BackoffMultiplier":1.0,"RetryableStatusCodes":["UNAVAILABLE"]}}]}`
	for name, tc := range map[string]struct{ with bool }{"with DialOptions": {true}, "without": {false}} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			i := times(3)
			i.Logger = slog.New(slog.NewTextHandler(&log, nil))
			given, opts := i, []grpc.DialOption{grpc.WithDefaultServiceConfig(retries)}
			requests, lines := 3, 0
			if !tc.with {
				given, opts = nil, append(opts, grpc.WithUnaryInterceptor(i.Unary))
				requests, lines = 9, 1
			}
			inBubble(t, given, &backend{empty: answers(down)}, func(w *world) {
				w.call(w.Context())
				require.Len(w, w.at, requests)
				w.call(w.Context())
			}, opts...)
			require.Equal(t, lines, strings.Count(log.String(), "\n"), log.String())
			if lines > 0 {
				require.Contains(t, log.String(), "level=WARN")
				require.Contains(t, log.String(), "DialOptions")
				require.Contains(t, log.String(), emptyCall)
			}
		})
	}
}

func TestFailureOfNothing(t *testing.T) {
	var f *retrygrpc.Failure
	require.Equal(t, "retrygrpc: no failure", f.Error())
	require.NoError(t, f.Unwrap())
	require.Nil(t, f.GRPCStatus())
	require.Empty(t, f.ErrorType())
	require.False(t, f.SafeToRetry())
	require.False(t, f.Timeout())
	_, ok := f.ThrottleSignal()
	require.False(t, ok)
	require.Negative(t, f.RetryAfter())

	f = &retrygrpc.Failure{Err: context.DeadlineExceeded}
	require.Equal(t, "DEADLINE_EXCEEDED", f.ErrorType())
	require.True(t, f.Timeout())
	require.Equal(t, "CANCELLED", (&retrygrpc.Failure{Err: context.Canceled}).ErrorType())
	require.Equal(t, condition.Retry, condition.NotSent().Check(f))
	require.Equal(t, condition.Unknown, condition.NotSent().Check(&retrygrpc.Failure{Err: down, Sent: true}))
	requireCode(t, codes.Unknown, new(retrygrpc.Failure).GRPCStatus().Err())
}

func TestAfter(t *testing.T) {
	require.NoError(t, retrygrpc.After(time.Second, nil))
	require.Equal(t, down, retrygrpc.After(-1, down))
	lost := errors.New("lost")
	for _, tc := range []struct {
		err  error
		code codes.Code
	}{{lost, codes.Unavailable}, {status.Error(codes.ResourceExhausted, "quota"), codes.ResourceExhausted}, {retrygrpc.After(time.Hour, lost), codes.Unavailable}} {
		err := retrygrpc.After(time.Second, tc.err)
		requireCode(t, tc.code, err)
		require.ErrorIs(t, err, tc.err)
		require.Len(t, status.Convert(err).Details(), 1)
		require.Contains(t, status.Convert(err).Proto().Details[0].String(), "seconds:1")
	}
}

func TestServerSide(t *testing.T) {
	for in, want := range map[string]int{"": 0, "0": 0, "3": 3, "2147483647": 2147483647, "2147483648": 0, "-1": 0, "+1": 0, "x": 0} {
		ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs(attemptsKey, in))
		require.Equal(t, want, retrygrpc.PreviousAttempts(ctx), in)
	}
	require.Zero(t, retrygrpc.PreviousAttempts(t.Context()))
	require.Zero(t, retrygrpc.PreviousAttempts(metadata.NewIncomingContext(t.Context(), metadata.Pairs(attemptsKey, "1", attemptsKey, "1"))))
	require.Error(t, retrygrpc.Pushback(t.Context(), time.Second), "no call")
	for d, want := range map[time.Duration]string{0: "0", 1: "1", time.Millisecond: "1", 1500 * time.Microsecond: "2", -1: "-1", 1<<63 - 1: "2147483647", -1 << 63: "-1"} {
		var got metadata.MD
		inBubble(t, times(1), &backend{empty: func(ctx context.Context, _ int) error { return retrygrpc.Pushback(ctx, d) }}, func(w *world) {
			_, err := w.client.EmptyCall(w.Context(), new(testpb.Empty), grpc.Trailer(&got))
			require.NoError(w, err)
		})
		require.Equal(t, []string{want}, got.Get(pushbackKey), d)
	}
}

func TestRepeatString(t *testing.T) {
	require.Equal(t, "never idempotent always invalid", strings.Join([]string{retrygrpc.RepeatNever.String(), retrygrpc.RepeatIdempotent.String(), retrygrpc.RepeatAlways.String(), retrygrpc.Repeat(9).String()}, " "))
}
