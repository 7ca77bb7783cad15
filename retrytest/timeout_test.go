package retrytest_test

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-89b3229b/retry/retrytest"
)

type key struct{}

var errCause = errors.New("cause")

func assertEnded(t *testing.T, ctx context.Context, err, cause error) {
	t.Helper()
	assert.Equal(t, err, ctx.Err())
	assert.Equal(t, cause, context.Cause(ctx))
	select {
	case <-ctx.Done():
	default:
		assert.Fail(t, "not done")
	}
}

func assertOpen(t *testing.T, ctx context.Context) {
	t.Helper()
	assert.NoError(t, ctx.Err())
	assert.NoError(t, context.Cause(ctx))
	select {
	case <-ctx.Done():
		assert.Fail(t, "done")
	default:
	}
}

// family returns contexts derived from ctx in the ways that package context knows, and through wrappers.
func family(t *testing.T, ctx context.Context) []context.Context {
	child, cancel := context.WithCancel(ctx)
	t.Cleanup(cancel)
	grandchild, cancel := context.WithCancel(context.WithValue(child, key{}, 1))
	t.Cleanup(cancel)
	wrapped, cancel := context.WithTimeoutCause(struct{ context.Context }{ctx}, time.Hour, errCause)
	t.Cleanup(cancel)
	return []context.Context{ctx, context.WithValue(ctx, key{}, 2), child, grandchild, wrapped}
}

func TestTimeoutExpires(t *testing.T) {
	clk := retrytest.NewClock()
	parent := context.WithValue(t.Context(), key{}, "v")
	ctx, cancel := clk.WithTimeout(parent, time.Second)
	defer cancel()
	deadline, ok := ctx.Deadline()
	assert.True(t, ok)
	assert.Equal(t, start.Add(time.Second), deadline)
	assert.Equal(t, "v", ctx.Value(key{}))
	assert.Equal(t, 1, clk.OpenContexts())
	assert.Zero(t, clk.Pending())
	all := family(t, ctx)

	clk.Advance(time.Second - 1)
	for _, ctx := range all {
		assertOpen(t, ctx)
	}
	clk.Advance(1)
	for _, ctx := range all {
		assertEnded(t, ctx, context.DeadlineExceeded, context.DeadlineExceeded)
	}
	assert.NoError(t, parent.Err())
	assert.Zero(t, clk.OpenContexts())
	late, cancel := context.WithCancel(ctx)
	defer cancel()
	assertEnded(t, late, context.DeadlineExceeded, context.DeadlineExceeded)
}

func TestTimeoutCanceled(t *testing.T) {
	clk := retrytest.NewClock()
	ctx, cancel := clk.WithTimeout(t.Context(), time.Second)
	all := family(t, ctx)
	cancel()
	cancel()
	assert.Zero(t, clk.OpenContexts())
	clk.Advance(time.Minute)
	for _, ctx := range all {
		assertEnded(t, ctx, context.Canceled, context.Canceled)
	}
}

// aloof is a parent that tells nobody when it ends, and counts who wants to be told.
type aloof struct {
	context.Context
	done  chan struct{}
	err   error
	hooks atomic.Int64
}

func newAloof() *aloof { return &aloof{Context: context.Background(), done: make(chan struct{})} }

func (a *aloof) Done() <-chan struct{} { return a.done }
func (a *aloof) Err() error            { return a.err }

func (a *aloof) AfterFunc(func()) (stop func() bool) {
	a.hooks.Add(1)
	return func() bool { a.hooks.Add(-1); return true }
}

func (a *aloof) end() {
	a.err = context.Canceled
	close(a.done)
}

// The end of the parent is seen at once by the context itself.
func TestTimeoutSeesItsParent(t *testing.T) {
	clk, parent := retrytest.NewClock(), newAloof()
	asked, cancel := clk.WithTimeout(parent, time.Hour)
	defer cancel()
	watched, cancel := clk.WithTimeout(parent, time.Hour)
	defer cancel()
	parent.end()
	assert.Equal(t, context.Canceled, asked.Err())
	select {
	case <-watched.Done():
	default:
		assert.Fail(t, "not done")
	}
}

