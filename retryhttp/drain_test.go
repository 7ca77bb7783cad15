package retryhttp_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
)

// TestConnections: four answers 503 and then success need one connection each time, within the limits of draining.
func TestConnections(t *testing.T) {
	for _, tc := range []struct {
		name    string
		size    int
		chunked bool
		limit   int64
		within  time.Duration
		opts    []retry.Option
		want    int32
	}{
		{name: "1 KiB", size: 1 << 10, want: 1},
		{name: "8 KiB", size: 8 << 10, want: 1},
		{name: "64 KiB", size: 64 << 10, want: 1},
		{name: "64 KiB chunked", size: 64 << 10, chunked: true, want: 1},
		{name: "64 KiB, attempt timeout", size: 64 << 10, opts: []retry.Option{retry.WithAttemptTimeout(time.Minute)}, want: 1},
		{name: "declared above the limit", size: 64<<10 + 1, want: 5},
		{name: "more than the limit", size: 64<<10 + 2, chunked: true, want: 5},
		{name: "a limit of one's own", size: 2 << 10, chunked: true, limit: 1 << 10, want: 5},
		{name: "no draining", size: 8 << 10, limit: -1, want: 5},
		{name: "no time", size: 8 << 10, within: -1, want: 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			transport := retryhttp.NewTransport(nil, append(tc.opts, atOnce)...)
			transport.DrainBytes, transport.DrainTime = tc.limit, tc.within
			if tc.within == 0 {
				transport.DrainTime = time.Minute // so that a slow machine does not count
			}
			s := newServer(t, transport, func(n int, w http.ResponseWriter, _ *http.Request) {
				if n == 5 {
					return
				}
				if !tc.chunked {
					w.Header().Set("Content-Length", itoa(tc.size))
				}
				w.WriteHeader(503)
				_, _ = io.WriteString(w, strings.Repeat("x", tc.size))
			})
			response, err := s.client.Get(s.URL)
			require.NoError(t, err)
			assert.Equal(t, 200, response.StatusCode)
			assert.Empty(t, read(t, response))
			assert.EqualValues(t, 5, s.requests.Load())
			assert.Equal(t, tc.want, s.opened.Load())
		})
	}
}

// TestP34DiscardedBodies are read to the end and closed, before the attempt's context ends; the one returned is open.
func TestP34DiscardedBodies(t *testing.T) {
	var bodies []*watchedBody
	codes := []int{503, 503, 200}
	transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		response := answer(codes[len(bodies)], "body")
		bodies = append(bodies, &watchedBody{Reader: response.Body, request: r})
		response.Body = bodies[len(bodies)-1]
		return response, nil
	}), atOnce, retry.WithAttemptTimeout(time.Hour))
	transport.DrainBytes = int64(len("body")) // whose end is seen by one more read
	response, err := transport.RoundTrip(get(t))
	require.NoError(t, err)
	require.Len(t, bodies, 3)
	for i, body := range bodies[:2] {
		assert.True(t, body.ended, "%d read to the end", i)
		assert.Equal(t, 1, body.closes)
		assert.NoError(t, body.contextAtClose)
		assert.Error(t, body.request.Context().Err())
	}
	assert.False(t, bodies[2].ended)
	assert.NoError(t, bodies[2].request.Context().Err())
	assert.Equal(t, "body", read(t, response))
	assert.NoError(t, bodies[2].contextAtClose)
	assert.Error(t, bodies[2].request.Context().Err())
}

// TestNoDraining: with a negative limit nothing is read at all.
func TestNoDraining(t *testing.T) {
	for name, set := range map[string]func(*retryhttp.Transport){
		"bytes": func(t *retryhttp.Transport) { t.DrainBytes = -1 }, "time": func(t *retryhttp.Transport) { t.DrainTime = -1 },
	} {
		synctest.Test(t, func(t *testing.T) {
			reader := &countingReader{Reader: newReader("body")}
			transport := retryhttp.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 503, Body: io.NopCloser(reader)}, nil
			}), atOnce, retry.WithMaxAttempts(2))
			set(transport)
			transport.ErrorOnExhausted = true
			_, err := transport.RoundTrip(get(t))
			var failure *retryhttp.Failure
			require.ErrorAs(t, err, &failure)
			assert.Empty(t, read(t, failure.Response), name)
			synctest.Wait()
			assert.Zero(t, reader.n.Load(), name)
		})
	}
}

