package retryhttp

import (
	"io"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
)

// TestRecent: at least recentLimit entries are kept, at most twice as many, and those last that nobody asked for.
func TestRecent(t *testing.T) {
	var r recent[int, int]
	_, ok := r.get(-1)
	assert.False(t, ok)
	assert.Equal(t, 7, r.put(-1, 7))
	assert.Equal(t, 7, r.put(-1, 8), "the one that was there")
	for i := range 10 * recentLimit {
		r.put(i, i)
		v, ok := r.get(-1)
		assert.True(t, ok, "asked for again and again")
		assert.Equal(t, 7, v)
		assert.LessOrEqual(t, len(r.young)+len(r.old), 2*recentLimit)
		if back := i - recentLimit/2; back >= 0 && i%100 == 0 {
			v, ok := r.get(back)
			assert.True(t, ok)
			assert.Equal(t, back, v)
		}
	}
	_, ok = r.get(0)
	assert.False(t, ok)

	r = recent[int, int]{}
	r.put(1, 1)
	for i := range recentLimit {
		r.put(10+i, 0)
	}
	assert.NotContains(t, r.young, 1)
	assert.Equal(t, 1, r.put(1, 2), "the old count too")
}

// TestProbe goes through what a probe may have seen. Two of the cases are races of HTTP/2 that no server can bring about at will.
func TestProbe(t *testing.T) {
	for _, tc := range []struct {
		closely, connected, wrote, ended, want bool
	}{
		{want: false},
		{wrote: true, want: true},
		{ended: true, want: true},
		{closely: true, want: false},
		{closely: true, ended: true, want: false},
		{closely: true, connected: true, want: false},
		{closely: true, connected: true, ended: true, want: true},
		{closely: true, connected: true, wrote: true, want: true},
	} {
		var p probe
		p.attach(t.Context(), tc.closely)
		if tc.connected {
			p.trace.GotConn(httptrace.GotConnInfo{})
		}
		if tc.wrote {
			p.trace.WroteHeaders()
		}
		assert.Equal(t, tc.want, p.sent(tc.ended), "%+v", tc)
	}
}

// TestSourceKeepsNoMoreThanItsLimit of a body, however long that is.
func TestSourceKeepsNoMoreThanItsLimit(t *testing.T) {
	for _, limit := range []int64{-1, 0, 10, 100} {
		s := &source{body: io.NopCloser(strings.NewReader(strings.Repeat("x", 1000))), limit: limit}
		l := s.lease()
		got, err := io.ReadAll(iotest.OneByteReader(l))
		assert.NoError(t, err)
		assert.Len(t, got, 1000)
		assert.Len(t, s.kept, int(max(limit, 0)))
		assert.False(t, s.repeatable())
	}
}

// TestPool: what comes too late is lost, and changes nothing.
func TestPool(t *testing.T) {
	var p pool
	for _, text := range []string{"a", "b"} {
		n, err := p.Write([]byte(text))
		assert.NoError(t, err)
		assert.Equal(t, 1, n)
	}
	assert.Equal(t, "ab", string(p.take()))
	_, _ = p.Write([]byte("c"))
	assert.Equal(t, "ab", string(p.take()))
}
