package hint_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

func TestShouldRetry(t *testing.T) {
	const x, stripe = "X-Should-Retry", "Stripe-Should-Retry"
	for _, v := range []struct {
		header http.Header
		want   throttle.Tri
	}{
		{header(x, "true"), throttle.Yes},
		{header(x, "false"), throttle.No},
		{header(x, " True\t"), throttle.Yes},
		{header(stripe, "FALSE"), throttle.No},
		{header(x, "1"), throttle.Undecided},
		{header(x, ""), throttle.Undecided},
		{header(x, "true, false"), throttle.Undecided},
		{header(x, "true", x, "false"), throttle.No},
		{header(x, "false", x, "true"), throttle.No},
		{header(x, "true", stripe, "false"), throttle.No},
		{header(x, "false", stripe, "true"), throttle.No},
		{header(x, "maybe", stripe, "true"), throttle.Yes},
		{http.Header{"x-should-retry": {"false"}}, throttle.No},
	} {
		s, ok := hint.Standard().Parse(v.header, 200, noon)
		require.Equal(t, v.want != throttle.Undecided, ok, v.header)
		require.Equal(t, throttle.Signal{Retry: v.want}, s, v.header)

		// It leaves the wait alone, and the wait it.
		v.header.Set("Retry-After", "3")
		s, _ = hint.Standard().Parse(v.header, 200, noon)
		require.Equal(t, throttle.Signal{Retry: v.want, Delay: 3 * sec, HasDelay: true, Source: "retry-after"}, s, v.header)
	}
	s, ok := hint.Stripe().Parse(header(x, "false"), 200, noon)
	require.False(t, ok, "%+v", s)
	s, ok = hint.OpenAI().Parse(header(stripe, "false"), 200, noon)
	require.False(t, ok, "%+v", s)
}

// TestPushback: milliseconds in 32 bits, exactly one value; all else forbids.
func TestPushback(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "1500": 1500 * ms, "007": 7 * ms, " 5 ": 5 * ms, "2147483647": 2147483647 * ms,
		"-1": -1, "-0.5": -1, "1.5": -1, "+5": 5 * ms, "+": -1, "++5": -1, "+-5": -1, "-+5": -1, "+ 5": -1, "": -1, "soon": -1, "2147483648": -1, "99999999999999999999": -1, "5, 6": -1, "1e3": -1,
	} {
		wanted := throttle.Signal{Retry: throttle.No}
		if want >= 0 {
			wanted = throttle.Signal{Delay: want, HasDelay: true, Rule: throttle.Exact(), RestartCurve: true, Source: "grpc-retry-pushback-ms"}
		}
		for _, p := range []hint.Parser{hint.GRPC(), hint.Standard()} {
			// Trailers of HTTP, and gRPC's metadata, whose names are in lower case.
			for _, name := range []string{"Grpc-Retry-Pushback-Ms", "grpc-retry-pushback-ms"} {
				s, ok := p.Parse(http.Header{name: {text}}, 14, noon)
				require.True(t, ok)
				require.Equal(t, wanted, s, "%q", text)
			}
		}
	}
	for _, lines := range [][]string{{"5", "5"}, {"5", ""}, {"-1", "5"}, {"5", "6", "7"}} {
		s, _ := hint.GRPC().Parse(http.Header{"Grpc-Retry-Pushback-Ms": lines}, 14, noon)
		require.Equal(t, throttle.Signal{Retry: throttle.No}, s, lines)
	}
	s, ok := hint.GRPC().Parse(http.Header{"Grpc-Retry-Pushback-Ms": {}}, 14, noon)
	require.False(t, ok, "%+v", s)
}

// TestPushbackIsFinal: a wait told in another way does not count beside it, and neither does a yes.
func TestPushbackIsFinal(t *testing.T) {
	s, _ := hint.Standard().Parse(header("Grpc-Retry-Pushback-Ms", "-1", "Retry-After", "3", "X-Should-Retry", "true", "X-RateLimit-Reset", "9"), 503, noon)
	require.Equal(t, throttle.Signal{Retry: throttle.No, Quotas: []throttle.Quota{limited("x-ratelimit", -1, -1, 9*sec)}}, s)
	s, _ = hint.Standard().Parse(header("Grpc-Retry-Pushback-Ms", "5", "Retry-After", "3", "X-Should-Retry", "false"), 503, noon)
	require.Equal(t, throttle.Signal{Delay: 5 * ms, HasDelay: true, Rule: throttle.Exact(), RestartCurve: true, Source: "grpc-retry-pushback-ms", Retry: throttle.No}, s)
}