type watchedBody struct {
	io.Reader
	request        *http.Request
	ended          bool
	closes         int
	contextAtClose error
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.ended = b.ended || err == io.EOF
	return n, err
}

func (b *watchedBody) Close() error {
	b.closes++
	b.contextAtClose = b.request.Context().Err()
	return nil
}

// TestDrainTime: a body that comes to nothing is given up after DrainTime, which is part of the wait.
func TestDrainTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var closed []time.Duration
		began := time.Now()
		transport := retryhttp.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if len(closed) == 2 {
				return answer(200, ""), nil
			}
			response := answer(503, "")
			r, w := io.Pipe()
			response.Body = closing{r, func() {
				mu.Lock()
				defer mu.Unlock()
				closed = append(closed, time.Since(began))
				_ = w.Close()
			}}
			return response, nil
		}), retry.WithStrategy(constant(time.Second)))
		response, err := transport.RoundTrip(get(t))
		require.NoError(t, err)
		assert.Equal(t, 200, response.StatusCode)
		assert.Equal(t, []time.Duration{100 * time.Millisecond, 1100 * time.Millisecond}, closed)
		assert.Equal(t, 2*time.Second, time.Since(began))
	})
}

type closing struct {
	io.Reader
	close func()
}

func (c closing) Close() error { c.close(); return nil }

// TestHostileBodies: error bodies without end, fast or slow, hold nothing up.
func TestHostileBodies(t *testing.T) {
	for name, serve := range map[string]func(http.ResponseWriter, *http.Request){
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(503)
			for {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		},
		"stalled": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(503)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		// net/http cannot close a body while it waits for the first bytes that it unpacks.
		"stalled, compressed": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(503)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			transport := retryhttp.NewTransport(nil, atOnce, retry.WithMaxAttempts(3))
			transport.DrainTime = 5 * time.Millisecond
			s := newServer(t, transport, func(_ int, w http.ResponseWriter, r *http.Request) { serve(w, r) })
			response, err := s.client.Get(s.URL)
			require.NoError(t, err)
			assert.Equal(t, 503, response.StatusCode)
			require.NoError(t, response.Body.Close())
			assert.EqualValues(t, 3, s.requests.Load())
			assert.EqualValues(t, 3, s.opened.Load())

			transport.ErrorOnExhausted = true
			_, err = s.client.Get(s.URL)
			var failure *retryhttp.Failure
			require.ErrorAs(t, err, &failure)
			assert.LessOrEqual(t, len(read(t, failure.Response)), retryhttp.DefaultDrainBytes)
		})
	}
}

// TestStalledBodyEnds: with an attempt timeout nothing is left of it, once it was given up: not even where it could not be
// closed.
func TestStalledBodyEnds(t *testing.T) {
	for _, exhausted := range []bool{false, true} {
		ended := make(chan struct{}, 2)
		transport := retryhttp.NewTransport(nil, atOnce, retry.WithMaxAttempts(2), retry.WithAttemptTimeout(time.Minute))
		transport.DrainTime, transport.ErrorOnExhausted = time.Millisecond, exhausted
		s := newServer(t, transport, func(n int, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(503)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			ended <- struct{}{}
		})
		response, err := s.client.Get(s.URL)
		<-ended
		if exhausted {
			require.ErrorIs(t, err, retry.ErrExhausted)
		} else {
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
		}
		<-ended
	}
}

// TestGzip: a compressed error body is drained like any other.
func TestGzip(t *testing.T) {
	transport := retryhttp.NewTransport(nil, atOnce)
	transport.DrainTime = time.Minute
	s := newServer(t, transport, func(n int, w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "gzip", r.Header.Get("Accept-Encoding"))
		if n < 4 { // the last of them is as long as the limit, when it is unpacked
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(503)
			_, _ = w.Write(gzipped(strings.Repeat("x", 1<<10<<(2*n))))
		}
	})
	response, err := s.client.Get(s.URL)
	require.NoError(t, err)
	assert.Empty(t, read(t, response))
	assert.EqualValues(t, 1, s.opened.Load())
}
