package retrygrpc_test

import (
	"context"
	"errors"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrygrpc"
)

// What server and client do, one after the other: the cases of grpc-go's TestRetryStreaming (test/retry_test.go) are lists of these.
type (
	serverStep func(s duplexServer) error
	clientStep func(s testpb.TestService_FullDuplexCallClient) error
)

func body(n int, b byte) *testpb.Payload { return &testpb.Payload{Body: append(make([]byte, n-1), b)} }

func gets(n int, b byte) serverStep {
	return func(s duplexServer) error {
		m, err := s.Recv()
		if err != nil || string(m.GetPayload().GetBody()) != string(body(n, b).Body) {
			return status.Errorf(codes.Internal, "server got %v, %v; want %d", m, err, b)
		}
		return nil
	}
}

func getsEnd(s duplexServer) error {
	if m, err := s.Recv(); err != io.EOF {
		return status.Errorf(codes.Internal, "server got %v, %v; want the end", m, err)
	}
	return nil
}

func gives(b byte) serverStep {
	return func(s duplexServer) error { return s.Send(&response{Payload: body(1, b)}) }
}

func fails(c codes.Code) serverStep {
	return func(duplexServer) error { return status.Error(c, "as told") }
}

func givesHeader(s duplexServer) error { return s.SendHeader(metadata.Pairs("h", "v")) }

func pushes(values ...string) serverStep {
	return func(s duplexServer) error { s.SetTrailer(metadata.MD{pushbackKey: values}); return nil }
}

func follows(n int) serverStep {
	return func(s duplexServer) error {
		md, _ := metadata.FromIncomingContext(s.Context())
		if got := md[attemptsKey]; len(got) != 1 || got[0] != strconv.Itoa(n) || retrygrpc.PreviousAttempts(s.Context()) != n {
			return status.Errorf(codes.Internal, "previous attempts %v, want %d", got, n)
		}
		return nil
	}
}

func sends(n int, b byte) clientStep {
	return func(s testpb.TestService_FullDuplexCallClient) error { return s.Send(&request{Payload: body(n, b)}) }
}

func receives(b byte) clientStep {
	return func(s testpb.TestService_FullDuplexCallClient) error {
		m, err := s.Recv()
		if err != nil || string(m.GetPayload().GetBody()) != string([]byte{b}) {
			return errors.Join(errors.New("not what was to come: "+m.String()), err)
		}
		return nil
	}
}

func ends(c codes.Code) clientStep {
	return func(s testpb.TestService_FullDuplexCallClient) error {
		_, err := s.Recv()
		if c == codes.OK && err == io.EOF || c != codes.OK && status.Code(err) == c {
			return nil
		}
		return errors.Join(errors.New("want "+c.String()), err)
	}
}

func closes(s testpb.TestService_FullDuplexCallClient) error { return s.CloseSend() }

func wantsHeader(key string) clientStep {
	return func(s testpb.TestService_FullDuplexCallClient) error {
		md, err := s.Header()
		if key != "" && len(md.Get(key)) == 0 {
			return errors.New("no header")
		}
		return err
	}
}

func wantsContext(s testpb.TestService_FullDuplexCallClient) error { s.Context(); return nil }

