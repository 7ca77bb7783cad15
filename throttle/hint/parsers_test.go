package hint_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// says is a Parser that always answers s.
func says(s throttle.Signal) hint.Parser {
	return hint.ParserFunc(func(http.Header, int, time.Time) (throttle.Signal, bool) { return s, !s.IsZero() })
}

func TestParsers(t *testing.T) {
	short := throttle.Signal{Delay: sec, HasDelay: true, Source: "short", Rule: throttle.Exact(), RestartCurve: true}
	long := throttle.Signal{Delay: 9 * sec, HasDelay: true, Source: "long", Rule: throttle.Ignore()}
	with := func(s throttle.Signal, retry throttle.Tri, quotas ...throttle.Quota) throttle.Signal {
		s.Retry, s.Quotas = retry, quotas
		return s
	}
	a, b, c := limited("a", 1, 1, -1), limited("b", 2, 2, -1), limited("a", 3, 3, -1)
	nothing := throttle.Signal{}
	for name, v := range map[string]struct{ first, second, want throttle.Signal }{
		"none":          {nothing, nothing, nothing},
		"second only":   {nothing, long, long},
		"first only":    {long, nothing, long},
		"the first":     {short, long, short},
		"not shortest":  {long, short, long},
		"zero counts":   {throttle.Signal{HasDelay: true, Source: "now"}, long, throttle.Signal{HasDelay: true, Source: "now"}},
		"no wins":       {with(short, throttle.Yes), with(long, throttle.No), with(short, throttle.No)},
		"no stays":      {with(short, throttle.No), with(long, throttle.Yes), with(short, throttle.No)},
		"yes":           {short, with(long, throttle.Yes), with(short, throttle.Yes)},
		"wait after no": {with(nothing, throttle.No), long, with(long, throttle.No)},
		"quotas":        {with(short, 0, a), with(long, 0, b), with(short, 0, a, b)},
		"quotas known":  {with(nothing, 0, a), with(long, 0, c, b), with(long, 0, a, b)},
		"same twice":    {with(short, 0, b), with(long, 0, a, c), with(short, 0, b, a, c)},
	} {
		s, ok := hint.Parsers(nil, says(v.first), hint.ParserFunc(nil), says(v.second)).Parse(nil, 0, noon)
		require.Equal(t, v.want, s, name)
		require.Equal(t, !v.want.IsZero(), ok, name)
	}
}

// TestParsersShareNothing: neither the list nor the quotas of a parser are written to.
func TestParsersShareNothing(t *testing.T) {
	quotas := make([]throttle.Quota, 1, 4)
	quotas[0].Name = "mine"
	list := []hint.Parser{says(throttle.Signal{Quotas: quotas}), says(throttle.Signal{Quotas: []throttle.Quota{{Name: "other"}}})}
	p := hint.Parsers(list...)
	list[0] = nil
	s, _ := p.Parse(nil, 0, noon)
	require.Len(t, s.Quotas, 2)
	require.Zero(t, quotas[:2][1])
}

func TestParsersValidate(t *testing.T) {
	validate := func(list ...hint.Parser) error {
		return hint.Parsers(list...).(interface{ Validate() error }).Validate()
	}
	require.NoError(t, validate())
	require.NoError(t, validate(hint.Standard(), says(throttle.Signal{}), hint.Parsers()))
	require.EqualError(t, validate(hint.Standard(), nil), "throttle: Parsers = <nil>: must not hold nil")
	require.EqualError(t, validate(hint.Parsers(nil)), "throttle: Parsers = <nil>: must not hold nil")
}

// TestParsersOwnField: a server whose numbers Standard would misread, which also sends what all know.
func TestParsersOwnField(t *testing.T) {
	p := hint.Parsers(
		hint.FieldParser(hint.FieldSpec{Wait: "X-Rate-Limit-Reset", Remaining: "X-Rate-Limit-Remaining", Unit: hint.DeltaMillis, Name: "x-rate-limit"}),
		hint.Standard(),
	)
	h := header("X-Rate-Limit-Reset", "600000", "X-Rate-Limit-Remaining", "0")
	s, _ := p.Parse(h, 429, noon)
	require.Equal(t, throttle.Signal{Delay: 10 * time.Minute, HasDelay: true, Source: "x-rate-limit-reset", Quotas: []throttle.Quota{limited("x-rate-limit", -1, 0, 10*time.Minute)}}, s)

	h = header("Retry-After", "5")
	s, _ = p.Parse(h, 429, noon)
	require.Equal(t, throttle.Signal{Delay: 5 * sec, HasDelay: true, Source: "retry-after"}, s)
}
