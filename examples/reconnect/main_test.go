package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wantStory = `  0.000s  connected, to go on after line 0
  0.600s  unexpected EOF, after 0.600s: that was long enough for the waits to begin anew
          waiting 0.020s
  0.620s  connect: connection refused
          waiting 0.040s
  0.660s  connect: connection refused
          waiting 0.080s
          the server is started again
  0.740s  connected, to go on after line 30
  0.740s  unexpected EOF
          waiting 0.160s
  0.900s  connected, to go on after line 30
  1.500s  unexpected EOF, after 0.600s: that was long enough for the waits to begin anew
          waiting 0.020s
  1.520s  connected, to go on after line 60
  1.800s  line 75; and now Ctrl-C
  1.820s  ended in order, with line 76 as a farewell

76 lines over 4 connections: none is missing, none came twice
`

// shortest draws every wait at its shortest.
var shortest = retry.WithRand(func() float64 { return 0 })

// In virtual time, with connections in memory, the story is the same to the millisecond.
func TestStory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		n := new(network)
		require.NoError(t, story(t.Context(), t.Context(), &out, &server{listen: n.listen, visits: visits}, n.dial, shortest))
		require.Equal(t, wantStory, out.String())
	})
}

// The program as it is, but for the times and the system's words.
func TestOutput(t *testing.T) {
	var out strings.Builder
	require.NoError(t, play(t.Context(), t.Context(), &out))
	require.Equal(t, masked(wantStory), masked(out.String()))
}

func masked(out string) string {
	out = regexp.MustCompile(` *\d+\.\d{3}s`).ReplaceAllString(out, " TIME")
	return regexp.MustCompile(`connect.*: .+`).ReplaceAllString(out, "REFUSED")
}

// Whoever ends it earlier gets an end in order too, in a wait as on a connection.
func TestEndedByUser(t *testing.T) {
	for _, after := range []time.Duration{0, 300 * time.Millisecond, 610 * time.Millisecond, 700 * time.Millisecond, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			stop, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			start, n := time.Now(), new(network)
			require.NoError(t, story(t.Context(), stop, &out, &server{listen: n.listen, visits: visits}, n.dial, shortest))
			require.Contains(t, out.String(), "ended in order, by you\n")
			require.LessOrEqual(t, time.Since(start), after+goodbye)
		})
	}
}

func TestServerDoesNotStart(t *testing.T) {
	n, starts := new(network), 0
	s := &server{visits: visits, listen: func() (net.Listener, error) {
		if starts++; starts > 1 {
			return nil, io.ErrClosedPipe
		}
		return n.listen()
	}}
	synctest.Test(t, func(t *testing.T) {
		require.Equal(t, io.ErrClosedPipe, story(t.Context(), t.Context(), io.Discard, s, n.dial))
	})
	require.Equal(t, io.ErrClosedPipe, story(t.Context(), t.Context(), io.Discard, s, n.dial))
}

// keep runs a client of a server of one function, in virtual time, and returns how often it was connected.
func keep(ctx, stop context.Context, serve func(net.Conn)) (connections int, err error) {
	var serving sync.WaitGroup
	c := client{connected: func() { connections++ }, received: func(string) {}}
	c.dial = func(context.Context) (net.Conn, error) {
		client, server := net.Pipe()
		serving.Go(func() {
			defer server.Close()
			serve(server)
		})
		return client, nil
	}
	defer serving.Wait()
	err = c.keep(ctx, stop, shortest)
	return connections, err
}

func TestDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connections := 0
		n, err := keep(t.Context(), t.Context(), func(conn net.Conn) {
			if connections++; connections == 3 {
				conn.Read(make([]byte, 100))
				io.WriteString(conn, "denied\n")
			}
		})
		require.Equal(t, errDenied, err)
		require.Equal(t, 3, n)
	})
}

