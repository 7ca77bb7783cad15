package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vbauerster/mpb/v8"
	"go.uber.org/goleak"

	"github.com/seed-89b3229b/retry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wantTable = `
URL                     RESULT                                           ATTEMPTS  WAITED  BYTES
http://HOST/fine        200 OK                                           1         TIME  2048
http://HOST/errors      200 OK                                           4         TIME  2048
http://HOST/reset       200 OK                                           3         TIME  2048
http://HOST/stalls      200 OK                                           2         TIME  2048
http://HOST/busy        200 OK                                           2         TIME  2048
http://HOST/overloaded  200 OK                                           2         TIME  2048
http://HOST/moved       200 OK                                           3         TIME  2048
http://HOST/gone        404 Not Found                                    1         TIME  0
http://HOST/down        503 Service Unavailable, attempts exhausted      4         TIME  0
http://HOST/closed      503 Service Unavailable, asked to wait too long  1         TIME  0

7 of 10 fetched, 23 attempts, TIME of waits, 14336 bytes, in TIME
`

var wantLines = []string{
	"/busy: 200 OK", "/busy: attempt 1 failed: 429 Too Many Requests",
	"/closed: 503 Service Unavailable, asked to wait too long",
	"/down: 503 Service Unavailable, attempts exhausted", "/down: attempt 1 failed: 503 Service Unavailable",
	"/down: attempt 2 failed: 503 Service Unavailable", "/down: attempt 3 failed: 503 Service Unavailable",
	"/errors: 200 OK", "/errors: attempt 1 failed: 500 Internal Server Error", "/errors: attempt 2 failed: 502 Bad Gateway",
	"/errors: attempt 3 failed: 504 Gateway Timeout",
	"/fine: 200 OK",
	"/gone: 404 Not Found",
	"/moved: 200 OK", "/moved: attempt 1 failed: 500 Internal Server Error",
	"/overloaded: 200 OK", "/overloaded: attempt 1 failed: 503 Service Unavailable",
	"/reset: 200 OK", "/reset: attempt 1 failed: CONNECTION BROKEN", "/reset: attempt 2 failed: CONNECTION BROKEN",
	"/stalls: 200 OK", "/stalls: attempt 1 failed: retry: attempt timed out",
}

func TestOutput(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out, nil, settings{parallel: 8}))
	head, rest, found := strings.Cut(out.String(), "\n\n")
	require.True(t, found)
	require.Equal(t, "fetching 10 URLs, 8 at a time", head)
	lines, table, found := strings.Cut(rest, "\n\n")
	require.True(t, found)

	var happened []string
	for line := range strings.Lines(lines) { // in no certain order
		found := regexp.MustCompile(`^ *\d+\.\d{3}s  http://127\.0\.0\.1:\d+(/.*?)(; again in \d+\.\d{3}s, (by the policy|as the server asks|as the server asked another))?\n?$`).FindStringSubmatch(line)
		require.NotNil(t, found, line)
		happened = append(happened, regexp.MustCompile(`^(/reset: attempt . failed: ).*`).ReplaceAllString(found[1], "${1}CONNECTION BROKEN"))
	}
	slices.Sort(happened)
	require.Equal(t, wantLines, happened)

	require.Equal(t, masked(wantTable[1:]), masked(table))
}

// masked is a table without what differs between two runs, and without the width of its columns.
func masked(table string) string {
	for pattern, word := range map[string]string{`\d+\.\d{3}s`: "TIME", `127\.0\.0\.1:\d+`: "HOST", ` {2,}`: "  "} {
		table = regexp.MustCompile(pattern).ReplaceAllString(table, word)
	}
	return table
}

// The bar says how far it is; one that is not full when it ends keeps nobody waiting.
func TestBar(t *testing.T) {
	for done, want := range []string{"0 of 2", "1 of 2", "2 of 2"} {
		var out strings.Builder
		b := newBar(&out, 2, mpb.WithAutoRefresh())
		b.retrying(nil, retry.Event{})
		for range done {
			b.done(nil)
		}
		b.end()
		require.Regexp(t, want+` +\[.*\] +1 retries\n$`, out.String())
	}
}

