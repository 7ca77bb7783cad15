package retrygrpc_test

import (
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrygrpc"
	"github.com/seed-89b3229b/retry/strategy"
)

// random is a server of streams that fails here and there; counts are not its business.
type random struct {
	testpb.UnimplementedTestServiceServer
	mu sync.Mutex
	r  *rand.Rand
}

func (s *random) draw(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.IntN(n)
}

// FullDuplexCall answers with the sum of what it got, once the client has closed its side.
func (s *random) FullDuplexCall(st duplexServer) error {
	stop := s.draw(40)
	var sum int32
	for i := 0; ; i++ {
		if i == stop && s.draw(3) > 0 {
			return down
		}
		m, err := st.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if m.ResponseParameters[0].Size != int32(i) {
			return status.Errorf(codes.Internal, "message %d came as number %d", m.ResponseParameters[0].Size, i)
		}
		sum += m.ResponseParameters[0].Size
	}
	if s.draw(4) == 0 {
		return down
	}
	return st.Send(&response{Payload: &testpb.Payload{Body: []byte{byte(sum), byte(sum >> 8)}}})
}

// Concurrent streams, each with a sender and a receiver, on a server that fails at random: what is acknowledged is complete, in
// order, and nothing twice. sourcegraph-public-snapshot#59145 and failsafe-go#136 are what must not be.
func TestConcurrentSafeStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &random{r: rand.New(rand.NewPCG(1, 2))}
		i := times(8, retry.WithStrategy(strategy.Constant{}))
		connectedTo(t, i, server, func(client testpb.TestServiceClient) {
			var ok, failed atomic.Int64
			var wg sync.WaitGroup
			for range 300 {
				wg.Go(func() {
					s, err := client.FullDuplexCall(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					wg.Go(func() {
						for i := range int32(30) {
							if s.Send(&request{ResponseParameters: []*testpb.ResponseParameters{{Size: i}}}) != nil {
								return
							}
						}
						s.CloseSend()
					})
					m, err := s.Recv()
					if err != nil {
						if status.Code(err) != codes.Unavailable {
							t.Error(err)
						}
						failed.Add(1)
						return
					}
					if got := int(m.Payload.Body[0]) | int(m.Payload.Body[1])<<8; got != 29*30/2 {
						t.Errorf("sum %d", got)
					}
					if _, err := s.Recv(); err != io.EOF {
						t.Error(err)
					}
					ok.Add(1)
				})
			}
			wg.Wait()
			require.EqualValues(t, 300, ok.Load()+failed.Load())
			require.Greater(t, ok.Load(), int64(200), "most succeed within eight attempts")
		})
	})
}

// A bubble does not end before all of its goroutines have, so that one that is left over fails the test.
func TestStreamsLeaveNothing(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 400
	}
	synctest.Test(t, func(t *testing.T) {
		b := &endless{}
		connectedTo(t, times(2), b, func(client testpb.TestServiceClient) {
			ended := 0
			for k := range n {
				ctx, cancel := context.WithCancel(t.Context())
				s, err := client.FullDuplexCall(ctx, grpc.OnFinish(func(error) { ended++ }))
				require.NoError(t, err)
				switch k % 4 {
				case 0: // to its good end
					require.NoError(t, s.Send(&request{}))
					_, err = s.Recv()
					require.NoError(t, err)
					require.NoError(t, s.CloseSend())
					_, err = s.Recv()
					require.Equal(t, io.EOF, err)
				case 1: // cancelled, established
					require.NoError(t, s.Send(&request{}))
					_, err = s.Recv()
					require.NoError(t, err)
					cancel()
				case 2: // cancelled before anything came
					cancel()
					_, err = s.Recv()
					requireCode(t, codes.Canceled, err)
				case 3: // failed
					require.NoError(t, s.Send(&request{Payload: &testpb.Payload{}}))
					_, err = s.Recv()
					requireCode(t, codes.Unavailable, err)
				}
				cancel()
				synctest.Wait()
			}
			require.Equal(t, n, ended)
		})
	})
}

// endless echoes, and fails at a message with a payload.
type endless struct {
	testpb.UnimplementedTestServiceServer
}

func (*endless) FullDuplexCall(s duplexServer) error {
	for {
		m, err := s.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if m.Payload != nil {
			return down
		}
		if err := s.Send(&response{}); err != nil {
			return err
		}
	}
}

func TestConcurrentSafeUnary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		i := times(3)
		connectedTo(t, i, &flaky{n: &n}, func(client testpb.TestServiceClient) {
			var wg sync.WaitGroup
			for range 200 {
				wg.Go(func() {
					if _, err := client.EmptyCall(t.Context(), new(testpb.Empty)); err != nil && status.Code(err) != codes.Unavailable {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		})
	})
}

type flaky struct {
	testpb.UnimplementedTestServiceServer
	n     *atomic.Int64
	sound bool
}

func (f *flaky) EmptyCall(ctx context.Context, _ *testpb.Empty) (*testpb.Empty, error) {
	if !f.sound && f.n.Add(1)%3 == 0 {
		return nil, retrygrpc.After(time.Millisecond, down)
	}
	return new(testpb.Empty), nil
}
