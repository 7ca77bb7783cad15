package hint_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

const mostCount = math.MaxInt64

func header(pairs ...string) http.Header { return with(http.Header{}, pairs...) }

// TestWindowCountsIfUsedUp: a reset is an answer only where nothing is left, or where that is not said and the status is
// 429 or 503.
func TestWindowCountsIfUsedUp(t *testing.T) {
	statuses := []int{0, 200, 301, 400, 403, 429, 500, 503}
	for _, kind := range []string{"X-RateLimit-", "X-Rate-Limit-", "RateLimit-"} {
		for remaining, always := range map[string]bool{
			"0": true, "0.0": true, "-1": true, "-3": true, "000": true, "0;w=60": true, "0, 100;w=60": true, " 0 ": true,
			"1": false, "4987": false, "0.5": false, "99999999999999999999": false,
		} {
			for _, status := range statuses {
				s, ok := hint.Standard().Parse(header(kind+"Remaining", remaining, kind+"Reset", "20"), status, noon)
				require.True(t, ok)
				require.Equal(t, always, s.HasDelay, "%s%s, %d", kind, remaining, status)
			}
		}
		for _, remaining := range []string{"", "n/a", "1e0", "--1", "-", "+0", ";w=60"} {
			for _, status := range statuses {
				s, ok := hint.Standard().Parse(header(kind+"Remaining", remaining, kind+"Reset", "20"), status, noon)
				require.True(t, ok)
				require.Equal(t, status == 429 || status == 503, s.HasDelay, "%s%q, %d", kind, remaining, status)
			}
		}
	}
}

func TestWindows(t *testing.T) {
	for _, v := range []struct {
		name   string
		header http.Header
		want   throttle.Signal
	}{
		{"Reset-After before Reset", header("X-RateLimit-Reset", "90", "X-RateLimit-Reset-After", "1.5"),
			throttle.Signal{Delay: 1500 * ms, Source: "x-ratelimit-reset-after", Quotas: []throttle.Quota{limited("x-ratelimit", -1, -1, 1500*ms)}}},
		{"Reset-After invalid", header("X-RateLimit-Reset", "90", "X-RateLimit-Reset-After", "-1"),
			throttle.Signal{Delay: 90 * sec, Source: "x-ratelimit-reset", Quotas: []throttle.Quota{limited("x-ratelimit", -1, -1, 90*sec)}}},
		{"kinds: the longest that counts", header("X-RateLimit-Reset", "5", "X-Rate-Limit-Reset", "90", "X-Rate-Limit-Remaining", "3", "RateLimit-Reset", "7", "RateLimit-Remaining", "0"),
			throttle.Signal{Delay: 7 * sec, Source: "ratelimit-reset", Quotas: []throttle.Quota{
				limited("x-ratelimit", -1, -1, 5*sec), limited("x-rate-limit", -1, 3, 90*sec), limited("ratelimit", -1, 0, 7*sec),
			}}},
		{"kinds: the first of the same", header("X-Rate-Limit-Reset", "5", "RateLimit-Reset", "5"),
			throttle.Signal{Delay: 5 * sec, Source: "x-rate-limit-reset", Quotas: []throttle.Quota{limited("x-rate-limit", -1, -1, 5*sec), limited("ratelimit", -1, -1, 5*sec)}}},
		{"lines: least left, longest wait", header("X-RateLimit-Limit", "100", "X-RateLimit-Limit", "90", "X-RateLimit-Remaining", "7", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "4", "X-RateLimit-Reset", "6"),
			throttle.Signal{Delay: 6 * sec, Source: "x-ratelimit-reset", Quotas: []throttle.Quota{limited("x-ratelimit", 90, 0, 6*sec)}}},
		{"no limit", header("X-RateLimit-Limit", "-1", "X-RateLimit-Remaining", "12"),
			throttle.Signal{Quotas: []throttle.Quota{limited("x-ratelimit", -1, 12, -1)}}},
		{"draft 03 with windows", header("RateLimit-Limit", "100, 100;w=60, 1000;w=3600", "RateLimit-Remaining", "99.5"),
			throttle.Signal{Quotas: []throttle.Quota{limited("ratelimit", 100, 100, -1)}}},
		{"names", header("X-RateLimit-Resource", " core ", "X-RateLimit-Bucket", "b", "X-RateLimit-Limit", "1", "RateLimit-Name", "n", "RateLimit-Limit", "2"),
			throttle.Signal{Quotas: []throttle.Quota{limited("core", 1, -1, -1), limited("n", 2, -1, -1)}}},
		{"names alone", header("X-RateLimit-Resource", "core", "RateLimit-Name", "n"), throttle.Signal{}},
		{"blank names", header("X-RateLimit-Resource", " ", "X-RateLimit-Bucket", "b", "X-RateLimit-Limit", "1"),
			throttle.Signal{Quotas: []throttle.Quota{limited("b", 1, -1, -1)}}},
		{"one name in three cases", http.Header{"x-ratelimit-reset": {"7"}, "X-Ratelimit-Reset": {"5"}, "X-RATELIMIT-RESET": {"6"}},
			throttle.Signal{Delay: 5 * sec, Source: "x-ratelimit-reset", Quotas: []throttle.Quota{limited("x-ratelimit", -1, -1, 5*sec)}}},
		{"one name in two, neither canonical", http.Header{"x-ratelimit-reset": {"7"}, "X-RATELIMIT-RESET": {"6"}},
			throttle.Signal{Delay: 6 * sec, Source: "x-ratelimit-reset", Quotas: []throttle.Quota{limited("x-ratelimit", -1, -1, 6*sec)}}},
		{"large", header("X-RateLimit-Limit", "9223372036854775807.5", "X-RateLimit-Remaining", "9223372036854775806.5"),
			throttle.Signal{Quotas: []throttle.Quota{limited("x-ratelimit", mostCount, mostCount, -1)}}},
		{"Shopify", header("X-Shopify-Shop-Api-Call-Limit", " 39 / 40 "),
			throttle.Signal{Quotas: []throttle.Quota{limited("x-shopify-shop-api-call-limit", 40, 1, -1)}}},
		{"Shopify over", header("X-Shopify-Shop-Api-Call-Limit", "x", "X-Shopify-Shop-Api-Call-Limit", "41/40"),
			throttle.Signal{Quotas: []throttle.Quota{limited("x-shopify-shop-api-call-limit", 40, 0, -1)}}},
		{"Shopify invalid", header("X-Shopify-Shop-Api-Call-Limit", "40", "X-Shopify-Shop-Api-Call-Limit", "-1/40"), throttle.Signal{}},
	} {
		v.want.HasDelay = v.want.Source != ""
		s, ok := hint.Standard().Parse(v.header, 429, noon)
		require.Equal(t, !v.want.IsZero(), ok, v.name)
		require.Equal(t, v.want, s, v.name)
	}
}

