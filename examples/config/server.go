package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
)

// failures is how often the server fails before it answers: by a broken connection, a 500 and a 503.
const failures = 3

// server is a real HTTP server on the loopback interface.
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

func (s *server) address() string { return "http://" + s.listener.Addr().String() + "/artworks/42" }

func (s *server) serve(w http.ResponseWriter, _ *http.Request) {
	switch s.requests.Add(1) {
	case 1:
		panic(http.ErrAbortHandler) // drops the connection without an answer
	case 2:
		w.WriteHeader(http.StatusInternalServerError)
	case failures:
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		io.WriteString(w, "Evening by the river")
	}
}

// fetch makes one attempt.
func fetch(ctx context.Context, client *http.Client, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", statusError(resp.StatusCode)
	}
	title, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	return string(title), err
}

// statusError is an HTTP status. condition.HTTPStatus reads it by its method.
type statusError int

func (code statusError) HTTPStatusCode() int { return int(code) }

func (code statusError) Error() string {
	return fmt.Sprintf("%d %s", int(code), http.StatusText(int(code)))
}

// short is the error's text without the address that the HTTP client puts before it.
func short(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