// On a terminal the table is all that is written beside the bar.
func TestTerminal(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "page") }))
	defer server.Close()
	var out, terminal strings.Builder
	require.NoError(t, run(t.Context(), &out, &terminal, settings{parallel: 1, timeout: time.Minute, urls: []string{server.URL}}))
	require.Equal(t, masked("fetching 1 URLs, 1 at a time\n\n\nURL  RESULT  ATTEMPTS  WAITED  BYTES\nhttp://HOST  200 OK  1  TIME  4\n\n"+
		"1 of 1 fetched, 1 attempts, TIME of waits, 4 bytes, in TIME\n"), masked(out.String()))
}

// Everything ends at once when the user interrupts, and what was fetched by then is in the table.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	errKey := errors.New("key pressed")
	out := &watcher{word: "as the server asks", then: func() { cancel(errKey) }}
	err := run(ctx, out, nil, settings{parallel: 1, timeout: time.Minute, urls: []string{server.URL + "/", server.URL + "/wait", server.URL + "/late"}})
	require.ErrorIs(t, err, errKey)
	table := masked(out.String())
	require.Contains(t, table, "/wait  interrupted  1  TIME  0\n")
	require.Contains(t, table, "/late  interrupted  0  TIME  0\n")
	require.Contains(t, table, "1 of 3 fetched, 2 attempts, ")
}

// watcher calls then when word is written to it.
type watcher struct {
	strings.Builder
	word string
	then func()
}

func (w *watcher) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.word) {
		w.then()
	}
	return w.Builder.Write(p)
}

// URLs that cannot be fetched are an error; each says why.
func TestMissing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cut" {
			w.Header().Set("Content-Length", "10")
		}
		io.WriteString(w, "half")
	}))
	defer server.Close()
	var out strings.Builder
	err := run(t.Context(), &out, nil, settings{parallel: 4, timeout: time.Minute, urls: []string{
		server.URL + "/whole", server.URL + "/cut", "nonsense://127.0.0.1", "http://[",
	}})
	require.EqualError(t, err, "3 of 4 could not be fetched")
	table := masked(out.String())
	require.Contains(t, table, "/whole  200 OK  1  TIME  4\n")
	require.Contains(t, table, "/cut  200, unexpected EOF  1  TIME  4\n")
	require.Contains(t, table, `unsupported protocol scheme "nonsense"  1  TIME  0`)
	require.Contains(t, table, "http://[  missing ']' in host  0  TIME  0\n")
}

func TestParallel(t *testing.T) {
	var now, most atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
	}))
	defer server.Close()
	urls := slices.Repeat([]string{server.URL}, 40)
	require.NoError(t, run(t.Context(), io.Discard, nil, settings{parallel: 3, timeout: time.Minute, urls: urls}))
	require.LessOrEqual(t, most.Load(), int32(3))
	require.EqualError(t, run(t.Context(), io.Discard, nil, settings{}), "-parallel must be 1 or more, not 0")
}

// The program fails where one of the things that it says does not hold.
func TestVerify(t *testing.T) {
	for _, tc := range []struct {
		breaks string
		change func(s *server, all []*fetched)
	}{
		{"", func(*server, []*fetched) {}},
		{"/fine should have been 200: EOF", func(_ *server, all []*fetched) { all[0].err = io.EOF }},
		{"/fine should have been of 2048 bytes, not 2047", func(_ *server, all []*fetched) { all[0].bytes-- }},
		{"/gone should have been 404, not 200", func(_ *server, all []*fetched) { all[7].status = 200 }},
		{"/errors should have taken 4 attempts, not 3 and 4 requests", func(_ *server, all []*fetched) { all[1].attempts-- }},
		{"/overloaded should have been left alone for 1s, not 500ms", func(_ *server, all []*fetched) { all[5].waited /= 2 }},
		{"/down should have taken 4 attempts, not 4 and 5 requests", func(s *server, _ []*fetched) { s.requests["/down"]++ }},
	} {
		s := &server{requests: map[string]int{}}
		var all []*fetched
		for _, p := range pages {
			s.requests[p.path] = p.attempts
			all = append(all, &fetched{status: p.status, attempts: p.attempts, waited: p.told, bytes: size})
		}
		tc.change(s, all)
		err := s.verify(all)
		if tc.breaks == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, tc.breaks)
	}
}
