package main

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-89b3229b/retry/retrytest"
)

const (
	work   = 200 * time.Millisecond // what a request takes
	window = 15 * time.Second       // the limits are for
)

// account is what the server knows about a token: how many requests it may make in each window, the first of which begins
// with its first request.
type account struct {
	limit    int
	silent   bool // it is turned away without a word on the wait
	revoked  bool
	index    int
	used     int
	ends     time.Time
	released time.Time // what it was told last
	early    int       // requests before that
}

// visit is one request, as the server saw it.
type visit struct {
	at     time.Duration
	token  int
	page   string
	status int
}

// server limits each token by itself.
type server struct {
	http.Server
	listener net.Listener
	clk      *retrytest.Clock

	mu       sync.Mutex
	accounts map[string]*account
	log      []visit
}

func startServer(clk *retrytest.Clock, tokens []string) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{listener: listener, clk: clk, accounts: map[string]*account{}}
	for i, token := range tokens {
		a := &account{limit: 12, index: i}
		switch i % 5 {
		case 1:
			a.limit = 4
		case 2:
			a.silent = true
		case 4:
			a.revoked = true
		}
		s.accounts[token] = a
	}
	s.Handler = s
	go s.Serve(listener) // until Close
	return s, nil
}

func (s *server) address() string { return "http://" + s.listener.Addr().String() + "/pages/" }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clk.Advance(work)
	status, index, wait := http.StatusUnauthorized, -1, time.Duration(0)
	if a := s.accounts[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]; a != nil {
		status, wait = a.admit(s.clk.Now())
		index = a.index
	}
	s.log = append(s.log, visit{s.clk.Elapsed(), index, r.URL.Path, status})
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
	}
	w.WriteHeader(status)
	fmt.Fprintln(w, http.StatusText(status))
}

// admit answers a request of the account, with the wait that it is told, if any.
func (a *account) admit(now time.Time) (status int, wait time.Duration) {
	if now.Before(a.released) {
		a.early++
	}
	if a.revoked {
		return http.StatusForbidden, 0
	}
	if !now.Before(a.ends) {
		a.used, a.ends = 0, now.Add(window)
	}
	if a.used < a.limit {
		a.used++
		return http.StatusOK, 0
	}
	if a.silent {
		return http.StatusTooManyRequests, 0
	}
	wait = (a.ends.Sub(now) + time.Second - 1).Truncate(time.Second) // whole seconds, rounded up
	a.released = now.Add(wait)
	return http.StatusTooManyRequests, wait
}

// verify reports what went otherwise than this program says: every page was served once, no token came back before it was
// told to, and none that is revoked came back at all.
func (s *server) verify(pages int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	served, refused := map[string]int{}, map[int]int{}
	for _, v := range s.log {
		switch v.status {
		case http.StatusOK:
			served[v.page]++
		case http.StatusForbidden:
			refused[v.token]++
		case http.StatusUnauthorized:
			return fmt.Errorf("there was a request for %s without a token", v.page)
		}
	}
	if len(served) != pages {
		return fmt.Errorf("%d pages should have been served, not %d", pages, len(served))
	}
	for page, times := range served {
		if times != 1 {
			return fmt.Errorf("%s should have been served once, not %d times", page, times)
		}
	}
	for token, times := range refused {
		if times != 1 {
			return fmt.Errorf("token %d should have been refused once, not %d times", token, times)
		}
	}
	for _, a := range s.accounts {
		if a.early > 0 {
			return fmt.Errorf("token %d came back early %d times", a.index, a.early)
		}
	}
	return nil
}
