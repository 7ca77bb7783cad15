package drivertest_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/strategy"
)

// contended is for many writers at one row: no limit of attempts, and short waits.
var contended = []retry.Option{
	retry.WithUnlimitedAttempts(),
	retry.WithStrategy(strategy.FullJitter{Base: time.Millisecond, Max: 20 * time.Millisecond}),
}

// always is a caller who wants everything repeated.
var always = []retry.Option{retry.WithRetryIf(func(error) bool { return true }), retry.WithStrategy(strategy.Constant{})}

// writer makes the n-th of its transactions.
type writer struct {
	id, n   int
	attempt func() // to be called by each attempt when it has read, and before it writes
}

// write makes so many transactions in each of the writers, all at once, and returns how many attempts that took. It brings
// them together: the first attempt of each has read before any of them writes, so that of those one succeeds.
func write(t *testing.T, writers, each int, transact func(context.Context, writer) error) (attempts int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var count atomic.Int64
	var met, all sync.WaitGroup
	met.Add(writers)
	for id := range writers {
		all.Go(func() {
			first := true
			attempt := func() {
				count.Add(1)
				if first {
					first = false
					met.Done()
					met.Wait()
				}
			}
			for n := range each {
				if !assert.NoError(t, transact(ctx, writer{id, n, attempt})) {
					break
				}
			}
			if first {
				met.Done() // it failed before it read, and the others need not wait
			}
		})
	}
	all.Wait()
	return int(count.Load())
}
