package roundtrip

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

func connections(size int) func(*Client) Finding {
	return func(c *Client) Finding {
		body := bytes.Repeat([]byte("x"), size)
		s := startServer((*httptest.Server).Start, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write(body)
		})
		defer s.end()
		return s.call(c, http.MethodGet, nil, func(response *http.Response, err error) Finding {
			if err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
			}
			if n := s.requests.Load(); n != attempts {
				return found(false, "%d attempts", n)
			}
			n := s.connections.Load()
			return found(n == 1, "%d", n)
		})
	}
}

// slowBody looks at how much later than after its wait the second attempt comes.
func slowBody(c *Client) Finding {
	const wait = 10 * time.Second
	start := time.Now()
	var second time.Duration
	base := &script{answer: func(n int, r *http.Request) (*http.Response, error) {
		if n == 1 {
			return answer(http.StatusServiceUnavailable, newTrickle(r.Context(), 2*60*60, time.Second)), nil
		}
		second = time.Since(start)
		return answer(http.StatusOK, http.NoBody), nil
	}}
	transport, err := c.New(Settings{Base: base, Attempts: attempts, Delay: wait})
	if err != nil {
		return failed(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if _, err := get(ctx, transport); err != nil {
		return failed(err)
	}
	late := second - wait
	if late <= 0 {
		return found(true, "not late")
	}
	return found(late <= time.Second, "%v late", late)
}

// get makes a request, and closes the body of its answer.
func get(ctx context.Context, transport http.RoundTripper) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://example.com/", nil)
	if err != nil {
		return nil, err
	}
	response, err := transport.RoundTrip(r)
	if err == nil {
		err = response.Body.Close()
	}
	return response, err
}

func sendsOfPost(c *Client) Finding {
	var sends []int32
	for _, handler := range []http.HandlerFunc{
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		s := startServer((*httptest.Server).Start, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			handler(w, r)
		})
		f := s.call(c, http.MethodPost, strings.NewReader("pay 5"), func(*http.Response, error) Finding {
			sends = append(sends, s.requests.Load())
			return Finding{}
		})
		s.end()
		if f != (Finding{}) {
			return f
		}
	}
	if sends[0] != sends[1] {
		return found(false, "%d, %d if it breaks", sends[0], sends[1])
	}
	return found(sends[0] == 1, "%d", sends[0])
}

func handshakes(c *Client) Finding {
	s := startServer((*httptest.Server).StartTLS, func(http.ResponseWriter, *http.Request) {})
	defer s.end()
	return s.call(c, http.MethodGet, nil, func(_ *http.Response, err error) Finding {
		if err == nil {
			return found(false, "trusted")
		}
		n := s.handshakes.Load()
		return found(n == 1, "%d", n)
	})
}
