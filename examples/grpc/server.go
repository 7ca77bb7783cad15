package main

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	shop "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/seed-89b3229b/retry/retrygrpc"
)

// server fails a call as often as it must be shown. That it has failed before it knows from the client.
type server struct {
	shop.UnimplementedTestServiceServer
	address string
	grpc    *grpc.Server
	done    chan struct{}
}

func startServer() (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{address: l.Addr().String(), grpc: grpc.NewServer(), done: make(chan struct{})}
	shop.RegisterTestServiceServer(s.grpc, s)
	go func() {
		defer close(s.done)
		s.grpc.Serve(l)
	}()
	return s, nil
}

func (s *server) stop() {
	s.grpc.Stop()
	<-s.done
}

// fail is what a server says to be called again: after RetryInfo, when it knows when.
func fail(ctx context.Context) error {
	switch retrygrpc.PreviousAttempts(ctx) {
	case 0:
		return status.Error(codes.Unavailable, "restarting")
	case 1:
		return retrygrpc.After(100*time.Millisecond, status.Error(codes.ResourceExhausted, "queue is full"))
	}
	return nil
}

func (s *server) UnaryCall(ctx context.Context, _ *shop.SimpleRequest) (*shop.SimpleResponse, error) {
	return &shop.SimpleResponse{Username: "good morning"}, fail(ctx)
}

func (s *server) EmptyCall(context.Context, *shop.Empty) (*shop.Empty, error) {
	return nil, status.Error(codes.Unavailable, "lost in the middle")
}

func (s *server) StreamingOutputCall(_ *shop.StreamingOutputCallRequest, st shop.TestService_StreamingOutputCallServer) error {
	if retrygrpc.PreviousAttempts(st.Context()) == 0 {
		return status.Error(codes.Unavailable, "restarting")
	}
	for _, word := range []string{"one", "two", "three"} {
		if err := st.Send(&shop.StreamingOutputCallResponse{Payload: &shop.Payload{Body: []byte(word)}}); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) FullDuplexCall(st shop.TestService_FullDuplexCallServer) error {
	first := retrygrpc.PreviousAttempts(st.Context()) == 0
	for n := 1; ; n++ {
		m, err := st.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case first && n == 2:
			return status.Error(codes.Unavailable, "restarting")
		case first:
			continue
		}
		if err := st.Send(&shop.StreamingOutputCallResponse{Payload: m.Payload}); err != nil {
			return err
		}
	}
}
