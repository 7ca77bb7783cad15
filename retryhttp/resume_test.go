package retryhttp_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retryhttp"
)

const old, aMinuteOn = "Mon, 02 Jan 2006 15:04:05 GMT", "Mon, 02 Jan 2006 15:05:05 GMT" // a minute later

// TestResume goes through what a server may answer after a body that broke off: what is asked for, and what comes of it. The
// content is "0123456789". Sources: RFC 9110, sections 8.8, 13.1.5, 14.2 to 14.4, 15.3.7 and 15.5.17.
func TestResume(t *testing.T) {
	const whole = "0123456789"
	tag := []string{"Etag", `"1"`}
	with := func(fields []string, more ...string) []string { return append(append([]string{}, fields...), more...) }
	first := cuts(200, "0123", 10, tag...)
	rest := gives(206, "456789", with(tag, "Content-Range", "bytes 4-9/10")...)
	const asks = `bytes=4- "1"`
	for _, tc := range []struct {
		name  string
		steps []step
		asked []string // Range and If-Range of the attempts after the first
		want  string   // "": ErrPartial for a writer that cannot be set back, else whole
	}{
		{"206", []step{first, rest}, []string{asks}, whole},
		{"206 in pieces", []step{first, cuts(206, "45", 6, with(tag, "Content-Range", "bytes 4-9/10")...),
			gives(206, "6789", with(tag, "Content-Range", "bytes 6-9/10")...)}, []string{asks, `bytes=6- "1"`}, whole},
		{"206 with less than was asked for", []step{first, gives(206, "45", with(tag, "Content-Range", "bytes 4-5/10")...),
			gives(206, "6789", with(tag, "Content-Range", "bytes 6-9/10")...)}, []string{asks, `bytes=6- "1"`}, whole},
		{"206 without a tag", []step{first, gives(206, "456789", "Content-Range", "bytes 4-9/10")}, []string{asks}, whole},
		{"a failure between", []step{first, gives(503, ""), rest}, []string{asks, asks}, whole},
		{"206 of unknown length", []step{cuts(200, "0123", -1, tag...), gives(206, "456789", with(tag, "Content-Range", "bytes 4-9/*")...),
			gives(416, "", with(tag, "Content-Range", "bytes */10")...)}, []string{asks, `bytes=10- "1"`}, whole},
		{"length known late", []step{cuts(200, "0123", -1, tag...), rest}, []string{asks}, whole},
		{"only the end was missing", []step{cuts(200, whole, -1, tag...), gives(416, "", with(tag, "Content-Range", "bytes */10")...)}, []string{`bytes=10- "1"`}, whole},

		{"200, the same", []step{first, gives(200, whole, tag...)}, []string{asks}, whole},
		{"200, the same, cut before and after", []step{first, cuts(200, "01", 10, tag...), cuts(200, "012345", 10, tag...),
			gives(206, "6789", with(tag, "Content-Range", "bytes 6-9/10")...)}, []string{asks, asks, `bytes=6- "1"`}, whole},
		{"200, the same, unknown length", []step{cuts(200, "0123", -1, tag...), cuts(200, whole, 10, tag...)}, []string{asks}, whole},
		{"200, changed", []step{first, gives(200, whole, "Etag", `"2"`)}, []string{asks}, ""},
		{"200, no tag", []step{first, gives(200, whole)}, []string{asks}, ""},
		{"200, now weak", []step{first, gives(200, whole, "Etag", `W/"1"`)}, []string{asks}, ""},
		{"200, encoded", []step{first, gives(200, whole, with(tag, "Content-Encoding", "br")...)}, []string{asks}, ""},
		{"200, changed, and resumed as such", []step{first, cuts(200, "01", 10, "Etag", `"2"`),
			gives(206, "23456789", "Etag", `"2"`, "Content-Range", "bytes 2-9/10")}, []string{asks, `bytes=2- "2"`}, ""},

		{"206, changed", []step{first, gives(206, "456789", "Etag", `"2"`, "Content-Range", "bytes 4-9/10"), gives(200, whole)}, []string{asks, ""}, ""},
		{"206, another length", []step{first, gives(206, "4567", with(tag, "Content-Range", "bytes 4-7/8")...), gives(200, whole)}, []string{asks, ""}, ""},
		{"206, encoded", []step{first, gives(206, "456789", with(tag, "Content-Range", "bytes 4-9/10", "Content-Encoding", "br")...), gives(200, whole)}, []string{asks, ""}, ""},
		{"206, another place", []step{first, gives(206, "56789", with(tag, "Content-Range", "bytes 5-9/10")...), gives(200, whole)}, []string{asks, ""}, ""},
		{"206, from the beginning", []step{first, gives(206, whole, with(tag, "Content-Range", "bytes 0-9/10")...), gives(200, whole)}, []string{asks, ""}, ""},
		{"206, no place", []step{first, gives(206, "456789", tag...), gives(200, whole)}, []string{asks, ""}, ""},
		{"206, nonsense", []step{first, gives(206, "456789", with(tag, "Content-Range", "bytes 4-+9/10")...), gives(200, whole)}, []string{asks, ""}, ""},
		{"206, beyond the end", []step{first, gives(206, "456789", with(tag, "Content-Range", "bytes 4-10/10")...), gives(200, whole)}, []string{asks, ""}, ""},
		{"206, longer than it says", []step{first, gives(206, "4567890", with(tag, "Content-Range", "bytes 4-9/10")...), gives(200, whole)}, []string{asks, ""}, ""},
		{"416, shorter now", []step{first, gives(416, "", "Content-Range", "bytes */3"), gives(200, whole)}, []string{asks, ""}, ""},
		{"416, as long, nothing more said", []step{cuts(200, "0123", -1, tag...), gives(416, "", "Content-Range", "bytes */4"), gives(200, whole)}, []string{asks, ""}, ""},
		{"416, as long, changed", []step{cuts(200, "0123", -1, tag...), gives(416, "", "Etag", `"2"`, "Content-Range", "bytes */4"), gives(200, whole)}, []string{asks, ""}, ""},

		{"weak ETag", []step{cuts(200, "0123", 10, "Etag", `W/"1"`), gives(200, whole)}, []string{""}, ""},
		{"weak ETag with a date", []step{cuts(200, "0123", 10, "Etag", `W/"1"`, "Last-Modified", old, "Date", aMinuteOn), gives(200, whole)}, []string{""}, ""},
		{"two ETags", []step{cuts(200, "0123", 10, "Etag", `"1"`, "Etag", `"2"`), gives(200, whole)}, []string{""}, ""},
		{"no ETag that can be", []step{cuts(200, "0123", 10, "Etag", `1`), gives(200, whole)}, []string{""}, ""},
		{"no validator", []step{cuts(200, "0123", 10), gives(200, whole)}, []string{""}, ""},
		{"a date", []step{cuts(200, "0123", 10, "Last-Modified", old, "Date", aMinuteOn), gives(206, "456789", "Content-Range", "bytes 4-9/10", "Last-Modified", old)},
			[]string{"bytes=4- " + old}, whole},
		{"a aMinuteOn, changed", []step{cuts(200, "0123", 10, "Last-Modified", old, "Date", aMinuteOn),
			gives(206, "456789", "Content-Range", "bytes 4-9/10", "Last-Modified", aMinuteOn), gives(200, whole)}, []string{"bytes=4- " + old, ""}, ""},
		{"a aMinuteOn, 200", []step{cuts(200, "0123", 10, "Last-Modified", old, "Date", aMinuteOn), gives(200, whole, "Last-Modified", old)}, []string{"bytes=4- " + old}, ""},
		{"a date, the same, 200", []step{cuts(200, "0123", 10, "Last-Modified", old, "Date", aMinuteOn),
			gives(200, whole, "Last-Modified", old, "Date", aMinuteOn)}, []string{"bytes=4- " + old}, ""},
		{"200, another length", []step{cuts(200, "0123", 9, tag...), gives(200, whole, tag...)}, []string{asks}, ""},
		{"a date too young", []step{cuts(200, "0123", 10, "Last-Modified", old, "Date", "Mon, 02 Jan 2006 15:05:04 GMT"), gives(200, whole)}, []string{""}, ""},
		{"a aMinuteOn, and no other to compare it with", []step{cuts(200, "0123", 10, "Last-Modified", old), gives(200, whole)}, []string{""}, ""},
	} {
		for _, settable := range []bool{true, false} {
			t.Run(tc.name+", "+strconv.FormatBool(settable), func(t *testing.T) {
				var got bytes.Buffer
				var w io.Writer = &got
				if !settable {
					w = onlyWriter{w}
				}
				base, requests := steps(tc.steps...)
				d := retryhttp.Download{Client: &http.Client{Transport: base}, Resume: true}
				n, err := d.To(w, get(t), atOnce)
				assert.EqualValues(t, got.Len(), n)
				if !settable && tc.want == "" {
					require.ErrorIs(t, err, retryhttp.ErrPartial)
					assert.True(t, strings.HasPrefix(whole, got.String()), "nothing was mixed")
					return
				}
				require.NoError(t, err)
				assert.Equal(t, whole, got.String())
				var asked []string
				for _, r := range (*requests)[1:] {
					asked = append(asked, strings.TrimSpace(r.Header.Get("Range")+" "+r.Header.Get("If-Range")))
					assert.Equal(t, "identity", r.Header.Get("Accept-Encoding"))
				}
				assert.Equal(t, tc.asked, asked)
			})
		}
	}
}

