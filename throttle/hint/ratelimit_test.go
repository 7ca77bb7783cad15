package hint_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

func limited(name string, limit, remaining int64, delay time.Duration) throttle.Quota {
	q := throttle.Quota{Name: name, Limit: limit, Remaining: remaining}
	if delay >= 0 {
		q.Delay, q.HasDelay = delay, true
	}
	return q
}

func TestRateLimitList(t *testing.T) {
	type quotas = []throttle.Quota
	for _, v := range []struct {
		limit, policy []string
		want          time.Duration // -1: none
		quotas        quotas
	}{
		{[]string{`"a";r=0;t=3`}, nil, 3 * sec, quotas{limited("a", -1, 0, 3*sec)}},
		{[]string{`"a";t=3;r=0`}, nil, 3 * sec, quotas{limited("a", -1, 0, 3*sec)}},
		{[]string{`  "a"; r=0;  t=3  `}, nil, 3 * sec, quotas{limited("a", -1, 0, 3*sec)}},
		{[]string{"\"a\";r=0;t=3\t,\t\"b\";r=0;t=9"}, nil, 9 * sec, quotas{limited("a", -1, 0, 3*sec), limited("b", -1, 0, 9*sec)}},
		{[]string{`"a";r=0;t=3,"b";r=1;t=9`}, nil, 3 * sec, quotas{limited("a", -1, 0, 3*sec), limited("b", -1, 1, 9*sec)}},
		{[]string{`"a";r=0;t=3`, "", `"b";r=0;t=9`}, nil, 9 * sec, quotas{limited("a", -1, 0, 3*sec), limited("b", -1, 0, 9*sec)}},
		{[]string{`"a";r=0;t=0`}, nil, 0, quotas{limited("a", -1, 0, 0)}},
		{[]string{`"a";r=0`}, nil, -1, quotas{limited("a", -1, 0, -1)}},
		{[]string{`"a";r=0;t=999999999999999`}, nil, longest, quotas{limited("a", -1, 0, longest)}},
		{[]string{`"a";r=5;r=0;t=1;t=3`}, nil, 3 * sec, quotas{limited("a", -1, 0, 3*sec)}}, // the last one counts
		{[]string{`"a";r=0;t=3;t=-1`}, nil, -1, quotas{limited("a", -1, 0, -1)}},
		{[]string{`"a";r=0;t="3"`}, nil, -1, quotas{limited("a", -1, 0, -1)}},
		{[]string{`"a";r=0;t=3.0`}, nil, -1, quotas{limited("a", -1, 0, -1)}},
		{[]string{`"\"q\\\"";r=0;t=3`}, nil, 3 * sec, quotas{limited(`"q\"`, -1, 0, 3*sec)}},
		{[]string{`"";r=0;t=3`}, nil, 3 * sec, quotas{limited("", -1, 0, 3*sec)}},
		{[]string{`"a";r=0;t=3;pk=:cHsdsRa894==:;x=?1;y=tok*en/1;z=-1.5;w;v="s\"";u=@-17;*s=%"f%c3%bc";k.-_*1=::`}, nil, 3 * sec, quotas{limited("a", -1, 0, 3*sec)}},
		// An item that lacks what it must have.
		{[]string{`"a";t=3, "b";r=-1;t=4, "c";r=0.5, "d";r=0;t=5`}, nil, 5 * sec, quotas{limited("d", -1, 0, 5*sec)}},
		// Policies give the limits, and may come alone.
		{[]string{`"a";r=0;t=3, "b";r=2`}, []string{`"a";q=10;w=1, "b";q=100;w=60;qu="requests", "c";q=7`}, 3 * sec,
			quotas{limited("a", 10, 0, 3*sec), limited("b", 100, 2, -1), limited("c", 7, -1, -1)}},
		{[]string{`"a";r=1;pk=:YQ==:, "a";r=2;pk=:Yg==:`}, []string{`"a";q=10`}, -1, quotas{limited("a", 10, 1, -1), limited("a", 10, 2, -1)}},
		{nil, []string{`"a";q=10;w=1`, `"b";w=1`}, -1, quotas{limited("a", 10, -1, -1)}},
		{[]string{`"a";r=0;t=3`}, []string{`"b";q=1, "a";q=10;`}, 3 * sec, quotas{limited("a", -1, 0, 3*sec)}}, // not valid, so ignored
		{[]string{`"a";r=0;t=3`}, []string{`"b";q=1`, `"a";q=10 ;`}, 3 * sec, quotas{limited("a", -1, 0, 3*sec)}},
		{[]string{`"a";r=0;t=3;`}, []string{`"a";q=10`}, -1, quotas{limited("a", 10, -1, -1)}},
		// Draft 07.
		{[]string{`limit=100, remaining=0, reset=17`}, []string{`100;w=60`}, 17 * sec, quotas{limited("ratelimit", 100, 0, 17*sec)}},
		{[]string{`limit=100,remaining=3,reset=17`}, nil, -1, quotas{limited("ratelimit", 100, 3, 17*sec)}},
		{[]string{`limit=100`, `remaining=0;x=1, reset=17;y, more=(a "b";c=1 2.5 ), other`}, nil, 17 * sec, quotas{limited("ratelimit", 100, 0, 17*sec)}},
		{[]string{`reset=17, in=()`}, nil, 17 * sec, quotas{limited("ratelimit", -1, -1, 17*sec)}}, // the status is 429
		{[]string{`limit=-1, remaining=0, reset=-17`}, nil, -1, quotas{limited("ratelimit", -1, 0, -1)}},
		{[]string{`limit="100", remaining, reset=1.5`}, nil, -1, nil},
	} {
		h := http.Header{}
		if v.limit != nil {
			h["Ratelimit"] = v.limit
		}
		if v.policy != nil {
			h["Ratelimit-Policy"] = v.policy
		}
		want := throttle.Signal{Quotas: v.quotas}
		if v.want >= 0 {
			want.Delay, want.HasDelay, want.Source = v.want, true, "ratelimit"
		}
		for _, p := range []hint.Parser{hint.IETF(), hint.Standard()} {
			s, ok := p.Parse(h, 429, noon)
			require.Equal(t, v.quotas != nil, ok, "%q", v.limit)
			require.Equal(t, len(v.quotas), len(s.Quotas), "%q", v.limit)
			if ok {
				require.Equal(t, want, s, "%q", v.limit)
			}
		}
	}
}

