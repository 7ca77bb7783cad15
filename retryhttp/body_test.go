package retryhttp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
)

// streamed is a body of which net/http makes no GetBody.
func streamed(s string) *trackedBody { return &trackedBody{Reader: strings.NewReader(s)} }

func put(t testing.TB, url string, body io.Reader) *http.Request {
	return newRequest(t, http.MethodPut, url, body)
}

// TestP33BodyIsSentAgain: over a real connection, from the three readers that net/http knows and from a buffered stream.
func TestP33BodyIsSentAgain(t *testing.T) {
	for name, body := range map[string]io.Reader{
		"strings.Reader": strings.NewReader("abc"), "bytes.Reader": bytes.NewReader([]byte("abc")),
		"bytes.Buffer": bytes.NewBufferString("abc"), "stream": streamed("abc"),
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			transport := retryhttp.NewTransport(nil, atOnce)
			transport.BufferBody = 3
			s := newServer(t, transport, func(n int, w http.ResponseWriter, r *http.Request) {
				all, err := io.ReadAll(r.Body)
				assert.NoError(t, err)
				got = append(got, string(all))
				if n < 3 {
					w.WriteHeader(503)
				}
			})
			response, err := s.client.Do(put(t, s.URL, body))
			require.NoError(t, err)
			assert.Equal(t, 200, response.StatusCode)
			assert.Empty(t, read(t, response))
			assert.Equal(t, []string{"abc", "abc", "abc"}, got)
			if tracked, ok := body.(*trackedBody); ok {
				assert.EqualValues(t, 1, tracked.closes.Load())
			}
		})
	}
}

// TestP33BodyWithoutGetBody is not sent again once anything of it was read, and the error says why.
func TestP33BodyWithoutGetBody(t *testing.T) {
	for _, limit := range []int64{0, -1, 2} {
		transport := retryhttp.NewTransport(nil, atOnce)
		transport.BufferBody = limit
		s := newServer(t, transport, func(_ int, w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/reset" {
				_, _ = io.Copy(io.Discard, r.Body)
				reset(t, w)
				return
			}
			w.WriteHeader(503)
			_, _ = io.WriteString(w, "busy")
		})
		body := streamed("abc")
		response, err := s.client.Do(put(t, s.URL, body))
		require.NoError(t, err)
		assert.Equal(t, "busy", read(t, response))
		assert.EqualValues(t, 1, s.requests.Load())
		assert.EqualValues(t, 1, body.closes.Load())

		body = streamed("abc")
		_, err = s.client.Do(put(t, s.URL+"/reset", body))
		require.ErrorIs(t, err, retryhttp.ErrBody)
		assert.ErrorContains(t, err, "not sent again: the request body was used up and has no GetBody")
		assert.EqualValues(t, 2, s.requests.Load())
		assert.EqualValues(t, 1, body.closes.Load())
	}
}

// TestUsedUpAndCancelled: a call that was cancelled is not said to end for want of a body.
func TestUsedUpAndCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i, act := range []func() error{
		func() error { return context.Canceled }, // by the base
		func() error { cancel(); return errBoom },
	} {
		_, err := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
			_, _ = io.Copy(io.Discard, r.Body)
			_ = r.Body.Close()
			return nil, act()
		}), atOnce).RoundTrip(put(t, "http://example.com", streamed("abc")).WithContext(ctx))
		require.ErrorIs(t, err, context.Canceled, i)
		assert.NotErrorIs(t, err, retryhttp.ErrBody, i)
	}
}

// TestUnreadBody: where nothing of it was read, the body of any request can go with the next attempt.
func TestUnreadBody(t *testing.T) {
	for method, limit := range map[string]int64{"PUT": -1, "POST": 0, "PATCH": 2} {
		var got string
		transport := retryhttp.NewTransport(nil, atOnce)
		transport.BufferBody = limit
		s := newServer(t, transport, func(_ int, _ http.ResponseWriter, r *http.Request) {
			all, _ := io.ReadAll(r.Body)
			got = string(all)
		})
		dials := 0
		dial := s.base.DialContext
		s.base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials++; dials < 3 {
				return dial(ctx, network, "127.0.0.1:1") // refused
			}
			return dial(ctx, network, address)
		}
		body := streamed("abc")
		response, err := s.client.Do(newRequest(t, method, s.URL, body))
		require.NoError(t, err)
		assert.Empty(t, read(t, response))
		assert.Equal(t, "abc", got)
		assert.Equal(t, 3, dials)
		assert.EqualValues(t, 1, body.closes.Load())
	}
}

