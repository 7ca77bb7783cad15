package drivertest_test

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// cut is what a commitProxy does when it meets COMMIT.
type cut int

const (
	beforeCommit cut = iota // the server does not get it, and the connection breaks
	afterCommit             // the server carries it out, and the connection breaks before the answer is passed on
	shutDown                // the server ends the session before it gets it
	silence                 // the server carries it out, and the answer never comes
)

// commitProxy stands between a driver and PostgreSQL, and cuts the first COMMIT that passes. Anything else goes through, later
// COMMITs too: a transaction that were repeated would succeed.
type commitProxy struct {
	addr    string
	how     cut
	server  string
	endAll  func()        // ends all sessions on the server
	done    chan struct{} // closed when the server has carried out the COMMIT whose answer is not passed on
	once    sync.Once
	clients sync.WaitGroup

	mu      sync.Mutex
	commits int
}

// startProxy runs until the test ends.
func startProxy(t *testing.T, server string, how cut, endAll func()) *commitProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &commitProxy{addr: l.Addr().String(), how: how, server: server, endAll: endAll, done: make(chan struct{})}
	p.clients.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.clients.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.clients.Wait()
	})
	return p
}

// seen returns how many COMMITs came by.
func (p *commitProxy) seen() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.commits
}

func (p *commitProxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()

	var mute sync.Mutex // guards muted, and the order of it and an answer
	muted := false
	answers := make(chan struct{})
	go func() { // from the server to the client
		defer close(answers)
		defer client.Close()
		for {
			kind, message, err := frame(server, true)
			if err != nil {
				return
			}
			mute.Lock()
			drop := muted
			mute.Unlock()
			switch {
			case !drop:
				if _, err := client.Write(message); err != nil {
					return
				}
			case kind == 'Z': // the server is ready for the next query: it has committed
				close(p.done)
				if p.how == afterCommit {
					return
				}
			}
		}
	}()
	defer func() { <-answers }()
	defer server.Close()

	for started := false; ; started = true {
		_, message, err := frame(client, started)
		if err != nil {
			return
		}
		if started && isCommit(message) {
			first := false
			p.once.Do(func() { first = true })
			p.mu.Lock()
			p.commits++
			p.mu.Unlock()
			if first {
				switch p.how {
				case beforeCommit:
					return
				case shutDown:
					p.endAll()
					<-answers // what the server says before it hangs up has been passed on
					return
				default:
					mute.Lock()
					muted = true
					mute.Unlock()
				}
			}
		}
		if _, err := server.Write(message); err != nil {
			return
		}
	}
}

// frame reads one message. The first of a client has no kind.
func frame(from io.Reader, kinds bool) (kind byte, message []byte, err error) {
	head := make([]byte, 4, 5)
	if kinds {
		head = head[:5]
	}
	if _, err := io.ReadFull(from, head); err != nil {
		return 0, nil, err
	}
	if kinds {
		kind = head[0]
	}
	body := make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])-4)
	_, err = io.ReadFull(from, body)
	return kind, append(head, body...), err
}

// isCommit reports whether a message is the simple query COMMIT, which both drivers send.
func isCommit(message []byte) bool {
	text := strings.TrimRight(string(message[5:]), "\x00; ")
	return message[0] == 'Q' && strings.EqualFold(text, "commit")
}
