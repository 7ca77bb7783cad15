package retryhttp

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"
)

// discard is told that the response will not be returned: its connection is freed, while the attempt's context is alive.
func (f *flight) discard() {
	if f.response != nil {
		f.t.drain(f.response, io.Discard)
		f.response = nil
	}
}

// drain reads the body to its end if that is near, so that the connection can be used again, and closes it in any case. It
// takes no longer than it may, whatever the server does: net/http's bodies end a read that goes on when they are closed. But
// one that is unpacked cannot be closed while its first read waits for the first bytes; so that is not waited for, and
// what is left ends with the attempt's context or the connection.
func (t *Transport) drain(r *http.Response, to io.Writer) {
	body := r.Body
	limit, within := t.drainLimits()
	if body == nil || body == http.NoBody || limit < 0 || within < 0 || to == io.Discard && r.ContentLength > limit {
		closeBody(body)
		return
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = io.Copy(to, io.LimitReader(body, limit))
		_, _ = body.Read(make([]byte, 1)) // the end is often seen only by a read beyond it
	}()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-over:
	case <-timer.C:
		if r.Uncompressed {
			go closeBody(body)
			return
		}
	}
	closeBody(body)
}

func (t *Transport) drainLimits() (bytes int64, d time.Duration) {
	bytes, d = t.DrainBytes, t.DrainTime
	if bytes == 0 {
		bytes = DefaultDrainBytes
	}
	if d == 0 {
		d = DefaultDrainTime
	}
	return bytes, d
}

// retain puts what can be read of the body within the limits of draining in its place, and ends the attempt's context.
func (f *flight) retain() {
	var came pool
	f.t.drain(f.response, &came)
	f.response.Body = io.NopCloser(bytes.NewReader(came.take()))
	if f.kept.release != nil {
		f.kept.release()
	}
}

// pool collects what is written to it until it is taken; a write that comes later is lost.
type pool struct {
	mu    sync.Mutex
	taken bool
	bytes []byte
}

func (p *pool) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.taken {
		p.bytes = append(p.bytes, b...)
	}
	return len(b), nil
}

func (p *pool) take() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken = true
	return p.bytes
}
