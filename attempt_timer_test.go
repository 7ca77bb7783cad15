package retry

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFreeWaitsForATimeoutThatPasses: the timeout has won against free, and has not yet ended the context. free must wait for
// that: who gets the context after it may take it that it does not end later. The moment lies between two statements of
// pass, and no clock can be made to stop there.
func TestFreeWaitsForATimeoutThatPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeptContext(t.Context(), nil, time.Hour)
		k.state.Store(passed) // the first half of pass
		free := make(chan struct{})
		go func() { k.free(); close(free) }()
		synctest.Wait()
		select {
		case <-free:
			t.Fatal("free has returned, and the context ends later")
		default:
		}
		require.NoError(t, k.Err())
		k.end(ErrAttemptTimeout) // the second
		<-free
		require.ErrorIs(t, k.Err(), context.DeadlineExceeded)

		k = newKeptContext(t.Context(), nil, time.Hour)
		k.free()
		k.pass()
		require.NoError(t, k.Err(), "free has won")
		k.free()
		k.cancel()
	})
}
