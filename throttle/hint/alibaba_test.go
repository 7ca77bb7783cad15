package hint_test

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

const (
	userField = "x-ratelimit-user"
	apiField  = "x-ratelimit-user-api"
	// slack is what the SDK for Java adds to the waits of its cool-downs.
	slack = 100 * ms
)

type alibabaVectors struct {
	Values []struct {
		Value *string
		NowMS int64 `json:"now_ms"`
		Port  struct {
			Limit, Remain *int64
			TimeLeft      *int64 `json:"time_left_ms"`
			Reset         *int64 `json:"reset_ms"`
			Throttled     bool
			Cooldown      *int64 `json:"cooldown_ms"`
		}
	} `json:"alibaba_header_value"`
	Sets []struct {
		Headers map[string]string
		Port    struct {
			Throttled    bool
			User         *int64 `json:"user_cooldown_ms"`
			API          *int64 `json:"user_api_cooldown_ms"`
			CooldownBoth *int64 `json:"cooldown_ms"`
		}
	} `json:"alibaba_header_set"`
	Left []struct {
		Header, Value string
		Want          *int64 `json:"want_time_left_ms"`
	} `json:"alibaba_go_time_left"`
}

func alibabaHeaders(t testing.TB) (v alibabaVectors) {
	data, err := os.ReadFile("testdata/alibaba_headers.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &v))
	require.Len(t, v.Values, 27)
	require.Len(t, v.Sets, 9)
	require.Len(t, v.Left, 6)
	return v
}

// cooldown is a wait with slack in the vectors' form: milliseconds, no more than a Duration holds.
func cooldown(d time.Duration) *int64 {
	n := min(d, longest-slack)/ms + slack/ms
	return (*int64)(&n)
}

// quota finds one by name; without one nothing was said of it.
func quota(s throttle.Signal, name string) throttle.Quota {
	for _, q := range s.Quotas {
		if q.Name == name {
			return q
		}
	}
	return throttle.Quota{Name: name, Limit: -1, Remaining: -1}
}

func orElse(n *int64, other int64) int64 {
	if n == nil {
		return other
	}
	return *n
}

func TestAlibabaValues(t *testing.T) {
	for _, v := range alibabaHeaders(t).Values {
		for name, field := range map[string]string{"X-Ratelimit-User": userField, "X-Ratelimit-User-Api": apiField} {
			h := http.Header{}
			if v.Value != nil {
				h[name] = []string{*v.Value}
			}
			s, ok := hint.Alibaba().Parse(h, 400, time.UnixMilli(v.NowMS))
			q := quota(s, field)
			require.Equal(t, len(s.Quotas) > 0, ok, "%+v", v)
			require.Equal(t, orElse(v.Port.Limit, -1), q.Limit, "%+v", v)
			require.Equal(t, orElse(v.Port.Remain, -1), q.Remaining, "%+v", v)
			require.Equal(t, v.Port.TimeLeft != nil || v.Port.Reset != nil, q.HasDelay, "%+v", v)
			if v.Port.TimeLeft != nil {
				require.Equal(t, min(max(*v.Port.TimeLeft, 0), int64(longest/ms)), int64(q.Delay/ms), "%+v", v)
			}
			require.Equal(t, v.Port.Throttled, q.Remaining == 0, "%+v", v)
			require.Equal(t, v.Port.Cooldown != nil, s.HasDelay, "%+v", v)
			if s.HasDelay {
				require.Equal(t, v.Port.Cooldown, cooldown(s.Delay), "%+v", v)
				require.Equal(t, field, s.Source)
			}
		}
	}
}

func TestAlibabaSets(t *testing.T) {
	for _, v := range alibabaHeaders(t).Sets {
		h := http.Header{}
		for name, value := range v.Headers {
			h[name] = []string{value} // in the case that was sent
		}
		s, _ := hint.Alibaba().Parse(h, 400, t0)
		user, api := quota(s, userField), quota(s, apiField)
		require.Equal(t, v.Port.Throttled, user.Remaining == 0 || api.Remaining == 0, "%+v", v)
		for _, w := range []struct {
			want *int64
			got  throttle.Quota
		}{{v.Port.User, user}, {v.Port.API, api}} {
			held := w.got.Remaining == 0 && w.got.HasDelay
			require.Equal(t, w.want != nil, held, "%+v", v)
			if held {
				require.Equal(t, w.want, cooldown(w.got.Delay), "%+v", v)
			}
		}
		require.Equal(t, v.Port.CooldownBoth != nil, s.HasDelay, "%+v", v)
		if s.HasDelay {
			require.Equal(t, v.Port.CooldownBoth, cooldown(s.Delay), "%+v", v)
		}
	}
}

// TestAlibabaTimeLeft: the answers of the SDKs' newer generation, which does not look at Remain. It takes the first of
// two, no space, and nothing negative; here it is as for the older one: the last, any space, and 0.
func TestAlibabaTimeLeft(t *testing.T) {
	other := map[string]int64{"Remain:0, TimeLeft:2000": 2000, "Remain:0,TimeLeft:-5": 0, "TimeLeft:1,TimeLeft:9": 9}
	for _, v := range alibabaHeaders(t).Left {
		s, _ := hint.Alibaba().Parse(http.Header{http.CanonicalHeaderKey(v.Header): {v.Value}}, 400, t0)
		q := quota(s, v.Header)
		want := v.Want
		if port, ok := other[v.Value]; ok {
			want = &port
		}
		require.Equal(t, want != nil, q.HasDelay, v.Value)
		require.Equal(t, orElse(want, 0), int64(q.Delay/ms), v.Value)
	}
}

// TestAlibabaReset: without TimeLeft the wait is until Reset, by the server's clock.
func TestAlibabaReset(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	for _, v := range []struct {
		value, date string
		want        time.Duration
		ok          bool
	}{
		{"Remain:0,Reset:1700000003500", "", 3500 * ms, true},
		{"Remain:0,Reset:1700000003500", "Tue, 14 Nov 2023 22:13:22 GMT", 1500 * ms, true},
		{"Remain:0,TimeLeft:abc,Reset:1700000003500", "", 3500 * ms, true},
		{"Remain:0,TimeLeft:7,Reset:1700000003500", "", 7 * ms, true},
		{"Remain:0,Reset:1699999999999", "", 0, true},
		{"Remain:0,Reset:9223372036854775807", "", longest, true},
		{"Remain:0,Reset:0", "", 0, false},
		{"Remain:0,Reset:-1", "", 0, false},
		{"Remain:-2,TimeLeft:5", "", 5 * ms, true},
		{"Remain:-1,TimeLeft:5", "", 0, false},
		{"Remain:-9223372036854775809,TimeLeft:5", "", 5 * ms, true},
		{"Remain:0:1,TimeLeft:5", "", 0, false},
		{"Remain:+0,TimeLeft:+5", "", 5 * ms, true}, // Integer.parseInt and Long.parseLong take the sign
		{"Remain:-0,TimeLeft:+9223372036854775808", "", longest, true},
		{"Remain:+0,Reset:+1700000003500", "", 3500 * ms, true},
		{"Remain:+-0,TimeLeft:5", "", 0, false},
		{"Remain:++0,TimeLeft:5", "", 0, false},
		{"Remain:+,TimeLeft:5", "", 0, false},
		{"Remain:0,TimeLeft:+1.5", "", 0, false},
		{"Remain=0,TimeLeft:5", "", 0, false},
	} {
		h := http.Header{"X-Ratelimit-User": {v.value}}
		if v.date != "" {
			h.Set("Date", v.date)
		}
		s, _ := hint.Alibaba().Parse(h, 400, at)
		require.Equal(t, v.ok, s.HasDelay, v.value)
		require.Equal(t, v.want, s.Delay, v.value)
		require.Equal(t, v.ok, quota(s, userField).Remaining == 0 && s.HasDelay, v.value)
	}
}

// TestAlibabaLines: of a field sent twice, the line that says to wait longer.
func TestAlibabaLines(t *testing.T) {
	lines := []string{"Remain:5,TimeLeft:90", "Remain:0,TimeLeft:20", "Remain:0", "junk", "Remain:0,TimeLeft:30", "Remain:0,TimeLeft:10"}
	for range len(lines) {
		lines = append(lines[1:], lines[0])
		s, ok := hint.Alibaba().Parse(http.Header{"X-Ratelimit-User": lines}, 429, t0)
		require.True(t, ok)
		require.Equal(t, throttle.Signal{
			Delay: 30 * ms, HasDelay: true, Source: userField,
			Quotas: []throttle.Quota{{Name: userField, Limit: -1, Remaining: 0, Delay: 30 * ms, HasDelay: true}},
		}, s)
	}
}
