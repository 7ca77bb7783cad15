package retryhttp

import (
	"io"
	"net/http/httptrace"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
)

// TestRecent: at least recentLimit entries are kept, at most twice as many, and those last that were not asked for.
func TestRecent(t *testing.T) {
	var r recent[int, int]
	value := func(n int) func() int { return func() int { return n } }
	assert.Equal(t, 7, r.of(-1, value(7)))
	assert.Equal(t, 7, r.of(-1, value(8)), "the one that was there")
	for i := range 10 * recentLimit {
		r.of(i, value(i))
		assert.Equal(t, 7, r.of(-1, value(9)), "asked for again and again")
		assert.LessOrEqual(t, len(r.young)+len(r.old), 2*recentLimit)
		if back := i - recentLimit/2; back >= 0 && i%100 == 0 {
			assert.Equal(t, back, r.of(back, value(-1)))
		}
	}
	assert.Equal(t, -1, r.of(0, value(-1)), "forgotten, and made anew")

	r = recent[int, int]{}
	r.of(1, value(1))
	for i := range recentLimit {
		r.of(10+i, value(0))
	}
	assert.NotContains(t, r.young, 1)
	assert.Equal(t, 1, r.of(1, value(2)), "the old count too")
}

// TestRecentMakesOnce, however many ask at the same time, and again only after a panic.
func TestRecentMakesOnce(t *testing.T) {
	var r recent[string, int]
	calls := 0
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			assert.Equal(t, 7, r.of("a", func() int {
				calls++ // a race, if two could be here
				for range 1000 {
					runtime.Gosched()
				}
				return 7
			}))
		})
	}
	all.Wait()
	assert.Equal(t, 1, calls)

	assert.Panics(t, func() { r.of("b", func() int { panic("no budget") }) })
	assert.Equal(t, 8, r.of("b", func() int { return 8 }))
	assert.Equal(t, 8, r.of("b", nil))
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