// TestDimensions: each has what is left of its own, and without that its reset is no answer on any status.
func TestDimensions(t *testing.T) {
	for _, v := range []struct {
		name   string
		header http.Header
		want   throttle.Signal
	}{
		{"the longest that is used up", header("X-RateLimit-Remaining-Requests", "0", "X-RateLimit-Reset-Requests", "1s", "X-RateLimit-Remaining-Tokens", "0", "X-RateLimit-Reset-Tokens", "6m0s",
			"X-RateLimit-Remaining-Images", "1", "X-RateLimit-Reset-Images", "1h"),
			throttle.Signal{Delay: 360 * sec, Source: "x-ratelimit-reset-tokens", Quotas: []throttle.Quota{
				limited("images", -1, 1, time.Hour), limited("requests", -1, 0, sec), limited("tokens", -1, 0, 360*sec),
			}}},
		{"any name, any case", http.Header{"x-ratelimit-limit-Requests-Day": {"9"}, "X-RATELIMIT-REMAINING-REQUESTS-DAY": {"0"}, "X-Ratelimit-Reset-Requests-Day": {"33011.38"}},
			throttle.Signal{Delay: 33011380 * ms, Source: "x-ratelimit-reset-requests-day", Quotas: []throttle.Quota{limited("requests-day", 9, 0, 33011380*ms)}}},
		{"one name in two cases", http.Header{"X-Ratelimit-Remaining-A": {"3"}, "x-ratelimit-remaining-a": {"0"}, "X-ratelimit-remaining-a": {"x"}, "x-ratelimit-reset-a": {"1"}, "X-Ratelimit-Reset-A": {"2"}},
			throttle.Signal{Delay: 2 * sec, Source: "x-ratelimit-reset-a", Quotas: []throttle.Quota{limited("a", -1, 0, 2*sec)}}},
		{"Anthropic", header("Anthropic-RateLimit-Requests-Limit", "50", "Anthropic-RateLimit-Requests-Remaining", "0", "Anthropic-RateLimit-Requests-Reset", "2026-11-29T12:00:25Z",
			"Anthropic-RateLimit-Output-Tokens-Remaining", "0", "Anthropic-RateLimit-Output-Tokens-Reset", "2026-11-29T12:00:20Z"),
			throttle.Signal{Delay: 25 * sec, Source: "anthropic-ratelimit-requests-reset", Quotas: []throttle.Quota{limited("output-tokens", -1, 0, 20*sec), limited("requests", 50, 0, 25*sec)}}},
		{"both kinds", header("Anthropic-RateLimit-Tokens-Remaining", "0", "Anthropic-RateLimit-Tokens-Reset", "4", "X-RateLimit-Remaining-Tokens", "0", "X-RateLimit-Reset-Tokens", "3"),
			throttle.Signal{Delay: 4 * sec, Source: "anthropic-ratelimit-tokens-reset", Quotas: []throttle.Quota{limited("tokens", -1, 0, 3*sec), limited("tokens", -1, 0, 4*sec)}}},
		{"remaining not said", header("X-RateLimit-Reset-Tokens", "3"), throttle.Signal{Quotas: []throttle.Quota{limited("tokens", -1, -1, 3*sec)}}},
		{"reset not said", header("X-RateLimit-Remaining-Tokens", "0"), throttle.Signal{Quotas: []throttle.Quota{limited("tokens", -1, 0, -1)}}},
		{"nothing valid", header("X-RateLimit-Remaining-Tokens", "", "X-RateLimit-Reset-Tokens", "soon"), throttle.Signal{}},
		{"no such names", header("X-RateLimit-Tokens", "0", "X-RateLimit-Reset-", "3", "Anthropic-RateLimit-Reset", "3", "Anthropic-RateLimit--Reset", "3", "X-RateLimit-Resets-Tokens", "3"), throttle.Signal{}},
	} {
		v.want.HasDelay = v.want.Source != ""
		s, ok := hint.Standard().Parse(v.header, 429, noon)
		require.Equal(t, !v.want.IsZero(), ok, v.name)
		require.Equal(t, v.want, s, v.name)
	}
}

