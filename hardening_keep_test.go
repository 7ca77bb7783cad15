package retry_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrytest"
)

// hdKept is a call with Results.Keep and an attempt timeout: what is handed over, and what it says of its context.
type hdKept struct {
	ctx     context.Context
	release context.CancelFunc
	handed  time.Time // its deadline when Keep was told, zero: none
}

func (k *hdKept) option() retry.Option {
	return retry.WithResults(retry.Results[int]{Keep: func(v int, release context.CancelFunc) int {
		k.release = release
		k.handed, _ = k.ctx.Deadline()
		return v
	}})
}

// do makes one attempt.
func (k *hdKept) do(ctx context.Context, timeout time.Duration, fn func(context.Context) error, opts ...retry.Option) error {
	opts = append([]retry.Option{retry.WithMaxAttempts(1), retry.WithAttemptTimeout(timeout), k.option()}, opts...)
	_, err := retry.Do(ctx, func(ctx context.Context) (int, error) {
		k.ctx = ctx
		return 0, fn(ctx)
	}, opts...)
	return err
}

// hdTimes are the two kinds of time that are exact: a bubble's and retrytest's.
var hdTimes = map[string]func(t *testing.T, f func(t *testing.T, ctx context.Context, c hdTime)){
	"bubble": func(t *testing.T, f func(*testing.T, context.Context, hdTime)) {
		synctest.Test(t, func(t *testing.T) {
			f(t, t.Context(), hdTime{time.Now, context.WithTimeout, func(ctx context.Context, d time.Duration) error {
				select {
				case <-ctx.Done():
				case <-time.After(d):
				}
				return ctx.Err()
			}})
		})
	},
	"retrytest": func(t *testing.T, f func(*testing.T, context.Context, hdTime)) {
		c := retrytest.NewClock()
		f(t, retry.ContextWithClock(t.Context(), c), hdTime{c.Now, c.WithTimeout, c.Sleep})
	},
}

type hdTime struct {
	now         func() time.Time
	withTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	sleep       func(context.Context, time.Duration) error
}

// TestKeptDeadline: the attempt's own or the parent's, whichever is earlier, while the operation runs; the parent's after it.
func TestKeptDeadline(t *testing.T) {
	for _, tc := range []struct {
		name          string
		parent        time.Duration // 0: none
		timeout, want time.Duration
	}{
		{"own", 0, time.Second, time.Second},
		{"own is earlier", time.Minute, time.Second, time.Second},
		{"parent is earlier", time.Second, time.Minute, time.Second},
		{"the same", time.Minute, time.Minute, time.Minute},
	} {
		for kind, in := range hdTimes {
			t.Run(tc.name+" "+kind, func(t *testing.T) {
				in(t, func(t *testing.T, ctx context.Context, c hdTime) {
					if tc.parent > 0 {
						var cancel context.CancelFunc
						ctx, cancel = c.withTimeout(ctx, tc.parent)
						defer cancel()
					}
					parents, limited := ctx.Deadline()
					var kept hdKept
					require.NoError(t, kept.do(ctx, tc.timeout, func(ctx context.Context) error {
						child, cancel := context.WithCancel(ctx)
						defer cancel()
						for _, ctx := range []context.Context{ctx, child} {
							deadline, ok := ctx.Deadline()
							require.True(t, ok)
							require.Equal(t, tc.want, deadline.Sub(c.now()))
						}
						return nil
					}, retry.WithAttemptInfo()))
					deadline, ok := kept.ctx.Deadline()
					require.Equal(t, limited, ok)
					require.Equal(t, parents, deadline)
					require.Equal(t, parents, kept.handed, "Keep is told after the operation returned")
					kept.release()
				})
			})
		}
	}
}

