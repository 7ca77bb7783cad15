package retryhttp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
)

// onlyWriter cannot be set back.
type onlyWriter struct{ io.Writer }

func download(t *testing.T, d retryhttp.Download, w io.Writer, all ...step) (n int64, requests []*http.Request, err error) {
	base, made := steps(all...)
	d.Client = &http.Client{Transport: base}
	n, err = d.To(w, get(t), atOnce, retry.WithMaxAttempts(4))
	return n, *made, err
}

// TestDownload: without Resume the writer is set back to where it was, if it can be.
func TestDownload(t *testing.T) {
	var buffer bytes.Buffer
	buffer.WriteString("before ")
	n, requests, err := download(t, retryhttp.Download{}, &buffer, cuts(200, "bo", 4, "Etag", `"1"`), gives(503, "x"), gives(200, "body"))
	require.NoError(t, err)
	assert.EqualValues(t, 4, n)
	assert.Equal(t, "before body", buffer.String())
	assert.Len(t, requests, 3)
	for _, r := range requests {
		assert.Empty(t, r.Header, "nothing is asked for but the whole")
	}

	name := filepath.Join(t.TempDir(), "file")
	file, err := os.Create(name)
	require.NoError(t, err)
	_, err = file.WriteString("before ")
	require.NoError(t, err)
	n, _, err = download(t, retryhttp.Download{}, file, cuts(200, "much longer than the second", 400), gives(200, "body"))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	assert.EqualValues(t, 4, n)
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, "before body", string(got))
}

// TestDownloadToAWriterThatCannotBeSetBack ends once something was written, and is repeated before that.
func TestDownloadToAWriterThatCannotBeSetBack(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = read.Close(); _ = write.Close() }()
	for _, w := range []io.Writer{onlyWriter{io.Discard}, write} {
		n, requests, err := download(t, retryhttp.Download{}, w, cuts(200, "", 4), cuts(200, "bo", 4))
		require.ErrorIs(t, err, retryhttp.ErrPartial)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.EqualValues(t, 2, n)
		assert.Len(t, requests, 2)
	}
	n, requests, err := download(t, retryhttp.Download{}, onlyWriter{io.Discard}, gives(503, ""), cuts(200, "", 4), gives(200, "body"))
	require.NoError(t, err)
	assert.EqualValues(t, 4, n)
	assert.Len(t, requests, 3)
}

// TestDownloadRestart: the caller's function sets the writer back; its error is final.
func TestDownloadRestart(t *testing.T) {
	var got bytes.Buffer
	restarts := 0
	d := retryhttp.Download{Restart: func() error { restarts++; got.Reset(); return nil }}
	_, _, err := download(t, d, onlyWriter{&got}, cuts(200, "b", 4), cuts(200, "", 4), cuts(200, "bo", 4), gives(200, "body"))
	require.NoError(t, err)
	assert.Equal(t, "body", got.String())
	assert.Equal(t, 2, restarts, "only where something was written")

	d.Restart = func() error { return errBoom }
	n, requests, err := download(t, d, onlyWriter{&got}, cuts(200, "b", 4))
	require.ErrorIs(t, err, errBoom)
	assert.EqualValues(t, 1, n)
	assert.Len(t, requests, 1)
}

// TestDownloadWriterErrors are final, whatever they are, and whatever the policy retries.
func TestDownloadWriterErrors(t *testing.T) {
	for name, w := range map[string]writeFunc{
		"its own":        func([]byte) (int, error) { return 2, errBoom },
		"like a body's":  func([]byte) (int, error) { return 2, io.ErrUnexpectedEOF },
		"too short":      func([]byte) (int, error) { return 2, nil },
		"a timeout":      func([]byte) (int, error) { return 2, os.ErrDeadlineExceeded },
		"negative count": func([]byte) (int, error) { return -1, errBoom },
		"more than all":  func([]byte) (int, error) { return 99, errBoom },
	} {
		base, requests := steps(gives(200, "body"))
		n, err := retryhttp.Download{Client: &http.Client{Transport: base}, Restart: func() error { return nil }}.To(w, get(t), atOnce,
			retry.WithRetryIf(func(error) bool { return true }))
		count, want := w(nil)
		if want == nil {
			want = io.ErrShortWrite
		}
		require.ErrorIs(t, err, want, name)
		assert.EqualValues(t, min(max(count, 0), 4), n, name)
		assert.Len(t, *requests, 1, name)
	}
}

