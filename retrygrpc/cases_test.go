package retrygrpc_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/retrygrpc"
	"github.com/seed-89b3229b/retry/strategy"
	"github.com/seed-89b3229b/retry/throttle"
)

// unaryCases are single unary calls. after: exact times of the server's requests; nil: not looked at.
func TestUnaryCases(t *testing.T) {
	resource := status.Error(codes.ResourceExhausted, "quota")
	hang := func(ctx context.Context, _ int) error { <-ctx.Done(); return status.FromContextError(ctx.Err()).Err() }
	exists := map[codes.Code]retrygrpc.Repeat{codes.AlreadyExists: retrygrpc.RepeatIdempotent}
	withCodes := func(i *retrygrpc.Interceptor, c map[codes.Code]retrygrpc.Repeat) *retrygrpc.Interceptor {
		i.Codes = c
		return i
	}
	first := func(err error) func(context.Context, int) error { return answers(err, nil) }
	for name, tc := range map[string]struct {
		i      *retrygrpc.Interceptor
		server func(context.Context, int) error
		limit  time.Duration // the caller's
		at     []time.Duration
		took   time.Duration
		code   codes.Code
		is     error
		bare   bool // the attempt's own error
	}{
		"G01 ok":                 {i: times(4), server: answers(nil), at: []time.Duration{0}},
		"G02 one failure":        {i: times(4), server: answers(down, nil), at: []time.Duration{0, 5 * ms}, took: 5 * ms},
		"G03 exhausted":          {i: times(4), server: answers(down), at: []time.Duration{0, 5 * ms, 10 * ms, 15 * ms}, took: 15 * ms, code: codes.Unavailable, is: retry.ErrExhausted},
		"G04 INTERNAL":           {i: times(4), server: answers(status.Error(codes.Internal, "no")), at: []time.Duration{0}, code: codes.Internal, bare: true},
		"G05 code of the user's": {i: withCodes(times(4), exists), server: answers(status.Error(codes.AlreadyExists, "x")), at: []time.Duration{0, 5 * ms, 10 * ms, 15 * ms}, took: 15 * ms, code: codes.AlreadyExists, is: retry.ErrExhausted},
		"G05 not idempotent":     {i: withCodes(unsafe(4), exists), server: answers(status.Error(codes.AlreadyExists, "x")), at: []time.Duration{0}, code: codes.AlreadyExists, bare: true},
		"G07 pushback": {i: times(4), server: func(ctx context.Context, n int) error {
			if n == 1 {
				push(ctx, "1000")
				return down
			}
			return nil
		}, at: []time.Duration{0, time.Second}, took: time.Second},
		"G08 pushback restarts the curve": {i: times(5, retry.WithStrategy(strategy.Exponential{Base: time.Second})), server: func(ctx context.Context, n int) error {
			if n == 2 {
				push(ctx, "700")
			}
			if n == 5 {
				return nil
			}
			return down
		}, at: []time.Duration{0, 1000 * ms, 1700 * ms, 2700 * ms, 4700 * ms}, took: 4700 * ms},
		"G10 pushback of the last attempt": {i: times(4), server: func(ctx context.Context, n int) error {
			if n == 4 {
				push(ctx, "1000")
			}
			return down
		}, at: []time.Duration{0, 5 * ms, 10 * ms, 15 * ms}, took: 15 * ms, code: codes.Unavailable, is: retry.ErrExhausted},
		"G11 pushback with INTERNAL": {i: times(4), server: func(ctx context.Context, _ int) error { push(ctx, "10"); return status.Error(codes.Internal, "x") }, at: []time.Duration{0}, code: codes.Internal, bare: true},
		"G12 pushback too long":      {i: times(4), server: pushing("61000"), at: []time.Duration{0}, code: codes.Unavailable, is: retry.ErrHintTooLong},
		"G14 not idempotent":         {i: unsafe(4), server: answers(down), at: []time.Duration{0}, code: codes.Unavailable, bare: true},
		"G15 quota":                  {i: times(4), server: answers(resource), at: []time.Duration{0}, code: codes.ResourceExhausted, bare: true},
		"G16 ABORTED with RetryInfo": {i: times(4), server: first(retrygrpc.After(time.Second, status.Error(codes.Aborted, "tx"))), at: []time.Duration{0}, code: codes.Aborted, bare: true},
		"G18 header before the failure": {i: times(4), server: func(ctx context.Context, n int) error {
			if n > 1 {
				return nil
			}
			grpc.SendHeader(ctx, metadata.Pairs("h", "1"))
			push(ctx, "5")
			return down
		}, at: []time.Duration{0, 5 * ms}, took: 5 * ms},
		"G19 hangs, idempotent": {i: times(4, retry.WithAttemptTimeout(100*ms)), server: func(ctx context.Context, n int) error {
			if n < 3 {
				return hang(ctx, n)
			}
			return nil
		}, at: []time.Duration{0, 105 * ms, 210 * ms}, took: 210 * ms},
		"G19 hangs, not idempotent":             {i: unsafe(4, retry.WithAttemptTimeout(100*ms)), server: hang, at: []time.Duration{0}, took: 100 * ms, code: codes.DeadlineExceeded, bare: true},
		"G20 the caller's deadline":             {i: times(4, retry.WithAttemptTimeout(100*ms)), server: hang, limit: 250 * ms, at: []time.Duration{0, 105 * ms, 210 * ms}, took: 250 * ms, code: codes.DeadlineExceeded},
		"G21 pushback past the deadline":        {i: times(4), server: pushing("5000"), limit: time.Second, at: []time.Duration{0}, code: codes.Unavailable, is: retry.ErrDeadline},
		"G23 CANCELLED by the server":           {i: times(4), server: answers(status.Error(codes.Canceled, "x")), at: []time.Duration{0}, code: codes.Canceled, bare: true},
		"DATA_LOSS":                             {i: times(4), server: answers(status.Error(codes.DataLoss, "x")), at: []time.Duration{0}, code: codes.DataLoss, bare: true},
		"DEADLINE_EXCEEDED of the server's own": {i: times(4), server: answers(status.Error(codes.DeadlineExceeded, "x")), at: []time.Duration{0}, code: codes.DeadlineExceeded, bare: true},
		"plain error":                           {i: times(4), server: answers(errors.New("x")), at: []time.Duration{0}, code: codes.Unknown, bare: true},
		"code that gRPC has not":                {i: times(4), server: answers(status.Error(99, "x")), at: []time.Duration{0}, code: 99, bare: true},
		"not idempotent, pushback": {i: unsafe(4), server: func(ctx context.Context, n int) error {
			if n == 1 {
				push(ctx, "10")
				return down
			}
			return nil
		}, at: []time.Duration{0, 10 * ms}, took: 10 * ms},
		"not idempotent, RepeatAlways": {i: withCodes(unsafe(4), map[codes.Code]retrygrpc.Repeat{codes.Aborted: retrygrpc.RepeatAlways}), server: first(status.Error(codes.Aborted, "x")), at: []time.Duration{0, 5 * ms}, took: 5 * ms},
		"RepeatNever, told":            {i: withCodes(times(4), map[codes.Code]retrygrpc.Repeat{codes.Unavailable: retrygrpc.RepeatNever}), server: pushing("10"), at: []time.Duration{0}, code: codes.Unavailable, bare: true},
		"garbage in the trailer": {i: times(4), server: func(ctx context.Context, n int) error {
			if n > 1 {
				return nil
			}
			grpc.SetTrailer(ctx, metadata.MD{"retry-after": {"99999999999999999999", "soon"}, "x-bin": {"\x00\xff"}})
			return down
		}, at: []time.Duration{0, 5 * ms}, took: 5 * ms},
		"retries would pass the time budget": {i: times(4, retry.WithMaxElapsed(8*ms)), server: answers(down), at: []time.Duration{0, 5 * ms}, took: 5 * ms, code: codes.Unavailable, is: retry.ErrMaxElapsed},
		"the longest of several RetryInfo":   {i: times(2, retry.WithHint(throttle.Exact())), server: first(manyInfos(t, -time.Second, 2*time.Second, 3*time.Second, time.Second)), at: []time.Duration{0, 3 * time.Second}, took: 3 * time.Second},
		"pushback 0 goes before RetryInfo": {i: times(2), server: func(ctx context.Context, n int) error {
			if n > 1 {
				return nil
			}
			push(ctx, "0")
			return retrygrpc.After(time.Second, down)
		}, at: []time.Duration{0, 0}},
		"a wait that no Duration holds is no wait": {i: times(2), server: first(manyInfos(t, -time.Hour)), at: []time.Duration{0, 5 * ms}, took: 5 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, tc.i, &backend{empty: tc.server}, func(w *world) {
				ctx := w.Context()
				if tc.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.limit)
					defer cancel()
				}
				took, err := w.call(ctx)
				requireCode(w, tc.code, err)
				require.Equal(w, tc.at, w.at)
				require.Equal(w, tc.took, took)
				if tc.is != nil {
					require.ErrorIs(w, err, tc.is)
				}
				_, gaveUp := errors.AsType[*retry.Error](err)
				require.Equal(w, tc.code != codes.OK && !tc.bare, gaveUp, "%v", err)
				if tc.bare {
					_, wrapped := errors.AsType[*retrygrpc.Failure](err)
					require.False(w, wrapped)
				}
			})
		})
	}
}