// TestKeptNestedCall: a call within sees the attempt's deadline, and ends at once where its wait does not fit.
func TestKeptNestedCall(t *testing.T) {
	for kind, in := range hdTimes {
		t.Run(kind, func(t *testing.T) {
			in(t, func(t *testing.T, ctx context.Context, c hdTime) {
				began := c.now()
				var kept hdKept
				inner := 0
				err := kept.do(ctx, 10*time.Second, func(ctx context.Context) error {
					return retry.Run(ctx, func(context.Context) error { inner++; return errRec }, recEvery(4*time.Second))
				})
				require.ErrorIs(t, err, retry.ErrDeadline)
				require.NotErrorIs(t, err, retry.ErrAttemptTimeout)
				require.Equal(t, 3, inner)
				require.Equal(t, 8*time.Second, c.now().Sub(began))
				kept.release()
			})
		})
	}
}

// TestKeptTimeout: after it the context's end is that of a deadline, whose cause says which.
func TestKeptTimeout(t *testing.T) {
	for kind, in := range hdTimes {
		t.Run(kind, func(t *testing.T) {
			in(t, func(t *testing.T, ctx context.Context, c hdTime) {
				began := c.now()
				var kept hdKept
				err := kept.do(ctx, time.Second, func(ctx context.Context) error {
					require.NoError(t, ctx.Err())
					err := c.sleep(ctx, time.Minute)
					require.Equal(t, context.DeadlineExceeded, err)
					require.Equal(t, context.DeadlineExceeded, ctx.Err())
					require.Equal(t, retry.ErrAttemptTimeout, context.Cause(ctx))
					deadline, ok := ctx.Deadline()
					require.True(t, ok)
					require.Equal(t, began.Add(time.Second), deadline)
					return err
				})
				require.ErrorIs(t, err, retry.ErrAttemptTimeout)
				require.Equal(t, time.Second, c.now().Sub(began))
				require.Equal(t, context.DeadlineExceeded, kept.ctx.Err())
				kept.release()
				require.Equal(t, context.DeadlineExceeded, kept.ctx.Err(), "it stays what it was")
				require.Equal(t, retry.ErrAttemptTimeout, context.Cause(kept.ctx))
			})
		})
	}
}

// TestKeptTimeoutBelow: a context that was made from the attempt's ends with it and says why, and whatever the operation makes
// of that is an attempt timeout.
func TestKeptTimeoutBelow(t *testing.T) {
	for kind, in := range hdTimes {
		t.Run(kind, func(t *testing.T) {
			in(t, func(t *testing.T, ctx context.Context, c hdTime) {
				began := c.now()
				var kept hdKept
				calls := 0
				err := kept.do(ctx, time.Second, func(ctx context.Context) error {
					calls++
					child, cancel := context.WithCancel(context.WithValue(ctx, recKey("x"), 1))
					defer cancel()
					err := c.sleep(child, time.Minute)
					require.Error(t, err)
					require.Equal(t, retry.ErrAttemptTimeout, context.Cause(child))
					return err
				}, retry.WithMaxAttempts(2), recAtOnce)
				require.Equal(t, 2, calls, "retried")
				require.ErrorIs(t, err, retry.ErrExhausted)
				require.ErrorIs(t, err, retry.ErrAttemptTimeout)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, 2*time.Second, c.now().Sub(began))
			})
		})
	}
}

// TestKeptWithinKept: the outer attempt's timeout is none of the inner's.
func TestKeptWithinKept(t *testing.T) {
	for kind, in := range hdTimes {
		t.Run(kind, func(t *testing.T) {
			in(t, func(t *testing.T, ctx context.Context, c hdTime) {
				var outer, inner hdKept
				var innerErr error
				err := outer.do(ctx, time.Second, func(ctx context.Context) error {
					innerErr = inner.do(ctx, time.Minute, func(ctx context.Context) error { return c.sleep(ctx, time.Hour) })
					return innerErr
				})
				require.Equal(t, context.DeadlineExceeded, inner.ctx.Err())
				e := recError(t, innerErr)
				require.Equal(t, context.DeadlineExceeded, e.Last, "as the operation returned it")
				require.EqualError(t, e.Reason, "context deadline exceeded: retry: attempt timed out", "the caller's end, and its cause")
				require.ErrorIs(t, err, retry.ErrAttemptTimeout)
			})
		})
	}
}

