// Command grpc makes four gRPC calls to a server that fails in a different way for each: a unary call, a server stream, a
// bidirectional stream, and a call that must not be repeated.
//
//	cd examples/grpc && go run .
//
// The server is a real one on the loopback interface. The code to copy is connect, and on the server's side fail.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	shop "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrygrpc"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "grpc:", err)
		os.Exit(1)
	}
}

// connect makes a connection whose calls are retried, and says so for each retry.
func connect(target string, out io.Writer) (*grpc.ClientConn, error) {
	calls := retrygrpc.New(
		retry.WithMaxAttempts(4),
		retry.WithStrategy(strategy.Constant{Delay: 20 * time.Millisecond}),
		retry.WithAttemptTimeout(2*time.Second), // for unary calls
		retry.WithOnRetry(func(_ context.Context, e retry.Event) {
			fmt.Fprintf(out, "    attempt %d: %v; again in %v\n", e.Number, status.Code(e.Err), e.Delay.Truncate(10*time.Millisecond))
		}),
	)
	const service = "/grpc.testing.TestService/"
	calls.Methods = map[string]retrygrpc.Method{ // an idempotency_level in the .proto file does the same
		service:               {Idempotent: throttle.Yes},
		service + "EmptyCall": {Idempotent: throttle.No},
	}
	return grpc.NewClient(target, append(calls.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
}

// run is the program. What it prints is checked: an end other than the one that was to be shown is an error.
func run(ctx context.Context, out io.Writer) error {
	s, err := startServer()
	if err != nil {
		return err
	}
	defer s.stop()
	conn, err := connect(s.address, out)
	if err != nil {
		return err
	}
	defer conn.Close()
	client := shop.NewTestServiceClient(conn)
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()

	for _, step := range []struct {
		title string
		call  func(context.Context, io.Writer, shop.TestServiceClient) error
	}{
		{"a unary call; the server is down, then has too much to do and says for how long", unary},
		{"a server stream; the server is down before its first message", serverStream},
		{"a bidirectional stream; the server goes away after two messages, and gets them again", bidirectional},
		{"a call that is not idempotent; the server may have done it, so it is made once", once},
	} {
		fmt.Fprintln(out, step.title)
		if err := step.call(ctx, out, client); err != nil {
			return fmt.Errorf("%s: %w", step.title, err)
		}
	}
	return nil
}

func unary(ctx context.Context, out io.Writer, client shop.TestServiceClient) error {
	reply, err := client.UnaryCall(ctx, new(shop.SimpleRequest))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "    %s\n", reply.Username)
	return nil
}

func serverStream(ctx context.Context, out io.Writer, client shop.TestServiceClient) error {
	s, err := client.StreamingOutputCall(ctx, new(shop.StreamingOutputCallRequest))
	if err != nil {
		return err
	}
	return receive(out, s.Recv)
}

func bidirectional(ctx context.Context, out io.Writer, client shop.TestServiceClient) error {
	s, err := client.FullDuplexCall(ctx)
	if err != nil {
		return err
	}
	for _, word := range []string{"ham", "eggs", "tea"} {
		if err := s.Send(&shop.StreamingOutputCallRequest{Payload: &shop.Payload{Body: []byte(word)}}); err != nil {
			return err
		}
	}
	if err := s.CloseSend(); err != nil {
		return err
	}
	return receive(out, s.Recv)
}

func receive(out io.Writer, next func() (*shop.StreamingOutputCallResponse, error)) error {
	for n := 0; ; n++ {
		m, err := next()
		if err == io.EOF && n == 3 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("after %d messages: %w", n, err)
		}
		fmt.Fprintf(out, "    received %s\n", m.Payload.Body)
	}
}

func once(ctx context.Context, out io.Writer, client shop.TestServiceClient) error {
	_, err := client.EmptyCall(ctx, new(shop.Empty))
	if status.Code(err) != codes.Unavailable {
		return errors.Join(errors.New("was to fail with UNAVAILABLE"), err)
	}
	fmt.Fprintf(out, "    %v\n", err)
	return nil
}
