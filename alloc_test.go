package retry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed-89b3229b/retry"
)

// TestAllocations holds the promised number of allocations per call.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, tc := range doCases {
		assert.LessOrEqual(t, testing.AllocsPerRun(200, tc.call(ctx)), tc.allocs, tc.name)
	}
}

// TestAllocationsOfShapes: what a call of each shape allocates at the least, beyond what the caller's closure needs.
func TestAllocationsOfShapes(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, tc := range shapeCases {
		assert.LessOrEqual(t, testing.AllocsPerRun(200, tc.call(t.Context())), tc.allocs, tc.name)
	}
}

// TestAllocationsOfASharedPolicy: two goroutines that take turns with one policy pay for nothing either.
func TestAllocationsOfASharedPolicy(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	ctx, policy := t.Context(), retry.MustNew(retry.WithName("orders"), retry.WithMaxAttempts(4), recAtOnce)
	flaky := failing(2)
	turn, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for range turn {
			_, _ = retry.Do(ctx, succeed, policy)
			done <- struct{}{}
		}
	}()
	assert.Zero(t, testing.AllocsPerRun(200, func() {
		turn <- struct{}{}
		<-done
		sink, _ = retry.Do(ctx, succeed, policy)
		sink, _ = retry.Do(ctx, flaky, policy)
	}))
	close(turn)
	<-done
}
