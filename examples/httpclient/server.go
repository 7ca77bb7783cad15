package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed-89b3229b/retry/retryhttp"
)

// patience is the attempt timeout for the server that comes with the program.
const patience = 800 * time.Millisecond

// size is how long its pages are.
const size = 2048

// page is one that the server has: how it behaves at each request, and what is to come of it.
type page struct {
	host     int
	path     string
	answers  []func(http.ResponseWriter, *http.Request) // the last one for ever
	status   int
	attempts int
	told     time.Duration // wait that it asks for, and gets
}

// The second host is for the connections that break: one that other pages had used and left idle would be seen by net/http,
// which then repeats the request by itself, and nobody could say how many attempts there were. The third is for the page that
// asks for an hour, because the client leaves the whole host alone for that time.
var pages = []page{
	{0, "/fine", answers(well), 200, 1, 0},
	{0, "/errors", answers(fails(500), fails(502), fails(504), well), 200, 4, 0},
	{1, "/reset", answers(breaks, breaks, well), 200, 3, 0},
	{0, "/stalls", answers(stalls, well), 200, 2, 0},
	{0, "/busy", answers(asks(429, "Retry-After-Ms", "150"), well), 200, 2, 150 * time.Millisecond},
	{0, "/overloaded", answers(asks(503, "Retry-After", "1"), well), 200, 2, time.Second},
	{0, "/moved", answers(moves, fails(500), well), 200, 3, 0},
	{0, "/gone", answers(fails(404)), 404, 1, 0},
	{0, "/down", answers(fails(503)), 503, maxAttempts, 0},
	{2, "/closed", answers(asks(503, "Retry-After", "3600")), 503, 1, 0},
}

func answers(all ...func(http.ResponseWriter, *http.Request)) []func(http.ResponseWriter, *http.Request) {
	return all
}

func well(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("x", size)) }

func fails(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func asks(code int, name, value string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(name, value)
		w.WriteHeader(code)
	}
}

// breaks drops the connection as a crash does: the client sees a reset.
func breaks(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}

// stalls gives no answer while the client is there.
func stalls(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// moves leads back to the same page, whose next answer counts.
func moves(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }

// server is three real HTTP servers on the loopback interface.
type server struct {
	hosts []*http.Server
	bases []string

	mu       sync.Mutex
	requests map[string]int
}

func startServer() (*server, error) {
	s := &server{requests: map[string]int{}}
	for range 3 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.Close()
			return nil, err
		}
		host := &http.Server{Handler: http.HandlerFunc(s.serve)}
		s.hosts, s.bases = append(s.hosts, host), append(s.bases, "http://"+listener.Addr().String())
		go host.Serve(listener) // until Close
	}
	return s, nil
}

func (s *server) Close() {
	for _, host := range s.hosts {
		host.Close()
	}
}

func (s *server) urls() []string {
	var urls []string
	for _, p := range pages {
		urls = append(urls, s.bases[p.host]+p.path)
	}
	return urls
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	for _, p := range pages {
		if p.path == r.URL.Path {
			s.mu.Lock()
			n := s.requests[p.path]
			s.requests[p.path]++
			s.mu.Unlock()
			p.answers[min(n, len(p.answers)-1)](w, r)
			return
		}
	}
	http.NotFound(w, r)
}

// verify reports what went otherwise than it should: an answer, or the number of attempts, as the client counted them and as
// the server did.
func (s *server) verify(all []*fetched) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var wrong []error
	for i, p := range pages {
		f, requests := all[i], s.requests[p.path]
		switch bytes := f.bytes; {
		case f.err != nil:
			wrong = append(wrong, fmt.Errorf("%s should have been %d: %w", p.path, p.status, f.err))
		case f.status != p.status:
			wrong = append(wrong, fmt.Errorf("%s should have been %d, not %d", p.path, p.status, f.status))
		case f.attempts != p.attempts || requests != p.attempts:
			wrong = append(wrong, fmt.Errorf("%s should have taken %d attempts, not %d and %d requests", p.path, p.attempts, f.attempts, requests))
		case f.waited < p.told-retryhttp.DefaultDrainTime: // reading the answer that asks for it is part of the wait
			wrong = append(wrong, fmt.Errorf("%s should have been left alone for %v, not %v", p.path, p.told, f.waited))
		case f.ok() && bytes != size:
			wrong = append(wrong, fmt.Errorf("%s should have been of %d bytes, not %d", p.path, size, bytes))
		}
	}
	return errors.Join(wrong...)
}