func TestPreviousAttempts(t *testing.T) {
	server := &backend{empty: answers(down)}
	inBubble(t, times(4), server, func(w *world) {
		_, err := w.call(w.Context())
		requireCode(w, codes.Unavailable, err)
		require.Equal(w, [][]string{nil, {"1"}, {"2"}, {"3"}}, w.previous, "G02, G03")
	})
	server = &backend{empty: answers(down)}
	inBubble(t, times(3), server, func(w *world) {
		w.call(metadata.AppendToOutgoingContext(w.Context(), attemptsKey, "7", "x", "1"))
		require.Equal(w, [][]string{{"7"}, {"1"}, {"2"}}, w.previous, "what the caller set is replaced")
	})
}

// The cases of grpc-go's TestRetryThrottling (test/retry_test.go).
func TestG06FailureBudget(t *testing.T) {
	good := map[int]bool{0: true, 3: true, 6: true, 10: true, 11: true, 12: true, 13: true, 14: true, 16: true, 18: true}
	i := times(4)
	b := &throttle.FailureBudget{MaxTokens: 10, TokenRatio: 0.5}
	made := 0
	i.Budget = func(target string) throttle.Budget {
		made++
		require.Equal(t, "passthrough:///backend", target)
		return b
	}
	inBubble(t, i, &backend{empty: func(_ context.Context, n int) error {
		if good[n-1] {
			return nil
		}
		return down
	}}, func(w *world) {
		const ok, u = codes.OK, codes.Unavailable
		for _, tc := range []struct {
			code codes.Code
			at   int
			left float64
		}{{ok, 0, 10}, {ok, 3, 8.5}, {ok, 6, 7}, {u, 8, 5}, {u, 9, 4}, {ok, 10, 4.5}, {ok, 11, 5}, {ok, 12, 5.5}, {ok, 13, 6}, {ok, 14, 6.5}, {ok, 16, 6}, {u, 17, 5}} {
			_, err := w.call(w.Context())
			requireCode(w, tc.code, err)
			require.Equal(w, tc.at, len(w.at)-1)
			require.Equal(w, tc.left, b.Tokens())
		}
	})
	require.Equal(t, 1, made)
}

