package retryhttp_test

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/retryhttp"
	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/throttle"
)

// The frames and flags of HTTP/2 that the server below needs (RFC 9113, section 6).
const (
	frameHeaders, frameReset, frameSettings, framePing, frameGoAway = 1, 3, 4, 6, 7

	flagEndStream, flagAck, flagEndHeaders = 1, 1, 4
)

// frameServer speaks as much HTTP/2 as it takes to end streams and connections in every way. serve is told each request, by
// number and stream, and answers with frames.
type frameServer struct {
	url      string
	base     *http.Transport
	requests atomic.Int32
}

// frame makes a frame.
func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

func uint32s(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// ok is the answer ":status: 200", which is number 8 of HPACK's static table, and nothing else.
func ok(stream uint32) []byte {
	return frame(frameHeaders, flagEndStream|flagEndHeaders, stream, []byte{0x88})
}

func resetStream(stream, code uint32) []byte { return frame(frameReset, 0, stream, uint32s(code)) }

func goAway(last, code uint32) []byte { return frame(frameGoAway, 0, 0, uint32s(last, code)) }

func newFrameServer(t testing.TB, serve func(n int, stream uint32) (frames []byte, hangUp bool)) *frameServer {
	certificate := httptest.NewTLSServer(nil)
	config := certificate.TLS.Clone()
	config.NextProtos = []string{"h2"}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	require.NoError(t, err)
	s := &frameServer{url: "https://" + listener.Addr().String(), base: newBase(t)}
	s.base.TLSClientConfig = certificate.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	s.base.ForceAttemptHTTP2 = true
	certificate.Close()
	accept(t, listener, func(conn net.Conn) { s.talk(conn, serve) })
	return s
}

// talk serves one connection to its end.
func (s *frameServer) talk(conn net.Conn, serve func(n int, stream uint32) ([]byte, bool)) {
	r := bufio.NewReader(conn)
	if _, err := io.ReadFull(r, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	_, _ = conn.Write(frame(frameSettings, 0, 0, nil))
	for {
		var head [9]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(r, payload); err != nil {
			return
		}
		stream := binary.BigEndian.Uint32(head[5:])
		switch {
		case head[3] == frameSettings && head[4]&flagAck == 0:
			_, _ = conn.Write(frame(frameSettings, flagAck, 0, nil))
		case head[3] == framePing && head[4]&flagAck == 0:
			_, _ = conn.Write(frame(framePing, flagAck, 0, payload))
		case head[3] == frameHeaders:
			frames, hangUp := serve(int(s.requests.Add(1)), stream)
			_, _ = conn.Write(frames)
			if hangUp {
				return
			}
		}
	}
}

// TestHTTP2 goes through the ways in which a server ends a request: how often it then reaches the server.
func TestHTTP2(t *testing.T) {
	const noError, protocol, internal, cancel, calm, security, http11 = 0, 1, 2, 8, 11, 12, 13
	rst := func(code uint32) func(uint32) ([]byte, bool) {
		return func(stream uint32) ([]byte, bool) { return resetStream(stream, code), false }
	}
	away := func(code uint32) func(uint32) ([]byte, bool) {
		return func(stream uint32) ([]byte, bool) { return goAway(stream, code), true }
	}
	for _, tc := range []struct {
		name      string
		end       func(stream uint32) ([]byte, bool)
		get, post int32
		class     throttle.Class // of the first GET
	}{
		{"RST internal error", rst(internal), 2, 1, throttle.Transient},
		{"RST no error", rst(noError), 2, 1, throttle.Transient},
		{"RST cancel", rst(cancel), 2, 1, throttle.Transient},
		{"RST enhance your calm", rst(calm), 2, 1, throttle.Throttled},
		{"RST inadequate security", rst(security), 1, 1, throttle.Permanent},
		{"RST HTTP/1.1 required", rst(http11), 1, 1, throttle.Permanent},
		{"GOAWAY, perhaps begun", away(noError), 2, 1, throttle.Transient},
		{"GOAWAY internal error", away(internal), 2, 1, throttle.Transient},
		{"GOAWAY enhance your calm", away(calm), 2, 1, throttle.Throttled},
		{"GOAWAY inadequate security", away(security), 1, 1, throttle.Permanent},
		{"GOAWAY protocol error", away(protocol), 1, 1, throttle.Permanent},
		{"connection cut", func(uint32) ([]byte, bool) { return nil, true }, 2, 1, throttle.Transient},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newFrameServer(t, func(n int, stream uint32) ([]byte, bool) {
				if n%2 == 0 {
					return ok(stream), false
				}
				return tc.end(stream)
			})
			told := &history{}
			var failures []error
			client := &http.Client{Transport: retryhttp.NewTransport(s.base, atOnce, retry.WithThrottle(told),
				retry.WithObserver(onFailure(func(err error) { failures = append(failures, err) })))}
			response, err := client.Get(s.url)
			assert.Equal(t, tc.get, s.requests.Load())
			assert.Equal(t, tc.class, told.classes[0])
			assert.Equal(t, tc.get == 2, condition.Network().Check(failures[0]) == condition.Retry, "the same verdict without retryhttp")
			if tc.get == 1 {
				require.Error(t, err)
				s.requests.Add(1)
			} else {
				require.NoError(t, err)
				assert.Equal(t, 2, response.ProtoMajor)
				_ = response.Body.Close()
			}
			before := s.requests.Load()
			_, err = client.Post(s.url, "text/plain", newReader("x"))
			require.Error(t, err)
			assert.False(t, errors.As(err, new(*retry.Error)), "not retried: as it is")
			assert.Equal(t, before+tc.post, s.requests.Load())
		})
	}
}

