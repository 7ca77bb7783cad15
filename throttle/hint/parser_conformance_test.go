package hint_test

import (
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// headerParsers are the implementations that the conformance, cost and fuzz tests look at.
func headerParsers() map[string]hint.Parser {
	return map[string]hint.Parser{
		"Standard": hint.Standard(), "IETF": hint.IETF(), "GitHub": hint.GitHub(), "GitLab": hint.GitLab(),
		"OpenAI": hint.OpenAI(), "Anthropic": hint.Anthropic(), "Azure": hint.Azure(), "AWS": hint.AWS(),
		"Discord": hint.Discord(), "Stripe": hint.Stripe(), "Shopify": hint.Shopify(), "GRPC": hint.GRPC(),
		"Alibaba":                hint.Alibaba(),
		"FieldParser":            hint.FieldParser(hint.FieldSpec{Wait: "Retry-After"}),
		"FieldParser/quota":      hint.FieldParser(hint.FieldSpec{Wait: "x-ratelimit-reset", Remaining: "X-RateLimit-Remaining", Limit: "X-RateLimit-Limit", Unit: hint.EpochMillis}),
		"FieldParser/invalid":    hint.FieldParser(hint.FieldSpec{Wait: "", Unit: 99}),
		"Parsers":                hint.Parsers(hint.GitHub(), hint.Standard(), nil, hint.Alibaba()),
		"Parsers/none":           hint.Parsers(),
		"ParserFunc/nil":         hint.ParserFunc(nil),
		"ParserFunc/of Standard": hint.ParserFunc(hint.Standard().Parse),
	}
}

// readings are headers of every kind that the other tests have, and moments at which to read them.
func readings(t testing.TB) (headers []http.Header, moments []time.Time) {
	headers = []http.Header{nil, {}, {"Retry-After": nil}, {"Retry-After": {}}, {"": {""}}, plain()}
	for _, r := range responses(t) {
		headers = append(headers, r.header())
		lower := http.Header{}
		for name, lines := range r.Headers {
			lower[strings.ToLower(name)] = lines
		}
		headers = append(headers, lower)
	}
	for _, v := range alibabaHeaders(t).Values {
		if v.Value != nil {
			headers = append(headers, http.Header{"X-Ratelimit-User": {*v.Value}, "x-ratelimit-user-api": {*v.Value}})
		}
	}
	moments = []time.Time{
		{}, noon, time.Now(), time.Unix(math.MinInt64, 0), time.Unix(math.MaxInt64, 999_999_999), time.Unix(1<<60, 0), time.Unix(-1<<60, 0),
	}
	return headers, moments
}

// requireSound holds one answer to what every Parser promises.
func requireSound(t testing.TB, p hint.Parser, h http.Header, status int, now time.Time) {
	t.Helper()
	before := copied(h)
	s, ok := p.Parse(h, status, now)
	require.Equal(t, before, h, "changed the header")
	require.Equal(t, !s.IsZero(), ok)
	require.Equal(t, s.HasDelay, s.Source != "")
	requireWait(t, s.Delay, s.HasDelay)
	require.LessOrEqual(t, s.Retry, throttle.No)
	if s.RestartCurve {
		require.Equal(t, throttle.Exact(), s.Rule)
	}
	for _, q := range s.Quotas {
		require.GreaterOrEqual(t, q.Limit, int64(-1))
		require.GreaterOrEqual(t, q.Remaining, int64(-1))
		requireWait(t, q.Delay, q.HasDelay)
	}
	for range 3 {
		again, _ := p.Parse(copied(h), status, now)
		require.Equal(t, s, again, "another answer")
	}
}

// copied is a clone that also keeps the difference between an empty list and none.
func copied(h http.Header) http.Header {
	if h == nil {
		return nil
	}
	c := make(http.Header, len(h))
	for name, lines := range h {
		c[name] = slices.Clone(lines)
	}
	return c
}

func requireWait(t testing.TB, d time.Duration, ok bool) {
	t.Helper()
	require.GreaterOrEqual(t, d, time.Duration(0))
	require.True(t, d%ms == 0 || d == longest, "%d is not in whole milliseconds", d)
	require.True(t, ok || d == 0)
}

func TestParserConforms(t *testing.T) {
	headers, moments := readings(t)
	for name, p := range headerParsers() {
		t.Run(name, func(t *testing.T) {
			for i, h := range headers {
				requireSound(t, p, h, []int{200, 429, -1}[i%3], moments[1])
			}
			for _, now := range moments {
				for i := 0; i < len(headers); i += 7 {
					requireSound(t, p, headers[i], math.MaxInt, now)
				}
			}
		})
	}
}

// TestParserNames: the case of names is no matter, nor is what stands beside.
func TestParserNames(t *testing.T) {
	for _, r := range responses(t) {
		lower, mixed := http.Header{}, plain()
		delete(mixed, "Date")
		for name, lines := range r.Headers {
			lower[strings.ToLower(name)] = lines
			mixed[strings.ToUpper(name)] = lines
		}
		for name, p := range headerParsers() {
			want, _ := p.Parse(r.header(), r.Status, r.Now)
			for _, h := range []http.Header{lower, mixed} {
				got, _ := p.Parse(h, r.Status, r.Now)
				require.Equal(t, want, got, "%s: %s", name, r.Name)
			}
		}
	}
}

// TestConcurrentSafeParsers is for the race detector: one header and one parser for all.
func TestConcurrentSafeParsers(t *testing.T) {
	headers, _ := readings(t)
	headers = headers[:40]
	ps := slices.Collect(maps.Values(headerParsers()))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, p := range ps {
				for _, h := range headers {
					p.Parse(h, 429, noon)
				}
			}
			hint.RetryInfo([]byte(info(`"3s"`)))
		})
	}
	wg.Wait()
}
