package retrysql_test

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrysql"
	"github.com/seed-89b3229b/retry/strategy"
)

// Writers that get in each other's way lose no increment, and make none twice.
func TestConcurrentSafeInTx(t *testing.T) {
	const writers, increments = 8, 25
	s := new(server)
	db := open(t, s)
	var attempts atomic.Int64
	var all sync.WaitGroup
	meet := make(chan struct{})
	var met atomic.Int64
	for range writers {
		all.Go(func() {
			for range increments {
				err := retrysql.InTx(t.Context(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
					attempts.Add(1)
					if met.Add(1) == writers {
						close(meet)
					}
					<-meet // the first transaction of each writer begins before the first commit of any
					return increment(ctx, tx)
				}, retry.WithUnlimitedAttempts(), retry.WithStrategy(strategy.Constant{}))
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	assert.Equal(t, writers*increments, s.committed())
	assert.GreaterOrEqual(t, attempts.Load(), int64(writers*increments+writers-1))
}