func TestStreamCases(t *testing.T) {
	const u = codes.Unavailable
	type ss = []serverStep
	type cs = []clientStep
	for name, tc := range map[string]struct {
		server ss
		client cs
		took   time.Duration
	}{
		"not worth a retry":                   {ss{gets(1, 1), fails(codes.Internal)}, cs{sends(1, 1), ends(codes.Internal)}, 0},
		"G26 one retry":                       {ss{gets(1, 1), fails(u), gets(1, 1), follows(1), gives(1)}, cs{sends(1, 1), receives(1), ends(codes.OK)}, 5 * ms},
		"exhausted":                           {ss{gets(1, 1), fails(u), gets(1, 1), follows(1), fails(u), follows(2), gets(1, 1), fails(u), follows(3), gets(1, 1), fails(u)}, cs{sends(1, 1), ends(u)}, 15 * ms},
		"several messages":                    {ss{gets(1, 1), gets(1, 2), fails(u), gets(1, 1), gets(1, 2), gives(5)}, cs{sends(1, 1), sends(1, 2), receives(5), ends(codes.OK)}, 5 * ms},
		"G27 several failures":                {ss{gets(1, 1), fails(u), gets(1, 1), gets(1, 2), fails(u), gets(1, 1), gets(1, 2), gets(1, 3), gives(5)}, cs{sends(1, 1), sends(1, 2), sends(1, 3), receives(5), ends(codes.OK)}, 10 * ms},
		"G28 the closed side is closed again": {ss{gets(1, 1), gets(1, 2), getsEnd, fails(u), gets(1, 1), gets(1, 2), getsEnd, gives(1), gives(3), gives(5)}, cs{sends(1, 1), sends(1, 2), closes, receives(1), receives(3), receives(5), ends(codes.OK)}, 5 * ms},
		"only the closed side":                {ss{getsEnd, fails(u), getsEnd, gives(1)}, cs{closes, receives(1), ends(codes.OK)}, 5 * ms},
		"G29 no retry after a message":        {ss{gets(1, 1), fails(u), gets(1, 1), gives(3), fails(u)}, cs{sends(1, 1), receives(3), ends(u)}, 5 * ms},
		"retry seen by Header":                {ss{gets(1, 1), fails(u), gets(1, 1), follows(1)}, cs{sends(1, 1), wantsHeader(""), ends(codes.OK)}, 5 * ms},
		"G30 no retry after the header":       {ss{gets(1, 1), givesHeader, fails(u)}, cs{sends(1, 1), wantsHeader("h"), ends(u), wantsHeader("h")}, 0},
		"G31 no retry after Context":          {ss{gets(1, 1), fails(u)}, cs{wantsContext, sends(1, 1), ends(u)}, 0},
		"G32 more than fits":                  {ss{gets(500, 1), fails(u)}, cs{sends(500, 1), ends(u)}, 0},
		"pushback -1":                         {ss{gets(1, 1), pushes("-1"), fails(u)}, cs{sends(1, 1), ends(u)}, 0},
		"pushback that is no number":          {ss{gets(1, 1), pushes("xxx"), fails(u)}, cs{sends(1, 1), ends(u)}, 0},
		"two pushbacks":                       {ss{gets(1, 1), pushes("100", "10"), fails(u)}, cs{sends(1, 1), ends(u)}, 0},
		"G36 pushback":                        {ss{gets(1, 1), pushes("300"), fails(u), gets(1, 1), gives(2)}, cs{sends(1, 1), receives(2), ends(codes.OK)}, 300 * ms},
		"sent between two attempts":           {ss{fails(u), gets(1, 1), gives(2)}, cs{func(testpb.TestService_FullDuplexCallClient) error { time.Sleep(ms); return nil }, sends(1, 1), receives(2), ends(codes.OK)}, 5 * ms},
		"too much, between two attempts":      {ss{gets(1, 1), fails(u), gets(1, 1), gets(500, 2), fails(u)}, cs{sends(1, 1), func(testpb.TestService_FullDuplexCallClient) error { time.Sleep(ms); return nil }, sends(500, 2), ends(u)}, 5 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			at := 0
			b := &backend{duplex: func(s duplexServer, n int) error {
				for at < len(tc.server) {
					at++
					if err := tc.server[at-1](s); err != nil {
						return err
					}
				}
				return nil
			}}
			inBubble(t, times(4), b, func(w *world) {
				start := time.Now()
				s := w.stream(w.Context())
				for n, step := range tc.client {
					require.NoError(w, step(s), "step %d", n)
				}
				require.Equal(w, len(tc.server), at)
				require.Equal(w, tc.took, time.Since(start))
			}, grpc.WithDefaultCallOptions(grpc.MaxRetryRPCBufferSize(200)))
		})
	}
}

func TestG18HeaderOfAServerStream(t *testing.T) {
	b := &backend{down: func(s downServer, n int) error {
		s.SendHeader(metadata.Pairs("h", "1"))
		push(s.Context(), "5")
		return down
	}}
	inBubble(t, times(4), b, func(w *world) {
		s, err := w.client.StreamingOutputCall(w.Context(), new(request))
		require.NoError(w, err)
		_, err = s.Recv()
		requireCode(w, codes.Unavailable, err)
		require.Len(w, w.at, 1)
		h, err := s.Header()
		require.NoError(w, err)
		require.Equal(w, []string{"1"}, h.Get("h"))
		require.Equal(w, []string{"5"}, s.Trailer().Get(pushbackKey))
	})
}