// TestGetBodyFails: its error comes back, after the answer that led to it was closed.
func TestGetBodyFails(t *testing.T) {
	for name, getBody := range map[string]func() (io.ReadCloser, error){
		"error": func() (io.ReadCloser, error) { return nil, errBoom },
		"nil":   func() (io.ReadCloser, error) { return nil, nil },
	} {
		base := &answers{codes: []int{503}}
		r := put(t, "http://example.com", streamed("abc"))
		r.GetBody = getBody
		response, err := retryhttp.NewTransport(base, atOnce, retry.WithMaxAttempts(2)).RoundTrip(r)
		assert.Nil(t, response)
		require.ErrorIs(t, err, retryhttp.ErrBody)
		assert.Equal(t, []string{"abc"}, base.bodies, "never an empty one")
		if name == "nil" {
			assert.EqualError(t, err, "retryhttp: request body cannot be sent again: GetBody returned nil (after: 503 Service Unavailable (PUT example.com))")
			continue
		}
		assert.ErrorIs(t, err, errBoom)
		assert.EqualError(t, err, "retryhttp: request body cannot be sent again: boom (after: 503 Service Unavailable (PUT example.com))")
	}
}

// TestBodyFails: a body that cannot be read to its end does not get better.
func TestBodyFails(t *testing.T) {
	calls := 0
	transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		calls++
		_, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		return nil, err
	}), atOnce)
	transport.BufferBody = 1 << 10
	body := &trackedBody{Reader: io.MultiReader(strings.NewReader("abc"), failingReader{})}
	_, err := transport.RoundTrip(put(t, "http://example.com", body))
	assert.ErrorIs(t, err, errBoom)
	assert.ErrorIs(t, err, retryhttp.ErrBody)
	assert.Equal(t, 1, calls)
	assert.EqualValues(t, 1, body.closes.Load())
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errBoom }

// TestBufferWhileSending: nothing is read before it is sent, and what attempt 1 has not read goes on with attempt 2.
func TestBufferWhileSending(t *testing.T) {
	reader := &countingReader{Reader: strings.NewReader("abcdefgh")}
	var got []string
	transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		p := make([]byte, 3)
		if len(got) < 2 {
			n, err := io.ReadFull(r.Body, p)
			got = append(got, string(p[:n]))
			_ = r.Body.Close()
			return nil, errors.Join(err, errBoom)
		}
		all, err := io.ReadAll(r.Body)
		got = append(got, string(all))
		_ = r.Body.Close()
		return answer(200, ""), err
	}), atOnce)
	transport.BufferBody = 100
	body := &trackedBody{Reader: reader}
	response, err := transport.RoundTrip(put(t, "http://example.com", body))
	require.NoError(t, err)
	_ = response.Body.Close()
	assert.Equal(t, []string{"abc", "abc", "abcdefgh"}, got)
	assert.EqualValues(t, 1, body.closes.Load())
	assert.EqualValues(t, 8, reader.n.Load(), "read once")
}

type countingReader struct {
	io.Reader
	n atomic.Int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n.Add(int64(n))
	return n, err
}

