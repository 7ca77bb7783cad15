package roundtrip

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
)

// attempts is the limit in all questions.
const attempts = 4

// server is a real one on the loopback interface, with a transport whose connections are its own.
type server struct {
	*httptest.Server
	base        *http.Transport
	connections atomic.Int32
	requests    atomic.Int32
	handshakes  atomic.Int32
}

func startServer(start func(*httptest.Server), handler http.HandlerFunc) *server {
	s := &server{base: &http.Transport{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		handler(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		s.handshakes.Add(1)
		return nil, nil
	}}
	start(s.Server)
	return s
}

// end closes the server, and the connections that a library left open.
func (s *server) end() {
	s.base.CloseIdleConnections()
	s.CloseClientConnections()
	s.Close()
}

// call makes one request by the library.
func (s *server) call(c *Client, method string, body io.Reader, use func(*http.Response, error) Finding) Finding {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // which also frees the connections of bodies that nobody closed
	transport, err := c.New(Settings{Base: s.base, Attempts: attempts, Patient: true})
	if err != nil {
		return failed(err)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.URL, body)
	if err != nil {
		return failed(err)
	}
	response, err := transport.RoundTrip(r)
	if err == nil {
		defer response.Body.Close()
	}
	return use(response, err)
}

// script is a base that gives answers from memory. It reads and closes the bodies of requests, as a base must.
type script struct {
	answer func(n int, r *http.Request) (*http.Response, error)
	n      int
	closed int // bodies of answers
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.n++
	if r.Body != nil {
		_, err := io.Copy(io.Discard, r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	response, err := s.answer(s.n, r)
	if err == nil {
		response.Request = r
		response.Body = &closing{ReadCloser: response.Body, then: func() { s.closed++ }}
	}
	return response, err
}

// statuses is a script of statuses, the last for ever.
func statuses(codes ...int) *script {
	return &script{answer: func(n int, _ *http.Request) (*http.Response, error) {
		return answer(codes[min(n, len(codes))-1], io.NopCloser(strings.NewReader("overloaded"))), nil
	}}
}

func answer(code int, body io.ReadCloser, fields ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(fields); i += 2 {
		h.Set(fields[i], fields[i+1])
	}
	return &http.Response{Status: http.StatusText(code), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Body: body, ContentLength: -1}
}

// closing does something when it is closed for the first time.
type closing struct {
	io.ReadCloser
	closed bool
	then   func()
}

func (c *closing) Close() error {
	if !c.closed {
		c.closed = true
		c.then()
	}
	return c.ReadCloser.Close()
}