// TestResumeNotAsked: a 206 or 416 that was not asked for is no content.
func TestResumeNotAsked(t *testing.T) {
	var got bytes.Buffer
	_, requests, err := download(t, retryhttp.Download{Resume: true}, &got, gives(206, "body", "Content-Range", "bytes 0-3/9"), gives(200, "body"))
	require.NoError(t, err)
	assert.Equal(t, "body", got.String())
	assert.Len(t, requests, 2)
	_, requests, err = download(t, retryhttp.Download{Resume: true}, &got, gives(416, ""))
	var failure *retryhttp.Failure
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, 416, failure.HTTPStatusCode())
	assert.Len(t, requests, 1)
	// A part that the caller asked for is fetched as a whole.
	got.Reset()
	base, made := steps(cuts(206, "bo", 4, "Content-Range", "bytes 2-5/9", "Etag", `"1"`), gives(206, "body", "Content-Range", "bytes 2-5/9", "Etag", `"1"`))
	r := get(t)
	r.Header.Set("Range", "bytes=2-5")
	n, err := retryhttp.Download{Client: &http.Client{Transport: base}}.To(&got, r, atOnce)
	require.NoError(t, err)
	assert.EqualValues(t, 4, n)
	assert.Equal(t, "body", got.String())
	assert.Equal(t, "bytes=2-5", (*made)[1].Header.Get("Range"))
}

