package retry

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// An attempt's timeout passes in a goroutine of its own: it is noted first, and then ends the context. An operation that
// returns in between must not get on with a context that ends a moment later. From outside that moment cannot be hit.
func TestFreeWaitsForTheTimeoutThatIsPassing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeptContext(t.Context(), nil, time.Hour)
		defer k.cancel()
		require.True(t, k.state.CompareAndSwap(armed, passed)) // the first half of pass
		ended := false
		go func() {
			k.free()
			ended = k.Err() != nil
		}()
		synctest.Wait()
		require.False(t, ended)
		k.end(ErrAttemptTimeout) // the second
		synctest.Wait()
		require.True(t, ended, "free returned before the context had ended")
	})
}

func TestFreeTakesTheTimeoutAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeptContext(t.Context(), nil, time.Second)
		defer k.cancel()
		k.free()
		time.Sleep(time.Hour)
		k.pass() // a timer that had fired already
		require.NoError(t, k.Err())
		k.free()
		_, limited := k.Deadline()
		require.False(t, limited)
	})
}

// A context that has ended keeps the deadline that it ended for.
func TestFreeAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(time.Second)
		k := newKeptContext(t.Context(), nil, time.Second)
		time.Sleep(time.Hour)
		k.free()
		deadline, limited := k.Deadline()
		require.True(t, limited)
		require.Equal(t, at, deadline)
	})
}
