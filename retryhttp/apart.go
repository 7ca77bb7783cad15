package retryhttp

import (
	"context"
	"io"
	"net"
	"net/http"
)

// apart sends a request on a connection of its own, which is closed with the response's body.
func (p *probe) apart(pool *http.Transport, r *http.Request) (*http.Response, error) {
	port := r.URL.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[r.URL.Scheme]
	}
	p.asked.Store(true)
	// As net/http does where it dials, the context's end is heeded and its deadline is not: that may be another clock's.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	defer context.AfterFunc(r.Context(), cancel)()
	conn, err := pool.NewClientConn(ctx, r.URL.Scheme, net.JoinHostPort(r.URL.Hostname(), port))
	if err != nil {
		closeBody(r.Body)
		if r.Context().Err() != nil {
			err = context.Cause(r.Context())
		}
		return nil, err
	}
	p.connected.Store(true)
	response, err := conn.RoundTrip(r)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	if w, ok := response.Body.(io.Writer); ok { // 101 Switching Protocols
		response.Body = &struct {
			apartBody
			io.Writer
		}{apartBody{response.Body, conn}, w}
	} else {
		response.Body = apartBody{response.Body, conn}
	}
	return response, nil
}

// apartBody closes the connection that it alone uses.
type apartBody struct {
	io.ReadCloser
	conn *http.ClientConn
}

func (b apartBody) Close() error {
	err := b.ReadCloser.Close()
	_ = b.conn.Close()
	return err
}
