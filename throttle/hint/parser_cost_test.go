package hint_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// allocated returns how many bytes f allocates, and whatever else does meanwhile.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestParserAllocations(t *testing.T) {
	for name, p := range headerParsers() {
		for _, h := range []http.Header{nil, {}, plain()} {
			require.Zero(t, testing.AllocsPerRun(100, func() { p.Parse(h, 200, noon) }), name)
		}
	}
	for name, v := range map[string]struct {
		header http.Header
		want   float64
	}{
		"seconds":  {header("Retry-After", "5"), 0},
		"date":     {header("Retry-After", "Sun, 29 Nov 2026 12:05:30 GMT", "Date", "Sun, 29 Nov 2026 12:05:00 GMT"), 0},
		"RFC 850":  {header("Retry-After", "Sunday, 29-Nov-26 12:05:30 GMT"), 0},
		"pushback": {header("Grpc-Retry-Pushback-Ms", "5"), 0},
		"should":   {header("X-Should-Retry", "false"), 0},
		// The list of quotas.
		"window": {header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1795953630"), 1},
		"list":   {header("RateLimit", `"burst";r=0;t=3`), 1},
		// That, and the list of fields.
		"dimensions": {header("X-RateLimit-Remaining-Tokens", "0", "X-RateLimit-Reset-Tokens", "6m0s"), 2},
	} {
		require.Equal(t, v.want, testing.AllocsPerRun(100, func() {
			if _, ok := hint.Standard().Parse(v.header, 429, noon); !ok {
				t.Error(name)
			}
		}), name)
	}
}

// TestParserBounds: what is beyond them is not read, so it cannot cost anything.
func TestParserBounds(t *testing.T) {
	repeat := func(n int, line, last string) []string {
		list := make([]string, n, n+1)
		for i := range list {
			list[i] = line
		}
		return append(list, last)
	}
	for name, v := range map[string]struct {
		lines []string
		want  throttle.Signal
	}{
		"31 lines and one":    {repeat(31, "1", "7"), throttle.Signal{Delay: 7 * sec, HasDelay: true, Source: "retry-after"}},
		"32 lines and one":    {repeat(32, "1", "7"), throttle.Signal{Delay: sec, HasDelay: true, Source: "retry-after"}},
		"4095 bytes and one":  {[]string{strings.Repeat("x", 4095), "7", "8"}, throttle.Signal{Delay: 7 * sec, HasDelay: true, Source: "retry-after"}},
		"4096 bytes and one":  {[]string{strings.Repeat("x", 4096), "7"}, throttle.Signal{}},
		"4096 bytes in space": {[]string{strings.Repeat(" ", 4095) + "7"}, throttle.Signal{Delay: 7 * sec, HasDelay: true, Source: "retry-after"}},
		"10 MB":               {[]string{strings.Repeat("7", 10<<20)}, throttle.Signal{}},
	} {
		s, _ := hint.Standard().Parse(http.Header{"Retry-After": v.lines}, 429, noon)
		require.Equal(t, v.want, s, name)
		d, ok := hint.ParseRetryAfter(v.lines, noon, noon)
		require.Equal(t, v.want.HasDelay, ok, name)
		require.Equal(t, v.want.Delay, d, name)
		s, _ = hint.FieldParser(hint.FieldSpec{Wait: "Retry-After"}).Parse(http.Header{"Retry-After": v.lines}, 429, noon)
		require.Equal(t, v.want, s, name)
	}
}

// TestParserManyNames: with up to 256 names all are looked at, beyond that the known ones are looked up.
func TestParserManyNames(t *testing.T) {
	many := func(n int) http.Header {
		h := http.Header{"X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"3s"}, "x-ratelimit-user": {"Remain:0,TimeLeft:5000"},
			"X-Ratelimit-Remaining-Odd": {"0"}, "X-Ratelimit-Reset-Odd": {"9s"}, "X-Ratelimit-Remaining": {"1"}}
		for i := 0; len(h) < n; i++ {
			h[fmt.Sprintf("X-Ratelimit-Filler-%d", i)] = []string{"0"}
		}
		return h
	}
	s, _ := hint.Standard().Parse(many(256), 429, noon)
	require.Equal(t, "x-ratelimit-user", s.Source)
	s, _ = hint.OpenAI().Parse(many(256), 429, noon)
	require.Equal(t, "x-ratelimit-reset-odd", s.Source)
	s, _ = hint.Standard().Parse(many(257), 429, noon)
	require.Equal(t, throttle.Signal{
		Delay: 3 * sec, HasDelay: true, Source: "x-ratelimit-reset-tokens",
		Quotas: []throttle.Quota{limited("tokens", -1, 0, 3*sec), limited("x-ratelimit", -1, 1, -1)},
	}, s)
	p := hint.FieldParser(hint.FieldSpec{Wait: "X-RateLimit-User", Unit: hint.Auto, Remaining: "X-RateLimit-Remaining-Odd"})
	for _, n := range []int{256, 257} {
		h := many(n)
		h["x-ratelimit-user"] = []string{"4"}
		s, _ := p.Parse(h, 429, noon)
		require.Equal(t, n == 256, s.HasDelay)
	}
}

// TestHostileHeaders: memory for what a header can be made of.
func TestHostileHeaders(t *testing.T) {
	filled := func(n int, name, value func(i int) string) http.Header {
		h := make(http.Header, n)
		for i := range n {
			h[name(i)] = append(h[name(i)], value(i))
		}
		return h
	}
	numbered := func(format string) func(int) string { return func(i int) string { return fmt.Sprintf(format, i) } }
	just := func(s string) func(int) string { return func(int) string { return s } }
	list := strings.TrimSuffix(strings.Repeat(`"";r=0;t=1,`, 1<<20), ",")
	for name, h := range map[string]http.Header{
		"names":           filled(100_000, numbered("X-Ratelimit-Reset-%d"), just("1s")),
		"names read":      filled(256, numbered("X-Ratelimit-Reset-%d"), just(strings.Repeat("9", 4096))),
		"lines":           filled(100_000, just("Retry-After"), numbered("%d")),
		"lines of a list": filled(100_000, just("Ratelimit"), just(`"";r=0`)),
		"lines of pairs":  filled(100_000, just("X-Ratelimit-User"), just("Remain:0")),
		"items":           {"Ratelimit": {list}, "Ratelimit-Policy": {list}},
		"digits":          {"Retry-After": {strings.Repeat("9", 10<<20)}, "Date": {strings.Repeat("9", 10<<20)}},
		"pairs":           {"X-Ratelimit-User": {strings.Repeat("Remain:0,", 1<<20)}},
		"quotes":          {"Ratelimit": {`"` + strings.Repeat(`\"`, 2046) + `";r=0`}},
		"pushbacks":       filled(100_000, just("Grpc-Retry-Pushback-Ms"), numbered("%d")),
		"one pushback":    {"Grpc-Retry-Pushback-Ms": {strings.Repeat("9", 10<<20)}},
	} {
		for of, p := range headerParsers() {
			require.Less(t, allocated(func() { p.Parse(h, 429, noon) }), uint64(128<<10), "%s, %s", of, name)
		}
	}
}
