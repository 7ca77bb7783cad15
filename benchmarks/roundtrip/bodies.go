package roundtrip

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"
)

func lastAnswer(c *Client) Finding {
	s := startServer((*httptest.Server).Start, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "overloaded")
	})
	defer s.end()
	look := func(response *http.Response, err error) Finding {
		if err != nil {
			return found(false, "error")
		}
		body, err := io.ReadAll(response.Body)
		return found(response.StatusCode == http.StatusServiceUnavailable && string(body) == "overloaded" && err == nil, "response")
	}
	f := s.call(c, http.MethodGet, nil, look)
	if c.KeepLast == nil {
		return f
	}
	other := *c
	other.New = c.KeepLast.New
	if f.Wrong && !s.call(&other, http.MethodGet, nil, look).Wrong {
		f.Seen += fmt.Sprintf(" (response with %s)", c.KeepLast.Name)
	}
	return f
}

func leftOpen(c *Client) Finding {
	base := statuses(http.StatusServiceUnavailable)
	transport, err := c.New(Settings{Base: base, Attempts: attempts, Delay: time.Second})
	if err != nil {
		return failed(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, _ = get(ctx, transport)
	left := base.n - base.closed
	return found(left == 0 && base.n == attempts, "%d of %d", left, base.n)
}

// put sends a PUT in four ways, and looks at each after it was answered.
func put(c *Client, look func(r *http.Request, body *trackedBody)) error {
	for _, codes := range [][]int{{http.StatusOK}, {http.StatusServiceUnavailable, http.StatusOK}} {
		for _, rewinds := range []bool{true, false} {
			transport, err := c.New(Settings{Base: statuses(codes...), Attempts: attempts, Delay: time.Second})
			if err != nil {
				return err
			}
			body := newTrackedBody("abc")
			r, err := http.NewRequestWithContext(context.Background(), http.MethodPut, "http://example.com/", body)
			if err != nil {
				return err
			}
			r.ContentLength = 3
			if rewinds {
				r.GetBody = func() (io.ReadCloser, error) { return newTrackedBody("abc"), nil }
			}
			response, err := transport.RoundTrip(r)
			if err != nil {
				return err
			}
			if err := response.Body.Close(); err != nil {
				return err
			}
			look(r, body)
		}
	}
	return nil
}

func bodyCloses(c *Client) Finding {
	closes := map[int]bool{}
	if err := put(c, func(_ *http.Request, body *trackedBody) { closes[body.closes] = true }); err != nil {
		return failed(err)
	}
	var seen []string
	for _, n := range slices.Sorted(maps.Keys(closes)) {
		seen = append(seen, fmt.Sprint(n))
	}
	return found(len(closes) == 1 && closes[1], "%s", strings.Join(seen, " or "))
}

func callersRequest(c *Client) Finding {
	changed := map[string]bool{}
	err := put(c, func(r *http.Request, body *trackedBody) {
		changed["body replaced"] = changed["body replaced"] || r.Body != io.ReadCloser(body)
		changed["length changed"] = changed["length changed"] || r.ContentLength != 3
		changed["header changed"] = changed["header changed"] || len(r.Header) > 0
	})
	if err != nil {
		return failed(err)
	}
	var seen []string
	for _, what := range slices.Sorted(maps.Keys(changed)) {
		if changed[what] {
			seen = append(seen, what)
		}
	}
	if len(seen) > 0 {
		return found(false, "%s", strings.Join(seen, ", "))
	}
	return found(true, "unchanged")
}

func bodyUnderTimeout(c *Client) Finding {
	base := &script{answer: func(_ int, r *http.Request) (*http.Response, error) {
		return answer(http.StatusOK, newTrickle(r.Context(), 2, time.Second)), nil
	}}
	transport, err := c.New(Settings{Base: base, Attempts: attempts, Delay: time.Second, AttemptTimeout: time.Second + time.Millisecond})
	if err != nil {
		return failed(err)
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://example.com/", nil)
	if err != nil {
		return failed(err)
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		return failed(err)
	}
	defer response.Body.Close()
	_, err = io.ReadAll(response.Body)
	if err != nil {
		return found(false, "cut off")
	}
	return found(true, "read")
}

// trackedBody is the body of a request, and counts how often it is closed.
type trackedBody struct {
	io.Reader
	closes int
}

func newTrackedBody(text string) *trackedBody { return &trackedBody{Reader: strings.NewReader(text)} }

func (b *trackedBody) Close() error { b.closes++; return nil }

var errClosed = errors.New("read of a body that is closed")

// trickle is the body of an answer that comes byte by byte, until the request's context ends or the body is closed, as with
// net/http's.
type trickle struct {
	ctx    context.Context
	left   int
	every  time.Duration
	closed chan struct{}
}

func newTrickle(ctx context.Context, n int, every time.Duration) *trickle {
	return &trickle{ctx, n, every, make(chan struct{})}
}

func (t *trickle) Read(p []byte) (int, error) {
	if t.left == 0 || len(p) == 0 {
		return 0, io.EOF
	}
	timer := time.NewTimer(t.every)
	defer timer.Stop()
	select {
	case <-timer.C:
		t.left--
		p[0] = 'x'
		return 1, nil
	case <-t.ctx.Done():
		return 0, t.ctx.Err()
	case <-t.closed:
		return 0, errClosed
	}
}

func (t *trickle) Close() error {
	select {
	case <-t.closed:
	default:
		close(t.closed)
	}
	return nil
}
