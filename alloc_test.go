package retry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
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