func TestG09PushbackForbids(t *testing.T) {
	for _, values := range [][]string{{"-1"}, {"xxx"}, {"1", "2"}} {
		for _, i := range []*retrygrpc.Interceptor{times(4), unsafe(4)} {
			b := throttle.NewFailureBudget()
			i.Budget = func(string) throttle.Budget { return b }
			inBubble(t, i, &backend{empty: pushing(values...)}, func(w *world) {
				_, err := w.call(w.Context())
				requireCode(w, codes.Unavailable, err)
				require.Len(w, w.at, 1)
				require.Equal(w, 9.0, b.Tokens())
			})
		}
	}
}

func TestG14UnsafeFailureCostsNothing(t *testing.T) {
	i, b := unsafe(4), throttle.NewFailureBudget()
	i.Budget = func(string) throttle.Budget { return b }
	inBubble(t, i, &backend{empty: answers(down)}, func(w *world) {
		w.call(w.Context())
		require.Equal(w, 10.0, b.Tokens())
	})
}

// bigtable's client has waited for RetryInfo since googleapis/google-cloud-go#10533; general clients do not.
func TestG13RetryInfo(t *testing.T) {
	for name, err := range map[string]error{"G13": down, "G15": status.Error(codes.ResourceExhausted, "quota")} {
		inBubble(t, unsafe(4), &backend{empty: answers(retrygrpc.After(2*time.Second, err), nil)}, func(w *world) {
			took, err := w.call(w.Context())
			require.NoError(w, err, name)
			require.Len(w, w.at, 2)
			require.True(w, took >= 2*time.Second && took <= 2200*ms, "%v", took)
		})
	}
}

