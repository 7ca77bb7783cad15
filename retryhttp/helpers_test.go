package retryhttp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

var errBoom = errors.New("boom")

// roundTripper is a base made of a function.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer is a response with a body of its own.
func answer(code int, body string, fields ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(fields); i += 2 {
		h.Add(fields[i], fields[i+1])
	}
	return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
}

// answers is a base that gives the codes one after the other, the last for ever. It reads and closes request bodies as
// a base must.
type answers struct {
	codes    []int
	fields   []string
	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := ""
	if r.Body != nil {
		all, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return nil, err
		}
		sent = string(all)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests, a.bodies = append(a.requests, r), append(a.bodies, sent)
	code := a.codes[min(len(a.requests), len(a.codes))-1]
	if code == 0 {
		return nil, errBoom
	}
	return answer(code, "body", a.fields...), nil
}

func newRequest(t testing.TB, method, url string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	require.NoError(t, err)
	return r
}

func get(t testing.TB) *http.Request {
	return newRequest(t, http.MethodGet, "http://example.com/", nil)
}

func post(t testing.TB, body string) *http.Request {
	return newRequest(t, http.MethodPost, "http://example.com/", strings.NewReader(body))
}

// read reads a response to its end and closes it.
func read(t testing.TB, r *http.Response) string {
	t.Helper()
	all, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	return string(all)
}

// server is a real one on the loopback interface, with a client for it whose connections are its own.
type server struct {
	*httptest.Server
	base      *http.Transport
	opened    atomic.Int32 // connections
	closed    atomic.Int32
	used      atomic.Int32 // connections with a request: net/http opens some in reserve
	peers     sync.Map
	requests  atomic.Int32
	transport *retryhttp.Transport
	client    *http.Client
}

func newServer(t testing.TB, transport *retryhttp.Transport, handler func(n int, w http.ResponseWriter, r *http.Request)) *server {
	return startServer(t, transport, (*httptest.Server).Start, handler)
}

func startServer(t testing.TB, transport *retryhttp.Transport, start func(*httptest.Server), handler func(n int, w http.ResponseWriter, r *http.Request)) *server {
	s := &server{base: http.DefaultTransport.(*http.Transport).Clone(), transport: transport}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, known := s.peers.LoadOrStore(r.RemoteAddr, true); !known {
			s.used.Add(1)
		}
		handler(int(s.requests.Add(1)), w, r)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.opened.Add(1)
		case http.StateClosed, http.StateHijacked:
			s.closed.Add(1)
		}
	}
	start(s.Server)
	if transport.Base == nil {
		transport.Base = s.base
	}
	s.client = &http.Client{Transport: transport}
	t.Cleanup(func() {
		s.base.CloseIdleConnections()
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// trackedBody is a request body that counts how often it is closed.
type trackedBody struct {
	io.Reader
	closes atomic.Int32
}

func (b *trackedBody) Close() error { b.closes.Add(1); return nil }

// reset ends a connection by a TCP reset.
func reset(t testing.TB, w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if assert.NoError(t, err) {
		abort(conn)
	}
}

func abort(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func newReader(s string) *strings.Reader { return strings.NewReader(s) }

func itoa(n int) string { return strconv.Itoa(n) }

func constant(d time.Duration) strategy.Strategy { return strategy.Constant{Delay: d} }

func gzipped(s string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.Bytes()
}

// history is a throttle that remembers the classes it was told.
type history struct {
	throttle.Func
	classes []throttle.Class
}

func (h *history) Done(_ context.Context, _ time.Time, _ throttle.Ticket, o throttle.Outcome) {
	h.classes = append(h.classes, o.Class)
}

// onFailure is an observer that is told the failures only.
type onFailure func(error)

func (f onFailure) Start(ctx context.Context, _ retry.Call) (context.Context, retry.Observation) {
	return ctx, f
}
func (f onFailure) Attempt(ctx context.Context, _ retry.AttemptStart) context.Context { return ctx }
func (f onFailure) AttemptDone(_ context.Context, e retry.Event) {
	if e.Err != nil {
		f(e.Err)
	}
}
func (f onFailure) Pause(context.Context, retry.Pause)  {}
func (f onFailure) Done(context.Context, retry.Summary) {}
