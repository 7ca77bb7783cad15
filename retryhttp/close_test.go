package retryhttp_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
)

// stuckBody is a body that breaks off at once, and whose Close blocks until it is let go.
type stuckBody struct{ release chan struct{} }

func (b stuckBody) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
func (b stuckBody) Close() error             { <-b.release; return nil }

// TestCloseThatBlocks: wherever an answer is thrown away, a Close that does not return is waited for as long as DrainTime, or
// DefaultDrainTime if that is negative, and no longer.
func TestCloseThatBlocks(t *testing.T) {
	const drain, timeout = 40 * time.Millisecond, time.Second
	for _, tc := range []struct {
		name    string
		set     func(*retryhttp.Transport)
		attempt func(r *http.Request, stuck *http.Response) (*http.Response, error) // the first; nil: it gives stuck
		panics  bool
		err     error
		want    time.Duration
	}{
		{name: "between attempts", want: drain},
		{name: "no reading", set: func(t *retryhttp.Transport) { t.DrainBytes = -1 }, want: drain},
		{name: "no time to read", set: func(t *retryhttp.Transport) { t.DrainTime = -1 }, want: retryhttp.DefaultDrainTime},
		{name: "too long to be read", attempt: func(_ *http.Request, stuck *http.Response) (*http.Response, error) {
			stuck.ContentLength = 1 << 30
			return stuck, nil
		}, want: drain},
		{name: "kept for the error", set: func(t *retryhttp.Transport) {
			t.ErrorOnExhausted = true
			t.Policy = retry.MustNew(t.Policy, retry.WithMaxAttempts(1))
		}, err: retry.ErrExhausted, want: drain},
		{name: "an answer with an error", attempt: func(_ *http.Request, stuck *http.Response) (*http.Response, error) {
			return stuck, errBoom
		}, want: drain},
		{name: "an answer that came with the timeout", attempt: func(r *http.Request, stuck *http.Response) (*http.Response, error) {
			<-r.Context().Done()
			return stuck, nil
		}, want: timeout + drain},
		{name: "a panic in a condition", set: func(t *retryhttp.Transport) {
			t.Policy = retry.MustNew(t.Policy, retry.WithRetryIf(func(error) bool { panic(errBoom) }))
		}, panics: true, want: drain},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release, calls := make(chan struct{}), 0
				transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
					if calls++; calls > 1 {
						return answer(200, ""), nil
					}
					stuck := &http.Response{StatusCode: 503, Body: stuckBody{release}, ContentLength: -1}
					if tc.attempt != nil {
						return tc.attempt(r, stuck)
					}
					return stuck, nil
				}), atOnce, retry.WithAttemptTimeout(timeout))
				transport.DrainTime = drain
				if tc.set != nil {
					tc.set(transport)
				}
				began := time.Now()
				roundTrip := func() {
					_, err := transport.RoundTrip(get(t))
					assert.ErrorIs(t, err, tc.err)
				}
				if tc.panics {
					assert.PanicsWithValue(t, errBoom, roundTrip)
				} else {
					roundTrip()
				}
				assert.Equal(t, tc.want, time.Since(began))
				close(release)
			})
		})
	}
}

// TestCloseWhileAnotherStreamIsStuck: over HTTP/2, Close writes to the connection, and net/http waits for that as long as the
// request's context lasts. Here the peer has stopped reading in the middle of another request's body.
func TestCloseWhileAnotherStreamIsStuck(t *testing.T) {
	for _, exhausted := range []bool{false, true} {
		ours, theirs := net.Pipe() // a write to it blocks until the peer reads
		base := &http.Transport{
			Protocols:   new(http.Protocols),
			DialContext: func(context.Context, string, string) (net.Conn, error) { return ours, nil },
		}
		base.Protocols.SetUnencryptedHTTP2(true)
		var server sync.WaitGroup
		begun := make(chan struct{})
		server.Go(func() { stopReading(theirs, begun) })

		body, feed := io.Pipe()
		put := newRequest(t, http.MethodPut, "http://example.com/", body)
		var upload sync.WaitGroup
		upload.Go(func() {
			_, err := base.RoundTrip(put)
			assert.Error(t, err)
		})
		upload.Go(func() {
			for { // until the request is over
				if _, err := feed.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		})
		<-begun
		calls := 0
		transport := retryhttp.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
			if calls++; calls > 1 {
				return answer(200, ""), nil
			}
			return base.RoundTrip(r)
		}), atOnce)
		transport.DrainTime, transport.ErrorOnExhausted = time.Millisecond, true
		if exhausted {
			transport.Policy = retry.MustNew(transport.Policy, retry.WithMaxAttempts(1))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		response, err := transport.RoundTrip(get(t).WithContext(ctx))
		require.NoError(t, ctx.Err(), "it took as long as the request's context lasts")
		if exhausted {
			var failure *retryhttp.Failure
			require.ErrorAs(t, err, &failure)
			require.Equal(t, 503, failure.HTTPStatusCode(), err)
		} else {
			require.NoError(t, err)
			require.Equal(t, 200, response.StatusCode)
		}
		cancel()
		_ = theirs.Close()
		upload.Wait()
		server.Wait()
		base.CloseIdleConnections()
	}
}

// stopReading speaks HTTP/2 until a second request is there; begun is closed with the first. It reads the first few bytes of
// what follows, so that the peer is within a write from then on, with nothing else to say, and then answers the second with the beginning of a 503.
func stopReading(conn net.Conn, begun chan<- struct{}) {
	const frameData, frameWindowUpdate, initialWindowSize, most = 0, 8, 4, 1<<31 - 1
	r := bufio.NewReaderSize(conn, 16)
	_, _ = io.ReadFull(r, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")))
	go func() { // the peer may be within a write of its own
		_, _ = conn.Write(frame(frameSettings, 0, 0, append([]byte{0, initialWindowSize}, uint32s(most)...)))
		_, _ = conn.Write(frame(frameWindowUpdate, 0, 0, uint32s(most-1<<16)))
	}()
	requests, settled := map[uint32]bool{}, false
	for {
		var head [9]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return
		}
		stream := binary.BigEndian.Uint32(head[5:])
		settled = settled || head[3] == frameSettings && head[4]&flagAck != 0
		if head[3] == frameData && len(requests) == 2 && settled {
			for other := range requests {
				if other != stream {
					_, _ = conn.Write(frame(frameHeaders, flagEndHeaders, other, []byte("\x08\x03503"))) // :status: 503
				}
			}
			return
		}
		if _, err := io.CopyN(io.Discard, r, int64(head[0])<<16|int64(head[1])<<8|int64(head[2])); err != nil {
			return
		}
		if head[3] == frameHeaders {
			if requests[stream] = true; len(requests) == 1 {
				close(begun)
			}
		}
	}
}