func TestG17NeverSent(t *testing.T) {
	var events []retry.Event
	i := unsafe(4, retry.WithOnRetry(func(_ context.Context, e retry.Event) { events = append(events, e) }))
	inBubble(t, i, new(backend), func(w *world) {
		w.server.Stop() // nobody listens
		_, err := w.call(w.Context())
		requireCode(w, codes.Unavailable, err)
		require.ErrorIs(w, err, retry.ErrExhausted)
		require.Len(w, events, 3)
		f, ok := errors.AsType[*retrygrpc.Failure](err)
		require.True(w, ok)
		require.False(w, f.Sent)
		require.Equal(w, throttle.Transient, events[0].Class)

		s, err := w.client.FullDuplexCall(w.Context())
		require.Nil(w, s)
		requireCode(w, codes.Unavailable, err)
		require.ErrorIs(w, err, retry.ErrExhausted)
		require.Len(w, events, 6)
		f, _ = errors.AsType[*retrygrpc.Failure](err)
		require.False(w, f.Sent)
	})
}

func TestG19DeadlineOnTheWire(t *testing.T) {
	inBubble(t, times(4, retry.WithAttemptTimeout(100*ms)), &backend{empty: answers(nil)}, func(w *world) {
		_, err := w.call(w.Context())
		require.NoError(w, err)
		require.InDelta(w, 100*ms, w.deadline[0], float64(2*ms))
	})
}

func TestG22CancelledInTheWait(t *testing.T) {
	inBubble(t, times(4), &backend{empty: pushing("5000")}, func(w *world) {
		ctx, cancel := context.WithCancel(w.Context())
		time.AfterFunc(time.Second, cancel)
		took, err := w.call(ctx)
		requireCode(w, codes.Canceled, err)
		require.Equal(w, time.Second, took)
		require.ErrorIs(w, err, context.Canceled)
		f, ok := errors.AsType[*retrygrpc.Failure](err)
		require.True(w, ok)
		requireCode(w, codes.Unavailable, f)
		require.Equal(w, 5*time.Second, f.RetryAfter())
		require.Len(w, w.at, 1)
	})
}

func TestCancelledBefore(t *testing.T) {
	inBubble(t, times(4), new(backend), func(w *world) {
		ctx, cancel := context.WithCancelCause(w.Context())
		cancel(context.DeadlineExceeded) // the cause does not make it a deadline
		_, err := w.call(ctx)
		requireCode(w, codes.Canceled, err)
		_, err = w.client.FullDuplexCall(ctx)
		requireCode(w, codes.Canceled, err)
		require.Empty(w, w.at)
	})
}

