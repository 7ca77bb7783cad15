package pool_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

type pixivTokens struct {
	Cooldown []struct {
		Base     time.Duration `json:"base_ns"`
		Max      time.Duration `json:"max_ns"`
		Failures int           `json:"failure_count"`
		Original time.Duration `json:"original_ns"`
		Port     time.Duration `json:"port_ns"`
		Deviates bool          `json:"port_deviates"`
	} `json:"pixiv_token_cooldown"`
	Selection []struct {
		Method string
		Tokens []string
		Steps  []struct {
			Op, Token string
			Want      *string
			Port      json.RawMessage
			Failures  int
			Status    int `json:"status_after"`
		}
	} `json:"pixiv_token_selection"`
}

func pixiv(t *testing.T) (v pixivTokens) {
	data, err := os.ReadFile("testdata/pixiv_tokens.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &v))
	require.Len(t, v.Cooldown, 86)
	require.Len(t, v.Selection, 7)
	return v
}

// TestPoolCooldownOfPixivFE: the original's cool-downs. A real 0 for its base or maximum is a negative Base here.
func TestPoolCooldownOfPixivFE(t *testing.T) {
	deviations := 0
	for _, v := range pixiv(t).Cooldown {
		want := v.Original
		if v.Deviates {
			want = v.Port
			deviations++
		}
		p := pool.New("token")
		p.Base, p.Max = v.Base, v.Max
		if v.Base == 0 || v.Max == 0 {
			p.Base, p.Max = -1, 0
		}
		for range v.Failures {
			p.Done(t.Context(), t0, pool.TicketOf(p, "token"), throttle.Outcome{Class: throttle.Throttled})
		}
		stats := p.Stats(t0)[0]
		require.Equal(t, v.Failures, stats.Failures)
		if want == 0 {
			require.Zero(t, stats.Until, "%+v", v)
			continue
		}
		require.Equal(t, want, stats.Until.Sub(t0), "%+v", v)
	}
	assert.Equal(t, 9, deviations)
}

// TestPoolSelectionOfPixivFE plays the original's scripts. In them only single tokens' cool-downs end: those take the
// second of the formula here, all others are told an hour. A token that was given is reported as neither good nor bad.
func TestPoolSelectionOfPixivFE(t *testing.T) {
	for n, v := range pixiv(t).Selection {
		p, now := pool.New(v.Tokens...), t0
		require.NoError(t, p.Selection.UnmarshalText([]byte(v.Method)))
		index := map[string]int{}
		for i, token := range v.Tokens {
			index[token] = i
		}
		expires := map[string]bool{}
		for _, step := range v.Steps {
			expires[step.Token] = expires[step.Token] || step.Op == "expire"
		}
		failed := map[string]bool{}
		for i, step := range v.Steps {
			switch step.Op {
			case "fail":
				o := told(time.Hour)
				o.Class = throttle.Throttled
				o.Signal.HasDelay = !expires[step.Token] || failed[step.Token]
				p.Done(t.Context(), now, pool.TicketOf(p, step.Token), o)
				failed[step.Token] = true
			case "ok":
				p.Done(t.Context(), now, pool.TicketOf(p, step.Token), throttle.Outcome{Class: throttle.Success})
			case "expire":
				now = now.Add(time.Second)
			case "get":
				want := step.Want
				if step.Port != nil {
					want = nil
					require.NoError(t, json.Unmarshal(step.Port, &want))
				}
				lease, err := p.Acquire(now)
				if want == nil {
					require.Error(t, err, "script %d step %d", n, i)
					if len(v.Tokens) > 0 {
						_, refused := errors.AsType[*throttle.Error](err)
						require.True(t, refused)
					}
				} else {
					require.NoError(t, err, "script %d step %d", n, i)
					require.Equal(t, *want, lease.Key(), "script %d step %d", n, i)
					lease.Done(now, throttle.Outcome{Class: throttle.Canceled})
				}
				if step.Want != nil && (want == nil || *want == *step.Want) {
					stats := p.Stats(now)[index[*step.Want]]
					require.Equal(t, step.Failures, stats.Failures, "script %d step %d", n, i)
					require.Equal(t, step.Status == 1, !stats.Until.IsZero(), "script %d step %d", n, i)
				}
			}
		}
	}
}