type writeFunc func([]byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

// TestDownloadLimit: nothing is written of what is announced to be larger, and no more than Limit of what turns out to be.
func TestDownloadLimit(t *testing.T) {
	endless := func(*http.Request) (*http.Response, error) {
		response := answer(200, "")
		response.Body, response.ContentLength = io.NopCloser(strings.NewReader("body")), -1
		return response, nil
	}
	for _, tc := range []struct {
		step  step
		limit int64
		want  string
		large bool
	}{
		{gives(200, "body"), 0, "body", false}, {gives(200, "body"), 4, "body", false}, {gives(200, "body"), 3, "", true},
		{gives(200, "body"), math.MaxInt64, "body", false},
		{endless, 0, "body", false}, {endless, 4, "body", false}, {endless, 3, "bod", true}, {endless, 1, "b", true}, {endless, math.MaxInt64, "body", false},
	} {
		var got bytes.Buffer
		n, requests, err := download(t, retryhttp.Download{Limit: tc.limit}, &got, tc.step)
		assert.Equal(t, tc.large, errors.Is(err, retryhttp.ErrTooLarge), err)
		assert.Equal(t, tc.want, got.String())
		assert.EqualValues(t, len(tc.want), n)
		assert.Len(t, requests, 1)
	}
}

// TestDownloadLength: what is not as long as announced is not the content, also where a base does not see to that itself.
func TestDownloadLength(t *testing.T) {
	announced := func(length int64) step {
		return func(*http.Request) (*http.Response, error) {
			response := answer(200, "body")
			response.ContentLength = length
			return response, nil
		}
	}
	for _, length := range []int64{3, 5} {
		var got bytes.Buffer
		n, requests, err := download(t, retryhttp.Download{}, &got, announced(length), announced(4))
		require.NoError(t, err)
		assert.EqualValues(t, 4, n)
		assert.Equal(t, "body", got.String())
		assert.Len(t, requests, 2)
	}
	// All that was announced is there: how the body ends after that does not matter.
	n, requests, err := download(t, retryhttp.Download{}, io.Discard, cuts(200, "body", 4))
	require.NoError(t, err)
	assert.EqualValues(t, 4, n)
	assert.Len(t, requests, 1)
	base, _ := steps(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, ContentLength: 9}, nil
	})
	n, err = retryhttp.Download{Client: &http.Client{Transport: base}, Limit: 1}.To(io.Discard, newRequest(t, "HEAD", "http://example.com/", nil))
	require.NoError(t, err, "HEAD has a length and no body")
	assert.Zero(t, n)
}

// TestDownloadProgress: where it is, at the beginning of every answer and after each write.
func TestDownloadProgress(t *testing.T) {
	type seen struct {
		bytes, total int64
		attempt      int
	}
	var got []seen
	d := retryhttp.Download{Resume: true, Progress: func(p retryhttp.Progress) {
		got = append(got, seen{p.Bytes, p.Total, retryhttp.Attempts(p.Response)})
	}}
	_, _, err := download(t, d, &bytes.Buffer{}, cuts(200, "bo", 4, "Etag", `"1"`), gives(503, ""),
		cuts(206, "d", 2, "Etag", `"1"`, "Content-Range", "bytes 2-3/4"), gives(200, "longer", "Etag", `"2"`))
	require.NoError(t, err)
	assert.Equal(t, []seen{{0, 4, 1}, {2, 4, 1}, {2, 4, 3}, {3, 4, 3}, {0, 6, 4}, {6, 6, 4}}, got)
}