// TestLateReader: a base that still reads and closes the body when the attempt is over, as net/http's may, takes nothing
// away from the next attempt, and cannot close it.
func TestLateReader(t *testing.T) {
	var late io.ReadCloser
	begun, over := make(chan struct{}), make(chan error)
	transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		if late == nil {
			late = r.Body
			go func() {
				_, err := late.Read(make([]byte, 3))
				over <- err
			}()
			<-begun
			return nil, errBoom
		}
		all, err := io.ReadAll(r.Body)
		assert.Equal(t, "abcdef", string(all))
		_, again := late.Read(make([]byte, 1))
		assert.Error(t, again)
		assert.NoError(t, late.Close())
		_ = r.Body.Close()
		return answer(200, ""), err
	}), atOnce)
	transport.BufferBody = 100
	reader, writer := io.Pipe()
	body := &trackedBody{Reader: signalReader{reader, begun}}
	go func() {
		<-begun
		_, _ = writer.Write([]byte("abc"))
		_, _ = writer.Write([]byte("def"))
		_ = writer.Close()
	}()
	response, err := transport.RoundTrip(put(t, "http://example.com", body))
	require.NoError(t, err)
	_ = response.Body.Close()
	assert.NoError(t, <-over)
	assert.EqualValues(t, 1, body.closes.Load())
}

// signalReader says when its first Read has begun.
type signalReader struct {
	io.Reader
	begun chan struct{}
}

func (r signalReader) Read(p []byte) (int, error) {
	select {
	case <-r.begun:
	default:
		close(r.begun)
	}
	return r.Reader.Read(p)
}

// TestEarlyAnswer: a body that is still being sent when the answer is there is closed by the base, later.
func TestEarlyAnswer(t *testing.T) {
	var sending io.ReadCloser
	transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		sending = r.Body
		return answer(200, "early"), nil
	}))
	body := streamed("abc")
	response, err := transport.RoundTrip(put(t, "http://example.com", body))
	require.NoError(t, err)
	assert.Equal(t, "early", read(t, response))
	assert.Zero(t, body.closes.Load())
	all, err := io.ReadAll(sending)
	require.NoError(t, err)
	assert.Equal(t, "abc", string(all))
	require.NoError(t, sending.Close())
	require.NoError(t, sending.Close())
	assert.EqualValues(t, 1, body.closes.Load())
}

// TestTrailer: its values are known when the body has been read, also where attempts have copies of the request.
func TestTrailer(t *testing.T) {
	transport := retryhttp.NewTransport(nil, atOnce)
	transport.Sign = func(*http.Request) error { return nil }
	transport.BufferBody = 10
	var got []string
	s := newServer(t, transport, func(n int, w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		got = append(got, r.Trailer.Get("Sum"))
		if n == 1 {
			w.WriteHeader(503)
		}
	})
	r := put(t, s.URL, nil)
	r.Trailer = http.Header{"Sum": nil}
	r.Body = &trackedBody{Reader: io.MultiReader(strings.NewReader("abc"), atEnd(func() { r.Trailer.Set("Sum", "3") }))}
	r.ContentLength = -1
	response, err := s.client.Do(r)
	require.NoError(t, err)
	assert.Empty(t, read(t, response))
	assert.Equal(t, []string{"3", "3"}, got)
}

// atEnd is an empty reader that calls a function.
type atEnd func()

func (f atEnd) Read([]byte) (int, error) { f(); return 0, io.EOF }

// TestBufferedGetBody: what net/http sends again by itself, it takes from what is kept; and no more than is kept.
func TestBufferedGetBody(t *testing.T) {
	for _, tc := range []struct {
		limit int64
		got   []string // by Body, then by GetBody; "": an error
	}{{-1, nil}, {0, nil}, {3, []string{"body", ""}}, {4, []string{"body", "body", "body"}}} {
		var got []string
		transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
			assert.Equal(t, tc.limit > 0, r.GetBody != nil)
			for r.GetBody != nil && len(got) < len(tc.got) {
				all, err := io.ReadAll(r.Body)
				assert.NoError(t, err)
				assert.NoError(t, r.Body.Close())
				got = append(got, string(all))
				if r.Body, err = r.GetBody(); err != nil {
					assert.ErrorIs(t, err, retryhttp.ErrBody)
					got = append(got, "")
					return answer(200, ""), nil
				}
			}
			return answer(200, ""), r.Body.Close()
		}))
		transport.BufferBody = tc.limit
		body := &trackedBody{Reader: newReader("body")}
		_, err := transport.RoundTrip(newRequest(t, "POST", "http://example.com", body))
		require.NoError(t, err)
		assert.Equal(t, tc.got, got)
		assert.EqualValues(t, 1, body.closes.Load())
	}
}
