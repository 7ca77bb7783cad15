package retrygrpc_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retrygrpc"
	"github.com/seed-89b3229b/retry/throttle"
)

// Mistakes of other libraries, and the tests that hold this one to not making them:
//
//	https://github.com/grpc-ecosystem/go-grpc-middleware/issues/636  the attempt's timeout ends a stream: TestG35NoTimeoutOfAStream
//	https://github.com/TheThingsNetwork/lorawan-stack/pull/5121      messages kept without limit: TestStreamCases, G32
//	https://github.com/sourcegraph/sourcegraph-public-snapshot/pull/59145  a repeat after the first message: TestStreamCases, G29
//	https://github.com/letsencrypt/boulder/pull/6366                 a stream's context ends with the interceptor: TestStreamContexts
//	https://github.com/etcd-io/jetcd/issues/1444                     UNAVAILABLE repeated for writes: TestG14UnsafeFailureCostsNothing
//	https://github.com/googleapis/google-cloud-ruby/issues/1572      the same: TestWithoutEvidenceItWasSent
//	go-grpc-middleware reads no pushback and no RetryInfo:           TestUnaryCases, G07; TestG13RetryInfo
//	go-grpc-middleware refuses client streams:                       TestG33ClientStream
//	grpc-go sleeps into the deadline:                                TestUnaryCases, G21
//	header and trailer of an earlier attempt are left:               TestG25NothingOfAnEarlierAttempt

type callKey struct{}

// https://github.com/failsafe-go/failsafe-go/issues/136 and 122: contexts of concurrent calls were mixed up, and their values lost.
func TestConcurrentSafeContexts(t *testing.T) {
	i := retrygrpc.New(atOnce...)
	var wg sync.WaitGroup
	for n := range 200 {
		wg.Go(func() {
			ctx := context.WithValue(t.Context(), callKey{}, n)
			seen := 0
			i.Unary(ctx, "/a.S/M", nil, nil, nil, func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
				if ctx.Value(callKey{}) == n {
					seen++
				}
				return down
			}, yes)
			if seen != 3 {
				t.Errorf("%d of 3 attempts had the call's own value", seen)
			}
		})
	}
	wg.Wait()
}

// What is known of a failure by its code alone is judged as package condition judges it.
func TestAgreesWithCondition(t *testing.T) {
	i := retrygrpc.New(append(atOnce, retry.WithAttemptTimeout(time.Hour))...)
	for c := codes.Canceled; c <= codes.Unauthenticated; c++ {
		err := status.Error(c, "x")
		want := 1
		if condition.GRPC().Check(err) == condition.Retry {
			want = 3
		}
		require.Equal(t, want, attempts(t, i, "/a.S/M", err, yes), c)
	}
}

// Budgets, keys and policies are made once for a method, and forgotten when a thousand others came.
func TestManyTargetsAndMethods(t *testing.T) {
	i, budgets, keys := retrygrpc.New(atOnce...), 0, 0
	i.Budget = func(string) throttle.Budget { budgets++; return nil }
	i.Gate = new(throttle.Gate)
	i.Keys = func(target, method string, all []throttle.Key) []throttle.Key {
		keys++
		return append(all, throttle.Key(method))
	}
	for range 3 {
		for n := range 900 {
			require.Equal(t, 1, attempts(t, i, fmt.Sprint("/a.S/M", n), down))
		}
	}
	require.Equal(t, 1, budgets)
	require.Equal(t, 900, keys)
	for n := range 5000 {
		attempts(t, i, fmt.Sprint("/b.S/M", n), down)
	}
	attempts(t, i, "/a.S/M0", down)
	require.Equal(t, 5901, keys, "the first was forgotten")
	require.Equal(t, 1, budgets, "a target that is in use is not")
}

// dropping is an interceptor below the retries that passes no options on, as some do.
func dropping(ctx context.Context, name string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, _ ...grpc.CallOption) error {
	return invoker(ctx, name, req, reply, cc)
}

func TestOptionsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := unsafe(4)
		dial(t, nil, new(testpb.UnimplementedTestServiceServer), func(conn *grpc.ClientConn, server *grpc.Server) {
			server.Stop()
			_, err := testpb.NewTestServiceClient(conn).EmptyCall(t.Context(), new(testpb.Empty))
			requireCode(t, codes.Unavailable, err)
			_, gaveUp := err.(interface{ Unwrap() error })
			require.False(t, gaveUp, "it may have been sent: one attempt, and its own error")
		}, append(i.DialOptions(), grpc.WithChainUnaryInterceptor(dropping))...)
	})
}
