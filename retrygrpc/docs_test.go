package retrygrpc_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrygrpc"
	"github.com/seed-89b3229b/retry/throttle"
)

// The blocks of docs/grpc.md and of its recipe, word for word.

func docsClient(target string, creds credentials.TransportCredentials) (*grpc.ClientConn, error) {
	calls := retrygrpc.New(retry.WithMaxAttempts(4), retry.WithAttemptTimeout(2*time.Second))
	conn, err := grpc.NewClient(target, append(calls.DialOptions(), grpc.WithTransportCredentials(creds))...)
	return conn, err
}

func docsServer(queue interface{ Full() bool }) (*testpb.Empty, error) {
	if queue.Full() {
		return nil, retrygrpc.After(2*time.Second, status.Error(codes.ResourceExhausted, "queue is full"))
	}
	return new(testpb.Empty), nil
}

func docsInterceptor(policy, patient *retry.Policy) *retrygrpc.Interceptor {
	calls := &retrygrpc.Interceptor{
		Policy: policy,
		Methods: map[string]retrygrpc.Method{
			"/shop.Orders/":      {Policy: patient},
			"/shop.Orders/Place": {Idempotent: throttle.Yes}, // it carries a key of ours
		},
		Codes:  map[codes.Code]retrygrpc.Repeat{codes.Aborted: retrygrpc.RepeatIdempotent},
		Budget: func(target string) throttle.Budget { return throttle.NewFailureBudget() }, // gRPC's retryThrottling
		Gate:   new(throttle.Gate),                                                         // who is told to wait holds the others back
	}
	return calls
}

type full bool

func (f full) Full() bool { return bool(f) }

func TestDocs(t *testing.T) {
	conn, err := docsClient("passthrough:///nowhere", insecure.NewCredentials())
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	_, err = docsServer(full(true))
	requireCode(t, codes.ResourceExhausted, err)
	_, err = docsServer(full(false))
	require.NoError(t, err)
	require.NoError(t, docsInterceptor(new(retry.Policy), new(retry.Policy)).Validate())

	page, err := os.ReadFile("../docs/grpc.md")
	require.NoError(t, err)
	code, err := os.ReadFile("docs_test.go")
	require.NoError(t, err)
	spaces := regexp.MustCompile(`[ \t]+`)
	compiled := spaces.ReplaceAllString(string(code), "")
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	require.Len(t, blocks, 3)
	for _, block := range blocks {
		require.True(t, strings.Contains(compiled, spaces.ReplaceAllString(block[1], "")), "no test compiles this block:\n%s", block[1])
	}
}