// TestRateLimitDictionaryStatus: without remaining, the reset counts where the server turned the call away.
func TestRateLimitDictionaryStatus(t *testing.T) {
	for status, want := range map[int]bool{200: false, 403: false, 429: true, 500: false, 503: true} {
		s, ok := hint.IETF().Parse(http.Header{"Ratelimit": {"limit=9, reset=17"}}, status, noon)
		require.True(t, ok)
		require.Equal(t, want, s.HasDelay, status)
	}
}

// TestRateLimitMalformed: a list is valid as a whole or not at all.
func TestRateLimitMalformed(t *testing.T) {
	valid := `"ok";r=0;t=30`
	_, ok := hint.IETF().Parse(http.Header{"Ratelimit": {valid}}, 429, noon)
	require.True(t, ok)
	for _, bad := range []string{
		`"default;r=0;t=30`, `"a";r=0;t=`, `"a";r=0;t=-`, `"a";r=0;;t=3`, `"a";r=0;T=3`, `"a";r=0;1=3`, `"a";r=0; =3`, `"a" ;r=0`, `"a"; `,
		`"a";r =0`, `"a";r= 0`, `"a";r=0 t=3`, `"a";r=0,`, `"a";r=0, ,"b";r=0`, `,"a";r=0`, `"a";r=0 "b";r=0`, `"a\n";r=0`, `"a\`, "\"\x7f\";r=0",
		"\"\t\";r=0", `"ü";r=0`, `"a";r=1234567890123456`, `"a";r=0;x=1.`, `"a";r=0;x=1.2345`, `"a";r=0;x=1234567890123.1`, `"a";r=0;x=.5`,
		`"a";r=0;x=--1`, `"a";r=0;x=?2`, `"a";r=0;x=?`, `"a";r=0;x=:a b:`, `"a";r=0;x=:YQ==`, `"a";r=0;x=@1.5`, `"a";r=0;x=@`, `"a";r=0;x=%"%C3"`,
		`"a";r=0;x=%"%c"`, `"a";r=0;x=%"a`, `"a";r=0;x=%a`, `"a";r=0;x=(1)`, `"a";r=0;x=`, `"a";r=0;x={}`, `"a";r=0;x=é`,
		`tok;r=0;t=3`, `1;r=0;t=3`, `("a");r=0;t=3`, `?1;r=0`, `:YQ==:;r=0`,
	} {
		for name, lines := range map[string][]string{
			"before": {bad + ", " + valid}, "after": {valid + ", " + bad}, "line before": {bad, valid}, "line after": {valid, bad},
		} {
			if strings.HasSuffix(bad, ",") && name == "before" || bad[0] == ',' && name == "after" {
				continue // a comma of its own
			}
			s, ok := hint.IETF().Parse(http.Header{"Ratelimit": lines}, 429, noon)
			require.False(t, ok, "%s: %q", name, lines)
			require.Zero(t, s, "%s: %q", name, lines)
		}
	}
	for _, bad := range []string{`reset=17,`, `reset=17, =1`, `reset=17 x`, `reset=17, X=1`, `reset=17, x=(1`, `reset=17, x=(1"a")`, `reset=17, x=(1 (2))`, `reset=17;`} {
		s, ok := hint.IETF().Parse(http.Header{"Ratelimit": {bad}}, 429, noon)
		require.False(t, ok, "%q: %+v", bad, s)
	}
}

func TestRateLimitItems(t *testing.T) {
	for _, n := range []int{64, 65} {
		var list, policy []string
		for i := range n {
			list = append(list, fmt.Sprintf(`"%d";r=0;t=%d`, i, i))
			policy = append(policy, fmt.Sprintf(`"%d";q=9`, n-1-i))
		}
		h := http.Header{"Ratelimit": {strings.Join(list, ",")}, "Ratelimit-Policy": policy[:32]}
		s, _ := hint.IETF().Parse(h, 429, noon)
		require.Equal(t, n == 64, s.HasDelay)
		if n == 64 {
			require.Len(t, s.Quotas, 64)
			require.Equal(t, 63*sec, s.Delay)
			require.Equal(t, limited("63", 9, 0, 63*sec), s.Quotas[63])
			require.Equal(t, limited("31", -1, 0, 31*sec), s.Quotas[31])
		} else {
			require.Len(t, s.Quotas, 32, "the policies")
		}
	}
}
