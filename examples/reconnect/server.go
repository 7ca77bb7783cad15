package main

import (
	"bufio"
	"fmt"
	"net"
	"sync"
	"time"
)

// pace is how long the server rests after a line.
const pace = 20 * time.Millisecond

// visit is what a connection gets: so many lines, and then its end.
type visit struct {
	lines int
	dies  bool // the server goes down with it, and refuses connections until it is started again
	stays bool // nothing more comes, until the client says bye; then one last line
}

// visits are more than healthy where they have lines: 30 lines take 600 ms.
var visits = []visit{
	{lines: 30, dies: true},
	{}, // back, but not well
	{lines: 30},
	{lines: 15, stays: true},
}

const allLines = 30 + 30 + 15 + 1

// server sends numbered lines, from the one on that the client asks for. It has one client.
type server struct {
	listen func() (net.Listener, error)

	mu       sync.Mutex
	listener net.Listener
	conn     net.Conn
	visits   []visit
	running  sync.WaitGroup
}

// start makes the server accept connections.
func (s *server) start() error {
	listener, err := s.listen()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener = listener
	s.running.Go(func() {
		defer listener.Close()
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if died := s.serve(conn, listener); died {
				return
			}
		}
	})
	return nil
}

// close ends what is running, and returns when it has.
func (s *server) close() {
	s.mu.Lock()
	if s.listener != nil {
		s.listener.Close()
	}
	if s.conn != nil {
		s.conn.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

// serve serves one connection. It reports whether the server has died of it.
func (s *server) serve(conn net.Conn, listener net.Listener) bool {
	defer conn.Close()
	s.mu.Lock()
	s.conn = conn
	v := visit{}
	if len(s.visits) > 0 {
		v, s.visits = s.visits[0], s.visits[1:]
	}
	s.mu.Unlock()

	requests := bufio.NewScanner(conn)
	line := 0
	if !requests.Scan() {
		return false
	}
	if _, err := fmt.Sscanf(requests.Text(), "after %d", &line); err != nil {
		return false
	}
	for range v.lines {
		line++
		if _, err := fmt.Fprintf(conn, "line %d\n", line); err != nil {
			return false
		}
		time.Sleep(pace)
	}
	if v.stays && requests.Scan() && requests.Text() == "bye" {
		fmt.Fprintf(conn, "line %d\n", line+1)
	}
	if v.dies {
		listener.Close() // before the connection, so that nobody can come back
	}
	return v.dies
}