func TestG33ClientStream(t *testing.T) {
	b := &backend{up: func(s upServer, n int) error {
		for sum := 0; ; {
			m, err := s.Recv()
			if err == io.EOF {
				return s.SendAndClose(&testpb.StreamingInputCallResponse{AggregatedPayloadSize: int32(sum)})
			}
			if err != nil {
				return err
			}
			if sum += len(m.Payload.Body); n == 1 && sum >= 1000 || n == 2 && sum >= 50_000 {
				return down
			}
		}
	}}
	inBubble(t, times(4), b, func(w *world) {
		s, err := w.client.StreamingInputCall(w.Context())
		require.NoError(w, err)
		for range 100 {
			require.NoError(w, s.Send(&testpb.StreamingInputCallRequest{Payload: body(1000, 1)}))
		}
		r, err := s.CloseAndRecv()
		require.NoError(w, err)
		require.EqualValues(w, 100_000, r.AggregatedPayloadSize)
		require.Len(w, w.at, 3)
	})
}

// An echo server whose answers nobody reads while the replay goes on, more than the windows hold: with a replay before the wait for
// the header, both sides would wait for ever.
func TestG34ReplayBesideTheHeader(t *testing.T) {
	i := times(4)
	i.BufferBytes = 16 << 20
	b := &backend{duplex: func(s duplexServer, n int) error {
		for k := 1; ; k++ {
			m, err := s.Recv()
			switch {
			case err == io.EOF:
				return nil
			case err != nil:
				return err
			case n == 1 && k == 2000:
				return down
			case n == 1:
				continue
			}
			if err := s.Send(&response{Payload: m.Payload}); err != nil {
				return err
			}
		}
	}}
	inBubble(t, i, b, func(w *world) {
		s := w.stream(w.Context())
		for range 2000 {
			require.NoError(w, s.Send(&request{Payload: body(1000, 1)}))
		}
		require.NoError(w, s.CloseSend())
		got := 0
		for {
			if _, err := s.Recv(); err != nil {
				require.Equal(w, io.EOF, err)
				break
			}
			got++
		}
		require.Equal(w, 2000, got)
		require.Len(w, w.at, 2)
	})
}

// grpc-ecosystem/go-grpc-middleware#636: the timeout of an attempt ended streams that had been established.
func TestG35NoTimeoutOfAStream(t *testing.T) {
	for name, o := range map[string]retry.Option{"timeout": retry.WithAttemptTimeout(50 * ms), "share": retry.WithAttemptTimeoutShare(0.01, 0)} {
		t.Run(name, func(t *testing.T) {
			b := &backend{down: func(s downServer, n int) error {
				for range 5 {
					time.Sleep(60 * ms)
					if err := s.Send(new(response)); err != nil {
						return err
					}
				}
				return nil
			}}
			inBubble(t, times(4, retry.WithMaxElapsed(time.Minute), o), b, func(w *world) {
				s, err := w.client.StreamingOutputCall(w.Context(), new(request))
				require.NoError(w, err)
				for range 5 {
					_, err := s.Recv()
					require.NoError(w, err)
				}
				_, err = s.Recv()
				require.Equal(w, io.EOF, err)
				require.Equal(w, []time.Duration{0}, w.deadline)
			})
		})
	}
}

func TestG37EndWithoutAnything(t *testing.T) {
	inBubble(t, times(4), &backend{down: func(downServer, int) error { return nil }}, func(w *world) {
		var finished []error
		s, err := w.client.StreamingOutputCall(w.Context(), new(request), grpc.OnFinish(func(err error) { finished = append(finished, err) }))
		require.NoError(w, err)
		_, err = s.Recv()
		require.Equal(w, io.EOF, err)
		require.Len(w, w.at, 1)
		require.Equal(w, []error{nil}, finished)
	})
}

