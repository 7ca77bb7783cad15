package retryhttp

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// keep hands the attempt's context over to the response's body: what comes later would be lost with it.
func (f *flight) keep(release context.CancelFunc) *flight {
	r := f.response
	if f.fetch != nil { // nothing is left to be read later
		defer release()
		if r != nil {
			f.retain()
		}
		return f
	}
	if r == nil || r.Body == nil || r.Body == http.NoBody || !f.ownContext() {
		release()
		return f
	}
	f.kept = keptBody{r.Body, release}
	if w, ok := r.Body.(io.Writer); ok { // 101 Switching Protocols
		r.Body = &keptConn{&f.kept, w}
	} else {
		r.Body = &f.kept
	}
	return f
}

// keptBody releases the attempt's context when it is closed.
type keptBody struct {
	io.ReadCloser
	release context.CancelFunc
}

func (b *keptBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// keptConn is a keptBody that can be written to.
type keptConn struct {
	*keptBody
	io.Writer
}

// CloseWrite says that nothing more will be written, as httputil.ReverseProxy does.
func (c *keptConn) CloseWrite() error {
	if w, ok := c.Writer.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return fmt.Errorf("retryhttp: CloseWrite: %w", http.ErrNotSupported)
}