// TestPrecedence takes one kind of hint away after the other.
func TestPrecedence(t *testing.T) {
	h := header("RateLimit", `"a";r=0;t=11`, "X-RateLimit-User", "Remain:0,TimeLeft:12000", "X-RateLimit-Remaining-Tokens", "0",
		"X-RateLimit-Reset-Tokens", "13s", "X-RateLimit-Reset-After", "14", "X-RateLimit-Remaining", "0", "Retry-After", "10", "Grpc-Retry-Pushback-Ms", "9000")
	for i, source := range []string{"grpc-retry-pushback-ms", "retry-after", "ratelimit", "x-ratelimit-user", "x-ratelimit-reset-tokens", "x-ratelimit-reset-after"} {
		s, _ := hint.Standard().Parse(h, 200, noon)
		require.Equal(t, source, s.Source)
		require.Equal(t, time.Duration(9+i)*sec, s.Delay)
		require.Equal(t, i == 0, s.RestartCurve)
		require.Len(t, s.Quotas, []int{4, 4, 4, 3, 2, 2}[i], "all that is said, whichever decides")
		h.Del(source)
	}
	s, _ := hint.Standard().Parse(h, 200, noon)
	require.False(t, s.HasDelay)
}

// TestVendorUnits: the same number is what the vendor says it is.
func TestVendorUnits(t *testing.T) {
	fields := func(kind, reset string) http.Header { return header(kind+"Remaining", "0", kind+"Reset", reset) }
	for _, v := range []struct {
		name   string
		parser hint.Parser
		header http.Header
		want   time.Duration
		ok     bool
	}{
		{"GitHub", hint.GitHub(), fields("X-RateLimit-", "1795953620"), 20 * sec, true},
		{"GitHub", hint.GitHub(), fields("X-RateLimit-", "20"), 0, true},
		{"GitHub", hint.GitHub(), fields("RateLimit-", "1795953620"), 0, false},
		{"GitLab", hint.GitLab(), fields("RateLimit-", "1795953620"), 20 * sec, true},
		{"GitLab", hint.GitLab(), fields("RateLimit-", "20"), 0, true},
		{"GitLab", hint.GitLab(), fields("X-RateLimit-", "1795953620"), 0, false},
		{"IETF", hint.IETF(), fields("RateLimit-", "20"), 20 * sec, true},
		{"IETF", hint.IETF(), fields("RateLimit-", "1795953620"), 1795953620 * sec, true},
		{"Discord", hint.Discord(), fields("X-RateLimit-", "1795953620.5"), 20500 * ms, true},
		{"OpenAI", hint.OpenAI(), header("X-RateLimit-Remaining-Tokens", "0", "X-RateLimit-Reset-Tokens", "20s"), 20 * sec, true},
		{"OpenAI", hint.OpenAI(), header("X-RateLimit-Remaining-Tokens", "0", "X-RateLimit-Reset-Tokens", "20"), 0, false},
		{"Azure", hint.Azure(), header("X-RateLimit-Remaining-Tokens", "0", "X-RateLimit-Reset-Tokens", "20"), 20 * sec, true},
		{"Anthropic", hint.Anthropic(), header("Anthropic-RateLimit-Tokens-Remaining", "0", "Anthropic-RateLimit-Tokens-Reset", "20"), 0, false},
	} {
		s, _ := v.parser.Parse(v.header, 403, noon)
		require.Equal(t, v.ok, s.HasDelay, "%s %v", v.name, v.header)
		require.Equal(t, v.want, s.Delay, "%s %v", v.name, v.header)
	}
}
