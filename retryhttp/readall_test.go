package retryhttp_test

import (
	"errors"
	"io"
	"math"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
)

// TestFetchConfiguration is refused before anything is sent, with the request's body closed.
func TestFetchConfiguration(t *testing.T) {
	base, requests := steps(gives(200, "body"))
	client := &http.Client{Transport: base}
	for name, call := range map[string]func(r *http.Request) error{
		"request": func(*http.Request) error { _, err := retryhttp.Fetch(client, nil, readBody); return err },
		"WithMaxAttempts": func(r *http.Request) error {
			_, err := retryhttp.Fetch(client, r, readBody, retry.WithMaxAttempts(-1))
			return err
		},
		"Transport": func(r *http.Request) error {
			_, err := retryhttp.Fetch(&http.Client{Transport: (*retryhttp.Transport)(nil)}, r, readBody)
			return err
		},
		"read":  func(r *http.Request) error { _, err := retryhttp.Fetch[int](client, r, nil); return err },
		"limit": func(r *http.Request) error { _, err := retryhttp.ReadAll(client, r, -1); return err },
		"w":     func(r *http.Request) error { _, err := retryhttp.Download{}.To(nil, r); return err },
		"Download.Limit": func(r *http.Request) error {
			_, err := retryhttp.Download{Limit: -1}.To(io.Discard, r)
			return err
		},
		"Download.Stall": func(r *http.Request) error {
			_, err := retryhttp.Download{Stall: -1}.To(io.Discard, r)
			return err
		},
		"Download.Resume": func(r *http.Request) error {
			_, err := retryhttp.Download{Resume: true}.To(io.Discard, r)
			return err
		},
	} {
		body := &trackedBody{Reader: newReader("abc")}
		r := newRequest(t, "PUT", "http://example.com/", body)
		err := call(r)
		var config *retry.ConfigError
		require.ErrorAs(t, err, &config, name)
		assert.Equal(t, name, config.Option)
		if name != "request" {
			assert.EqualValues(t, 1, body.closes.Load(), name)
		}
	}
	assert.Empty(t, *requests)
}

// TestReadAll: the limit is that of the body, known beforehand or not.
func TestReadAll(t *testing.T) {
	chunked := func(*http.Request) (*http.Response, error) {
		response := answer(200, "body")
		response.ContentLength = -1
		return response, nil
	}
	for _, tc := range []struct {
		step  step
		limit int64
		large bool
		want  string
	}{
		{gives(200, "body"), 4, false, "body"}, {gives(200, "body"), 3, true, ""}, {gives(200, "body"), 0, true, ""}, {gives(200, ""), 0, false, ""},
		{chunked, 4, false, "body"}, {chunked, 3, true, ""}, {chunked, 0, true, ""}, {chunked, math.MaxInt64, false, "body"},
		{chunked, math.MaxInt64 - 1, false, "body"},
	} {
		base, requests := steps(tc.step)
		got, err := retryhttp.ReadAll(&http.Client{Transport: base}, get(t), tc.limit, atOnce)
		assert.Equal(t, tc.want, string(got))
		assert.Equal(t, tc.large, errors.Is(err, retryhttp.ErrTooLarge), err)
		assert.Len(t, *requests, 1, "more attempts make it no smaller")
	}
	base, _ := steps(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, ContentLength: 1 << 40, Request: r}, nil
	})
	got, err := retryhttp.ReadAll(&http.Client{Transport: base}, newRequest(t, "HEAD", "http://example.com/", nil), 1)
	require.NoError(t, err)
	assert.Empty(t, got)
}

// TestReadAllLooksAtTheLength: of what is announced to be too large nothing is read.
func TestReadAllLooksAtTheLength(t *testing.T) {
	base, _ := steps(func(*http.Request) (*http.Response, error) {
		response := answer(200, "")
		response.ContentLength = 1 << 40
		response.Body = io.NopCloser(readerFunc(func([]byte) (int, error) {
			t.Error("read")
			return 0, io.EOF
		}))
		return response, nil
	})
	_, err := retryhttp.ReadAll(&http.Client{Transport: base}, get(t), 1<<20)
	require.ErrorIs(t, err, retryhttp.ErrTooLarge)
}