// TestKeptEnds: everything else that ends the context, and that it is then no timeout.
func TestKeptEnds(t *testing.T) {
	for name, end := range map[string]func(kept *hdKept, cancel context.CancelCauseFunc) (err, cause error){
		"release": func(kept *hdKept, _ context.CancelCauseFunc) (error, error) {
			kept.release()
			kept.release()
			return context.Canceled, context.Canceled
		},
		"parent": func(_ *hdKept, cancel context.CancelCauseFunc) (error, error) {
			cancel(errRecCause)
			return context.Canceled, errRecCause
		},
		"parent's deadline": func(_ *hdKept, _ context.CancelCauseFunc) (error, error) {
			time.Sleep(time.Hour)
			return context.DeadlineExceeded, context.DeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancelTimeout := context.WithTimeout(t.Context(), time.Hour)
				defer cancelTimeout()
				ctx, cancel := context.WithCancelCause(ctx)
				defer cancel(nil)
				var kept hdKept
				require.NoError(t, kept.do(ctx, time.Second, func(context.Context) error { return nil }))
				time.Sleep(time.Hour - 1)
				require.NoError(t, kept.ctx.Err(), "the timeout covers the operation only")
				err, cause := end(&kept, cancel)
				<-kept.ctx.Done()
				require.Equal(t, err, kept.ctx.Err())
				require.Equal(t, cause, context.Cause(kept.ctx))
			})
		})
	}
}

// hdParent is a context that tells those below of its end one by one, the last first.
type hdParent struct {
	context.Context
	done  chan struct{}
	err   error
	below []func()
}

func (p *hdParent) Done() <-chan struct{} { return p.done }
func (p *hdParent) Err() error            { return p.err }
func (p *hdParent) AfterFunc(f func()) (stop func() bool) {
	p.below = append(p.below, f)
	return func() bool { return false }
}

func (p *hdParent) end() {
	p.err = context.Canceled
	for _, tell := range slices.Backward(p.below) {
		tell()
		synctest.Wait()
	}
}

// TestKeptEndsAsItsParent: where the clock makes timeouts by contexts, the end of the parent is no timeout, whoever is told first.
func TestKeptEndsAsItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent := &hdParent{Context: t.Context(), done: make(chan struct{})}
		var kept hdKept
		err := kept.do(parent, time.Minute, func(ctx context.Context) error { parent.end(); return ctx.Err() }, retry.WithClock(new(recTimerClock)))
		require.Equal(t, context.Canceled, recError(t, err).Reason)
		require.Equal(t, context.Canceled, kept.ctx.Err())
		require.Equal(t, context.Canceled, context.Cause(kept.ctx))
	})
}

// TestKeptOnTheDot: an operation that takes exactly the timeout is either too late, and its context over when the call
// returns, or in time, and its context then lives until it is released.
func TestKeptOnTheDot(t *testing.T) {
	for range 500 {
		synctest.Test(t, func(t *testing.T) {
			var kept hdKept
			err := kept.do(t.Context(), time.Second, func(context.Context) error { time.Sleep(time.Second); return errRec })
			ended := kept.ctx.Err()
			time.Sleep(time.Hour)
			require.Equal(t, ended, kept.ctx.Err(), "it ended behind the back of whoever got the value")
			if ended == nil {
				require.NotErrorIs(t, err, retry.ErrAttemptTimeout)
			} else {
				require.ErrorIs(t, err, retry.ErrAttemptTimeout)
				require.Equal(t, context.DeadlineExceeded, ended)
			}
			kept.release()
			require.Error(t, kept.ctx.Err())
		})
	}
}