func TestG24OnlyTheLastAttemptsValues(t *testing.T) {
	inBubble(t, times(3), &backend{empty: func(ctx context.Context, n int) error {
		grpc.SetHeader(ctx, metadata.Pairs("h", string(rune('0'+n))))
		grpc.SetTrailer(ctx, metadata.Pairs("t", string(rune('0'+n))))
		if n == 1 {
			grpc.SetTrailer(ctx, metadata.Pairs("first", "1"))
			return down
		}
		return nil
	}}, func(w *world) {
		var h, tr metadata.MD
		var p peer.Peer
		var ends []error
		_, err := w.call(w.Context(), grpc.Header(&h), grpc.Trailer(&tr), grpc.Peer(&p), grpc.OnFinish(func(err error) { ends = append(ends, err) }))
		require.NoError(w, err)
		require.Equal(w, []string{"2"}, h.Get("h"))
		require.Equal(w, metadata.MD{"t": {"2"}}, tr)
		require.NotNil(w, p.Addr)
		require.Equal(w, []error{nil}, ends)
	})
}

// Else the caller would take the values of an earlier attempt for those of the last.
func TestG25NothingOfAnEarlierAttempt(t *testing.T) {
	var w *world
	i := times(2, retry.WithBeforeRetry(func(context.Context, retry.Event) error { w.server.Stop(); time.Sleep(ms); return nil }))
	inBubble(t, i, &backend{empty: func(ctx context.Context, n int) error {
		grpc.SetTrailer(ctx, metadata.Pairs("t", "1"))
		return down
	}}, func(this *world) {
		w = this
		var tr metadata.MD
		var p peer.Peer
		_, err := w.call(w.Context(), grpc.Trailer(&tr), grpc.Peer(&p))
		requireCode(w, codes.Unavailable, err)
		require.Nil(w, tr)
		require.Zero(w, p)
	})
}

func TestG39Gate(t *testing.T) {
	i := unsafe(1)
	i.Gate = &throttle.Gate{Spread: -1}
	inBubble(t, i, &backend{empty: answers(retrygrpc.After(300*ms, down), nil)}, func(w *world) {
		_, err := w.call(w.Context())
		requireCode(w, codes.Unavailable, err)
		start := time.Now()
		_, err = w.client.UnaryCall(w.Context(), nil)
		require.NoError(w, err)
		require.Zero(w, time.Since(start), "another method is not held back")
		took, err := w.call(w.Context())
		require.NoError(w, err)
		require.GreaterOrEqual(w, took, 300*ms)
		require.Less(w, took, 400*ms)
	})
}

func TestG43WithoutRetry(t *testing.T) {
	inBubble(t, times(4), &backend{empty: answers(down)}, func(w *world) {
		_, err := w.call(retry.ContextWithoutRetry(w.Context()))
		requireCode(w, codes.Unavailable, err)
		require.Len(w, w.at, 1)
	})
	i := times(4, retry.WithFallback(func(context.Context, error) (int, error) { return 1, nil }))
	inBubble(t, i, &backend{empty: answers(nil)}, func(w *world) {
		_, err := w.call(w.Context())
		requireCode(w, codes.Internal, err)
		require.ErrorIs(w, err, retry.ErrConfig)
		_, err = w.client.FullDuplexCall(w.Context())
		requireCode(w, codes.Internal, err)
		require.Empty(w, w.at)
	})
}

func TestRefused(t *testing.T) {
	breaker := throttle.Func(func(context.Context, time.Time) (time.Duration, error) { return 0, errors.New("open") })
	inBubble(t, times(4, retry.WithThrottle(breaker)), new(backend), func(w *world) {
		_, err := w.call(w.Context())
		requireCode(w, codes.Unavailable, err)
		require.ErrorIs(w, err, retry.ErrRefused)
		require.Empty(w, w.at)
	})
}
