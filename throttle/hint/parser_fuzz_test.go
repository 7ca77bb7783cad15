package hint_test

import (
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/internal/fuzzed"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// FuzzParsers reads a header written as lines of "name: value" with every parser.
func FuzzParsers(tf *testing.F) {
	f := fuzzed.New(tf)
	headers, _ := readings(f)
	for _, h := range headers {
		var text strings.Builder
		for _, name := range slices.Sorted(maps.Keys(h)) {
			for _, line := range h[name] {
				text.WriteString(name + ":" + line + "\n")
			}
		}
		f.Add(text.String(), 429, noon.UnixNano())
	}
	f.Add("retry-after:1\nRetry-After:2\nRETRY-AFTER:3\nRatelimit-Policy:\"a\";q=9\nRateLimit:\"a\";r=0;t=1", 503, int64(math.MinInt64))
	f.Add("Ratelimit:limit=1, remaining=0, reset=(1 2);x, y=?1;z=@5;k=%\"%c3%bc\"", 200, int64(math.MaxInt64))
	parsers := headerParsers()
	f.Fuzz(func(t *testing.T, text string, status int, now int64) {
		h := http.Header{}
		for line := range strings.SplitSeq(text, "\n") {
			name, value, _ := strings.Cut(line, ":")
			h[name] = append(h[name], value)
		}
		for _, p := range parsers {
			requireSound(t, p, h, status, time.Unix(0, now))
			requireSound(t, p, h, status, time.Unix(now, 0))
		}
	})
}

// FuzzParseRetryAfter compares with a second reading: whole seconds by hand, dates by net/http, which takes more of them.
func FuzzParseRetryAfter(tf *testing.F) {
	f := fuzzed.New(tf)
	for _, v := range retryAfters {
		f.Add(v.text, "", noon.Unix())
	}
	f.Add("5", "7", int64(0))
	f.Fuzz(func(t *testing.T, first, second string, at int64) {
		now := time.Unix(at%(1<<36), 0)
		d, ok := hint.ParseRetryAfter([]string{first, second}, time.Time{}, now)
		requireWait(t, d, ok)
		reversed, same := hint.ParseRetryAfter([]string{second, first}, time.Time{}, now)
		if len(first)+len(second) <= 4096 {
			require.Equal(t, ok, same)
			require.Equal(t, d, reversed)
		}
		one, ok := hint.ParseRetryAfter([]string{first}, time.Time{}, now)
		if !ok {
			return
		}
		text := strings.Trim(first, " \t")
		if date, err := http.ParseTime(text); err == nil {
			if !strings.Contains(text, "-") { // RFC 850's years are another matter
				require.Equal(t, max(date.Sub(now), 0), one, text)
			}
			return
		}
		whole, fraction, point := strings.Cut(text, ".")
		require.Empty(t, strings.Trim(whole+fraction, "0123456789"))
		require.NotEmpty(t, whole)
		require.Equal(t, point, fraction != "")
		if n := strings.TrimLeft(whole, "0"); len(n) <= 9 {
			seconds := time.Duration(0)
			for _, c := range n {
				seconds = seconds*10 + time.Duration(c-'0')*sec
			}
			require.GreaterOrEqual(t, one, seconds)
			require.LessOrEqual(t, one, seconds+sec)
			require.Equal(t, strings.Trim(fraction, "0") == "", one == seconds)
		} else if len(n) > 10 {
			require.Equal(t, longest, one)
		}
	})
}

// FuzzUnits: no text breaks any unit, whatever the time.
func FuzzUnits(tf *testing.F) {
	f := fuzzed.New(tf)
	for i, text := range []string{"30", "6m0s", "1795953630.5", "Sun, 29 Nov 2026 12:00:30 GMT", "2026-11-29T12:00:30Z", "9223372036854775807", "0.0000000000001"} {
		f.Add(uint8(i), text, noon.Unix(), "Sun, 29 Nov 2026 12:00:30 GMT")
	}
	f.Fuzz(func(t *testing.T, unit uint8, text string, now int64, date string) {
		u := hint.Unit(unit)
		p := hint.FieldParser(hint.FieldSpec{Wait: "X-Wait", Unit: u})
		h := http.Header{"X-Wait": {text}, "Date": {date}}
		requireSound(t, p, h, 200, time.Unix(now, 0))
		if s, ok := p.Parse(h, 200, time.Unix(now, 0)); ok {
			require.LessOrEqual(t, u, hint.RFC3339)
			require.Equal(t, "x-wait", s.Source)
		}
		if d, err := time.ParseDuration(text); err == nil && d > 0 && u == hint.GoDuration && !strings.HasPrefix(text, "+") {
			s, ok := p.Parse(h, 200, time.Unix(now, 0))
			if ok {
				require.LessOrEqual(t, d, s.Delay)
				require.LessOrEqual(t, s.Delay-d, ms+1)
			}
		}
	})
}

func FuzzRetryInfo(tf *testing.F) {
	f := fuzzed.New(tf)
	for _, body := range []string{info(`"34.074824224s"`), "[" + info(`"3s"`) + "]", info(`3`), `"google.rpc.RetryInfo"`, "[[google.rpc.RetryInfo", ""} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s, ok := hint.RetryInfo(body)
		require.Equal(t, ok, s.HasDelay)
		require.Equal(t, !ok, s.IsZero())
		requireWait(t, s.Delay, ok)
		again, _ := hint.RetryInfo(body)
		require.Equal(t, s, again)
	})
}