// A connection on which nothing comes is dead; a server that does not answer to goodbye is left all the same.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		stop, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		n, err := keep(t.Context(), stop, func(conn net.Conn) { io.Copy(io.Discard, conn) })
		require.NoError(t, err)
		require.Equal(t, 2, n, "the second after 15 s")
		require.Equal(t, 20*time.Second+goodbye, time.Since(start))
	})
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		stop, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := keep(t.Context(), stop, func(conn net.Conn) {
			go io.Copy(io.Discard, conn)
			for err := error(nil); err == nil; time.Sleep(100 * time.Millisecond) {
				_, err = io.WriteString(conn, "more and more\n")
			}
		})
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(start), 2*time.Second+goodbye, "nor is one waited for that goes on and on")
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		start := time.Now()
		_, err := keep(ctx, t.Context(), func(conn net.Conn) { io.Copy(io.Discard, conn) })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 20*time.Second, time.Since(start), "broken off")
	})
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		n := new(network)
		s := &server{listen: n.listen, visits: []visit{{lines: 1}, {stays: true}}}
		require.NoError(t, s.start())
		defer s.close()
		var out strings.Builder
		require.NoError(t, follow(t.Context(), stop, &out, n.dial))
		got := regexp.MustCompile(`0\.0[1-9]\ds`).ReplaceAllString(out.String(), "TIME") // the wait is drawn
		require.Equal(t, "  0.000s  connected\n  0.000s  line 1\n  TIME  unexpected EOF\n          waiting TIME\n  TIME  connected\n  0.100s  line 2\n", got)
	})
}

// The program fails where one of the things that it says does not hold.
func TestVerifyBites(t *testing.T) {
	for breaks, change := range map[string]func(*seen){
		"": func(*seen) {},
		"there should have been 4 connections and 2 refusals, not 5 and 2": func(s *seen) { s.connections++ },
		"there should have been 4 connections and 2 refusals, not 4 and 3": func(s *seen) { s.refused++ },
		"with 5 failures in all, not 4":                                    func(s *seen) { s.failures = s.failures[1:] },
		"there should have been 76 lines, not 77":                          func(s *seen) { s.lines = append(s.lines, "line 77") },
		`line 31 should not have been "line 30"`:                           func(s *seen) { s.lines[30] = "line 30" },
		"wait 4 should have been from 160ms to 320ms":                      func(s *seen) { s.failures[3].Delay = 40 * time.Millisecond },
		"wait 5 should have been from 20ms to 40ms, as that of failure 1":  func(s *seen) { s.failures[4].Delay = 400 * time.Millisecond },
		"wait 1 should have been from 20ms to 40ms":                        func(s *seen) { s.failures[0].Delay = 0 },
		"two connections should have been good for long enough, not 1": func(s *seen) {
			s.failures[4].Duration, s.failures[4].Delay = healthy-1, 400*time.Millisecond
		},
	} {
		s := seen{connections: 4, refused: 2}
		for i := range allLines {
			s.lines = append(s.lines, fmt.Sprintf("line %d", i+1))
		}
		for i, delay := range []time.Duration{20, 80, 100, 200, 40} {
			e := retry.Event{Delay: delay * time.Millisecond}
			if i == 0 || i == 4 {
				e.Duration = healthy
			}
			s.failures = append(s.failures, e)
		}
		change(&s)
		if err := s.verify(); breaks == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, breaks)
		}
	}
}

// network is one address in memory.
type network struct {
	mu   sync.Mutex
	here *listener
}

func (n *network) listen() (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.here = &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	return n.here, nil
}

func (n *network) dial(ctx context.Context) (net.Conn, error) {
	n.mu.Lock()
	here := n.here
	n.mu.Unlock()
	client, server := net.Pipe()
	select {
	case <-here.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: errors.New("connect: connection refused")}
	default:
	}
	select {
	case here.conns <- server:
		return client, nil
	case <-here.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: errors.New("connect: connection refused")}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, os.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return nil }
