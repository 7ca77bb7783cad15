package alibaba_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/alibaba"
)

type policyVector struct {
	In struct {
		Attempted  int  `json:"retries_attempted"`
		MaxRetries int  `json:"max_retries"`
		MaxDelay   int  `json:"max_delay_ms"`
		Control    bool `json:"throttling_control"`
		Status     *int
		User       *string `json:"h_user"`
		UserAPI    *string `json:"h_user_api"`
		Kind       string  `json:"error_kind"`
		Cached     *int    `json:"cached_cooldown_ms"`
	}
	Original struct {
		policyAnswer
		Cached *int `json:"cached_after_ms"`
	}
	Port struct {
		policyAnswer
		Error   string
		User    *int `json:"cached_user_ms"`
		UserAPI *int `json:"cached_user_api_ms"`
	}
	Deviates []string `json:"port_deviates"`
}

type policyAnswer struct {
	Retry any  `json:"should_retry"` // a bool, or an error's name
	Low   *int `json:"wait_low_ms"`
	High  *int `json:"wait_high_ms"`
}

type headerVector struct {
	Value   *string
	Headers map[string]string
	Now     *int64 `json:"now_ms"`
	Port    struct {
		Throttled bool
		Cooldown  *int64 `json:"cooldown_ms"`
		User      *int64 `json:"user_cooldown_ms"`
		UserAPI   *int64 `json:"user_api_cooldown_ms"`
	}
	Original struct {
		Throttled any
		Escape    any `json:"escape_ms"`
	}
	Deviates bool `json:"port_deviates"`
}

type scenarioVector struct {
	Name     string
	Calls    int
	Result   string
	Measured []int  `json:"wait_before_call_ms_measured"`
	Cached   *int   `json:"cached_after_ms"`
	Header   string `json:"header_x_sdk_throttling_control"`
}

type controlVectors struct {
	Policy    []policyVector   `json:"alibaba_policy"`
	Scenarios []scenarioVector `json:"alibaba_call_scenarios"`
	Values    []headerVector   `json:"alibaba_header_value"`
	Sets      []headerVector   `json:"alibaba_header_set"`
}