// TestDownloadCanceled: in the writer, and in Progress.
func TestDownloadCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	base := roundTripper(func(r *http.Request) (*http.Response, error) {
		response := answer(200, "")
		first := true
		response.ContentLength = 4
		response.Body = io.NopCloser(readerFunc(func(p []byte) (int, error) {
			if first {
				first = false
				return copy(p, "bo"), nil
			}
			<-r.Context().Done()
			return 0, r.Context().Err()
		}))
		return response, nil
	})
	n, err := retryhttp.Download{Client: &http.Client{Transport: base}, Progress: func(p retryhttp.Progress) {
		if p.Bytes > 0 {
			cancel()
		}
	}}.To(&bytes.Buffer{}, get(t).WithContext(ctx), atOnce)
	require.ErrorIs(t, err, context.Canceled)
	assert.EqualValues(t, 2, n)
}

// TestDownloadStall: an attempt that gets nothing is given up after Stall, before the header and within the body; one that
// gets something now and then is not, and the time that the writer takes does not count.
func TestDownloadStall(t *testing.T) {
	const stall = 10 * time.Second
	body := func(r *http.Request, every time.Duration, parts int) *http.Response {
		response := answer(200, "", "Etag", `"1"`)
		response.ContentLength = 3
		given := 0
		response.Body = io.NopCloser(readerFunc(func(p []byte) (int, error) {
			if given == 3 {
				return 0, io.EOF
			}
			wait := every
			if parts--; parts < 0 {
				wait = time.Hour
			}
			select {
			case <-r.Context().Done():
				return 0, r.Context().Err()
			case <-time.After(wait):
				given++
				return copy(p, "x"), nil
			}
		}))
		return response
	}
	for name, tc := range map[string]struct {
		steps []step
		want  time.Duration
		err   error
	}{
		"slow, but alive": {steps: []step{func(r *http.Request) (*http.Response, error) { return body(r, 9*time.Second, 3), nil }}, want: 3 * (9 + 60) * time.Second},
		"no header": {steps: []step{func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, gives(200, "xxx")}, want: stall + 60*time.Second},
		"no more of the body": {steps: []step{func(r *http.Request) (*http.Response, error) { return body(r, 0, 1), nil }, gives(200, "xxx")},
			want: 60*time.Second + stall + 60*time.Second},
		"never":                        {steps: []step{func(r *http.Request) (*http.Response, error) { return body(r, 0, 0), nil }}, want: 2 * stall, err: retryhttp.ErrStalled},
		"an answer that is no success": {steps: []step{gives(503, "down"), gives(404, "down")}, err: errBoom},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base, _ := steps(tc.steps...)
				began := time.Now()
				var got bytes.Buffer
				d := retryhttp.Download{Client: &http.Client{Transport: base}, Stall: stall, Restart: func() error { got.Reset(); return nil }}
				_, err := d.To(writeFunc(func(p []byte) (int, error) {
					time.Sleep(time.Minute)
					return got.Write(p)
				}), get(t), atOnce, retry.WithMaxAttempts(2))
				assert.Equal(t, tc.want, time.Since(began))
				switch tc.err {
				case nil:
					require.NoError(t, err)
					assert.Equal(t, "xxx", got.String())
				case errBoom:
					var failure *retryhttp.Failure
					require.ErrorAs(t, err, &failure)
					assert.Equal(t, "down", read(t, failure.Response))
				default:
					require.ErrorIs(t, err, tc.err)
					var late interface{ Timeout() bool }
					require.ErrorAs(t, err, &late)
					assert.True(t, late.Timeout())
				}
			})
		})
	}
}

// TestDownloadStallSparesProgress: what the caller does before the first read is not the peer's time either.
func TestDownloadStallSparesProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, requests := steps(func(r *http.Request) (*http.Response, error) {
			response := answer(200, "")
			response.Body, response.ContentLength = io.NopCloser(readerFunc(func(p []byte) (int, error) {
				if err := r.Context().Err(); err != nil {
					return 0, err
				}
				return copy(p, "body"), io.EOF
			})), 4
			return response, nil
		})
		d := retryhttp.Download{Client: &http.Client{Transport: base}, Stall: time.Second, Progress: func(retryhttp.Progress) { time.Sleep(time.Minute) }}
		_, err := d.To(io.Discard, get(t))
		require.NoError(t, err)
		assert.Len(t, *requests, 1)
	})
}
