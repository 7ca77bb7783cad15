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
	f.release()
}

// drain reads the body to its end if that is near, so that the connection can be used again, and closes it in any case.
func (t *Transport) drain(r *http.Response, to io.Writer) {
	limit := t.DrainBytes
	if limit == 0 {
		limit = DefaultDrainBytes
	}
	if limit < 0 || t.DrainTime < 0 || to == io.Discard && r.ContentLength > limit {
		t.shut(r.Body)
		return
	}
	body := r.Body
	t.throwAway(body, func() {
		_, _ = io.Copy(to, io.LimitReader(body, limit))
		_, _ = body.Read(make([]byte, 1)) // the end is often seen only by a read beyond it
	})
}

// shut closes the body of a response that is thrown away.
func (t *Transport) shut(body io.ReadCloser) { t.throwAway(body, nil) }

// throwAway reads, if there is something to read for, and closes the body. Whatever the server does, that is waited for no
// longer than DrainTime: net/http's bodies end a read that goes on when they are closed, but Close may block too, over
// HTTP/2 while another stream's write holds the connection, and where the body is unpacked while its first read waits for
// the first bytes. What is left then ends with the attempt's context or the connection.
func (t *Transport) throwAway(body io.ReadCloser, read func()) {
	if body == nil || body == http.NoBody {
		return
	}
	within := t.DrainTime
	if within <= 0 {
		within = DefaultDrainTime
	}
	var once sync.Once
	closeOnce := func() { once.Do(func() { closeBody(body) }) }
	over := make(chan struct{})
	go func() {
		defer close(over)
		if read != nil {
			read()
		}
		closeOnce()
	}()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-over:
	case <-timer.C:
		go closeOnce()
	}
}

// retain puts what can be read of the body within the limits of draining in its place, and ends the attempt's context.
func (f *flight) retain() {
	var came pool
	f.t.drain(f.response, &came)
	f.response.Body = io.NopCloser(bytes.NewReader(came.take()))
	f.release()
}

// release ends the context that was handed over with the response's body, if there is one.
func (f *flight) release() {
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