func vectors(t *testing.T) (v controlVectors) {
	data, err := os.ReadFile("testdata/original_control.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &v))
	require.Len(t, v.Policy, 77)
	require.Len(t, v.Scenarios, 12)
	require.Len(t, v.Values, 27)
	require.Len(t, v.Sets, 9)
	return v
}

// TestVectorsOfPolicy: the decision after the last of some calls, with the smallest and the largest draw. Labels and
// milliseconds differ in two ways: the original counts whole milliseconds and loses the last one of an odd ceiling, and
// here a failure that is not worth a retry is told as such on the last attempt too, not as exhausted.
func TestVectorsOfPolicy(t *testing.T) {
	odd, relabeled := 0, 0
	for i, v := range vectors(t).Policy {
		for _, draw := range []float64{0, belowOne} {
			name := fmt.Sprintf("%d, drawing %.0f: %+v", i, draw, v.In)
			c := describe()
			step, failure, now := decide(t, c, &v, draw)

			want := v.Original.policyAnswer
			if len(v.Deviates) > 0 {
				want = v.Port.policyAnswer
			}
			switch want.Retry {
			case true:
				require.NotEqual(t, retry.Done, step.Action, name)
				bound := ms * time.Duration(*want.Low)
				if draw > 0 {
					bound = ms * time.Duration(*want.High)
				}
				if v.In.MaxDelay == 99 {
					odd++
					bound += time.Duration((1 + draw) / 2 * float64(ms)).Round(ms / 2)
				}
				require.Equal(t, bound, step.Delay, name)
			case false:
				require.Equal(t, retry.Done, step.Action, name)
				require.ErrorIs(t, step.Err, failure, name)
				switch {
				case v.Port.Error == "throttled":
					require.ErrorIs(t, step.Reason, retry.ErrHintTooLong, name)
					require.Greater(t, refusal(t, step.Err).Remaining, ms*time.Duration(v.In.MaxDelay), name)
				case v.Port.Error == "exhausted" && step.Reason != retry.ErrNotRetryable:
					require.Equal(t, retry.ErrExhausted, step.Reason, name)
				default:
					if v.Port.Error == "exhausted" {
						relabeled++
						require.Contains(t, []int{400, 404, 501}, *v.In.Status, name)
					}
					require.Equal(t, failure, step.Err, name)
				}
			default:
				t.Errorf("%s: %v", name, want.Retry)
			}

			account, api := lefts(c, now)
			if len(v.Deviates) == 0 {
				require.Equal(t, millis(v.Original.Cached), max(account, api), name)
			}
			if v.In.Attempted > 0 {
				require.Equal(t, millis(v.Port.User), account, name)
				require.Equal(t, millis(v.Port.UserAPI), api, name)
			}
		}
	}
	require.Equal(t, []int{2, 16}, []int{odd, relabeled})
}

// decide makes the calls, of which all but the last fail with 503, and returns the step after the last.
func decide(t *testing.T, c alibaba.Control, v *policyVector, draw float64) (step retry.Step, failure error, now time.Time) {
	c.Disabled, c.MaxAttempts, c.MaxDelay = !v.In.Control, v.In.MaxRetries+1, ms*time.Duration(v.In.MaxDelay)
	policy := retry.MustNew(append(c.Options(), drawn(draw))...)
	ctx, now := t.Context(), t0
	flow := policy.Begin(now, time.Time{}, nil)
	for range min(v.In.Attempted, c.MaxAttempts) - 1 { // as often as it may
		require.Equal(t, retry.Go, flow.Next(ctx, now).Action)
		step = flow.Report(ctx, now, throttle.Outcome{Err: failed(now, 503)})
		require.Equal(t, retry.Wait, step.Action)
		now = now.Add(step.Delay)
	}
	if v.In.Attempted > 0 {
		require.Equal(t, retry.Go, flow.Next(ctx, now).Action)
	}
	if v.In.Cached != nil { // by another call
		_, api := c.Keys()
		c.Gate.Block(now, millis(v.In.Cached), api)
	}
	if v.In.Attempted == 0 {
		return flow.Next(ctx, now), nil, now
	}
	failure = io.ErrUnexpectedEOF
	if v.In.Status != nil {
		var header []string
		if v.In.User != nil {
			header = append(header, user, *v.In.User)
		}
		if v.In.UserAPI != nil {
			header = append(header, userAPI, *v.In.UserAPI)
		}
		var answered error = failed(now, *v.In.Status, header...)
		if v.In.Kind == "io" {
			answered = fmt.Errorf("%w: %w", failure, answered)
		}
		failure = answered
	}
	return flow.Report(ctx, now, throttle.Outcome{Err: failure}), failure, now
}

func millis(n *int) time.Duration {
	if n == nil {
		return 0
	}
	return ms * time.Duration(*n)
}

// TestVectorsOfHeaders: what the headers make of both cool-downs, slack included.
func TestVectorsOfHeaders(t *testing.T) {
	v := vectors(t)
	for _, x := range slices.Concat(v.Values, v.Sets) {
		now := t0
		if x.Now != nil {
			now = time.UnixMilli(*x.Now)
		}
		account, api := x.Port.User, x.Port.UserAPI
		if x.Headers == nil {
			x.Headers, api = map[string]string{}, x.Port.Cooldown
			if x.Value != nil {
				x.Headers[userAPI] = *x.Value
			}
		}
		a := answer(429)
		for name, value := range x.Headers {
			a.Header[name] = []string{value} // as spelled
		}
		c := describe()
		c.Gate.MaxCooldown = longest
		c.Observe(now, alibaba.ErrorFrom(a, "", "", now).Signal, nil)
		gotAccount, gotAPI := lefts(c, now)
		require.Equal(t, saturated(account), gotAccount, "%+v", x)
		require.Equal(t, saturated(api), gotAPI, "%+v", x)
		if !x.Deviates && x.Port.Cooldown != nil {
			require.EqualValues(t, max(gotAccount, gotAPI)/ms, x.Original.Escape, "%+v", x)
		}
	}
}

// saturated converts the vectors' milliseconds, which are cut from the longest duration.
func saturated(n *int64) time.Duration {
	if n == nil {
		return 0
	}
	if *n == int64(longest/ms) {
		return longest
	}
	return ms * time.Duration(*n)
}
