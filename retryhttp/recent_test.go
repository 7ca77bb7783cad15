package retryhttp

import (
	"testing"

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