// TestResumeOverTheWire: net/http's own server of files, whose connections are cut after every 100 kB, and a body that
// net/http unpacks, which cannot be resumed.
func TestResumeOverTheWire(t *testing.T) {
	content := strings.Repeat("0123456789abcdef", 1<<15) // 512 KiB
	serve := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"v1"`)
		http.ServeContent(&cutting{ResponseWriter: w, left: 100_000}, r, "", time.Time{}, strings.NewReader(content))
	}
	t.Run("resumed", func(t *testing.T) {
		s := newServer(t, retryhttp.NewTransport(nil, atOnce, retry.WithMaxAttempts(7)), func(_ int, w http.ResponseWriter, r *http.Request) { serve(w, r) })
		var got strings.Builder // which cannot be set back
		n, err := retryhttp.Download{Client: s.client, Resume: true}.To(&got, newRequest(t, "GET", s.URL, nil))
		require.NoError(t, err)
		assert.EqualValues(t, len(content), n)
		assert.Equal(t, content, got.String())
		assert.LessOrEqual(t, s.requests.Load(), int32(7), "each brought something")
		assert.Greater(t, s.requests.Load(), int32(1))
	})
	t.Run("unpacked", func(t *testing.T) {
		var asked []string
		s := newServer(t, retryhttp.NewTransport(nil, atOnce), func(n int, w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Header.Get("Range"))
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Etag", `"v1"`)
			var packed bytes.Buffer
			z, _ := gzip.NewWriterLevel(&packed, gzip.NoCompression)
			_, _ = io.WriteString(z, content)
			_ = z.Close()
			if n == 1 {
				packed.Truncate(300_000)
			}
			_, _ = w.Write(packed.Bytes())
			if n == 1 {
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		})
		var got bytes.Buffer
		r := newRequest(t, "GET", s.URL, nil)
		r.Header["Accept-Encoding"] = nil // net/http's own
		_, err := retryhttp.Download{Client: s.client, Resume: true}.To(&got, r)
		require.NoError(t, err)
		assert.Equal(t, content, got.String())
		assert.Equal(t, []string{"", ""}, asked)
	})
}

// cutting ends the connection after some bytes of a body.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if len(p) > c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}
