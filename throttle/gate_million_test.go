//go:build !race

package throttle_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed-89b3229b/retry/throttle"
)

// A crowd of names costs what the names and their cool-downs take, and that comes back when they are over. What is read
// are the bytes of live objects, which the race detector would add to.
func TestMillionKeys(t *testing.T) {
	const keys = 1_000_000
	g := throttle.Gate{MaxKeys: 2 * keys}
	before := live()
	for i := range keys {
		g.Block(t0, 2*sec, throttle.Key(fmt.Sprintf("tenant %07d", i)))
	}
	assert.Equal(t, keys, g.Remembered())
	each := (live() - before) / keys
	t.Logf("%d bytes each", each)
	assert.Less(t, each, int64(200))

	// What is over goes when the table is looked through, which new keys bring about.
	for i := range keys / 20 {
		g.Block(t0.Add(3*sec), sec, throttle.Key(fmt.Sprint("later ", i)))
	}
	assert.Less(t, g.Remembered(), keys/10)
	assert.Less(t, live()-before, int64(20*keys))
	runtime.KeepAlive(&g)
}

func TestFloodOfKeysStaysWithinTheDefaultLimit(t *testing.T) {
	var g throttle.Gate
	before := live()
	for i := range throttle.DefaultMaxKeys * 5 / 4 {
		g.Block(t0, 2*sec, throttle.Key(fmt.Sprintf("tenant %07d", i)))
	}
	assert.LessOrEqual(t, g.Remembered(), throttle.DefaultMaxKeys)
	assert.Less(t, live()-before, int64(20_000_000))
	runtime.KeepAlive(&g)
}

func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