// It is seen by what hangs on the context when time is asked for or passes, before anything else happens.
func TestTimeoutParentEnds(t *testing.T) {
	for name, look := range map[string]func(clk *retrytest.Clock, ctx context.Context){
		"Now":          func(clk *retrytest.Clock, _ context.Context) { clk.Now() },
		"OpenContexts": func(clk *retrytest.Clock, _ context.Context) { clk.OpenContexts() },
		"Advance":      func(clk *retrytest.Clock, _ context.Context) { clk.Advance(0) },
		"Wait":         func(clk *retrytest.Clock, ctx context.Context) { clk.Wait(ctx, nil, time.Minute) },
		"Sleep":        func(clk *retrytest.Clock, ctx context.Context) { _ = clk.Sleep(ctx, time.Minute) },
		"Block":        func(clk *retrytest.Clock, ctx context.Context) { _ = clk.Block(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			for range 100 {
				clk, parent := retrytest.NewClock(), newAloof()
				outer, cancel := clk.WithTimeout(parent, time.Hour)
				defer cancel()
				between, cancel := context.WithCancel(outer)
				defer cancel()
				inner, cancel := clk.WithTimeout(between, time.Second) // due before the one it depends on
				defer cancel()
				ctx, cancel := context.WithCancel(inner)
				defer cancel()
				parent.end()
				look(clk, ctx)
				assertEnded(t, ctx, context.Canceled, context.Canceled)
				for _, ctx := range family(t, inner) {
					assertEnded(t, ctx, context.Canceled, context.Canceled)
				}
				assert.Zero(t, clk.OpenContexts())
				clk.RequireElapsed(t, 0)
			}
		})
	}
}

// Without anybody looking, the end of the parent arrives in real time.
func TestTimeoutParentEndsUnseen(t *testing.T) {
	clk := retrytest.NewClock()
	parent, cancelParent := context.WithCancelCause(t.Context())
	ctx, cancel := clk.WithTimeout(parent, time.Second)
	defer cancel()
	done := ctx.Done()
	cancelParent(errCause)
	<-done
	assertEnded(t, ctx, context.Canceled, errCause)
}

// A context that has ended leaves nothing with its parent.
func TestTimeoutLetsGoOfItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clk, parent := retrytest.NewClock(), newAloof()
		_, cancel := clk.WithTimeout(parent, time.Hour)
		late, cancelLate := clk.WithTimeout(parent, time.Second)
		defer cancelLate()
		assert.EqualValues(t, 2, parent.hooks.Load())
		cancel()
		assert.Equal(t, context.DeadlineExceeded, clk.Block(late))
		synctest.Wait()
		assert.Zero(t, parent.hooks.Load())
	})
}

func TestTimeoutOfParent(t *testing.T) {
	for name, tc := range map[string]struct{ parent, child time.Duration }{
		"parent first": {time.Second, time.Minute},
		"child first":  {time.Minute, time.Second},
		"together":     {time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			clk := retrytest.NewClock()
			parent, cancel := clk.WithTimeout(t.Context(), tc.parent)
			defer cancel()
			ctx, cancel := clk.WithTimeout(parent, tc.child)
			defer cancel()
			deadline, _ := ctx.Deadline()
			assert.Equal(t, start.Add(time.Second), deadline)
			assert.Equal(t, context.DeadlineExceeded, clk.Block(ctx))
			clk.RequireElapsed(t, time.Second)
			assert.Equal(t, tc.parent == time.Second, parent.Err() != nil)
		})
	}
}

func TestTimeoutThatIsOver(t *testing.T) {
	clk := retrytest.NewClock()
	for _, d := range []time.Duration{0, -1, math.MinInt64} {
		ctx, cancel := clk.WithTimeout(t.Context(), d)
		assertEnded(t, ctx, context.DeadlineExceeded, context.DeadlineExceeded)
		cancel()
	}
	parent, cancelParent := context.WithCancelCause(t.Context())
	cancelParent(errCause)
	for _, d := range []time.Duration{-1, 0, time.Second} {
		ctx, cancel := clk.WithTimeout(parent, d)
		assertEnded(t, ctx, context.Canceled, errCause)
		cancel()
	}
	assert.Zero(t, clk.OpenContexts())
	clk.RequireElapsed(t, 0)
}

func TestTimeoutExtremes(t *testing.T) {
	clk := retrytest.NewClock()
	ctx, cancel := clk.WithTimeout(nil, forever) //nolint:staticcheck // a nil parent is the background
	defer cancel()
	clk.Advance(forever - 1)
	assertOpen(t, ctx)
	clk.Advance(1)
	assertEnded(t, ctx, context.DeadlineExceeded, context.DeadlineExceeded)
}

// A deadline on the system's clock is not due in virtual time, however much of it passes.
func TestTimeoutBelowARealDeadline(t *testing.T) {
	clk := retrytest.NewClock()
	parent, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	ctx, cancel := clk.WithTimeout(parent, time.Second)
	defer cancel()
	deadline, _ := ctx.Deadline()
	assert.Equal(t, start.Add(time.Second), deadline)

	clk.Advance(forever)
	assert.Equal(t, context.DeadlineExceeded, ctx.Err())
	assert.NoError(t, parent.Err())
}