// TestHTTP2NotBegun: what net/http repeats by itself, since the server has not begun it, reaches any method's server twice.
func TestHTTP2NotBegun(t *testing.T) {
	const internal, refused = 2, 7
	for name, end := range map[string]func(stream uint32) ([]byte, bool){
		"GOAWAY":                 func(stream uint32) ([]byte, bool) { return goAway(0, 0), true },
		"REFUSED_STREAM":         func(stream uint32) ([]byte, bool) { return resetStream(stream, refused), false },
		"GOAWAY, internal error": func(stream uint32) ([]byte, bool) { return goAway(0, internal), true }, // net/http does not
	} {
		s := newFrameServer(t, func(n int, stream uint32) ([]byte, bool) {
			if n == 1 {
				return end(stream)
			}
			return ok(stream), false
		})
		client := &http.Client{Transport: retryhttp.NewTransport(s.base, atOnce)}
		response, err := client.Post(s.url, "text/plain", newReader("x"))
		require.NoError(t, err, name)
		_ = response.Body.Close()
		assert.EqualValues(t, 2, s.requests.Load(), name)
	}
}

// TestHTTP2TurnedAway: a server that will have nothing of a new connection says why, in a text.
func TestHTTP2TurnedAway(t *testing.T) {
	const protocol, calm, security, http11 = 1, 11, 12, 13
	for code, want := range map[uint32][]throttle.Class{
		protocol: {throttle.Permanent}, security: {throttle.Permanent}, http11: {throttle.Permanent},
		calm: {throttle.Throttled, throttle.Throttled},
	} {
		s := newFrameServer(t, func(int, uint32) ([]byte, bool) { return goAway(0, code), false })
		told := &history{}
		client := &http.Client{Transport: retryhttp.NewTransport(s.base, atOnce, retry.WithMaxAttempts(2), retry.WithThrottle(told))}
		_, err := client.Post(s.url, "text/plain", newReader("x"))
		require.Error(t, err)
		assert.Equal(t, want, told.classes, err)
	}
}

// TestHTTP2Timeout: an attempt timeout is known as one, though here net/http passes on the context's error and not its cause,
// and conditions see a Failure as ever. A POST that may have been sent is not repeated.
func TestHTTP2Timeout(t *testing.T) {
	var seen []error
	clk := retrytest.NewClock()
	transport := retryhttp.NewTransport(nil, atOnce, retry.WithClock(clk), retry.WithMaxAttempts(2), retry.WithAttemptTimeout(time.Second),
		retry.WithCondition(condition.Func(func(err error) condition.Verdict { seen = append(seen, err); return condition.Unknown })))
	s := startServer(t, transport, func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() },
		func(_ int, _ http.ResponseWriter, r *http.Request) {
			clk.Advance(time.Second)
			<-r.Context().Done()
		})
	s.base.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	_, err := s.client.Get(s.URL)
	require.ErrorIs(t, err, retry.ErrAttemptTimeout)
	assert.EqualValues(t, 2, s.requests.Load())
	require.NotEmpty(t, seen)
	assert.IsType(t, &retryhttp.Failure{}, seen[0])
	_, err = s.client.Post(s.URL, "text/plain", newReader("x"))
	require.ErrorIs(t, err, retry.ErrAttemptTimeout)
	assert.EqualValues(t, 3, s.requests.Load())
}

// TestHTTP2Refused: net/http gives a refused stream up only after a minute. Here its own error is given another code.
func TestHTTP2Refused(t *testing.T) {
	const refused, internal = 7, 2
	s := newFrameServer(t, func(n int, stream uint32) ([]byte, bool) {
		if n == 1 {
			return resetStream(stream, internal), false
		}
		return ok(stream), false
	})
	var failure *retryhttp.Failure
	client := &http.Client{Transport: retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := s.base.RoundTrip(r)
		if err != nil {
			e := reflect.New(reflect.TypeOf(err)).Elem()
			e.Set(reflect.ValueOf(err))
			require.EqualValues(t, internal, e.FieldByName("Code").Uint())
			e.FieldByName("Code").SetUint(refused)
			err = e.Interface().(error)
		}
		return response, err
	}), atOnce, retry.WithObserver(onFailure(func(err error) { errors.As(err, &failure) })))}
	response, err := client.Post(s.url, "text/plain", newReader("x"))
	require.NoError(t, err)
	_ = response.Body.Close()
	assert.EqualValues(t, 2, s.requests.Load())
	require.NotNil(t, failure)
	assert.False(t, failure.Sent)
	assert.ErrorContains(t, failure, "REFUSED_STREAM")
}

// TestHTTP2Server: the same over net/http's own server, with a handler that aborts; the connection is kept.
func TestHTTP2Server(t *testing.T) {
	transport := retryhttp.NewTransport(nil, atOnce)
	s := startServer(t, transport, func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() },
		func(n int, w http.ResponseWriter, r *http.Request) {
			if n%2 == 1 {
				panic(http.ErrAbortHandler)
			}
		})
	s.base.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	response, err := s.client.Get(s.URL)
	require.NoError(t, err)
	assert.Equal(t, 2, response.ProtoMajor)
	assert.Empty(t, read(t, response))
	assert.EqualValues(t, 2, s.requests.Load())
	_, err = s.client.Post(s.URL, "text/plain", newReader("x"))
	require.Error(t, err)
	assert.EqualValues(t, 3, s.requests.Load())
	assert.EqualValues(t, 1, s.opened.Load())
}
