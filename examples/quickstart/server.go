package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
)

// server is a real HTTP server on the loopback interface. It fails in another way at each of the first three requests, and
// answers from then on.
type server struct {
	http.Server
	listener net.Listener
	requests atomic.Int32
}

func startServer() (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{listener: listener}
	s.Handler = http.HandlerFunc(s.serve)
	go s.Serve(listener) // until Close
	return s, nil
}

func (s *server) address() string { return "http://" + s.listener.Addr().String() + "/orders/42" }

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	switch s.requests.Add(1) {
	case 1:
		breakConnection(w)
	case 2:
		w.Header().Set("Retry-After", "1") // seconds
		w.WriteHeader(http.StatusServiceUnavailable)
	case 3:
		<-r.Context().Done() // no answer while the client is there
	default:
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"id": 42, "status": "on its way"}`)
	}
}

// breakConnection drops the connection as a crash does: the client sees a reset.
func breakConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}

// verify reports what went otherwise than this program says: three failures, each of its kind, and then the order.
func (s *server) verify(got order, retried []retry.Event) error {
	if n := s.requests.Load(); n != 4 || len(retried) != 3 {
		return fmt.Errorf("there should have been 4 requests and 3 retries, not %d and %d", n, len(retried))
	}
	broken, overloaded, slow := retried[0], retried[1], retried[2]
	switch {
	case condition.Network().Check(broken.Err) != condition.Retry || broken.Source != retry.SourcePolicy:
		return fmt.Errorf("the first failure should have been a broken connection: %v", broken.Err)
	case overloaded.Err != statusError(http.StatusServiceUnavailable):
		return fmt.Errorf("the second failure should have been a 503: %v", overloaded.Err)
	case overloaded.Source != retry.SourceServer || overloaded.Delay < time.Second:
		return fmt.Errorf("the second wait should have been the server's 1s: %v by the %v", overloaded.Delay, overloaded.Source)
	case !errors.Is(slow.Err, retry.ErrAttemptTimeout):
		return fmt.Errorf("the third attempt should have timed out: %v", slow.Err)
	case got != order{ID: 42, Status: "on its way"}:
		return fmt.Errorf("the order should have been number 42, on its way: %+v", got)
	}
	return nil
}