func TestG38Panic(t *testing.T) {
	i := times(4, retry.WithOnRetry(func(context.Context, retry.Event) { panic("boom") }))
	inBubble(t, i, &backend{duplex: func(s duplexServer, n int) error { s.Recv(); return down }}, func(w *world) {
		s := w.stream(w.Context())
		require.NoError(w, s.CloseSend())
		require.PanicsWithValue(w, "boom", func() { s.Recv() })
		require.PanicsWithValue(w, "boom", func() { s.Send(new(request)) })
	})
}

func TestG42ConnectionClosed(t *testing.T) {
	t.Run("waiting for the header", func(t *testing.T) {
		inBubble(t, times(4), &backend{duplex: func(s duplexServer, n int) error { <-s.Context().Done(); return s.Context().Err() }}, func(w *world) {
			s := w.stream(w.Context())
			start := time.Now()
			time.AfterFunc(20*ms, func() { w.conn.Close() })
			_, err := s.Recv()
			require.Contains(w, []codes.Code{codes.Canceled, codes.Unavailable}, status.Code(err))
			require.Equal(w, 20*ms, time.Since(start))
		})
	})
	t.Run("between two attempts", func(t *testing.T) {
		inBubble(t, times(4), &backend{duplex: func(s duplexServer, n int) error { push(s.Context(), "5000"); return down }}, func(w *world) {
			s := w.stream(w.Context())
			start := time.Now()
			time.AfterFunc(20*ms, func() { w.conn.Close() })
			_, err := s.Recv()
			require.Contains(w, []codes.Code{codes.Canceled, codes.Unavailable}, status.Code(err))
			require.Equal(w, 5*time.Second, time.Since(start))
			require.Len(w, w.at, 1)
		})
	})
}

// Generated code returns an error of SendMsg as that of the call, and io.EOF would say nothing.
func TestServerStreamFailsBeforeItsRequest(t *testing.T) {
	inBubble(t, times(1), &backend{down: func(downServer, int) error { return status.Error(codes.PermissionDenied, "no") }}, func(w *world) {
		desc := &grpc.StreamDesc{ServerStreams: true}
		s, err := w.conn.NewStream(w.Context(), desc, service+"Nothing") // which the server does not have: it answers at once
		require.NoError(w, err)
		time.Sleep(time.Second)
		require.NoError(w, s.SendMsg(new(request)))
		require.NoError(w, s.CloseSend())
		requireCode(w, codes.Unimplemented, s.RecvMsg(new(response)))
	})
	inBubble(t, times(1), &backend{duplex: func(duplexServer, int) error { return status.Error(codes.PermissionDenied, "no") }}, func(w *world) {
		s := w.stream(w.Context())
		time.Sleep(time.Second)
		require.Equal(w, io.EOF, s.Send(new(request)))
		_, err := s.Recv()
		requireCode(w, codes.PermissionDenied, err)
	})
}

// A stream that the caller cancels: letsencrypt/boulder#6366 is the opposite mistake, a context cancelled when the interceptor returns.
func TestStreamContexts(t *testing.T) {
	inBubble(t, times(4), &backend{duplex: func(s duplexServer, n int) error {
		s.Recv()
		if n == 1 {
			return down
		}
		s.Send(new(response))
		time.Sleep(time.Hour)
		return s.Context().Err()
	}}, func(w *world) {
		finished := 0
		s := w.stream(w.Context(), grpc.OnFinish(func(error) { finished++ }))
		require.NoError(w, s.Send(new(request)))
		_, err := s.Recv()
		require.NoError(w, err)
		_, err = s.Recv()
		require.Equal(w, io.EOF, err, "an hour later the stream still lives")
		require.Equal(w, 1, finished)
	})
	inBubble(t, times(4), &backend{duplex: func(s duplexServer, n int) error { <-s.Context().Done(); return nil }}, func(w *world) {
		ctx, cancel := context.WithCancel(w.Context())
		finished := 0
		s := w.stream(ctx, grpc.OnFinish(func(error) { finished++ }))
		time.AfterFunc(time.Second, cancel)
		_, err := s.Recv()
		requireCode(w, codes.Canceled, err)
		require.ErrorIs(w, err, context.Canceled)
		require.Equal(w, 1, finished)
		md, err := s.Header()
		require.NoError(w, err)
		require.Nil(w, md)
	})
}
