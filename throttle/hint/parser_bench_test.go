package hint_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/seed-89b3229b/retry/throttle/hint"
)

// plain is an ordinary answer's header, of 10 fields, none of which is about waiting.
func plain() http.Header {
	return http.Header{
		"Date": {"Sun, 29 Nov 2026 12:00:00 GMT"}, "Content-Type": {"application/json"}, "Content-Length": {"512"},
		"Server": {"nginx"}, "Cache-Control": {"no-cache"}, "Etag": {`"abc"`}, "Vary": {"Accept-Encoding"},
		"X-Request-Id": {"4bf92f3577b34da6a3ce929d0e0e4736"}, "Strict-Transport-Security": {"max-age=31536000"},
		"X-Content-Type-Options": {"nosniff"},
	}
}

func with(h http.Header, pairs ...string) http.Header {
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func BenchmarkParse(b *testing.B) {
	now := time.Now()
	for _, c := range []struct {
		name   string
		parser hint.Parser
		header http.Header
		status int
	}{
		{"Standard/nothing", hint.Standard(), plain(), 200},
		{"GitHub/nothing", hint.GitHub(), plain(), 200},
		{"FieldParser/nothing", hint.FieldParser(hint.FieldSpec{Wait: "X-Wait", Remaining: "X-Left"}), plain(), 200},
		{"Standard/seconds", hint.Standard(), with(plain(), "Retry-After", "120"), 429},
		{"Standard/date", hint.Standard(), with(plain(), "Retry-After", "Sun, 29 Nov 2026 12:01:00 GMT"), 503},
		{"Standard/window", hint.Standard(), with(plain(), "X-RateLimit-Limit", "5000", "X-RateLimit-Remaining", "4987", "X-RateLimit-Reset", "1795956000"), 200},
		{"Standard/openai", hint.Standard(), with(plain(), "x-ratelimit-limit-requests", "60", "x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "1s",
			"x-ratelimit-limit-tokens", "150000", "x-ratelimit-remaining-tokens", "149984", "x-ratelimit-reset-tokens", "6m0s"), 200},
		{"Standard/list", hint.Standard(), with(plain(), "RateLimit", `"burst";r=0;t=3, "daily";r=900;t=40000`), 200},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.parser.Parse(c.header, c.status, now)
			}
		})
	}
}
