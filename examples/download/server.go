package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// server is a real HTTP server on the loopback interface, with one file of 4 MB. It sends no more than a part of it at a time,
// and ends each answer but the last in a bad way.
type server struct {
	http.Server
	listener net.Listener
	content  []byte

	requests atomic.Int32
	rests    atomic.Int32 // requests for what is missing
	sent     atomic.Int64 // bytes of the file
}

const part = 900_000

func startServer() (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{listener: listener}
	for i := 0; len(s.content) < 4_000_000; i++ {
		s.content = fmt.Appendf(s.content, "%d,lamp,%d\n", i, i*i%97)
	}
	s.Handler = http.HandlerFunc(s.serve)
	go s.Serve(listener) // until Close
	return s, nil
}

func (s *server) address() string { return "http://" + s.listener.Addr().String() + "/lamps.csv" }

func (s *server) sum() string {
	sum := sha256.Sum256(s.content)
	return hex.EncodeToString(sum[:])
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	n := s.requests.Add(1)
	if r.Header.Get("Range") != "" {
		s.rests.Add(1)
	}
	if n == 3 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Etag", `"`+s.sum()[:16]+`"`) // of this content, and no other
	http.ServeContent(&partial{ResponseWriter: w, request: r, server: s, left: part, hang: n == 4}, r, "lamps.csv", time.Time{}, bytes.NewReader(s.content))
}

// partial writes the beginning of a body. Then it cuts the connection, or says no more and keeps it open.
type partial struct {
	http.ResponseWriter
	request *http.Request
	server  *server
	left    int
	hang    bool
}

func (p *partial) Write(b []byte) (int, error) {
	cut := len(b) > p.left
	if cut {
		b = b[:p.left]
	}
	n, err := p.ResponseWriter.Write(b)
	p.left -= n
	p.server.sent.Add(int64(n))
	if cut {
		_ = http.NewResponseController(p.ResponseWriter).Flush()
		if p.hang {
			<-p.request.Context().Done() // until the client goes
		}
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// verify reports what went otherwise than this program says.
func (s *server) verify(attempts int) error {
	switch requests, rests, sent := int(s.requests.Load()), int(s.rests.Load()), s.sent.Load(); {
	case requests < 6:
		return fmt.Errorf("a file of %d bytes should have taken 6 requests at least, not %d", len(s.content), requests)
	case attempts != requests:
		return fmt.Errorf("there should have been as many attempts as requests, %d, not %d", requests, attempts)
	case rests != requests-1:
		return fmt.Errorf("each of the %d requests but the first should have asked for what was missing, not %d", requests, rests)
	case sent > int64(len(s.content)+requests*part/4):
		return fmt.Errorf("about %d bytes should have been sent, not %d", len(s.content), sent)
	}
	return nil
}
