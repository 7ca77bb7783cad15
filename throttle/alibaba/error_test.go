package alibaba_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/condition"
	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/alibaba"
)

func TestErrorFrom(t *testing.T) {
	a := answer(400, "x-acs-request-id", "4F1B", user, "Limit:9,Remain:0,TimeLeft:2000", userAPI, "Limit:3,Remain:1")
	e := alibaba.ErrorFrom(a, "Throttling.User", "Request was denied", t0)
	require.EqualError(t, e, "alibaba: 400 Throttling.User: Request was denied (request 4F1B)")
	require.Equal(t, 400, e.HTTPStatusCode())
	require.Equal(t, "Throttling.User", e.ErrorCode())
	require.Equal(t, "Throttling.User", e.ErrorType())
	require.Equal(t, condition.Throttled, condition.Alibaba().Check(e))
	s, ok := throttle.FromError(fmt.Errorf("describe: %w", e))
	require.True(t, ok)
	require.Equal(t, e.Signal, s)
	require.Equal(t, 2*sec, s.Delay)
	require.Len(t, s.Quotas, 2)

	for text, e := range map[string]*alibaba.Error{
		"alibaba: no answer":            alibaba.ErrorFrom(nil, "", "", t0),
		"alibaba: Forbidden":            alibaba.ErrorFrom(nil, "Forbidden", "", t0),
		"alibaba: 503":                  alibaba.ErrorFrom(&http.Response{StatusCode: 503}, "", "", t0),
		"alibaba: no answer: cut short": alibaba.ErrorFrom(nil, "", "cut short", time.Time{}),
		"alibaba: no error":             nil,
	} {
		require.EqualError(t, e, text)
		_, ok := e.ThrottleSignal()
		require.False(t, ok)
		e.HTTPStatusCode()
		e.ErrorCode()
	}
	require.Zero(t, (*alibaba.Error)(nil).HTTPStatusCode())
	require.Empty(t, (*alibaba.Error)(nil).ErrorCode())
	require.Empty(t, (*alibaba.Error)(nil).ErrorType())
	require.Empty(t, new(alibaba.Error).ErrorType())
	require.Equal(t, "503", (&alibaba.Error{Status: 503}).ErrorType())

	// One that was told nothing leaves the word to others.
	told := &toldError{"Throttling", 400}
	s, ok = throttle.FromError(errors.Join(failed(t0, 503), told))
	require.True(t, ok)
	require.Equal(t, 400*ms, s.Delay)
}

// FuzzObserve records whatever an answer may say, and asks a policy what follows.
func FuzzObserve(tf *testing.F) {
	f := fuzzed.New(tf)
	f.Add("Limit:100,Remain:0,TimeLeft:2000", "Remain:0,Reset:1700000002000", 429, int64(0), int64(0), int64(0), false)
	f.Add("Remain:-1,TimeLeft:9223372036854775807", "Remain:0,TimeLeft:9223372036854775807", 400, int64(longest), int64(longest), int64(longest), true)
	f.Add("Remain:0,TimeLeft:-9223372036854775808", "Remain:0,Reset:-1", 200, int64(-longest-1), int64(1), int64(-1), false)
	f.Add("Remain:00,,TimeLeft:1:2, Limit", "::", 0, int64(1), int64(-5), int64(7), true)
	f.Fuzz(func(t *testing.T, account, api string, code int, slack, limit, passed int64, replace bool) {
		c := describe()
		c.Gate.Replace, c.Slack, c.MaxDelay = replace, time.Duration(slack), time.Duration(limit)
		a := answer(code)
		a.Header[user], a.Header[userAPI] = []string{account}, []string{api}
		policy, err := retry.New(c.Options()...)
		if limit < 0 {
			require.ErrorIs(t, err, retry.ErrConfig)
			return
		}
		require.NoError(t, err)
		limit = int64(or(c.MaxDelay, alibaba.DefaultMaxDelay))
		now := t0
		flow := policy.Begin(now, time.Time{}, nil)
		step := flow.Next(t.Context(), now)
		require.Equal(t, retry.Go, step.Action)
		for range 10 {
			switch step.Action {
			case retry.Go:
				step = flow.Report(t.Context(), now, throttle.Outcome{Err: alibaba.ErrorFrom(a, "", "", now)})
			case retry.Wait:
				require.GreaterOrEqual(t, step.Delay, time.Duration(0))
				require.LessOrEqual(t, step.Delay, time.Duration(limit))
				now = now.Add(step.Delay)
				step = flow.Next(t.Context(), now)
			case retry.Done:
				if errors.Is(step.Err, retry.ErrHintTooLong) {
					require.Greater(t, refusal(t, step.Err).Remaining, time.Duration(limit))
				}
				require.Equal(t, code, status(t, step.Err))
				account, api := lefts(c, now)
				require.GreaterOrEqual(t, min(account, api), time.Duration(0))
				require.LessOrEqual(t, max(account, api), throttle.DefaultMaxCooldown)
				lefts(c, now.Add(time.Duration(passed)))
				return
			}
		}
		t.Error("too many attempts")
	})
}

func or(d, other time.Duration) time.Duration {
	if d == 0 {
		return other
	}
	return d
}
